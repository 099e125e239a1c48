// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>

#include "operators/operator.hpp"
#include "physics/run_state.hpp"
#include "solvers/solution_history.hpp"

namespace curlew {

/// What the solves of a heat run's last steps changed about their first guesses: nothing at nodes whose
/// temperature is held, as its change in time is part of the guess.
class HeatHistory {
 public:
  using Matrix = Operator<PrimalCochain<Node>, DualCochain<Node>>;

  /// The matrix of a step is the sum of `capacity` / dt and, times the scheme's implicit weight, `exchange`.
  /// `like`: a vector of the right sizes. The domain and `held` (1 where held) must outlive it.
  HeatHistory(const Domain& domain, const PrimalCochain<Node>& like, const Field<Node, std::uint8_t>& held,
              std::unique_ptr<const Matrix> capacity, std::unique_ptr<const Matrix> exchange);

  /// For the solve of a step, of whatever length.
  Recall<PrimalCochain<Node>> recall(Real per_step, Real implicit_weight);
  /// To be called when `exchange` has changed, as its products with the changes are kept. They are made anew,
  /// at the price of about an iteration, rather than forgotten: convection that changes does so in every
  /// step, and there would never be more than one change.
  void renew();

  void add_to(RunState& state) const;
  /// Knows what the state does after this.
  void resume_from(const RunState& state);

 private:
  const Domain& domain_;
  SolutionHistory<PrimalCochain<Node>> changes_;
  std::unique_ptr<const Matrix> capacity_, exchange_;
  Executor executor_;
  Extent extent_;
};

}  // namespace curlew
