// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space/auxiliary_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

#include "mesh/box.hpp"
#include "operators/flux_mass.hpp"
#include "operators/viscous_form.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {
namespace {

/// Their inner product, on the host.
template <class X, class Y>
Real product_of(const X& x, const Y& y) {
  const std::vector<Real> a = x.to_host(), b = y.to_host();
  return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
}

/// Iterations for the streamfunction of the second step of a lid-driven box. `fourier`: how far viscosity
/// reaches in a step, in cells and squared.
int iterations(CellType type, Index blocks, Real fourier, Preconditioning preconditioning) {
  const bool plane = type == CellType::Triangle || type == CellType::Quadrilateral;
  const Mesh mesh(make_box(type, {blocks, blocks, plane ? 1 : blocks}));
  FlowSettings settings = settings_with(mesh, Wall{});
  boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
  const Real step = 0.5 / blocks;  // a Courant number of 1/2 for the lid
  settings.viscosity = fourier / (blocks * blocks * step);
  settings.streamfunction_preconditioning = preconditioning;
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*uniform_vector({}), 0);
  flow.advance(step);
  return flow.advance(step).solves.at("streamfunction").iterations;
}

TEST(AuxiliarySpace, keeps_the_iterations_of_the_exact_step_as_the_mesh_is_refined) {
  const struct {
    CellType type;
    std::array<Index, 3> blocks;
    Real fourier;
    int most;
  } families[] = {
      {CellType::Triangle, {12, 24, 48}, 0.1, 14},  {CellType::Quadrilateral, {16, 32, 64}, 0.1, 21},
      {CellType::Hexahedron, {6, 10, 16}, 0.1, 22}, {CellType::Tetrahedron, {4, 7, 10}, 0.1, 22},
      {CellType::Hexahedron, {6, 10, 16}, 1e-6, 7}, {CellType::Tetrahedron, {4, 7, 10}, 1e-6, 11}};
  for (const auto& [type, blocks, fourier, most] : families) {
    std::vector<int> with, without;
    for (const Index n : blocks) {
      with.push_back(iterations(type, n, fourier, Preconditioning::Multigrid));
      without.push_back(iterations(type, n, fourier, Preconditioning::Jacobi));
    }
    SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)) + ": " + testing::PrintToString(with) +
                 " iterations, by the diagonal " + testing::PrintToString(without));
    EXPECT_LE(with[2], most);
    EXPECT_LE(with[2], 1.4 * with[1]);
    EXPECT_LE(1.5 * with[2], without[2]);
  }
}

/// Iterations for the streamfunction of the second step between plates, driven by a pressure, cells being so
/// many times as long as high and 1/4 long.
int iterations_on_flat_cells(CellType type, Real ratio, Preconditioning preconditioning) {
  const bool plane = type == CellType::Quadrilateral;
  const Index layers = 8;
  const Real height = layers / (4 * ratio);
  const Mesh mesh(plane ? make_box(type, {4, layers, 1}, {1, height, 1})
                        : make_box(type, {4, 4, layers}, {1, 1, height}));
  FlowSettings settings = settings_with(mesh, Wall{});
  boundary_of(settings, mesh, "left") = Outlet{constant(1)};
  boundary_of(settings, mesh, "right") = Outlet{};
  settings.viscosity = 0.01;  // times a step of one: a sixth of the squared length of a cell
  settings.streamfunction_preconditioning = preconditioning;
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*uniform_vector({}), 0);
  flow.advance(1);
  return flow.advance(1).solves.at("streamfunction").iterations;
}

TEST(AuxiliarySpace, takes_fewer_iterations_than_the_diagonal_on_flat_cells_where_viscosity_reaches_far) {
  const struct {
    CellType type;
    int most;  ///< on cells 30 times as long as high
  } families[] = {{CellType::Quadrilateral, 90}, {CellType::Hexahedron, 165}, {CellType::Prism, 150}};
  for (const auto& [type, most] : families) {
    std::vector<int> with, without;
    for (const Real ratio : {10., 30.}) {
      with.push_back(iterations_on_flat_cells(type, ratio, Preconditioning::Multigrid));
      without.push_back(iterations_on_flat_cells(type, ratio, Preconditioning::Jacobi));
    }
    SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)) + ": " + testing::PrintToString(with) +
                 " iterations, by the diagonal " + testing::PrintToString(without));
    EXPECT_LE(with[1], most);
    EXPECT_LE(2 * with[1], without[1]);
  }
}

/// A box of unit side, joined in the first `directions` directions.
Mesh joined_box(CellType type, Index blocks, int directions) {
  Mesh open(make_box(type, {blocks, blocks, is_planar(type) ? 1 : blocks}));
  if (directions == 0) return open;
  return make_periodic(open, PeriodicBox{"", type, {}, directions, false}.pairs()).mesh;
}

/// Two steps along and across the periodic directions, from a flow between walls or without any.
struct PeriodicSteps {
  PeriodicSteps(const Mesh& mesh, Index blocks, Preconditioning preconditioning, Real tolerance) {
    using std::numbers::pi;
    const bool plane = mesh.topology().dimension() == 2;
    FlowSettings settings = settings_with(mesh, Wall{});
    const Real step = 0.5 / blocks;
    settings.viscosity = 0.1 / (blocks * blocks * step);
    settings.streamfunction_preconditioning = preconditioning;
    settings.streamfunction.relative_tolerance = tolerance;
    const auto wave = [plane](Vector3 x) {
      return Vector3{1 + std::sin(2 * pi * x.y), std::sin(2 * pi * x.x), plane ? 0 : std::cos(2 * pi * x.x)};
    };
    settings.body_force = steady_vector([wave](Vector3 x) { return wave(x + Vector3{0.1, 0.2, 0}); });
    ExactFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*steady_vector(wave), 0);
    first = flow.advance(step).solves.at("streamfunction").iterations;
    second = flow.advance(step).solves.at("streamfunction").iterations;
    flux = flow.flux().to_host();
  }
  int first, second;
  std::vector<Real> flux;
};

TEST(AuxiliarySpace, keeps_the_iterations_of_the_exact_step_on_periodic_meshes) {
  const struct {
    CellType type;
    std::array<Index, 3> blocks;
    int most;
  } families[] = {{CellType::Triangle, {12, 24, 48}, 17},
                  {CellType::Hexahedron, {6, 10, 16}, 33},
                  {CellType::Tetrahedron, {4, 7, 10}, 31}};
  for (const auto& [type, blocks, most] : families) {
    for (int directions = 1; directions <= (is_planar(type) ? 2 : 3); ++directions) {
      std::vector<int> with, without, with_second, without_second;
      for (const Index n : blocks) {
        const Mesh mesh = joined_box(type, n, directions);
        const PeriodicSteps smooth(mesh, n, Preconditioning::Multigrid, 1e-8);
        const PeriodicSteps diagonal(mesh, n, Preconditioning::Jacobi, 1e-8);
        with.push_back(smooth.first);
        without.push_back(diagonal.first);
        with_second.push_back(smooth.second);
        without_second.push_back(diagonal.second);
      }
      SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)) + " in " + std::to_string(directions) +
                   " directions: " + testing::PrintToString(with) + " and " +
                   testing::PrintToString(with_second) + " iterations, by the diagonal " +
                   testing::PrintToString(without) + " and " + testing::PrintToString(without_second));
      EXPECT_LE(with[2], most);
      EXPECT_LE(with[2], 1.15 * with[1]);
      EXPECT_GE(without[2], 1.5 * without[0]);
      EXPECT_LE(with_second[2], 1.2 * with_second[1]);
      EXPECT_LE(3 * with_second[2], without_second[2]);
    }
  }
}

TEST(AuxiliarySpace, leads_to_the_fluxes_of_the_diagonal_on_periodic_meshes) {
  for (const PeriodicBox& box : periodic_boxes()) {
    SCOPED_TRACE(box.name);
    const Mesh mesh = make_periodic(Mesh(box.raw()), box.pairs()).mesh;
    const std::vector<Real> expected = PeriodicSteps(mesh, 4, Preconditioning::Jacobi, 1e-11).flux,
                            flux = PeriodicSteps(mesh, 4, Preconditioning::Multigrid, 1e-11).flux;
    Real largest = 0, difference = 0;
    for (std::size_t f = 0; f < flux.size(); ++f) {
      largest = std::max(largest, std::abs(expected[f]));
      difference = std::max(difference, std::abs(flux[f] - expected[f]));
    }
    EXPECT_GT(largest, 0.01);
    EXPECT_LE(difference, 1e-8 * largest);
  }
}

/// Matrices of a mesh, and which of its edges are free: all but those on the boundary.
struct Bench {
  explicit Bench(Mesh given) : mesh(std::move(given)), free(at(mesh.topology().edges().size()), 1) {
    for (const Id<Face> f : mesh.topology().boundary_faces()) {
      for (const auto [e, sign] : mesh.topology().edges_of_face()[f]) free[at(e.value())] = 0;
    }
  }
  DualCochain<Edge> random_residual(std::mt19937& generator) const {
    std::vector<Real> values;
    for (const std::uint8_t is_free : free)
      values.push_back(is_free ? static_cast<Real>(generator()) / 4294967296.0 - 0.5 : 0);
    DualCochain<Edge> r(Executor::serial(), mesh.topology().edges().size(), "r", "1");
    r.copy_from_host(values);
    return r;
  }
  AuxiliarySpace space(const Executor& executor) const {
    return AuxiliarySpace(executor, mesh, mass.matrix(), viscous.matrix(), free);
  }
  Mesh mesh;
  std::vector<std::uint8_t> free;
  FluxMass mass{Executor::serial(), mesh, FaceStencil(mesh)};
  ViscousForm viscous{Executor::serial(), mesh, mass.matrix().stencil()};
};

/// Iterations of the first step around a void that is so many cells from the walls of its case.
int iterations_in_gaps(Index blocks, Index apart, bool named) {
  RawMesh raw = narrow_gaps(blocks, apart);
  if (!named) forget_patches(raw);
  const Mesh mesh(std::move(raw));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.body_force = steady_vector([](Vector3 x) { return Vector3{x.y, 0, std::sin(3 * x.x)}; });
  settings.viscosity = 1e-4;
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*uniform_vector({}), 0);
  return flow.advance(0.5 / blocks).solves.at("streamfunction").iterations;
}

TEST(AuxiliarySpace, keeps_the_iterations_of_the_exact_step_in_narrow_gaps_that_turn) {
  const struct {
    Index apart;
    bool named;
    int most;
  } gaps[] = {{1, true, 18}, {1, false, 18}, {2, true, 29}, {2, false, 29}};
  for (const auto& [apart, named, most] : gaps) {
    std::vector<int> counts;
    for (const Index n : {6, 9, 12}) counts.push_back(iterations_in_gaps(n * apart, apart, named));
    SCOPED_TRACE(testing::PrintToString(counts) + " iterations");
    EXPECT_LE(counts[2], most);
    EXPECT_LE(counts[2], counts[1] + 2);  // the gap is longer, but no wider
  }
}

TEST(AuxiliarySpace, is_symmetric_and_positive_where_edges_are_free) {
  std::vector<Mesh> meshes;
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron, CellType::Hexahedron})
    meshes.emplace_back(make_box(type, {5, 5, is_planar(type) ? 1 : 5}));
  meshes.emplace_back(narrow_gaps(5, 1));
  for (const PeriodicBox& box : periodic_boxes())
    meshes.push_back(make_periodic(Mesh(box.raw()), box.pairs()).mesh);
  for (Mesh& mesh : meshes) {
    const Bench bench(std::move(mesh));
    std::mt19937 generator(1);
    const DualCochain<Edge> x = bench.random_residual(generator), y = bench.random_residual(generator);
    PrimalCochain<Edge> bx(Executor::serial(), x.size(), "B x", "1"), by = alike(bx);
    AuxiliarySpace space = bench.space(Executor::serial());
    for (const Real viscosity : {0.0, 0.1}) {
      space.set(2, viscosity);
      space.apply(x, bx);
      space.apply(y, by);
      // Nothing has a curl where all nodes of a plane are one.
      EXPECT_EQ(product_of(x, bx) > 0, x.size() > 1);
      EXPECT_NEAR(product_of(y, bx), product_of(x, by),
                  1e-5 * std::sqrt(product_of(x, bx) * product_of(y, by)));
      const std::vector<Real> values = bx.to_host();
      for (std::size_t e = 0; e < values.size(); ++e) {
        if (bench.free[e] == 0) {
          EXPECT_EQ(values[e], 0);
        }
      }
      // A residual of any size, and any factor of the mass.
      std::vector<Real> tiny = x.to_host();
      for (Real& value : tiny) value *= 1e-300;
      DualCochain<Edge> small = alike(x);
      small.copy_from_host(tiny);
      space.set(4, 2 * viscosity);
      PrimalCochain<Edge> b_small = alike(bx);
      space.apply(small, b_small);
      const std::vector<Real> of_small = b_small.to_host();
      for (std::size_t e = 0; e < values.size(); ++e)
        EXPECT_NEAR(2e300 * of_small[e], values[e], 1e-5 * std::abs(values[e]) + 1e-7);
    }
  }
}

TEST(AuxiliarySpace, has_the_same_bits_on_every_backend) {
  std::vector<Mesh> meshes;
  meshes.push_back(joined_box(CellType::Tetrahedron, 6, 0));
  meshes.push_back(joined_box(CellType::Tetrahedron, 6, 3));
  meshes.emplace_back(narrow_gaps(6, 1));
  for (Mesh& mesh : meshes) {
    const Bench bench(std::move(mesh));
    const auto result = [&](const Executor& executor) {
      DualCochain<Edge> r(executor, bench.mesh.topology().edges().size(), "r", "1");
      std::vector<Real> values;
      for (Index e = 0; e < r.size(); ++e) values.push_back(std::sin(static_cast<Real>(e)));
      r.copy_from_host(values);
      PrimalCochain<Edge> z(executor, r.size(), "z", "1");
      AuxiliarySpace space = bench.space(executor);
      space.set(1, 0.01);
      space.apply(r, z);
      return z.to_host();
    };
    const std::vector<Real> expected = result(Executor::serial());
    for (const Executor& executor : backends_beside_serial())
      EXPECT_EQ(result(executor), expected) << executor.name();
  }
}

}  // namespace
}  // namespace curlew
