// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_history.hpp"

#include <utility>

#include "kernels/for_each.hpp"

namespace curlew {

namespace {

constexpr const char* name_in_state = "temperature_change";

struct NoChangeOnHeldNode {
  View<Node, const std::uint8_t> held;
  View<Node, Real> change;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    if (held[n]) change[n] = 0;
  }
};

}  // namespace

HeatHistory::HeatHistory(const Domain& domain, const PrimalCochain<Node>& like,
                         const Field<Node, std::uint8_t>& held, std::unique_ptr<const Matrix> capacity,
                         std::unique_ptr<const Matrix> exchange)
    : domain_(domain),
      // A run that resumes may hold nodes that the earlier one did not.
      changes_(like.executor(),
               [&held](PrimalCochain<Node>& change) {
                 for_each(change.executor(), change.owned(), NoChangeOnHeldNode{held.view(), change.view()});
               }),
      capacity_(std::move(capacity)),
      exchange_(std::move(exchange)),
      executor_(like.executor()),
      extent_(like.extent()) {}

Recall<PrimalCochain<Node>> HeatHistory::recall(Real per_step, Real implicit_weight) {
  return {&changes_, {per_step, implicit_weight, capacity_.get()}};
}

void HeatHistory::renew() {
  PrimalCochain<Node> change(executor_, extent_, "change", "K");
  DualCochain<Node> image(executor_, extent_, "image", "W");
  changes_.renew(*exchange_, change, image);
}

void HeatHistory::add_to(RunState& state) const {
  const auto make = [this] { return PrimalCochain<Node>(executor_, extent_, "change", "K"); };
  store(domain_, changes_, make, name_in_state, state);
}

void HeatHistory::resume_from(const RunState& state) {
  PrimalCochain<Node> change(executor_, extent_, "change", "K");
  restore(domain_, state, name_in_state, changes_, change);
}

}  // namespace curlew
