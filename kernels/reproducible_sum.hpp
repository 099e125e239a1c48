// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/platform.hpp"

namespace curlew {

/// Sums whose bits depend on the terms alone: not on their order, nor on how they are divided among threads,
/// blocks and ranks. After Demmel & Nguyen (Fast reproducible floating-point summation, ARITH 2013).
///
/// Binary places are divided into bins of 40, always at the same ones. Of a sum only the three highest bins
/// count that its largest term reaches; in each a term is a whole multiple of the bin's quantum, and the
/// multiples are added as integers, which is exact. What is lost of a term is below 2^-80 of the largest one,
/// so that the result is more accurate than any sum in Real.
namespace binning {

constexpr int width = 40;  ///< of a bin [bits]
constexpr int bins = 3;    ///< that count
/// Bin k has the quantum 2^(40 k). These are the ones whose quanta, times 2^52, Real can represent.
constexpr int lowest_bin = -26, highest_bin = 24;
constexpr int lowest_top = lowest_bin + bins - 1;
/// The top bin of a sum with a term that is infinite, not a number or at least 2^999.
constexpr int not_finite = highest_bin + 1;
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

CURLEW_HOST_DEVICE inline std::uint64_t bits_of(Real x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// Magnitudes in the order of integers, what is not a number being the largest.
CURLEW_HOST_DEVICE inline std::int64_t magnitude_of(Real x) {
  return static_cast<std::int64_t>(bits_of(x) & 0x7fffffffffffffff);
}

/// Cuts terms into multiples of the quanta of three bins, top bin first.
class Slicer {
 public:
  /// For terms up to `largest` (see magnitude_of).
  CURLEW_HOST_DEVICE explicit Slicer(std::int64_t largest) {
    // With the exponent of `largest` n, terms are below 2^(n+1), at most half a quantum of the next bin.
    const int above_lowest = static_cast<int>(largest >> 52) - 1023 + 2 - width * lowest_bin;
    top_ = above_lowest > width * (bins - 1) ? (above_lowest - 1) / width + lowest_bin : lowest_top;
    if (top_ > highest_bin) top_ = not_finite;
    const std::int64_t exponent = width * (top_ + 1) - 1 + 1023;
    limit_ = top_ == not_finite ? 0x7fffffffffffffff : exponent << 52;
    for (int i = 0; i < bins; ++i)
      shift_[i] = top_ == not_finite ? 0 : std::ldexp(Real(1.5), 52 + width * (top_ - i));
  }
  CURLEW_HOST_DEVICE int top() const { return top_; }
  /// Magnitudes from here on are too large.
  CURLEW_HOST_DEVICE std::int64_t limit() const { return limit_; }
  /// The representation of zero multiples of the quantum of bin top - i.
  CURLEW_HOST_DEVICE std::uint64_t zero(int i) const { return bits_of(shift_[i]); }

  /// Adds the multiples, plus zero(i) each, to three integers modulo 2^64.
  CURLEW_HOST_DEVICE void add(Real term, std::uint64_t& first, std::uint64_t& second,
                              std::uint64_t& third) const {
    // Next to 1.5 x 2^52 quanta Real represents whole multiples of the quantum, in the lowest bits.
    const Real a = term + shift_[0];
    first += bits_of(a);
    term -= a - shift_[0];
    const Real b = term + shift_[1];
    second += bits_of(b);
    term -= b - shift_[1];
    third += bits_of(term + shift_[2]);
  }

 private:
  int top_;
  std::int64_t limit_;
  Real shift_[bins];
};

}  // namespace binning

/// A sum in the making: the whole numbers of quanta in the three bins that count. Trivially copyable, all
/// members 64 bits wide.
class BinnedSum {
 public:
  BinnedSum() = default;

  /// Takes what a slicer made of `terms` terms, at most 2^23.
  CURLEW_HOST_DEVICE BinnedSum(const binning::Slicer& slicer, std::uint64_t terms, std::uint64_t first,
                               std::uint64_t second, std::uint64_t third)
      : top_(slicer.top()) {
    const std::uint64_t sums[binning::bins] = {first, second, third};
    if (top_ == binning::not_finite) return;
    for (int i = 0; i < binning::bins; ++i) {
      const auto quanta = static_cast<std::int64_t>(sums[i] - terms * slicer.zero(i));
      high_[i] = quanta >> 32;
      low_[i] = quanta & 0xffffffff;
    }
  }

  /// Exact, hence in any order. Up to 2^31 parts may come together in one sum. Every number is named by a
  /// place that the compiler knows, so that a GPU keeps it in a register.
  CURLEW_HOST_DEVICE void add(const BinnedSum& other) {
    if (other.top_ > top_) {
      BinnedSum raised;
      raised.top_ = other.top_;
      raised.add_lower(*this);
      *this = raised;
    }
    add_lower(other);
  }

  /// The sum, the same whatever parts it came from; not a number where a term was infinite, not a number or
  /// at least 2^999.
  CURLEW_HOST_DEVICE Real value() const {
    if (top_ == binning::not_finite) return binning::not_a_number;
    Real sum = 0, lost = 0;  // what roundings took from the sum (Knuth's two-sum): parts may nearly cancel
    const auto add_part = [&](std::int64_t whole, int exponent) {
      const Real part = std::ldexp(static_cast<Real>(whole), exponent), before = sum;
      sum += part;
      const Real taken = sum - before;
      lost += (before - (sum - taken)) + (part - taken);
    };
    for (int i = binning::bins - 1; i >= 0; --i) {
      const int exponent = binning::width * static_cast<int>(top_ - i);
      add_part(low_[i] & 0xffffffff,
               exponent);  // the same number whatever carries are left in the lower half
      add_part(high_[i] + (low_[i] >> 32), exponent + 32);
    }
    return sum + lost;
  }

 private:
  /// Adds a sum whose top bin is not above this one's.
  CURLEW_HOST_DEVICE void add_lower(const BinnedSum& other) {
    const std::int64_t shift = top_ - other.top_;
    for (int from = 0; from < binning::bins; ++from) {
      for (int to = from; to < binning::bins; ++to) {
        if (to - from != shift) continue;
        high_[to] += other.high_[from];
        low_[to] += other.low_[from];
      }
    }
  }

  std::int64_t top_ = binning::lowest_top;
  // Of each bin the number of quanta in two parts, with room for carries.
  std::int64_t high_[binning::bins] = {}, low_[binning::bins] = {};
};

/// Adds up blocks of terms: one thread's work.
class BlockwiseSum {
 public:
  static constexpr Index block = 64;  ///< what a processor keeps close while memory delivers the next

  /// `size`: at most a block.
  void add(const Real* terms, Index size) {
    std::int64_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (Index k = 0; k < size; ++k) {
      const std::int64_t magnitude = binning::magnitude_of(terms[k]);
      largest = magnitude > largest ? magnitude : largest;
    }
    if (largest >= slicer_.limit() || sliced_ > most_sliced) [[unlikely]] {
      sum_.add(BinnedSum(slicer_, sliced_, first_, second_, third_));
      if (largest >= slicer_.limit()) slicer_ = binning::Slicer(largest);
      first_ = second_ = third_ = sliced_ = 0;
    }
    std::uint64_t a = 0, b = 0, c = 0;
    const binning::Slicer slicer = slicer_;
#pragma omp simd reduction(+ : a, b, c)
    for (Index k = 0; k < size; ++k) slicer.add(terms[k], a, b, c);
    first_ += a;
    second_ += b;
    third_ += c;
    sliced_ += static_cast<std::uint64_t>(size);
  }
  BinnedSum sum() const {
    BinnedSum sum = sum_;
    sum.add(BinnedSum(slicer_, sliced_, first_, second_, third_));
    return sum;
  }

 private:
  static constexpr std::uint64_t most_sliced = (1 << 23) - block;
  BinnedSum sum_;
  binning::Slicer slicer_{0};
  std::uint64_t first_ = 0, second_ = 0, third_ = 0, sliced_ = 0;  // since the slicer was last changed
};

/// The binned sum of `term(k)` for k in [0, count): one thread's work.
template <class Term>
BinnedSum binned_sum(Index count, const Term& term) {
  constexpr Index block = BlockwiseSum::block;
  BlockwiseSum sum;
  const auto add_block = [&](Index start, Index size) {
    Real terms[block];
    for (Index k = 0; k < size; ++k) terms[k] = term(start + k);
    sum.add(terms, size);
  };
  Index start = 0;
  for (; start + block <= count; start += block) add_block(start, block);
  if (start < count) add_block(start, count - start);
  return sum.sum();
}

}  // namespace curlew
