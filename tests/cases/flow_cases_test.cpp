// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The flow cases on coarse meshes, by the classical and by the exact step; flow_cases_slow_test.cpp has the
// finer ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "tests/cases/flow_cases.hpp"

namespace curlew::test {
namespace {

using std::numbers::pi;

/// A parameter of its own beside the method.
template <class T>
using ByMethod = testing::TestWithParam<std::tuple<T, std::string>>;
const auto method_name = [](const auto& test) { return test.param; };
/// Names a test by its cells, the first of two being a text, and the method.
auto named(std::string first, std::string second) {
  return [=](const auto& test) { return (test.index < 2 ? first : second) + "_" + std::get<1>(test.param); };
}

double order(double coarse, double fine) {
  return std::log2(coarse / fine);
}

// --- lid-driven cavity ------------------------------------------------------------------------------------

struct Cavity {
  std::string case_name, recipe, definitions, column;
  double band;
};
void PrintTo(const Cavity& cavity, std::ostream* out) {
  *out << cavity.case_name << ' ' << cavity.recipe;
}

class CoarseCavity : public ByMethod<Cavity> {};

TEST_P(CoarseCavity, is_near_ghia) {
  const auto& [cavity, method] = GetParam();
  const Recipe mesh("cavity/" + cavity.recipe, cavity.definitions);
  const FlowRun run(method, "cavity/" + cavity.case_name, {mesh.change(), "time.tolerance=1e-3"});
  EXPECT_LE(largest_deviation(final_line(run, "u"), "velocity_x", reference("cavity", "ghia_u"),
                              cavity.column, "y"),
            cavity.band);
  EXPECT_LE(largest_deviation(final_line(run, "v"), "velocity_y", reference("cavity", "ghia_v"),
                              cavity.column, "x"),
            cavity.band);
  // Nothing holds the fluid but its walls.
  const double drag = run.last("forces", "viscous_x");
  EXPECT_LE(std::abs(run.last("forces", "fx")), 1e-4 * std::abs(drag));
  // Nor does anything turn it, but for what the ends of the lid leave on a coarse mesh.
  EXPECT_LE(std::abs(run.last("forces", "mz")), 0.01 * std::abs(drag));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CoarseCavity,
    testing::Combine(testing::Values(Cavity{"re100", "quads", "n = 24;", "re100", 0.012},
                                     Cavity{"re100", "triangles", "n = 16;", "re100", 0.065},
                                     Cavity{"re400", "quads", "n = 24;", "re400", 0.03},
                                     Cavity{"re400", "triangles", "n = 24;", "re400", 0.075}),
                     flow_methods()),
    [](const auto& test) {
      const Cavity& cavity = std::get<0>(test.param);
      return cavity.case_name + "_" + cavity.recipe + "_" + std::get<1>(test.param);
    });

// --- Poiseuille -------------------------------------------------------------------------------------------

std::pair<double, double> parabola(double, double y) {
  return {4 * y * (1 - y), 0};
}

/// What the pressure drop of 0.8 Pa/m takes over a length of 2 m and a height of 1 m.
constexpr double channel_drag = 1.6;

struct ChannelRun {
  ChannelRun(const std::string& method, const std::string& name, int n)
      : mesh("poiseuille/channel", "n = " + std::to_string(n) + ";"),
        run(method, "poiseuille/" + name, {mesh.change()}) {}
  double error() const { return velocity_error(final_line(run, "across"), parabola); }
  double drag_error() const { return std::abs(run.last("walls", "fx") / channel_drag - 1); }

  Recipe mesh;
  FlowRun run;
};

class Poiseuille : public testing::TestWithParam<std::string> {};

TEST_P(Poiseuille, channel_with_inlet_and_outlet_is_of_second_order) {
  const ChannelRun coarse(GetParam(), "inflow", 6), fine(GetParam(), "inflow", 12);
  EXPECT_LE(fine.error(), 0.01);
  EXPECT_GE(order(coarse.error(), fine.error()), 1.8);
  EXPECT_LE(fine.drag_error(), 0.017);
  EXPECT_GE(order(coarse.drag_error(), fine.drag_error()), 1.7);
  EXPECT_NEAR(fine.run.last("flow", "total"), 0, 1e-6);
  EXPECT_NEAR(fine.run.last("flow", "outlet"), 2. / 3, 1e-6);
  // Away from the ends the pressure falls evenly.
  const Table axis = final_line(fine.run, "along");
  EXPECT_NEAR((axis.at("pressure")[10] - axis.at("pressure")[30]) / (axis.at("x")[30] - axis.at("x")[10]),
              0.8, 0.02);
}

TEST_P(Poiseuille, periodic_channel_is_of_second_order) {
  const ChannelRun coarse(GetParam(), "periodic", 6), fine(GetParam(), "periodic", 12);
  EXPECT_LE(fine.error(), 0.01);
  EXPECT_GE(order(coarse.error(), fine.error()), 1.8);
  EXPECT_LE(fine.drag_error(), 0.014);
  EXPECT_GE(order(coarse.drag_error(), fine.drag_error()), 1.7);
}

INSTANTIATE_TEST_SUITE_P(Methods, Poiseuille, flow_methods(), method_name);

class SquareDuct : public ByMethod<std::string> {};

TEST_P(SquareDuct, is_of_second_order) {
  const auto& [cells, method] = GetParam();
  // Force on the walls: mu u_mean / (0.0351442537 a²), over the volume of the quarter.
  constexpr double peak = 2.096256015, drag = 0.1 / 0.0351442537 * 0.25 * 0.125;
  double peak_error[2], drag_error[2];
  for (const int k : {0, 1}) {
    const Recipe mesh("poiseuille/duct", (k == 0 ? "n = 8; " : "n = 16; ") + cells);
    const FlowRun run(method, "poiseuille/duct", {mesh.change()});
    peak_error[k] = std::abs(run.last("centre", "p0_velocity_x") / peak - 1);
    drag_error[k] = std::abs(run.last("walls", "fx") / drag - 1);
  }
  EXPECT_LE(peak_error[1], 0.003);
  EXPECT_LE(drag_error[1], 0.005);
  EXPECT_GE(order(peak_error[0], peak_error[1]), 1.75);
  EXPECT_GE(order(drag_error[0], drag_error[1]), 1.75);
}

INSTANTIATE_TEST_SUITE_P(Cells, SquareDuct,
                         testing::Combine(testing::Values("hexahedra = 1;", "hexahedra = 0;"),
                                          flow_methods()),
                         named("hexahedra", "prisms"));

// --- Couette ----------------------------------------------------------------------------------------------

std::pair<double, double> couette(double x, double y) {
  const double rate = -1. / 3 + 4. / 3 / (x * x + y * y);  // A + B / r²
  return {-rate * y, rate * x};
}

class Couette : public ByMethod<std::string> {};

TEST_P(Couette, velocity_and_torque_are_of_second_order) {
  const auto& [recipe, method] = GetParam();
  constexpr double torque = 4 * pi * 0.1 * 4 / 3;  // 4 pi mu Omega R1² R2² / (R2² - R1²)
  double error[2], torque_error[2];
  for (const int k : {0, 1}) {
    const Recipe mesh("couette/" + recipe, k == 0 ? "n = 6;" : "n = 12;");
    const FlowRun run(method, "couette/couette", {mesh.change(), "time.tolerance=1e-4"});
    error[k] = std::hypot(velocity_error(final_line(run, "ray"), couette),
                          velocity_error(final_line(run, "diagonal"), couette));
    if (k == 1) {  // the flow round the annulus, of which no curl of a streamfunction knows
      const Table ray = final_line(run, "ray");
      const double r = 1.5, circulation = 2 * pi * r * interpolate(ray.at("x"), ray.at("velocity_y"), r);
      EXPECT_NEAR(circulation / (2 * pi * r * couette(r, 0).second), 1, 0.01);
    }
    torque_error[k] = std::abs(run.last("inner", "mz") / -torque - 1);
    // What the inner cylinder puts in, the outer one takes.
    EXPECT_NEAR(run.last("outer", "mz"), -run.last("inner", "mz"), 5e-4 * torque);
  }
  EXPECT_LE(error[1], 0.007);
  EXPECT_GE(order(error[0], error[1]), 1.6);
  EXPECT_LE(torque_error[1], 0.004);
  EXPECT_GE(order(torque_error[0], torque_error[1]), 1.6);
}

INSTANTIATE_TEST_SUITE_P(Cells, Couette,
                         testing::Combine(testing::Values("quads", "triangles"), flow_methods()),
                         named("quads", "triangles"));

// --- Taylor-Green -----------------------------------------------------------------------------------------

class TaylorGreen : public ByMethod<std::string> {};

TEST_P(TaylorGreen, energy_decays) {
  const auto& [cells, method] = GetParam();
  double error[2];
  for (const int k : {0, 1}) {
    const Recipe mesh("taylor-green/square", (k == 0 ? "n = 16; " : "n = 32; ") + cells);
    const FlowRun run(method, "taylor-green/decay", {mesh.change()});
    const std::vector<double> energy = run.read("energy").at("kinetic_energy");
    EXPECT_NEAR(energy.front(), pi * pi, k == 0 ? 0.2 : 0.05);
    error[k] = std::abs(std::log(energy.front() / energy.back()) / (4 * 0.05 * 2) - 1);
  }
  EXPECT_LE(error[1], 0.015);
  EXPECT_GE(order(error[0], error[1]), 1.6);
}

TEST_P(TaylorGreen, energy_stays_without_viscosity) {
  const auto& [cells, method] = GetParam();
  const Recipe mesh("taylor-green/square", "n = 16; " + cells);
  // Only the steps in time may change it, at their order.
  double drift[2];
  for (const int k : {0, 1}) {
    const FlowRun run(method, "taylor-green/inviscid",
                      {mesh.change(), k == 0 ? "time.step=0.04" : "time.step=0.02"});
    const std::vector<double> energy = run.read("energy").at("kinetic_energy");
    drift[k] = std::abs(energy.back() / energy.front() - 1);
    EXPECT_NEAR(energy.front(), 1.25 * pi * pi, 0.4);
  }
  EXPECT_LE(drift[1], 5e-5);
  EXPECT_GE(order(drift[0], drift[1]), 1.7);
}

INSTANTIATE_TEST_SUITE_P(Cells, TaylorGreen,
                         testing::Combine(testing::Values("triangles = 1;", "triangles = 0;"),
                                          flow_methods()),
                         named("triangles", "quads"));

TEST(TaylorGreenWithoutViscosity, keeps_its_energy_to_round_off_by_the_exact_midpoint_rule) {
  const Recipe mesh("taylor-green/square", "n = 16; triangles = 1;");
  const FlowRun run("exact", "taylor-green/inviscid",
                    {mesh.change(), "model.scheme=\"midpoint\"", "solver.streamfunction.tolerance=1e-14",
                     "solver.momentum.tolerance=1e-14"});
  const std::vector<double> energy = run.read("energy").at("kinetic_energy");
  EXPECT_EQ(energy.size(), 101);
  for (const double now : energy) EXPECT_NEAR(now / energy.front(), 1, 2e-12);
}

/// Largest difference of the volume means of energy and dissipation from those of the spectral solution up to
/// `end`.
void compare_with_spectral(const CaseRun& run, double end, double energy_band, double dissipation_band) {
  const Table expected = reference("taylor-green", "re1600"), energy = run.read("energy");
  const double volume = std::pow(2 * pi, 3);
  for (std::size_t row = 0; row < expected.at("t").size() && expected.at("t")[row] <= end; ++row) {
    const double t = expected.at("t")[row];
    const auto mean = [&](const char* column) {
      return interpolate(energy.at("time"), energy.at(column), t) / volume;
    };
    EXPECT_NEAR(mean("kinetic_energy") / expected.at("energy")[row], 1, energy_band) << t;
    EXPECT_NEAR(mean("dissipation") / expected.at("dissipation")[row], 1, dissipation_band) << t;
  }
}

class TaylorGreenInSpace : public testing::TestWithParam<std::string> {};

TEST_P(TaylorGreenInSpace, re1600_begins_as_the_spectral_solution) {
  const Recipe mesh("taylor-green/cube", "n = 20;");
  compare_with_spectral(
      FlowRun(GetParam(), "taylor-green/re1600", {mesh.change(), "time.end=2", "output.interval=2"}), 2, 0.03,
      0.22);
}

INSTANTIATE_TEST_SUITE_P(Methods, TaylorGreenInSpace, flow_methods(), method_name);

// --- Kovasznay --------------------------------------------------------------------------------------------

std::pair<double, double> kovasznay(double x, double y) {
  constexpr double rate = -0.9637405442;
  const double wave = std::exp(rate * x);
  return {1 - wave * std::cos(2 * pi * y), rate / (2 * pi) * wave * std::sin(2 * pi * y)};
}

class Kovasznay : public ByMethod<std::string> {};

TEST_P(Kovasznay, is_of_second_order) {
  const auto& [cells, method] = GetParam();
  double error[2];
  for (const int k : {0, 1}) {
    const Recipe mesh("kovasznay/kovasznay", (k == 0 ? "n = 8; " : "n = 16; ") + cells);
    const FlowRun run(method, "kovasznay/kovasznay", {mesh.change()});
    error[k] = std::hypot(velocity_error(final_line(run, "across"), kovasznay),
                          velocity_error(final_line(run, "along"), kovasznay));
  }
  EXPECT_LE(error[1], 0.03);
  EXPECT_GE(order(error[0], error[1]), 1.5);
}

INSTANTIATE_TEST_SUITE_P(Cells, Kovasznay,
                         testing::Combine(testing::Values("triangles = 1;", "triangles = 0;"),
                                          flow_methods()),
                         named("triangles", "quads"));

// --- the exact step in every case -------------------------------------------------------------------------

struct AnyCase {
  std::string name, recipe, definitions;
  std::vector<std::string> changes;
  friend void PrintTo(const AnyCase& any, std::ostream* out) { *out << any.name; }
};

class EveryCase : public testing::TestWithParam<std::tuple<AnyCase, std::string>> {};

TEST_P(EveryCase, has_no_divergence_whatever_the_tolerance) {
  const auto& [any, tolerance] = GetParam();
  std::vector<std::string> changes = any.changes;
  changes.push_back("solver.streamfunction.tolerance=" + tolerance);
  std::optional<Recipe> mesh;
  if (!any.recipe.empty()) changes.push_back(mesh.emplace(any.recipe, any.definitions).change());
  const FlowRun run("exact", any.name, changes, 1, 4);
  // The tolerance is heeded: residuals are below it, and not all far below.
  const std::vector<double> left = run.read("residuals").at("streamfunction_residual");
  EXPECT_LE(*std::ranges::max_element(left), std::stod(tolerance));
  if (tolerance == "1e-2") {
    EXPECT_GE(*std::ranges::max_element(left), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, EveryCase,
    testing::Combine(
        testing::Values(AnyCase{"cavity/re100", "cavity/triangles", "n = 10;", {}},
                        AnyCase{"cavity/re400", "cavity/quads", "n = 10;", {}},
                        AnyCase{"cavity/re1000", "cavity/triangles", "n = 10;", {}},
                        AnyCase{"poiseuille/inflow", "poiseuille/channel", "n = 6;", {}},
                        AnyCase{"poiseuille/periodic", "poiseuille/channel", "n = 6;", {}},
                        AnyCase{"poiseuille/duct", "poiseuille/duct", "n = 8; hexahedra = 0;", {}},
                        AnyCase{"couette/couette", "couette/triangles", "n = 5;", {}},
                        AnyCase{"taylor-green/decay", "taylor-green/square", "n = 8;", {}},
                        AnyCase{"taylor-green/inviscid", "taylor-green/square", "n = 8;", {}},
                        AnyCase{"taylor-green/re1600", "taylor-green/cube", "n = 6;", {}},
                        AnyCase{"kovasznay/kovasznay", "kovasznay/kovasznay", "n = 8;", {}},
                        AnyCase{"cylinder/steady", "", "", {"mesh.file=\"cylinder_coarse.geo\""}},
                        AnyCase{"cylinder/shedding", "", "", {"mesh.file=\"cylinder_coarse.geo\""}},
                        AnyCase{"cylinder/steady_3d", "cylinder/cylinder_3d", "n = 2;", {}},
                        AnyCase{"crankshaft/flow", "", "", {"mesh.size=0.03"}}),
        testing::Values("1e-2", "1e-6", "1e-11")),
    [](const auto& test) {
      std::string name = std::get<0>(test.param).name;
      std::ranges::replace_if(
          name, [](char c) { return c == '/' || c == '-'; }, '_');
      return name + "_" + std::get<1>(test.param).substr(3);
    });

}  // namespace
}  // namespace curlew::test
