// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "physics/flow/incompressible_flow.hpp"

namespace curlew {

/// What the fluid does to a body. In two dimensions per unit depth, with a moment about z alone.
struct BodyForces {
  Vector3 pressure, viscous;  ///< [N]
  Vector3 moment;             ///< of both about the origin given [N m]
  Vector3 force() const { return pressure + viscous; }
};

/// Sums the forces on `patches` (indices into the mesh's; zero on outlets), `density` [kg/m3] times those of
/// a flow, each acting at its face's centroid, over all ranks. `origin` [m]: of the moment.
BodyForces forces_on_patches(const Mesh& mesh, Real density, const IncompressibleFlow::BoundaryForces& forces,
                             std::span<const std::size_t> patches, Vector3 origin);

/// What makes a force a coefficient.
struct ForceReference {
  Real density;     ///< [kg/m3]
  Real velocity;    ///< [m/s]
  Real area;        ///< [m2]; two dimensions: a length [m]
  Real length = 1;  ///< lever of the moment [m]
};

/// Without units.
struct ForceCoefficients {
  Vector3 force;   ///< force / (1/2 density velocity² area)
  Vector3 moment;  ///< moment / (1/2 density velocity² area length)
};

/// Throws InputError unless every reference is positive.
ForceCoefficients force_coefficients(const BodyForces& forces, const ForceReference& reference);

/// Volume flow out of the domain through each patch of the mesh [m3/s], over all ranks that the field's
/// executor is among. The bits do not depend on the number of threads and ranks. Throws Error unless there is
/// one flux per face.
std::vector<Real> patch_outflows(const Mesh& mesh, const PrimalCochain<Face>& flux);

/// Columns of an `energy` monitor: the first in J, the others in W (in two dimensions per m of depth).
inline constexpr std::array energy_columns{"kinetic_energy", "dissipation", "boundary_power",
                                           "body_power",     "residual",    "rate"};
std::array<Real, energy_columns.size()> energy_values(const IncompressibleFlow::EnergyBudget& budget,
                                                      Real density);

}  // namespace curlew
