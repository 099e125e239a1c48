// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/node_integral.hpp"
#include "physics/heat/heat_settings.hpp"

namespace curlew {

/// Heat released within the cells: the sources of their materials, taken at centroids.
class HeatSources {
 public:
  /// Mesh and materials must outlive it.
  HeatSources(const Executor& executor, const Mesh& mesh, const std::vector<HeatMaterial>& materials)
      : executor_(executor), mesh_(mesh), materials_(materials) {}

  bool depend_on_time() const;
  /// In each cell at `time` [W/m3]; throws what the functions throw. `before`: what this has given for
  /// another time, of which sources that do not depend on time are taken; else empty.
  std::vector<Real> in_cells(Real time, std::vector<Real> before) const;
  /// What these release in the dual volume of each node, owned or ghost as far as this rank has its cells
  /// [W].
  void integrate(const std::vector<Real>& in_cells, DualCochain<Node>& at_nodes);

 private:
  /// What sources that change are integrated with time after time.
  struct Workspace {
    NodeIntegral integral;
    Field<Cell> in_cells;  // [W/m3]
  };

  Executor executor_;
  const Mesh& mesh_;
  const std::vector<HeatMaterial>& materials_;
  std::optional<Workspace> workspace_;
};

}  // namespace curlew
