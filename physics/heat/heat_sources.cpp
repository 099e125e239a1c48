// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_sources.hpp"

#include <algorithm>
#include <span>

namespace curlew {

bool HeatSources::depend_on_time() const {
  return std::ranges::any_of(materials_,
                             [](const HeatMaterial& material) { return material.source->depends_on_time(); });
}

std::vector<Real> HeatSources::in_cells(Real time, std::vector<Real> before) const {
  const std::span<const Index> region_of_cell = mesh_.topology().region_of_cell().host();
  const std::span<const Vector3> centroids = mesh_.geometry().cell_centroids().host();
  const bool all = before.empty();
  std::vector<Real> result = std::move(before);
  result.resize(region_of_cell.size());
  std::vector<std::vector<std::size_t>> cells_of_region(materials_.size());
  for (std::size_t c = 0; c < result.size(); ++c) {
    const std::size_t region = at(region_of_cell[c]);
    if (all || materials_[region].source->depends_on_time()) cells_of_region[region].push_back(c);
  }
  for (std::size_t r = 0; r < materials_.size(); ++r) {
    const SpaceTimeFunction& source = *materials_[r].source;
    const std::vector<std::size_t>& cells = cells_of_region[r];
    // One value serves all cells where it does not depend on the place.
    std::vector<Vector3> points(source.depends_on_space() ? cells.size()
                                                          : std::min<std::size_t>(cells.size(), 1));
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = centroids[cells[k]];
    std::vector<Real> values(points.size());
    source.evaluate(points, time, values);
    for (std::size_t k = 0; k < cells.size(); ++k)
      result[cells[k]] = values[source.depends_on_space() ? k : 0];
  }
  return result;
}

void HeatSources::integrate(const std::vector<Real>& in_cells, DualCochain<Node>& at_nodes) {
  if (std::ranges::all_of(in_cells, [](Real value) { return value == 0; })) {
    at_nodes.fill(0);
    return;
  }
  if (!workspace_)
    workspace_.emplace(Workspace{NodeIntegral(executor_, mesh_),
                                 Field<Cell>(executor_, mesh_.domain().extent<Cell>(), "source", "W/m3")});
  workspace_->in_cells.copy_from_host(in_cells);
  workspace_->integral.apply(workspace_->in_cells, at_nodes);
  if (!depend_on_time()) workspace_.reset();
}

}  // namespace curlew
