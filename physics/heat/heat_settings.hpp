// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <variant>
#include <vector>

#include "physics/space_time_function.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// What a region of the mesh is made of.
struct HeatMaterial {
  Real conductivity = 0;              ///< [W/(m K)]
  Real volumetric_heat_capacity = 0;  ///< density times heat capacity [J/(m3 K)]; unused by a steady solve
  FunctionPointer source;             ///< heat released per volume and time [W/m3]; not null
};

struct Insulated {};
struct FixedTemperature {
  FunctionPointer value;  ///< [K]
};
struct HeatFlux {
  FunctionPointer value;  ///< into the domain [W/m2]
};
struct Convection {
  FunctionPointer coefficient;  ///< [W/(m2 K)], not negative
  FunctionPointer ambient;      ///< [K]
};
using HeatBoundary = std::variant<Insulated, FixedTemperature, HeatFlux, Convection>;

enum class HeatScheme { CrankNicolson, BackwardEuler };

struct HeatSettings {
  std::vector<HeatMaterial> materials;   ///< one per region of the mesh
  std::vector<HeatBoundary> boundaries;  ///< one per patch of the mesh
  HeatScheme scheme = HeatScheme::CrankNicolson;
  SolverControl solver;
  Preconditioning preconditioning = Preconditioning::Multigrid;
};

}  // namespace curlew
