// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_diffusion.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "kernels/memory_use.hpp"
#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/operators/operator_matrix.hpp"
#include "tests/physics/analytic_function.hpp"
#include "tests/physics/heat/heat_setup.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

// --- the operator
// -------------------------------------------------------------------------------------------------

/// Linear finite-element stiffness matrix by the textbook: gradients of barycentric coordinates from the
/// inverse of the matrix of corner coordinates.
Eigen::SparseMatrix<Real> finite_element_stiffness(const Mesh& mesh, const std::vector<Real>& conductivity) {
  const Topology& t = mesh.topology();
  const int d = t.dimension();
  std::vector<Eigen::Triplet<Real>> entries;
  for (const Id<Cell> c : t.cells()) {
    const auto nodes = t.nodes_of_cell()[c];
    Eigen::MatrixXd corners(d + 1, d + 1);
    for (int i = 0; i <= d; ++i) {
      const Vector3 x = mesh.geometry().node_positions()[at(nodes[i].id.value())];
      corners(i, 0) = 1;
      corners(i, 1) = x.x;
      corners(i, 2) = x.y;
      if (d == 3) corners(i, 3) = x.z;
    }
    const Real volume = std::abs(corners.determinant()) / (d == 2 ? 2 : 6);
    const Eigen::MatrixXd gradients = corners.inverse().bottomRows(d);
    const Eigen::MatrixXd k = conductivity[at(c.value())] * volume * gradients.transpose() * gradients;
    for (int i = 0; i <= d; ++i) {
      for (int j = 0; j <= d; ++j) entries.emplace_back(nodes[i].id.value(), nodes[j].id.value(), k(i, j));
    }
  }
  Eigen::SparseMatrix<Real> matrix(t.nodes().size(), t.nodes().size());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

std::vector<Real> varying_conductivity(const Mesh& mesh) {
  std::vector<Real> conductivity(at(mesh.topology().cells().size()));
  for (std::size_t c = 0; c < conductivity.size(); ++c) conductivity[c] = 1 + static_cast<Real>(c % 7);
  return conductivity;
}

class OnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Topology& t_ = mesh_.topology();
};

TEST_P(OnShelf, diffusion_is_the_finite_element_stiffness_on_simplices) {
  if (!is_simplex(t_.cell_type(Id<Cell>(0))) || GetParam().name == "mixed_plane") return;
  const std::vector<Real> conductivity = varying_conductivity(mesh_);
  const Eigen::MatrixXd expected = finite_element_stiffness(mesh_, conductivity);
  const NodeDiffusion diffusion(Executor::serial(), mesh_, conductivity);
  EXPECT_LE((matrix_of(diffusion, t_.nodes().size(), t_.nodes().size()) - expected).cwiseAbs().maxCoeff(),
            1e-12 * expected.cwiseAbs().maxCoeff());
}

TEST_P(OnShelf, diffusion_is_symmetric_and_sees_everything_but_constants) {
  const NodeDiffusion diffusion(Executor::serial(), mesh_, varying_conductivity(mesh_));
  const Eigen::MatrixXd k = matrix_of(diffusion, t_.nodes().size(), t_.nodes().size());
  const Real size = k.cwiseAbs().maxCoeff();
  EXPECT_LE((k - k.transpose()).cwiseAbs().maxCoeff(), 1e-14 * size);
  EXPECT_LE(k.rowwise().sum().cwiseAbs().maxCoeff(), 1e-13 * size);
  const Eigen::VectorXd values = eigenvalues(k);
  EXPECT_NEAR(values(0), 0, 1e-12 * size);
  EXPECT_GT(values(1), 1e-6 * size);
  const std::vector<Real> diagonal = diffusion.matrix().diagonal;
  for (Index n = 0; n < t_.nodes().size(); ++n) EXPECT_NEAR(diagonal[at(n)], k(n, n), 1e-13 * size);
}

TEST_P(OnShelf, diffusion_has_the_same_bits_on_every_backend) {
  const auto result = [&](const Executor& executor) {
    const NodeDiffusion diffusion(executor, mesh_, varying_conductivity(mesh_));
    PrimalCochain<Node> x(executor, t_.nodes().size(), "x", "K");
    std::vector<Real> values(at(x.size()));
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::sin(static_cast<Real>(n));
    x.copy_from_host(values);
    DualCochain<Node> y(executor, x.size(), "y", "W");
    diffusion.apply(x, y);
    return y.to_host();
  };
  const std::vector<Real> expected = result(Executor::serial());
  for (const Executor& executor : backends_beside_serial()) {
    EXPECT_EQ(result(executor), expected);
  }
}

TEST_P(OnShelf, a_linear_temperature_is_reproduced_to_round_off) {
  const auto exact = [](Vector3 x) { return 300 + 2 * x.x - 3 * x.y + (x.z != 0 ? x.z : 0); };
  HeatSettings settings = settings_for(mesh_, material(2, 1), Insulated{});
  settings.boundaries.assign(t_.patches().size(),
                             FixedTemperature{analytic([&](Vector3 x, Real) { return exact(x); })});
  HeatDiffusion heat(Executor::serial(), mesh_, settings);
  heat.start(*constant(300), 0);
  heat.solve_steady();
  EXPECT_LE(error_of(mesh_, heat, exact), 1e-12 * 300);
}

TEST_P(OnShelf, heat_in_less_heat_out_is_heat_stored) {
  for (const HeatScheme scheme : {HeatScheme::BackwardEuler, HeatScheme::CrankNicolson}) {
    HeatSettings settings =
        settings_for(mesh_, material(2, 3, analytic([](Vector3 x, Real t) { return 10 * x.x + t; })),
                     Convection{analytic([](Vector3, Real t) { return 5 + t; }), constant(280)});
    settings.scheme = scheme;
    if (t_.patches().size() > 2) {
      settings.boundaries[0] =
          FixedTemperature{analytic([](Vector3 x, Real t) { return 300 + 5 * x.y + 100 * t; })};
      settings.boundaries[1] = HeatFlux{analytic([](Vector3 x, Real t) { return 7 * x.y * t; })};
    }
    HeatDiffusion heat(Executor::openmp(2), mesh_, settings);
    heat.start(*analytic([](Vector3 x, Real) { return 300 + x.x; }), 0);
    for (int step = 1; step <= 4; ++step) {
      heat.advance_to(0.01 * step);
      EXPECT_GT(heat.balance().throughput(), 0);
      EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-9 * heat.balance().throughput()) << "step " << step;
    }
    heat.solve_steady();
    EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-9 * heat.balance().throughput());
    EXPECT_EQ(heat.balance().stored, 0);
  }
}

/// Temperatures and heat flows after two steps.
std::vector<Real> short_run(const Executor& executor, const Mesh& mesh) {
  HeatDiffusion heat(executor, mesh,
                     settings_for(mesh, material(2, 3), Convection{constant(5), constant(280)}));
  heat.start(*analytic([](Vector3 x, Real) { return 300 + x.x; }), 0);
  heat.advance_to(0.1);
  heat.advance_to(0.2);
  std::vector<Real> values = heat.temperature().to_host();
  values.insert(values.end(), heat.balance().outflow.begin(), heat.balance().outflow.end());
  return values;
}

TEST_P(OnShelf, a_whole_run_has_the_same_bits_on_every_backend) {
  const std::vector<Real> expected = short_run(Executor::serial(), mesh_);
  for (const Executor& executor : backends_beside_serial()) {
    EXPECT_EQ(short_run(executor, mesh_), expected) << executor.name();
  }
}

TEST(HeatDiffusion, a_whole_run_has_the_same_bits_on_a_mesh_large_enough_for_threads) {
  const Mesh mesh(make_box(CellType::Hexahedron, {20, 20, 20}));
  ASSERT_GT(mesh.topology().nodes().size(), 2 * OpenMP::smallest_parallel_range);
  const std::vector<Real> expected = short_run(Executor::serial(), mesh);
  for (const Executor& executor : backends_beside_serial()) {
    EXPECT_EQ(short_run(executor, mesh), expected) << executor.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

/// Conductances of a cell that is a rectangle of the given sides, as (b/a) and (a/b) times patterns.
TEST(NodeDiffusion, is_bilinear_finite_elements_on_a_rectangle_unless_it_is_flat) {
  const Real b = 0.5;
  for (const Real a : {0.6, 2.}) {
    const Mesh mesh(make_box(CellType::Quadrilateral, {1, 1, 0}, {a, b, 1}), CellOrder::AsRead);
    const std::vector<Real> one{1};
    const Eigen::MatrixXd k = matrix_of(NodeDiffusion(Executor::serial(), mesh, one), 4, 4);
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        const Vector3 p = mesh.geometry().node_positions()[at(i)],
                      q = mesh.geometry().node_positions()[at(j)];
        const bool same_x = p.x == q.x, same_y = p.y == q.y;
        if (a < 1) {  // the textbook's
          const Real along_x = b / (6 * a) * (same_x ? 1 : -1) * (same_y ? 2 : 1);
          const Real along_y = a / (6 * b) * (same_y ? 1 : -1) * (same_x ? 2 : 1);
          EXPECT_NEAR(k(i, j), along_x + along_y, 1e-14);
        } else {  // the bilinear one would have b/3a - a/6b < 0 between the ends of long sides
          const Real short_side = same_x ? (a / b - b / a) / 2 : 0, diagonal = b / a / 2;
          EXPECT_NEAR(k(i, j), i == j ? (a / b) / 2 : same_x ? -short_side : same_y ? 0 : -diagonal, 1e-14);
        }
      }
    }
  }
}

TEST(NodeDiffusion, conducts_from_warm_to_cold_between_any_two_nodes_of_flat_boxes_and_prisms) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Prism}) {
    for (const Real height : {0.8, 0.5, 0.1, 1e-3, 1e-6}) {
      RawMesh raw = make_box(type, {1, 1, is_planar(type) ? 0 : 1});
      for (Vector3& x : raw.nodes) {
        if (type == CellType::Quadrilateral) {
          x.y *= height;
        } else {
          if (type == CellType::Prism) x = {x.x - 0.5 * x.y, std::sqrt(0.75) * x.y, x.z};  // equilateral
          x.z *= height;
        }
      }
      const Mesh mesh(raw);
      const std::vector<Real> one(at(mesh.topology().cells().size()), 1);
      const Index nodes = mesh.topology().nodes().size();
      Eigen::MatrixXd k = matrix_of(NodeDiffusion(Executor::serial(), mesh, one), nodes, nodes);
      const Real largest = k.diagonal().maxCoeff();
      k.diagonal().setZero();
      EXPECT_LE(k.maxCoeff(), 1e-12 * largest) << static_cast<int>(type) << ", " << height;
    }
  }
}

/// A load with a sharp edge on plates of cells 20 times as long as high: temperatures stay in their range.
TEST(NodeDiffusion, keeps_temperatures_in_their_range_on_flat_cells_however_sharp_the_load) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Prism}) {
    const bool planar = is_planar(type);
    RawMesh raw = make_box(type, planar ? std::array<Index, 3>{12, 4, 0} : std::array<Index, 3>{12, 12, 4},
                           planar ? Vector3{1, 1. / 60, 1} : Vector3{1, 1, 1. / 60});
    const Mesh mesh(raw);
    HeatSettings settings = settings_for(mesh, material(1, 1), Insulated{});
    set_boundary(settings, mesh, planar ? "bottom" : "back", FixedTemperature{constant(0)});
    set_boundary(
        settings, mesh, planar ? "top" : "front",
        HeatFlux{std::make_shared<SteadyFunction>([](Vector3 x, Real) { return x.x < 0.5 ? 60. : 0.; })});
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(0), 0);
    heat.solve_steady();
    const std::vector<Real> temperature = heat.temperature().to_host();
    const auto [coldest, warmest] = std::ranges::minmax(temperature);
    // Far from the edge the plate's temperature rises by 1 from below to above.
    EXPECT_GE(coldest, -5e-3) << static_cast<int>(type);
    EXPECT_LE(warmest, 1 + 5e-3) << static_cast<int>(type);
    EXPECT_GE(warmest, 0.99) << static_cast<int>(type);
  }
}

/// Energies of xy, xz and yz about the middle of a box: V (a² + b²) / 12, or, across the short side of a flat
/// one, V a² / 4, as much as its upright edges alone would take up.
TEST(NodeDiffusion, resists_bilinear_temperatures_as_finite_elements_or_in_flat_boxes_as_edges_do) {
  for (const Real height : {0.9, 1e-4}) {
    const Vector3 size{1.2, 1, height};
    const Mesh mesh(make_box(CellType::Hexahedron, {1, 1, 1}, size), CellOrder::AsRead);
    const std::vector<Real> one{1};
    const Eigen::MatrixXd k = matrix_of(NodeDiffusion(Executor::serial(), mesh, one), 8, 8);
    const auto energy = [&](const auto& value) {
      Eigen::VectorXd t(8);
      for (Index n = 0; n < 8; ++n) t[n] = value(mesh.geometry().node_positions()[at(n)] - 0.5 * size);
      return t.dot(k * t);
    };
    const Real volume = size.x * size.y * size.z;
    const auto bilinear = [&](Real a, Real b) { return volume * (a * a + b * b) / 12; };
    const bool flat = height < 0.1;
    const Real xz = flat ? volume * size.x * size.x / 4 : bilinear(size.x, size.z);
    const Real yz = flat ? volume * size.y * size.y / 4 : bilinear(size.y, size.z);
    EXPECT_NEAR(energy([](Vector3 x) { return x.x * x.y; }) / bilinear(size.x, size.y), 1, 1e-7) << height;
    EXPECT_NEAR(energy([](Vector3 x) { return x.x * x.z; }) / xz, 1, 1e-7) << height;
    EXPECT_NEAR(energy([](Vector3 x) { return x.y * x.z; }) / yz, 1, 1e-7) << height;
  }
}

TEST(NodeDiffusion, does_not_bind_the_ends_of_an_edge_that_has_all_but_collapsed) {
  RawMesh raw = make_box(CellType::Hexahedron, {1, 1, 1});
  for (Vector3& x : raw.nodes) {
    if (x.x == 1 && x.y == 1 && x.z == 1) x.z = 1e-5;
  }
  const Mesh mesh(raw, CellOrder::AsRead);
  const std::vector<Real> one{1};
  EXPECT_LT(matrix_of(NodeDiffusion(Executor::serial(), mesh, one), 8, 8).cwiseAbs().maxCoeff(), 10);
}

// --- boundaries
// ----------------------------------------------------------------------------------------------------

TEST(HeatDiffusion, plane_wall_with_flux_on_one_side_and_convection_on_the_other_is_exact) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Tetrahedron, CellType::Hexahedron,
                              CellType::Prism, CellType::Pyramid}) {
    const Mesh mesh(make_box(type, {6, 2, 2}));
    HeatSettings settings = settings_for(mesh, material(3, 1), Insulated{});
    set_boundary(settings, mesh, "left", HeatFlux{constant(60)});
    set_boundary(settings, mesh, "right", Convection{constant(10), constant(280)});
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(300), 0);
    heat.solve_steady();
    // q = 60 W/m2: surface at 280 + 60/10, gradient -60/3.
    EXPECT_LE(error_of(mesh, heat, [](Vector3 x) { return 286 + 20 * (1 - x.x); }), 1e-9);
    for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
      const std::string& name = mesh.topology().patches()[p].name;
      EXPECT_NEAR(heat.balance().outflow[p], name == "left" ? -60 : name == "right" ? 60 : 0, 1e-8) << name;
    }
  }
}

TEST(HeatDiffusion, knows_at_the_start_what_flows_but_through_given_temperatures) {
  const Mesh mesh(make_box(CellType::Triangle, {3, 2, 1}));
  HeatSettings settings = settings_for(mesh, material(3, 1), Insulated{});
  set_boundary(settings, mesh, "left", HeatFlux{constant(1000)});
  set_boundary(settings, mesh, "top", Convection{constant(10), constant(400)});
  set_boundary(settings, mesh, "right", FixedTemperature{constant(300)});
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(300), 0);
  for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
    const std::string& name = mesh.topology().patches()[p].name;
    const Real flow = heat.balance().outflow[p];
    if (name == "right") {
      EXPECT_TRUE(std::isnan(flow));
    } else {
      EXPECT_NEAR(flow, name == "bottom" ? 0 : -1000, 1e-9) << name;
    }
  }
  heat.advance_to(0.1);
  for (const Real flow : heat.balance().outflow) EXPECT_FALSE(std::isnan(flow));
}

TEST(HeatDiffusion, convection_may_be_so_strong_as_to_hold_a_temperature) {
  constexpr Real conductivity = 0.03;
  const Mesh mesh(make_box(CellType::Triangle, {12, 12, 0}));
  for (const Real zero : {0., 300.}) {  // Celsius or nearly kelvin
    for (const Real coefficient : {1e-2, 1e2, 1e6, 1e8, 1e10, 1e12, 1e14, 1e16, 1e20}) {
      SCOPED_TRACE(testing::Message() << coefficient << " W/(m2 K), " << zero);
      HeatSettings settings = settings_for(mesh, material(conductivity, 3e4), Insulated{});
      set_boundary(settings, mesh, "right", FixedTemperature{constant(zero + 10)});
      set_boundary(settings, mesh, "left", FixedTemperature{constant(zero)});
      HeatDiffusion held(Executor::serial(), mesh, settings);
      set_boundary(settings, mesh, "left", Convection{constant(coefficient), constant(zero)});
      HeatDiffusion heat(Executor::serial(), mesh, settings);
      heat.start(*constant(zero), 0);
      heat.solve_steady();
      const Real slope = 10 / (1 + conductivity / coefficient);
      EXPECT_LE(error_of(mesh, heat, [&](Vector3 x) { return zero + 10 - slope * (1 - x.x); }), 1e-7);
      // What convection takes is the coefficient times a difference of temperatures.
      const Real rounding = 10 * std::numeric_limits<Real>::epsilon() * coefficient * (zero + 10);
      EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-7 * conductivity * slope + rounding);
      if (coefficient < 1e6) continue;
      for (HeatDiffusion* run : {&held, &heat}) run->start(*constant(zero), 0);
      for (int k = 1; k <= 20; ++k) {
        for (HeatDiffusion* run : {&held, &heat}) run->advance_to(5e3 * k);
        EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-7 * heat.balance().throughput() + rounding);
      }
      const std::vector<Real> expected = held.temperature().to_host(), found = heat.temperature().to_host();
      for (std::size_t n = 0; n < found.size(); ++n)
        EXPECT_NEAR(found[n], expected[n], 1e-7 + conductivity * 100 / coefficient);
    }
  }
}

TEST(HeatDiffusion, flux_through_a_slab_of_two_materials_is_exact) {
  RawMesh raw = make_box(CellType::Tetrahedron, {8, 2, 2});
  raw.region_names = {"conductor", "insulator"};
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
    Real x = 0;
    for (int k = 0; k < 4; ++k) x += raw.nodes[at(raw.cell_nodes[4 * c + at(k)])].x / 4;
    raw.cell_region[c] = x > 0.5 ? 1 : 0;
  }
  const Mesh mesh(raw);
  HeatSettings settings = settings_for(mesh, material(1000, 1), Insulated{});
  settings.materials[1] = material(1, 1);
  set_boundary(settings, mesh, "left", FixedTemperature{constant(1)});
  set_boundary(settings, mesh, "right", FixedTemperature{constant(0)});
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(0), 0);
  heat.solve_steady();
  const Real flow = 1 / (0.5 / 1000 + 0.5 / 1);
  EXPECT_NEAR(heat.balance().outflow[1], flow, 1e-10);
  EXPECT_NEAR(heat.balance().outflow[0], -flow, 1e-10);
}

TEST(HeatDiffusion, flows_through_patches_of_given_temperature_that_meet_are_of_second_order) {
  // T = e^x sin y, which is harmonic, on the unit square.
  const std::map<std::string, Real> exact{{"left", 2 * (1 - std::cos(1.0))},
                                          {"right", -2 * std::exp(1.0) * (1 - std::cos(1.0))},
                                          {"bottom", 2 * (std::exp(1.0) - 1)},
                                          {"top", -2 * std::cos(1.0) * (std::exp(1.0) - 1)}};
  const FunctionPointer temperature = analytic([](Vector3 x, Real) { return std::exp(x.x) * std::sin(x.y); });
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral}) {
    std::map<std::string, std::vector<Real>> errors;
    for (const Index cells : {8, 16, 32}) {
      const Mesh mesh(make_box(type, {cells, cells, 0}));
      HeatDiffusion heat(Executor::serial(), mesh,
                         settings_for(mesh, material(2, 1), FixedTemperature{temperature}));
      heat.start(*temperature, 0);
      heat.solve_steady();
      for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
        const std::string& name = mesh.topology().patches()[p].name;
        errors[name].push_back(std::abs(heat.balance().outflow[p] - exact.at(name)));
      }
      EXPECT_LE(std::abs(heat.balance().imbalance()), 1e-9 * heat.balance().throughput());
    }
    for (const auto& [name, error] : errors) {
      EXPECT_GT(std::log2(error[1] / error[2]), 1.7) << name << ": " << error[1] << ", " << error[2];
    }
  }
}

TEST(HeatDiffusion, an_insulated_body_keeps_its_mean_temperature_and_levels_out) {
  const Mesh mesh(make_box(CellType::Triangle, {8, 8, 0}));
  HeatDiffusion heat(Executor::serial(), mesh, settings_for(mesh, material(1, 1), Insulated{}));
  heat.start(*analytic([](Vector3 x, Real) { return x.x; }), 0);
  heat.solve_steady();
  EXPECT_LE(error_of(mesh, heat, [](Vector3) { return 0.5; }), 1e-10);
}

TEST(HeatDiffusion, a_steady_source_goes_on_beside_a_flux_that_varies) {
  const Mesh mesh(make_box(CellType::Triangle, {8, 8, 0}));  // of area 1 and circumference 4
  HeatSettings settings =
      settings_for(mesh, material(1, 3, constant(2)), HeatFlux{analytic([](Vector3, Real t) { return t; })});
  settings.scheme = HeatScheme::BackwardEuler;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(0), 0);
  constexpr Real step = 0.1;
  Real heat_in = 0;
  for (int k = 1; k <= 3; ++k) {
    heat.advance_to(step * k);
    heat_in += step * (2 + 4 * step * k);
    EXPECT_DOUBLE_EQ(heat.balance().source, 2);
    Real stored = 0;
    const std::vector<Real> temperature = heat.temperature().to_host();
    for (std::size_t n = 0; n < temperature.size(); ++n)
      stored += 3 * mesh.geometry().node_volumes()[n] * temperature[n];
    EXPECT_NEAR(stored, heat_in, 1e-10) << "step " << k;
  }
}

/// In a plate that is insulated above and below, with cells a thousand times as wide as high.
TEST(HeatDiffusion, in_flat_hexahedra_is_that_in_quadrilaterals) {
  constexpr Index n = 8;
  const auto solved = [&](const Mesh& mesh) {
    HeatSettings settings = settings_for(mesh, material(1, 1, constant(1)), Insulated{});
    for (const char* side : {"left", "right", "bottom", "top"})
      set_boundary(settings, mesh, side, FixedTemperature{constant(0)});
    HeatDiffusion heat(Executor::serial(), mesh, settings);
    heat.start(*constant(0), 0);
    heat.solve_steady();
    const std::vector<Real> temperature = heat.temperature().to_host();
    std::map<std::pair<long, long>, std::vector<Real>> values;
    for (std::size_t i = 0; i < temperature.size(); ++i) {
      const Vector3 x = mesh.geometry().node_positions()[i];
      values[{std::lround(n * x.x), std::lround(n * x.y)}].push_back(temperature[i]);
    }
    return values;
  };
  const auto plane = solved(Mesh(make_box(CellType::Quadrilateral, {n, n, 0})));
  const auto plate = solved(Mesh(make_box(CellType::Hexahedron, {n, n, 2}, {1, 1, 2e-3 / n})));
  ASSERT_EQ(plate.size(), plane.size());
  EXPECT_GT(plane.at({n / 2, n / 2}).front(), 0.07);
  for (const auto& [place, values] : plate) {
    EXPECT_EQ(values.size(), 3u);
    for (const Real value : values) EXPECT_NEAR(value, plane.at(place).front(), 1e-8);
  }
}

// --- time
// ----------------------------------------------------------------------------------------------------------

/// Error at t = 0.5 of dT/dt = -T, a body so conductive that it stays uniform, in `steps` steps.
Real decay_error(HeatScheme scheme, int steps) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {1, 1, 0}));
  HeatSettings settings = settings_for(mesh, material(1, 4), Convection{constant(1), constant(0)});
  settings.scheme = scheme;
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(1), 0);
  for (int k = 1; k <= steps; ++k) heat.advance_to(0.5 * k / steps);
  return error_of(mesh, heat, [](Vector3) { return std::exp(-0.5); });
}

TEST(HeatDiffusion, time_schemes_have_their_order) {
  const Real euler =
      std::log2(decay_error(HeatScheme::BackwardEuler, 16) / decay_error(HeatScheme::BackwardEuler, 32));
  const Real crank_nicolson =
      std::log2(decay_error(HeatScheme::CrankNicolson, 16) / decay_error(HeatScheme::CrankNicolson, 32));
  EXPECT_NEAR(euler, 1, 0.1);
  EXPECT_NEAR(crank_nicolson, 2, 0.15);
}

TEST(HeatDiffusion, crank_nicolson_damps_an_initial_field_that_contradicts_the_boundary) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {50, 1, 0}));
  HeatSettings settings = settings_for(mesh, material(1, 1), Insulated{});
  set_boundary(settings, mesh, "right", FixedTemperature{constant(0)});
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(1), 0);
  // Steps of 40 h2: without damping the first node inside swings by half the jump for many steps.
  for (int k = 1; k <= 3; ++k) heat.advance_to(0.016 * k);
  const std::vector<Real> temperature = heat.temperature().to_host();
  for (std::size_t n = 0; n < temperature.size(); ++n) {
    const Real distance = 1 - mesh.geometry().node_positions()[n].x;
    const Real exact = std::erf(distance / (2 * std::sqrt(0.048)));
    EXPECT_NEAR(temperature[n], exact, 0.03) << "at distance " << distance;
  }
}

TEST(HeatDiffusion, cools_the_centre_of_a_plane_wall_as_the_series_solution_says) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {64, 1, 0}));
  HeatSettings settings = settings_for(mesh, material(1, 1), Insulated{});
  set_boundary(settings, mesh, "right", FixedTemperature{constant(0)});
  HeatDiffusion heat(Executor::serial(), mesh, settings);
  heat.start(*constant(1), 0);
  for (int k = 1; k <= 200; ++k) heat.advance_to(0.2 * k / 200);
  const std::vector<Real> temperature = heat.temperature().to_host();
  for (std::size_t n = 0; n < temperature.size(); ++n) {
    if (mesh.geometry().node_positions()[n].x == 0) {
      EXPECT_NEAR(temperature[n], 0.7723116069, 2e-4);
    }
  }
}

// Values that stay as they are are not evaluated anew: each function may be one that changes in time or not.
TEST(HeatLoad, sends_a_device_what_changes_at_the_nodes_of_patches_and_no_more) {
  const Mesh mesh(make_box(CellType::Hexahedron, {12, 12, 12}));
  const std::size_t side = 13 * 13, of_patches = 3 * side - 2 * 13;
  enum What { Temperature = 1, Flux = 2, Coefficient = 4, Ambient = 8 };
  struct Case {
    int changes;
    std::size_t sent;  // temperatures; loads; convection and what the outflow by it is weighed with
  };
  for (const Case& c :
       {Case{Temperature, of_patches}, Case{Flux, of_patches}, Case{Ambient, of_patches},
        Case{Coefficient, 2 * of_patches + side}, Case{Temperature | Ambient, 2 * of_patches},
        Case{Temperature | Flux | Coefficient | Ambient, 3 * of_patches + side}, Case{0, 0}}) {
    const auto function = [&](What what, std::function<Real(Vector3, Real)> f) -> FunctionPointer {
      if ((c.changes & what) != 0) return analytic(f);
      return std::make_shared<SteadyFunction>([f](Vector3 x, Real) { return f(x, 1); });
    };
    HeatSettings settings = settings_for(mesh, material(2, 3, constant(5)), Insulated{});
    set_boundary(settings, mesh, "left",
                 FixedTemperature{function(Temperature, [](Vector3 x, Real t) { return x.y + t; })});
    set_boundary(settings, mesh, "right",
                 HeatFlux{function(Flux, [](Vector3 x, Real t) { return x.z * t; })});
    set_boundary(settings, mesh, "top",
                 Convection{function(Coefficient, [](Vector3 x, Real t) { return 4 + x.x * t; }),
                            function(Ambient, [](Vector3, Real t) { return t; })});
    HeatLoad load(Executor::debug_device(), mesh, settings), at_once(Executor::serial(), mesh, settings);
    load.update(0);
    const std::size_t before = debug_device_copies().to_device;
    EXPECT_EQ(load.update(1), (c.changes & Coefficient) != 0);
    EXPECT_EQ(debug_device_copies().to_device - before, c.sent * sizeof(Real)) << c.changes;
    at_once.update(1);
    EXPECT_EQ(load.at_nodes().to_host(), at_once.at_nodes().to_host()) << c.changes;
    EXPECT_EQ(load.convection().to_host(), at_once.convection().to_host()) << c.changes;
    EXPECT_EQ(load.convection().to_host(), load.convection_on_host()) << c.changes;
    EXPECT_EQ(load.held_temperature().to_host(), at_once.held_temperature().to_host()) << c.changes;
    PrimalCochain<Node> on_device(Executor::debug_device(), load.held().extent(), "temperature", "K"),
        on_host(Executor::serial(), load.held().extent(), "temperature", "K");
    std::vector<Real> temperature(at(on_host.size()));
    for (std::size_t n = 0; n < temperature.size(); ++n) temperature[n] = static_cast<Real>(n % 7);
    on_device.copy_from_host(temperature);
    on_host.copy_from_host(temperature);
    EXPECT_EQ(load.outflows(on_device), at_once.outflows(on_host)) << c.changes;
  }
}

}  // namespace
}  // namespace curlew
