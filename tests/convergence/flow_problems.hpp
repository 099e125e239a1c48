// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "physics/flow/flow_settings.hpp"
#include "tests/convergence/mesh_families.hpp"

namespace curlew::test {

/// A flow in a square or cube whose velocity and pressure over density are known in closed form.
struct FlowProblem {
  std::string name;
  int dimension;
  Real first, side;  ///< the square or cube is [first, first + side] in every direction [m]
  Real viscosity;    ///< [m2/s]
  std::function<Vector3(Vector3 x, Real t)> velocity;
  std::function<Real(Vector3 x, Real t)> pressure;
  VectorFunctionPointer body_force;   ///< null: none
  std::vector<std::string> symmetry;  ///< patches; the velocity is given on all others
  Real end;                           ///< [s]; 0: steady
  ConvectionScheme convection;
};

/// Creeping flow in a square and in a cube, driven by a body force.
FlowProblem stokes(int dimension);
/// Behind a grid at Re 40: Kovasznay, Math. Proc. Camb. Phil. Soc. 44, 1948.
FlowProblem kovasznay();
/// Decaying vortices between two symmetry walls and two sides through which they flow in and out: Taylor &
/// Green, Proc. R. Soc. A 158, 1937.
FlowProblem taylor_green();
/// Decaying vortices in a cube: Ethier & Steinman, IJNMF 19, 1994.
FlowProblem ethier_steinman();

/// Errors of a run in means over the domain.
struct FlowErrors {
  Real flux = 0;      ///< of face fluxes, in the norm of their mass [m/s]
  Real velocity = 0;  ///< of cell means at the centroids, in L2 [m/s]
  Real pressure = 0;  ///< at the centroids, in L2, less its mean [m2/s2]
};

enum class StepMethod { Classical, Exact };

/// Runs a problem to its end, or until it is steady.
FlowErrors errors_of(const FlowProblem& problem, StepMethod method, const RawMesh& unit_mesh);

/// A problem on meshes of one family, and what is known of it.
struct FlowCase {
  FlowProblem problem;
  std::string family;
  std::vector<Real> sizes;  ///< of the cells of the unit square or cube
  FlowErrors least_order;   ///< between the last two meshes, by mean cell size
  FlowErrors error;         ///< measured on the last mesh
  StepMethod method = StepMethod::Classical;
  friend void PrintTo(const FlowCase& flow, std::ostream* out) {
    *out << flow.problem.name << " on " << flow.family;
  }
};
/// The same cases by another method, whose errors are those of space, hence the same.
std::vector<FlowCase> by(StepMethod method, std::vector<FlowCase> cases);
/// A name for the test of it.
std::string name_of(const FlowCase& flow);

/// Expects the orders, and errors within a quarter of the ones measured before: another version of Gmsh makes
/// other meshes. Prints a row of the tables in docs/verification.md for each mesh.
void expect_orders(const FlowCase& flow);

}  // namespace curlew::test
