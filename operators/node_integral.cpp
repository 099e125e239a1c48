// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/node_integral.hpp"

#include <utility>
#include <vector>

#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"

namespace curlew {

namespace {

struct IntegralOnNode {
  Incidence<Node, Cell> cells_of;
  View<CellCorner, const Real> volume;  // [m3]
  View<Cell, const Real> value;
  View<Node, Real> integral;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    Id<CellCorner> corner(cells_of.start(n));
    Real sum = 0;
    for (const auto [c, sign] : cells_of[n]) {
      sum += volume[corner] * value[c];
      corner = cells_of.next(corner);
    }
    integral[n] = sum;
  }
};

}  // namespace

NodeIntegral::NodeIntegral(const Executor& executor, const Mesh& mesh)
    : executor_(executor), cells_of_node_(mesh.topology().cells_of_node()) {
  const CornerVolumes corner_volume(mesh.topology(), mesh.geometry());
  const auto cells_of_node = cells_of_node_.view(MemorySpace::Host);
  std::vector<Real> volumes(cells_of_node_.entries());
  parallel_for(at(cells_of_node_.rows()), [&](std::size_t i) {
    const Id<Node> n(static_cast<Index>(i));
    std::size_t corner = at(cells_of_node.start(n));
    for (const auto [c, sign] : cells_of_node[n]) volumes[corner++] = corner_volume(c, n);
  });
  volumes_ = cells_of_node_.values(std::move(volumes));
}

void NodeIntegral::apply(const Field<Cell>& value, DualCochain<Node>& integral) const {
  require_fits(integral, cells_of_node_.rows(), executor_);
  const MemorySpace space = executor_.space();
  for_each(executor_, integral.range(),
           IntegralOnNode{
               cells_of_node_.view(space),
               View<CellCorner, const Real>(volumes_.data(space), static_cast<Index>(volumes_.size(space))),
               value.view(), integral.view()});
}

}  // namespace curlew
