// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
/// gain little (docs/multigrid.md).
inline constexpr std::size_t solution_history_depth = 4;

/// What the last solves of a run changed about their first guesses, d_i, from which the next guess is
/// improved: by the combination sum c_i d_i that leaves the least energy of the error, (d_i . A d_j) c = (d_i
/// . r). Fischer, CMAME 163 (1998), with a window of the last solves instead of a basis that is given up when
/// it is full. The image A d_i of a change is what it took from the residual, so that its products d_j . A
/// d_i need no product by the matrix; they are kept, images are not. For other factors than the solve's they
/// are found from A_0 d_i.
///
/// Changes are in single precision: what rounding does to one is small against the error that is left. Same
/// bits on every backend and any number of ranks.
template <class X>
class SolutionHistory {
 public:
  /// `make_free`: takes from a vector what solves never change (a normal part, which rounding would add),
  /// null where single values are free or not. Room for changes is made as they first come. `other`: null, or
  /// a history of vectors of these sizes whose solves never go on while one of this one's does: both keep the
  /// residual of begin() in one place.
  explicit SolutionHistory(const Executor& executor, std::function<void(X&)> make_free = nullptr,
                           const SolutionHistory* other = nullptr);

  /// How many changes are kept now.
  std::size_t size() const { return kept_.size(); }
  /// The factors c for A of `matrix` and r = b - A x; none where nothing is known. Changes by a matrix
  /// without A_1 say nothing of one that has it, and are forgotten. What is in `change` and `image` is lost.
  std::vector<Real> factors(const StepMatrix<X>& matrix, const Paired<X>& residual, X& change,
                            Paired<X>& image);
  /// x = sum c_i d_i.
  void set_combination(std::span<const Real> factors, X& x) const;

  /// To be called with `scale` times the residual that a solve begins with.
  void begin(Real scale, const Paired<X>& residual);
  /// Takes in what a solve has changed since begin(), `change_factor` times `change`, and what it has left of
  /// the residual, `residual_factor` times `residual`; the oldest change gives way.
  void end(const StepMatrix<X>& matrix, Real change_factor, const X& change, Real residual_factor,
           const Paired<X>& residual);
  /// Takes in a change and its image.
  void append(const StepMatrix<X>& matrix, const X& change, const Paired<X>& image);

  /// Makes all products anew, by A_1 as it has become. What is in `change` and `image` is lost.
  void renew(const Operator<X, Paired<X>>& stiffness, X& change, Paired<X>& image);

  /// What is known of a change besides it.
  struct Known {
    Real mass_factor, stiffness_factor;  ///< of its solve's matrix A
    std::vector<Real> products;          ///< of its image A d with the changes up to it, the oldest first
  };
  /// Of change number k, the oldest first. A history to which all are appended anew has the same bits.
  Known known(std::size_t k) const;
  void read(std::size_t k, X& change) const;
  void append(const Known& known, const X& change);
  void clear() { kept_.clear(); }

 private:
  using Rounded = std::vector<Field<Number, float>>;  // one field for each that a vector is made of
  using Row = std::array<Real, solution_history_depth>;
  struct Entry {
    Rounded change;
    Real mass_factor, stiffness_factor;  // of A
    Row by_image;                        // products of the earlier entries' changes and its own with A d
    std::optional<Row> by_mass;          // and with A_0 d, where they have been asked for
  };
  /// A d_i = `own` A_i d_i + `mass` A_0 d_i, with A_i the matrix of the solve that changed d_i.
  struct Shares {
    Real own, mass;
  };
  static Shares shares(const StepMatrix<X>& matrix, const Entry& entry);

  void set_free_change(std::size_t k, X& change) const;
  /// Takes in factor times a change, rounded, of which nothing else is known yet.
  Entry& append_rounded(Real factor, const X& change, Real mass_factor, Real stiffness_factor);
  /// Inner products of y with the changes that are kept, from the oldest one to number `last`.
  Row products_with(const Paired<X>& y, std::size_t last);
  /// The same with a vector in place of y: `part_of(field, numbers)` makes that field's numbers of those of
  /// y.
  template <class PartOf>
  Row products_with(const Paired<X>& y, std::size_t last, const PartOf& part_of);

  Executor executor_;
  std::function<void(X&)> make_free_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> kept_;  // which of entries_, the oldest first
  std::shared_ptr<Rounded> first_residual_;
  Buffer<BinnedSum> sums_;
};

/// What a solve makes use of.
template <class X>
struct Recall {
  SolutionHistory<X>* history = nullptr;  ///< of its kind; null: none
  StepMatrix<X> matrix = {};              ///< as the history goes by it
};

}  // namespace curlew
