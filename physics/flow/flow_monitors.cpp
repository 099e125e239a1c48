// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_monitors.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/entity_terms.hpp"
#include "kernels/reduction.hpp"

namespace curlew {

BodyForces forces_on_patches(const Mesh& mesh, Real density, const IncompressibleFlow::BoundaryForces& forces,
                             std::span<const std::size_t> patches, Vector3 origin) {
  const Topology& topology = mesh.topology();
  std::array<std::vector<Real>, 9> terms;
  const auto add = [&](std::size_t first, Vector3 v) {
    terms[first].push_back(v.x);
    terms[first + 1].push_back(v.y);
    terms[first + 2].push_back(v.z);
  };
  for (const std::size_t p : patches) {
    for (const Id<Face> f : topology.patches()[p].faces) {
      const std::size_t k = at(f.value() - topology.boundary_faces().first());
      Vector3 arm = mesh.geometry().face_centroids()[at(f.value())] - origin;
      if (topology.dimension() == 2) arm.z = 0;
      add(0, forces.pressure[k]);
      add(3, forces.viscous[k]);
      add(6, cross(arm, forces.pressure[k] + forces.viscous[k]));
    }
  }
  std::array<Real, 9> sums{};
  for (std::size_t k = 0; k < sums.size(); ++k)
    sums[k] = density * sum_of_terms(mesh.domain().communicator(), terms[k]);
  return {{sums[0], sums[1], sums[2]}, {sums[3], sums[4], sums[5]}, {sums[6], sums[7], sums[8]}};
}

ForceCoefficients force_coefficients(const BodyForces& forces, const ForceReference& reference) {
  for (const auto& [name, value] :
       {std::pair{"density", reference.density}, std::pair{"velocity", reference.velocity},
        std::pair{"area", reference.area}, std::pair{"length", reference.length}}) {
    if (!(value > 0))
      throw InputError(fmt::format("force coefficients need a positive reference {}, got {}", name, value));
  }
  const Real unit = reference.density * reference.velocity * reference.velocity * reference.area / 2;
  return {forces.force() / unit, forces.moment / (unit * reference.length)};
}

std::vector<Real> patch_outflows(const Mesh& mesh, const PrimalCochain<Face>& flux) {
  REQUIRE(flux.size() == mesh.topology().faces().size(),
          fmt::format("field '{}' has {} values, the mesh has {} faces", flux.name(), flux.size(),
                      mesh.topology().faces().size()));
  std::vector<Real> outflows;
  for (const Patch& patch : mesh.topology().patches())
    outflows.push_back(sum(flux.executor(), patch.faces, ValueOfEntity<Face>{flux.view()}));
  return outflows;
}

std::array<Real, energy_columns.size()> energy_values(const IncompressibleFlow::EnergyBudget& budget,
                                                      Real density) {
  return {density * budget.kinetic_energy, density * budget.dissipation, density * budget.boundary_power,
          density * budget.body_power,     density * budget.residual(),  density * budget.rate};
}

}  // namespace curlew
