// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "physics/heat/heat_diffusion.hpp"
#include "tests/mesh/side_by_side.hpp"
#include "tests/physics/analytic_function.hpp"
#include "tests/physics/heat/heat_setup.hpp"

namespace curlew {
namespace {

TEST(HeatSolve, iterations_hardly_grow_with_the_mesh) {
  // On cubes all couplings are a twentieth of the diagonal: none of them may be taken for weak.
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron, CellType::Quadrilateral}) {
    for (const Index n : {8, 16, 32}) {
      const Mesh mesh(make_box(type, {n, n, is_planar(type) ? 0 : n}));
      HeatSettings settings = settings_for(mesh, material(1, 1, constant(1)), FixedTemperature{constant(0)});
      settings.solver.relative_tolerance = 1e-8;
      HeatDiffusion heat(Executor::serial(), mesh, settings);
      heat.start(*constant(0), 0);
      EXPECT_LE(heat.solve_steady().iterations, 13) << static_cast<int>(type) << ", " << n << " blocks";
    }
  }
}

/// Iterations of steady heat in a plate of 1 x 1/flatness or 1 x 1 x 1/flatness, each layer of cells `growth`
/// times as high as the one below.
int iterations_on_flat_cells(CellType type, Index n, Real flatness, Real growth) {
  const bool planar = is_planar(type);
  RawMesh raw = make_box(type, planar ? std::array<Index, 3>{2 * n, n, 0} : std::array<Index, 3>{n, n, n});
  for (Vector3& node : raw.nodes) {
    Real& height = planar ? node.y : node.z;
    const Real layers = static_cast<Real>(n);
    if (growth != 1)
      height = std::expm1(height * layers * std::log(growth)) / std::expm1(layers * std::log(growth));
    height /= flatness;
  }
  const Mesh mesh(raw);
  const auto source = std::make_shared<SteadyFunction>([flatness](Vector3 x, Real) {
    return std::sin(37 * x.x + 11 * flatness * (x.y + x.z)) * std::cos(91 * x.x);
  });
  HeatSettings settings = settings_for(mesh, material(1, 1, source), Insulated{});
  set_boundary(settings, mesh, "left", FixedTemperature{constant(0)});
  settings.solver.relative_tolerance = 1e-10;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(0), 0);
  return heat.solve_steady().iterations;
}

TEST(HeatSolve, iterations_hardly_grow_on_flat_cells) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Prism}) {
    for (const Real flatness : {3, 10, 100, 1000, 10000}) {
      for (const Index n : {8, 16, 24}) {
        const int iterations = iterations_on_flat_cells(type, n, flatness, 1);
        EXPECT_LE(iterations, flatness < 10000 ? 17 : 45)
            << static_cast<int>(type) << ", " << n << " blocks, " << flatness;
      }
    }
  }
}

TEST(HeatSolve, iterations_hardly_grow_where_flat_cells_grow_from_layer_to_layer) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Prism}) {
    for (const Real growth : {1.2, 1.6}) {
      for (const Index n : {8, 16}) {
        const int iterations = iterations_on_flat_cells(type, n, 100, growth);
        EXPECT_LE(iterations, 14) << static_cast<int>(type) << ", " << n << " blocks, " << growth;
      }
    }
  }
}

TEST(HeatSolve, finds_a_steady_level_that_little_convection_holds) {
  // A wall of width 1 with a source all over it that leaves on the left: T = 293 + S / h + S / k (x - x²/2).
  const Mesh mesh(make_box(CellType::Triangle, {20, 20, 0}));
  for (const Real biot : {1e-2, 1e-5, 1e-8}) {
    const Real k = 400, h = biot * k, source = 10 * h;
    HeatSettings settings = settings_for(mesh, material(k, 1, constant(source)), Insulated{});
    set_boundary(settings, mesh, "left", Convection{constant(h), constant(293)});
    for (const Real start : {0, 350}) {
      HeatDiffusion heat(Executor::serial(), mesh, settings);
      heat.start(*constant(start), 0);
      EXPECT_LE(heat.solve_steady().iterations, 30) << biot;
      EXPECT_LE(error_of(mesh, heat,
                         [&](Vector3 x) { return 293 + source / h + source / k * (x.x - x.x * x.x / 2); }),
                1e-3 * source / k + 1e-6)
          << biot << " from " << start;
    }
  }
}

TEST(HeatSolve, heats_a_film_whose_conduction_is_beyond_the_rounding_of_its_temperature) {
  // Silicon, 1 mm long and 10 nm thick, 1 kW/m2 through one end for 10 s: the mean rises by q t / (rho c L).
  const Mesh mesh(make_box(CellType::Quadrilateral, {50, 4, 0}, {1e-3, 1e-8, 1}));
  const Real capacity = 2330 * 700, rise = 1000 * 10 / (capacity * 1e-3);
  for (const Preconditioning preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
    HeatSettings settings = settings_for(mesh, material(150, capacity), Insulated{});
    settings.solver.relative_tolerance = 1e-10;
    settings.preconditioning = preconditioning;
    set_boundary(settings, mesh, "left", HeatFlux{constant(1000)});
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(300), 0);
    for (int step = 1; step <= 10; ++step) {
      heat.advance_to(step);
      EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-6 * heat.balance().throughput());
    }
    Real mean = 0;
    for (const Real t : heat.temperature().to_host())
      mean += (t - 300) / static_cast<Real>(heat.temperature().size());
    EXPECT_NEAR(mean, rise, 1e-3 * rise);
  }
}

/// A copper film of four layers, held at 400 K, on 0.1 m of an insulator, below which air is at 300 K. What
/// the film could conduct to nodes at 300 K is 8e8 to 8e10 times what flows through it in the end.
class HeldFilm : public testing::TestWithParam<Real> {
 protected:
  static Mesh mesh() {
    constexpr Index below = 20, layers = 4;
    RawMesh raw = make_box(CellType::Quadrilateral, {2, below + layers, 0});
    for (Vector3& x : raw.nodes) {
      const Real layer = std::round(x.y * (below + layers));
      x.y =
          0.1 * std::min<Real>(layer, below) / below + GetParam() * std::max<Real>(layer - below, 0) / layers;
    }
    raw.region_names = {"insulator", "copper"};
    for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
      const auto corners = std::span(raw.cell_nodes).subspan(4 * c, 4);
      raw.cell_region[c] =
          std::ranges::all_of(corners, [&](Index n) { return raw.nodes[at(n)].y > 0.1 - 1e-12; }) ? 1 : 0;
    }
    return Mesh(raw);
  }
  static HeatSettings settings(const Mesh& mesh) {
    HeatSettings settings = settings_for(mesh, material(0.02, 1e4), Insulated{});
    settings.materials[1] = material(400, 3.6e6);
    set_boundary(settings, mesh, "top", FixedTemperature{constant(400)});
    set_boundary(settings, mesh, "bottom", Convection{constant(10), constant(300)});
    settings.solver.relative_tolerance = 1e-10;
    return settings;
  }
  /// Through the insulator and into the air; the film's own resistance is less than 1e-9 of it [W/m].
  static constexpr Real flow = 100 / (0.1 / 0.02 + 1 / 10.);
  static void expect_flow(const Mesh& mesh, const HeatDiffusion& heat) {
    for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
      const std::string& name = mesh.topology().patches()[p].name;
      const Real expected = name == "top" ? -flow : name == "bottom" ? flow : 0;
      EXPECT_NEAR(heat.balance().outflow[p], expected, 1e-4 * flow) << name;
    }
  }
};

TEST_P(HeldFilm, conducts_in_the_steady_state_what_the_rest_takes) {
  const Mesh mesh = HeldFilm::mesh();
  for (const Preconditioning preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
    HeatSettings settings = HeldFilm::settings(mesh);
    settings.preconditioning = preconditioning;
    // Heat flows along the film, too, on balance none.
    set_boundary(settings, mesh, "top", FixedTemperature{analytic([](Vector3 x, Real) {
                   return 400 + 100 * std::cos(std::numbers::pi * x.x);
                 })});
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(300), 0);
    heat.solve_steady();
    expect_flow(mesh, heat);
  }
}

TEST_P(HeldFilm, loses_no_heat_in_steps) {
  const Mesh mesh = HeldFilm::mesh();
  for (const HeatScheme scheme : {HeatScheme::BackwardEuler, HeatScheme::CrankNicolson}) {
    HeatSettings settings = HeldFilm::settings(mesh);
    settings.scheme = scheme;
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(300), 0);
    for (int k = 1; k <= 100; ++k) {
      heat.advance_to(1000 * k);
      EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-3 * flow) << k;
    }
    expect_flow(mesh, heat);  // after 190 times as long as the slowest share takes to decay to 1/e
  }
}

INSTANTIATE_TEST_SUITE_P(Thicknesses, HeldFilm, testing::Values(1e-5, 1e-6, 1e-7));

TEST(HeatSolve, what_a_heavy_body_lets_solves_leave_of_a_light_one_adds_up) {
  // Metal with a steady flow of heat from left to right, beside insulated air that is heated: what a step
  // warms the air by is less than the tolerance, of all that a uniform temperature lacks, leaves.
  const RawMesh box = make_box(CellType::Quadrilateral, {4, 4, 0});
  RawMesh raw = side_by_side(box, box, {2, 0, 0}, "air ");
  raw.region_names.push_back("air");
  for (std::size_t c = box.cell_types.size(); c < raw.cell_types.size(); ++c) raw.cell_region[c] = 1;
  const Mesh mesh(raw);
  for (const HeatScheme scheme : {HeatScheme::BackwardEuler, HeatScheme::CrankNicolson}) {
    for (const Real step : {1e-2, 1e-3}) {
      HeatSettings settings = settings_for(mesh, material(50, 1e6), Insulated{});
      settings.materials[1] = material(0.025, 1000, constant(1000));
      settings.scheme = scheme;
      settings.solver.relative_tolerance = 1e-8;
      set_boundary(settings, mesh, "left", FixedTemperature{constant(1300)});
      set_boundary(settings, mesh, "right", FixedTemperature{constant(300)});
      HeatDiffusion heat(Executor::serial(), mesh, settings);
      heat.start(*analytic([](Vector3 x, Real) { return x.x < 1.5 ? 1300 - 1000 * x.x : 300; }), 0);
      const int steps = 1000;
      for (int k = 1; k <= steps; ++k) heat.advance_to(k * step);
      const Real rise = steps * step;
      Real mean = 0, volume = 0;
      const std::vector<Real> temperature = heat.temperature().to_host();
      for (std::size_t n = 0; n < temperature.size(); ++n) {
        if (mesh.geometry().node_positions()[n].x < 1.5) continue;
        mean += mesh.geometry().node_volumes()[n] * (temperature[n] - 300);
        volume += mesh.geometry().node_volumes()[n];
      }
      // The tolerance times the heat of the metal over what the air stores for a kelvin.
      EXPECT_NEAR(mean / volume, rise, 1e-8 * 1e6 * 500 / 1000) << step;
    }
  }
}

TEST(HeatSolve, takes_steps_of_no_length_to_speak_of) {
  const Mesh mesh(make_box(CellType::Triangle, {4, 4, 0}));
  HeatSettings settings = settings_for(mesh, material(1, 1), Insulated{});
  set_boundary(settings, mesh, "left", HeatFlux{constant(1)});
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(300), 0);
  heat.advance_to(1e-40);
  EXPECT_LE(error_of(mesh, heat, [](Vector3) { return 300; }), 1e-12);
}

TEST(HeatSolve, takes_steps_much_longer_than_an_insulated_body_needs_to_level_out) {
  for (const CellType type : {CellType::Triangle, CellType::Hexahedron}) {
    const Index n = type == CellType::Triangle ? 20 : 8;
    const Mesh mesh(make_box(type, {n, n, type == CellType::Triangle ? 0 : n}));
    for (const HeatScheme scheme : {HeatScheme::BackwardEuler, HeatScheme::CrankNicolson}) {
      for (const Real step : {1e4, 1e7, 1e10}) {
        HeatSettings settings = settings_for(mesh, material(1, 1, constant(1 / step)), Insulated{});
        settings.scheme = scheme;
        settings.solver.relative_tolerance = 1e-10;
        HeatDiffusion heat(Executor::serial(), mesh, settings);
        heat.start(*analytic([](Vector3 x, Real) { return 300 + x.x; }), 0);
        EXPECT_LE(heat.advance_to(step).iterations, 120) << step;  // of two half steps
        EXPECT_LE(error_of(mesh, heat, [](Vector3) { return 301.5; }), 1e-5) << step;
      }
    }
  }
}

TEST(HeatSolve, refuses_a_steady_state_that_cannot_be) {
  const Mesh mesh(make_box(CellType::Triangle, {4, 4, 0}));
  HeatDiffusion heat(Executor::serial(), mesh, settings_for(mesh, material(1, 1, constant(5)), Insulated{}));
  heat.start(*constant(300), 0);
  EXPECT_THROW(heat.solve_steady(), InputError);
  HeatDiffusion cooled(Executor::serial(), mesh,
                       settings_for(mesh, material(1, 1), Convection{constant(-5), constant(280)}));
  EXPECT_THROW(cooled.start(*constant(300), 0), InputError);
}

TEST(HeatSolve, a_solve_that_cannot_converge_is_an_error_that_names_the_field) {
  const Mesh mesh(make_box(CellType::Triangle, {16, 16, 0}));
  HeatSettings settings =
      settings_for(mesh, material(1, 1),
                   FixedTemperature{analytic([](Vector3 x, Real) { return std::sin(9 * x.x) * x.y; })});
  settings.solver.max_iterations = 3;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(0), 0);
  try {
    heat.solve_steady();
    FAIL();
  } catch (const DivergedError& error) {
    EXPECT_NE(std::string(error.what()).find("temperature"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("3 iterations"), std::string::npos);
  }
}

TEST(HeatSolve, goes_on_with_a_preconditioner_of_earlier_convection_no_longer_than_it_is_good) {
  // A plate cooled at its edge; from hardly any convection to so much that it holds the edge.
  const Mesh mesh(make_box(CellType::Triangle, {24, 24, 0}));
  const auto coefficient = [](Real t) { return 1e-2 * std::pow(1.3, t); };
  HeatSettings settings =
      settings_for(mesh, material(1, 1e-3, constant(1)),
                   Convection{analytic([&](Vector3, Real t) { return coefficient(t); }), constant(290)});
  settings.scheme = HeatScheme::BackwardEuler;
  settings.preconditioning = Preconditioning::Multigrid;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(300), 0);
  int iterations = 0, with_a_new_one = 0;
  for (int step = 1; step <= 40; ++step) {
    RunState state = heat.state();
    // Without what guesses and preconditioners are made of.
    state.arrays.erase(guess_prefix + "preconditioner_convection");
    std::erase_if(state.numbers, [](const auto& entry) { return entry.first.starts_with(guess_prefix); });
    std::erase_if(state.singles, [](const auto& entry) { return entry.first.starts_with(guess_prefix); });
    HeatDiffusion anew(Executor::serial(), mesh, settings);
    anew.resume(state);
    iterations += heat.advance_to(step).iterations;
    with_a_new_one += anew.advance_to(step).iterations;
  }
  EXPECT_LE(iterations, 1.2 * with_a_new_one);
  EXPECT_GE(with_a_new_one, 40);
}

}  // namespace
}  // namespace curlew
