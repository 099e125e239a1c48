// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/reproducible_sum.hpp"
#include "operators/operator.hpp"

namespace curlew {

struct Number;  // entity tag: one number of a vector, whatever it is the value of

/// The matrix a A_0 + b A_1 of a step, with A_0 and A_1 the same from step to step and factors a, b that may
/// change. Of these A_0 alone is ever applied, where `a` has changed.
template <class X>
struct StepMatrix {
  Real mass_factor = 0, stiffness_factor = 1;
  const Operator<X, Paired<X>>* mass = nullptr;  ///< A_0; null where a is always 0
};

/// How many solves are remembered. A guess from four smooth ones is good to fourth order in the step; more
/// gain little (docs/performance.md).
inline constexpr std::size_t solution_history_depth = 4;

/// What the last solves of a run changed about their first guesses, d_i, from which the next guess is
/// improved: by the combination sum c_i d_i that leaves the least energy of the error, (d_i . A d_j) c = (d_i
/// . r). Fischer, CMAME 163 (1998), with a window of the last solves instead of a basis that is given up when
/// it is full. The image A d_i of a change is what it took from the residual, so that no product is needed;
/// that for other factors than the solve's is found from A_0 d_i.
///
/// In single precision: what rounding does to a change is small against the error that is left. Same bits on
/// every backend and any number of ranks.
template <class X>
class SolutionHistory {
 public:
  /// `make_free`: takes from a vector what solves never change (a normal part, which rounding would add),
  /// null where single values are free or not. Room for changes is made as they first come.
  explicit SolutionHistory(const Executor& executor, std::function<void(X&)> make_free = nullptr);

  /// How many changes are kept now.
  std::size_t size() const { return kept_.size(); }
  /// The factors c for A of `matrix` and r = b - A x; none where nothing is known. Changes by a matrix
  /// without A_1 say nothing of one that has it, and are forgotten. What is in `change` and `image` is lost.
  std::vector<Real> factors(const StepMatrix<X>& matrix, const Paired<X>& residual, X& change,
                            Paired<X>& image);
  /// x = sum c_i d_i.
  void set_combination(std::span<const Real> factors, X& x) const;
  /// Takes sum c_i A d_i from r, `matrix` being that of the factors.
  void take_images(const StepMatrix<X>& matrix, std::span<const Real> factors, Paired<X>& residual) const;

  /// To be called with `scale` times the residual that a solve begins with.
  void begin(Real scale, const Paired<X>& residual);
  /// Takes in what a solve has changed since begin(), and the residual that it has left; the oldest change
  /// gives way. Both are lost.
  void end(const StepMatrix<X>& matrix, X& change, Paired<X>& residual);
  /// Takes in a change and its image, and rounds them.
  void append(const StepMatrix<X>& matrix, X& change, Paired<X>& image);

  /// Makes all images anew, by A_1 as it has become. What is in `change` and `image` is lost.
  void renew(const Operator<X, Paired<X>>& stiffness, X& change, Paired<X>& image);

  /// Writes change number k, the oldest first, and its image; returns the factors a, b which that is for. A
  /// history to which all are appended anew has the same bits.
  std::pair<Real, Real> read(std::size_t k, X& change, Paired<X>& image) const;
  void clear() { kept_.clear(); }

 private:
  using Rounded = std::vector<Field<Number, float>>;  // one field for each that a vector is made of
  using Row = std::array<Real, solution_history_depth>;
  struct Entry {
    Rounded change, image, of_mass;  // d, A d, A_0 d where it has been asked for
    std::pair<Real, Real> factors;   // of A
    bool has_of_mass = false;
    Row by_image, by_mass;  // products of the earlier entries' changes and its own with the images
  };
  /// A d_i = `own` A_i d_i + `mass` A_0 d_i, with A_i the matrix of the solve that changed d_i.
  struct Shares {
    Real own, mass;
  };
  static Shares shares(const StepMatrix<X>& matrix, const Entry& entry);

  void set_free_change(std::size_t k, X& change) const;
  void set_image(std::size_t k, std::pair<Real, Real> factors, Paired<X>& image);
  /// Of y with the changes kept up to number k, the oldest first.
  Row products_with(const Paired<X>& y, std::size_t last);

  Executor executor_;
  std::function<void(X&)> make_free_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> kept_;  // which of entries_, the oldest first
  Rounded first_residual_;
  Buffer<BinnedSum> sums_;
};

/// What a solve makes use of.
template <class X>
struct Recall {
  SolutionHistory<X>* history = nullptr;  ///< of its kind; null: none
  StepMatrix<X> matrix = {};              ///< as the history goes by it
};

}  // namespace curlew
