// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/platform.hpp"

namespace curlew {

/// Index of one entity of type `E` (an empty tag type); a different entity's index does not convert to it.
template <class E>
class Id {
 public:
  CURLEW_HOST_DEVICE constexpr explicit Id(Index value) : value_(value) {}
  CURLEW_HOST_DEVICE constexpr Index value() const { return value_; }
  CURLEW_HOST_DEVICE constexpr Id& operator++() {
    ++value_;
    return *this;
  }
  friend CURLEW_HOST_DEVICE constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend CURLEW_HOST_DEVICE constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend CURLEW_HOST_DEVICE constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }

 private:
  Index value_;
};

/// Consecutive entities [first, last).
template <class E>
class Range {
 public:
  class Iterator {
   public:
    CURLEW_HOST_DEVICE constexpr explicit Iterator(Index value) : value_(value) {}
    CURLEW_HOST_DEVICE constexpr Id<E> operator*() const { return Id<E>(value_); }
    CURLEW_HOST_DEVICE constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }
    friend CURLEW_HOST_DEVICE constexpr bool operator!=(Iterator a, Iterator b) {
      return a.value_ != b.value_;
    }

   private:
    Index value_;
  };

  constexpr Range() = default;
  CURLEW_HOST_DEVICE constexpr Range(Index first, Index last) : first_(first), last_(last) {}
  CURLEW_HOST_DEVICE constexpr Index first() const { return first_; }
  CURLEW_HOST_DEVICE constexpr Index last() const { return last_; }
  CURLEW_HOST_DEVICE constexpr Index size() const { return last_ - first_; }
  CURLEW_HOST_DEVICE constexpr bool empty() const { return last_ <= first_; }
  CURLEW_HOST_DEVICE constexpr bool contains(Id<E> i) const {
    return i.value() >= first_ && i.value() < last_;
  }
  CURLEW_HOST_DEVICE constexpr Iterator begin() const { return Iterator(first_); }
  CURLEW_HOST_DEVICE constexpr Iterator end() const { return Iterator(last_); }
  friend constexpr bool operator==(Range a, Range b) { return a.first_ == b.first_ && a.last_ == b.last_; }

 private:
  Index first_ = 0, last_ = 0;
};

/// What two ranges have in common.
template <class E>
constexpr Range<E> common(Range<E> a, Range<E> b) {
  const Index first = a.first() > b.first() ? a.first() : b.first();
  const Index last = a.last() < b.last() ? a.last() : b.last();
  return Range<E>(first, last > first ? last : first);
}

}  // namespace curlew
