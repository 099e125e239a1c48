// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Observed order of accuracy of heat diffusion against manufactured solutions (docs/verification.md).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "physics/heat/heat_diffusion.hpp"
#include "tests/convergence/mesh_families.hpp"
#include "tests/physics/analytic_function.hpp"

namespace curlew {
namespace {

using test::blocks;
using test::mesh_families;
using test::MeshFamily;

using std::numbers::pi;
constexpr Real conductivity = 2;  // [W/(m K)]
constexpr Real capacity = 3;      // [J/(m3 K)]
constexpr Real coefficient = 5;   // of convection [W/(m2 K)]
constexpr Real expected_order = 1.8;

/// T = e^-t product of sin(pi x_i + phase_i): neither it nor its normal derivative vanishes on any side.
class Manufactured {
 public:
  explicit Manufactured(int dimension) : dimension_(dimension) {}
  Real temperature(Vector3 x, Real t) const {
    return std::exp(-t) * factor(0, x.x) * factor(1, x.y) * (dimension_ == 3 ? factor(2, x.z) : 1);
  }
  Vector3 gradient(Vector3 x, Real t) const {
    const Real along_z = dimension_ == 3 ? factor(2, x.z) : 1;
    return {std::exp(-t) * slope(0, x.x) * factor(1, x.y) * along_z,
            std::exp(-t) * factor(0, x.x) * slope(1, x.y) * along_z,
            dimension_ == 3 ? std::exp(-t) * factor(0, x.x) * factor(1, x.y) * slope(2, x.z) : 0};
  }
  /// What the heat equation needs for this temperature [W/m3]; the steady one has no time derivative.
  Real source(Vector3 x, Real t, bool steady) const {
    return (conductivity * dimension_ * pi * pi - (steady ? 0 : capacity)) * temperature(x, t);
  }

 private:
  static constexpr std::array<Real, 3> phase{0.5, 0.9, 0.3};
  static Real factor(std::size_t i, Real x) { return std::sin(pi * x + phase[i]); }
  static Real slope(std::size_t i, Real x) { return pi * std::cos(pi * x + phase[i]); }
  int dimension_;
};

Vector3 outward_normal(const std::string& patch) {
  static const std::map<std::string, Vector3> normals{{"left", {-1, 0, 0}},   {"right", {1, 0, 0}},
                                                      {"bottom", {0, -1, 0}}, {"top", {0, 1, 0}},
                                                      {"back", {0, 0, -1}},   {"front", {0, 0, 1}}};
  return normals.at(patch);
}

/// All three kinds of boundary, each on a pair of sides: temperature left and back, flux right and top,
/// convection bottom and front.
HeatBoundary boundary_of(const std::string& patch, const Manufactured& exact) {
  const Vector3 normal = outward_normal(patch);
  const auto inflow = [=](Vector3 x, Real t) { return conductivity * dot(exact.gradient(x, t), normal); };
  if (patch == "right" || patch == "top") return HeatFlux{analytic(inflow)};
  if (patch == "bottom" || patch == "front") {
    return Convection{constant(coefficient), analytic([=](Vector3 x, Real t) {
                        return exact.temperature(x, t) + inflow(x, t) / coefficient;
                      })};
  }
  return FixedTemperature{analytic([=](Vector3 x, Real t) { return exact.temperature(x, t); })};
}

HeatSettings settings_for(const Mesh& mesh, FunctionPointer source,
                          const std::function<HeatBoundary(const std::string&)>& boundary) {
  HeatSettings settings;
  settings.materials = {{conductivity, capacity, std::move(source)}};
  for (const auto& patch : mesh.topology().patches()) settings.boundaries.push_back(boundary(patch.name));
  settings.solver.relative_tolerance = 1e-12;
  return settings;
}

/// L2 norm of the error of node values, by dual volumes.
Real error_of(const Mesh& mesh, const HeatDiffusion& heat, const std::function<Real(Vector3, Real)>& exact) {
  const std::vector<Real> temperature = heat.temperature().to_host();
  Real squares = 0, volume = 0;
  for (std::size_t n = 0; n < temperature.size(); ++n) {
    const Real error = temperature[n] - exact(mesh.geometry().node_positions()[n], heat.time());
    squares += mesh.geometry().node_volumes()[n] * error * error;
    volume += mesh.geometry().node_volumes()[n];
  }
  return std::sqrt(squares / volume);
}

/// Steady for `steps` of 0, else the error at the end of that many steps to `end`.
Real manufactured_error(const Mesh& mesh, int steps) {
  constexpr Real end = 0.25;
  const bool steady = steps == 0;
  const Manufactured exact(mesh.topology().dimension());
  const auto temperature = [=](Vector3 x, Real t) { return exact.temperature(x, t); };
  HeatDiffusion heat(
      Executor::serial(), mesh,
      settings_for(mesh, analytic([=](Vector3 x, Real t) { return exact.source(x, t, steady); }),
                   [&](const std::string& patch) { return boundary_of(patch, exact); }));
  if (steady) {
    heat.start(*constant(0), 0);
    heat.solve_steady();
  } else {
    heat.start(*analytic(temperature), 0);
    for (int k = 1; k <= steps; ++k) heat.advance_to(end * k / steps);
  }
  return error_of(mesh, heat, temperature);
}

/// Sizes of cells [m], each half the one before.
const std::vector<Real> planar{1.0 / 10, 1.0 / 20, 1.0 / 40};
const std::vector<Real> spatial{1.0 / 4, 1.0 / 8, 1.0 / 16};

class Convergence : public testing::TestWithParam<MeshFamily> {
 protected:
  /// Prints the table and returns the order observed on the last two meshes, by mean cell size.
  static Real order(const std::string& what, const std::function<Real(const Mesh&, Real h)>& error) {
    Real observed = 0, coarse_error = 0, coarse_size = 0;
    for (const Real h : GetParam().dimension == 2 ? planar : spatial) {
      const Mesh mesh(GetParam().mesh(h));
      const auto cells = static_cast<Real>(mesh.topology().cells().size());
      const Real size = std::pow(cells, -1.0 / mesh.topology().dimension());
      const Real fine_error = error(mesh, h);
      if (coarse_error > 0) observed = std::log(coarse_error / fine_error) / std::log(coarse_size / size);
      fmt::print("| {} | {} | {:.0f} | {:.4f} | {:.3e} | {} |\n", GetParam().name, what, cells, size,
                 fine_error, coarse_error > 0 ? fmt::format("{:.2f}", observed) : "");
      coarse_error = fine_error;
      coarse_size = size;
    }
    return observed;
  }
};

TEST_P(Convergence, steady) {
  EXPECT_GE(order("steady", [](const Mesh& mesh, Real) { return manufactured_error(mesh, 0); }),
            expected_order);
}

TEST_P(Convergence, transient) {
  const auto error = [](const Mesh& mesh, Real h) { return manufactured_error(mesh, blocks(h)); };
  EXPECT_GE(order("transient", error), expected_order);
}

INSTANTIATE_TEST_SUITE_P(Heat, Convergence, testing::ValuesIn(mesh_families()),
                         [](const auto& test) { return test.param.name; });

/// Error at t = 1 of T = x + e^-t, linear in space with a uniform source, and so free of any error but that
/// of the time steps. Held at the left, or cooled by a flux there; convection at the right.
Real time_error(const Mesh& mesh, HeatScheme scheme, bool held, int steps) {
  const auto exact = [](Vector3 x, Real t) { return x.x + std::exp(-t); };
  const auto boundary = [&](const std::string& patch) -> HeatBoundary {
    if (patch == "right") {
      return Convection{constant(coefficient), analytic([=](Vector3 x, Real t) {
                          return exact(x, t) + conductivity / coefficient;
                        })};
    }
    if (patch != "left") return Insulated{};
    if (held) return FixedTemperature{analytic(exact)};
    return HeatFlux{constant(-conductivity)};
  };
  HeatSettings settings =
      settings_for(mesh, analytic([](Vector3, Real t) { return -capacity * std::exp(-t); }), boundary);
  settings.scheme = scheme;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*analytic(exact), 0);
  for (int k = 1; k <= steps; ++k) heat.advance_to(static_cast<Real>(k) / steps);
  return error_of(mesh, heat, exact);
}

void expect_time_order(HeatScheme scheme, const std::string& name, Real expected) {
  const Mesh mesh(test::gmsh_mesh(2, 0.1));
  for (const bool held : {true, false}) {
    Real observed = 0, coarse_error = 0;
    for (const int steps : {8, 16, 32, 64}) {
      const Real error = time_error(mesh, scheme, held, steps);
      if (coarse_error > 0) observed = std::log2(coarse_error / error);
      fmt::print("| {} | {} | {} | {:.3e} | {} |\n", name, held ? "temperature" : "flux", steps, error,
                 coarse_error > 0 ? fmt::format("{:.2f}", observed) : "");
      coarse_error = error;
    }
    EXPECT_GE(observed, expected) << name;
  }
}

TEST(TimeConvergence, crank_nicolson) {
  expect_time_order(HeatScheme::CrankNicolson, "Crank-Nicolson", 1.8);
}
TEST(TimeConvergence, backward_euler) {
  expect_time_order(HeatScheme::BackwardEuler, "backward Euler", 0.9);
}

}  // namespace
}  // namespace curlew
