// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/stream_preconditioner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mesh/box.hpp"
#include "operators/node_diffusion.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/block_shapes.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/physics/flow_matrices.hpp"
#include "tests/physics/streamfunction/stream_parts.hpp"

namespace curlew {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Real far = 256;  ///< viscosity times time, in a box of one: it reaches everywhere

/// Arbitrary forces on what is free.
template <class T>
Paired<StreamVectors<T>> forces(const OnBackend& on, const Mesh& mesh, Real seed) {
  auto r = on.vectors<Paired<StreamVectors<T>>>(mesh);
  std::vector<T> stream;
  for (const Real value : arbitrary(r.stream.size(), seed))
    stream.push_back(on.free[stream.size()] != 0 ? static_cast<T>(value) : 0);
  std::vector<Vector4<T>> velocity;
  for (const Vector3 v : arbitrary_vectors(mesh, r.velocity.size(), seed + 1)) {
    const FaceHold hold = on.boundaries.hold_of_face()[velocity.size()];
    const Vector3 area = mesh.geometry().face_areas()[velocity.size()];
    velocity.push_back(
        rounded<T>(hold == FaceHold::All ? Vector3{} : v - dot(v, area) / dot(area, area) * area));
  }
  r.stream.copy_from_host(stream);
  r.loop.copy_from_host(arbitrary(r.loop.size(), seed + 2));
  r.velocity.copy_from_host(velocity);
  return r;
}

template <class Values>
std::vector<Vector3> vectors_of(const Values& values) {
  std::vector<Vector3> vectors;
  for (const auto& v : values) vectors.push_back(widened(v));
  return vectors;
}
template <class V>
std::vector<Real> stream_of(const V& x) {
  const auto stream = x.stream.to_host();
  return {stream.begin(), stream.end()};
}

/// All numbers of x, those of velocities with three components.
template <class V>
VectorXd column(const V& x) {
  const VectorXd stream = column_of(stream_of(x)), loop = column_of(x.loop.to_host()),
                 velocity = column_of(vectors_of(x.velocity.to_host()), 3);
  VectorXd all(stream.size() + loop.size() + velocity.size());
  all << stream, loop, velocity;
  return all;
}

/// For a times the mass and b times the viscous form, loops by a diagonal of one.
void set(StreamPreconditioner& preconditioner, const OnBackend& on, Real a, Real b) {
  const std::vector<Real> of_loops(on.loops.size(), 1);
  preconditioner.set({}, of_loops, {}, a, b);
}

template <class T>
void expect_symmetric_and_positive(const Mesh& mesh) {
  const OnBackend on(Executor::serial(), mesh);
  StreamPreconditioner preconditioner = on.smooth_preconditioner(mesh);
  set(preconditioner, on, 1, far);
  auto z = on.vectors<StreamVectors<T>>(mesh), y = alike(z);
  for (const Real seed : {1., 2., 3.}) {
    const auto r = forces<T>(on, mesh, seed), s = forces<T>(on, mesh, seed + 7);
    SumInParts product(Executor::serial());
    preconditioner.apply_with_product(r, z, product);
    preconditioner.apply(s, y);
    const Real energy = column(r).dot(column(z)), other = column(s).dot(column(y));
    EXPECT_GT(energy, 0);
    EXPECT_NEAR(column(s).dot(column(z)), column(r).dot(column(y)), 3e-5 * std::sqrt(energy * other));
    EXPECT_NEAR(product.value(), energy, 1e-6 * energy);
    preconditioner.apply(r, y);
    EXPECT_EQ(column(y), column(z));
    const std::vector<Real> stream = stream_of(z);
    for (std::size_t e = 0; e < stream.size(); ++e) {
      if (on.free[e] == 0) {
        EXPECT_EQ(stream[e], 0);
      }
    }
    const std::vector<Vector3> velocity = vectors_of(z.velocity.to_host());
    for (std::size_t f = 0; f < velocity.size(); ++f) {
      const Vector3 area = mesh.geometry().face_areas()[f];
      const bool held = on.boundaries.hold_of_face()[f] == FaceHold::All;
      EXPECT_LE(held ? norm(velocity[f]) : std::abs(dot(velocity[f], area)),
                held ? 0 : 1e-5 * norm(area) * column(z).norm());
    }
  }
}

class CoupledCorrectionOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(CoupledCorrectionOnShelf, is_symmetric_and_positive_in_either_precision) {
  const Mesh mesh(GetParam().raw);
  expect_symmetric_and_positive<float>(mesh);
  expect_symmetric_and_positive<Real>(mesh);
}

INSTANTIATE_TEST_SUITE_P(SmallShelf, CoupledCorrectionOnShelf, testing::ValuesIn(small_shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(CoupledCorrection, is_symmetric_and_positive_on_periodic_meshes_and_round_tunnels) {
  for (const PeriodicBox& box : periodic_boxes()) {
    SCOPED_TRACE(box.name);
    expect_symmetric_and_positive<float>(make_periodic(Mesh(box.raw()), box.pairs()).mesh);
  }
  expect_symmetric_and_positive<float>(
      blocks(CellType::Hexahedron, {7, 3, 2}, [](int x, int y, int) { return x % 2 == 0 || y != 1; }));
}

/// What the correction is made of as dense matrices, from their definitions.
struct DenseCorrection {
  MatrixXd potentials;  ///< Π: edges x d' nodes, d' = 1 in the plane
  MatrixXd velocities;  ///< A T N C: d faces x edges
  MatrixXd inverse;     ///< 0.4 L⁻¹
  DenseCorrection(const Mesh& mesh, const OnBackend& on, Real b) {
    const Topology& t = mesh.topology();
    const int d = t.dimension(), components = d == 2 ? 1 : 3;
    const Index nodes = t.nodes().size(), edges = t.edges().size(), faces = t.faces().size();
    const FlowMatrices m(mesh, 1);
    MatrixXd curl = MatrixXd::Zero(faces, edges);
    for (const Id<Face> f : t.faces())
      for (const auto [e, sign] : t.edges_of_face()[f]) curl(f.value(), e.value()) += sign;

    potentials = MatrixXd::Zero(edges, components * nodes);
    MatrixXd held = MatrixXd::Zero(components * nodes, components * nodes);
    const MatrixXd of_curl = m.mass * curl, mass = curl.transpose() * of_curl;
    for (const Id<Edge> e : t.edges()) {
      const Index i = e.value();
      if (d == 2) {
        if (on.free[at(i)] != 0) potentials(i, i) = 1;
        continue;
      }
      const Vector3 along = mesh.geometry().edge_vector(t, e);
      const Eigen::Vector3d vector(along.x, along.y, along.z);
      for (const auto [n, sign] : t.nodes_of_edge()[e]) {
        if (on.free[at(i)] != 0)
          potentials.block<1, 3>(i, 3 * n.value()) = 0.5 * vector.transpose();
        else
          held.block<3, 3>(3 * n.value(), 3 * n.value()) += 0.5 * mass(i, i) * vector * vector.transpose();
      }
    }

    MatrixXd mean = MatrixXd::Zero(d * faces, d * t.cells().size());
    for (const Id<Face> f : t.faces()) {
      const Real area = norm(mesh.geometry().face_areas()[at(f.value())]);
      const auto cells = t.cells_of_face()[f];
      for (const auto [c, sign] : cells)
        mean.block(d * f.value(), d * c.value(), d, d) +=
            area / static_cast<Real>(cells.size()) * MatrixXd::Identity(d, d);
    }
    const MatrixXd tangents = FreeUnknowns(mesh, on.boundaries).tangents;
    const MatrixXd at_cells = m.interpolation * curl, at_faces = mean * at_cells,
                   along_faces = tangents.transpose() * at_faces;
    velocities = tangents * along_faces;

    const std::vector<Real> one(at(t.cells().size()), 1);
    const SymmetricMatrix between = NodeDiffusion(Executor::serial(), mesh, one).matrix();
    MatrixXd diffusion = held, volume = MatrixXd::Zero(held.rows(), held.cols());
    for (Index n = 0; n < nodes; ++n) {
      for (int k = 0; k < components; ++k) {
        const Index row = components * n + k;
        volume(row, row) = mesh.geometry().node_volumes()[at(n)];
        diffusion(row, row) += between.diagonal[at(n)];
        for (Index j = between.off_diagonal.starts[at(n)]; j < between.off_diagonal.starts[at(n + 1)]; ++j)
          diffusion(row, components * between.off_diagonal.columns[at(j)] + k) +=
              between.off_diagonal.values[at(j)];
      }
    }
    // Nodes in the plane may be held: nothing is to move there, which a large number on the diagonal does.
    for (Index n = 0; d == 2 && n < nodes; ++n)
      if (on.free[at(n)] == 0) diffusion(n, n) += 1e12;
    const MatrixXd per_volume = volume.diagonal().cwiseInverse().asDiagonal() * diffusion;
    inverse =
        0.4 * solved(diffusion + b * diffusion * per_volume, MatrixXd::Identity(held.rows(), held.rows()));
  }
};

/// On so few nodes a cycle is a direct solve.
TEST(CoupledCorrection, is_that_of_its_definition) {
  for (const CellType type :
       {CellType::Tetrahedron, CellType::Hexahedron, CellType::Prism, CellType::Triangle}) {
    SCOPED_TRACE(static_cast<int>(type));
    const Index n = is_planar(type) ? 5 : 2;
    RawMesh raw = make_box(type, {n, n, is_planar(type) ? 1 : n});
    distort(raw, 0.05);
    const Mesh mesh(raw);
    const int d = mesh.topology().dimension();
    const OnBackend on(Executor::serial(), mesh);
    StreamPreconditioner preconditioner = on.smooth_preconditioner(mesh);
    set(preconditioner, on, 1, far);  // a power of four
    const DenseCorrection dense(mesh, on, far);
    const MatrixXd at_nodes = dense.inverse * dense.potentials.transpose(),
                   of_stream = dense.potentials * at_nodes;

    // Forces on faces alone: on edges only the correction answers.
    auto r = forces<float>(on, mesh, 3);
    r.stream.fill(0);
    auto z = on.vectors<StreamVectors<float>>(mesh), by_chebyshev = alike(z);
    preconditioner.apply(r, z);
    const VectorXd force = column_of(vectors_of(r.velocity.to_host()), d);
    const VectorXd on_edges = dense.velocities.transpose() * force;
    VectorXd expected = of_stream * on_edges;
    EXPECT_LE((column_of(stream_of(z)) - expected).norm(), 1e-4 * expected.norm());
    TangentialChebyshev(on.momentum).apply(1 / far, r.velocity, by_chebyshev.velocity, nullptr);
    const VectorXd on_faces = column_of(vectors_of(z.velocity.to_host()), d) -
                              column_of(vectors_of(by_chebyshev.velocity.to_host()), d);
    expected = dense.velocities * expected;
    EXPECT_GT(expected.norm(), 0);
    EXPECT_LE((on_faces - expected).norm(), 1e-4 * expected.norm());

    // Forces on edges alone: on faces only the correction answers, on edges Jacobi besides.
    r = forces<float>(on, mesh, 5);
    r.velocity.fill({});
    preconditioner.apply(r, z);
    const VectorXd given = column_of(stream_of(r));
    const VectorXd from_nodes = of_stream * given;
    expected = dense.velocities * from_nodes;
    EXPECT_LE((column_of(vectors_of(z.velocity.to_host()), d) - expected).norm(), 1e-4 * expected.norm());
    const VectorXd by_jacobi = column_of(stream_of(z)) - from_nodes;
    std::vector<Real> ratios;
    auto unit = on.vectors<StreamVectors<Real>>(mesh);
    auto image = on.vectors<Paired<StreamVectors<Real>>>(mesh);
    for (std::size_t e = 0; e < on.free.size(); ++e) {
      if (on.free[e] == 0) continue;
      std::vector<Real> values(on.free.size(), 0);
      values[e] = 1;
      unit.stream.copy_from_host(values);
      StreamSystem(*on.matrices, 1, far).apply(unit, image);
      const auto i = static_cast<Eigen::Index>(e);
      ratios.push_back(by_jacobi(i) * image.stream.to_host()[e] / given(i));
    }
    for (const Real ratio : ratios) EXPECT_NEAR(ratio, ratios[0], 1e-2 * ratios[0]);
    EXPECT_GT(ratios[0], 0.1);
    EXPECT_LT(ratios[0], 2);
  }
}

TEST(CoupledCorrection, is_there_where_viscosity_reaches_across_cells_whatever_came_before) {
  RawMesh raw = make_box(CellType::Hexahedron, {6, 6, 6});
  distort(raw, 0.1 / 6);
  const Mesh mesh(raw);
  const OnBackend on(Executor::serial(), mesh);
  AuxiliarySpace edges(on.executor, mesh, on.mass.matrix(), on.viscous_form.matrix(), on.free);
  TangentialChebyshev tangential(on.momentum);
  StreamPreconditioner preconditioner = on.smooth_preconditioner(mesh);
  const auto r = forces<float>(on, mesh, 3);
  auto z = on.vectors<StreamVectors<float>>(mesh), each = alike(z);
  const auto is_each_for_itself = [&](Real a, Real b) {
    set(preconditioner, on, a, b);
    preconditioner.apply(r, z);
    edges.set(a, b);
    edges.apply(r.stream, each.stream, nullptr);
    tangential.apply(1 / b, r.velocity, each.velocity, nullptr);
    return z.stream.to_host() == each.stream.to_host() &&
           vectors_of(z.velocity.to_host()) == vectors_of(each.velocity.to_host());
  };
  const Real squared_width = 1. / 36;
  EXPECT_TRUE(is_each_for_itself(1, 0.3 * squared_width));
  EXPECT_FALSE(is_each_for_itself(1, 4 * squared_width));
  EXPECT_TRUE(is_each_for_itself(10, 3 * squared_width));
}

/// Whether forces on faces alone, where viscosity reaches far, let edges move: only a correction of both
/// does.
bool is_coupled(const Mesh& mesh) {
  const OnBackend on(Executor::serial(), mesh);
  StreamPreconditioner preconditioner = on.smooth_preconditioner(mesh);
  set(preconditioner, on, 1, far);
  auto r = forces<float>(on, mesh, 3);
  r.stream.fill(0);
  r.loop.fill(0);
  auto z = on.vectors<StreamVectors<float>>(mesh);
  preconditioner.apply(r, z);
  return column_of(stream_of(z)).norm() > 0;
}

TEST(CoupledCorrection, is_not_there_where_many_cells_are_flat_or_gaps_are_narrow) {
  for (const auto& [type, height, coupled] : {std::tuple(CellType::Hexahedron, 0.2, false),
                                              {CellType::Hexahedron, 0.3, true},
                                              {CellType::Tetrahedron, 0.1, false},
                                              {CellType::Quadrilateral, 0.2, false}}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(type)) + " " + std::to_string(height));
    const bool plane = is_planar(type);
    EXPECT_EQ(
        is_coupled(Mesh(make_box(type, {5, 5, plane ? 1 : 5}, {1, plane ? height : 1, plane ? 1 : height}))),
        coupled);
  }
  EXPECT_FALSE(is_coupled(Mesh(narrow_gaps(6, 1))));
}

TEST(CoupledCorrection, has_the_same_bits_on_every_backend_whatever_came_before) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Quadrilateral}) {
    const Mesh mesh(make_box(type, {9, 9, is_planar(type) ? 1 : 9}));
    const auto results = [&](const Executor& executor, const std::vector<Real>& viscosities) {
      const OnBackend on(executor, mesh);
      StreamPreconditioner preconditioner = on.smooth_preconditioner(mesh);
      for (const Real viscosity : viscosities) set(preconditioner, on, 1, viscosity);
      auto z = on.vectors<StreamVectors<float>>(mesh);
      auto z_double = on.vectors<StreamVectors<Real>>(mesh);
      preconditioner.apply(forces<float>(on, mesh, 2), z);
      preconditioner.apply(forces<Real>(on, mesh, 2), z_double);
      return std::pair(column(z), column(z_double));
    };
    const auto expected = results(Executor::serial(), {3});
    for (const Executor& executor : backends_beside_serial())
      EXPECT_EQ(results(executor, {1e-9, 1000, 3}), expected) << executor.name();
  }
}

/// The first step of a box whose lid starts to slide, or, without walls, of a force that turns.
struct FirstStep {
  FirstStep(const Mesh& mesh, Real viscosity, Preconditioning preconditioning, Real tolerance) {
    FlowSettings settings = settings_with(mesh, Wall{});
    for (std::size_t p = 0; p < settings.boundaries.size(); ++p)
      if (mesh.topology().patches()[p].name == "top")
        settings.boundaries[p] = Wall{uniform_vector({1, 0, 0}), {}};
    const bool plane = mesh.topology().dimension() == 2;
    settings.body_force = steady_vector([plane](Vector3 x) {
      return Vector3{std::sin(6 * x.y), std::cos(6 * x.x), plane ? 0 : std::sin(6 * x.x)};
    });
    settings.viscosity = viscosity;
    settings.streamfunction_preconditioning = preconditioning;
    settings.streamfunction.relative_tolerance = tolerance;
    ExactFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({}), 0);
    iterations = flow.advance(1).solves.at("streamfunction").iterations;
    flux = flow.flux().to_host();
  }
  int iterations;
  std::vector<Real> flux;
};

/// A box of unit side, joined in the first `directions` directions.
Mesh joined_box(CellType type, Index blocks, int directions) {
  Mesh open(make_box(type, {blocks, blocks, is_planar(type) ? 1 : blocks}));
  if (directions == 0) return open;
  return make_periodic(open, PeriodicBox{"", type, {}, directions, false}.pairs()).mesh;
}

/// Each mesh is twice as fine as the one before; so is how far viscosity reaches, counted in cells. Walls, of
/// which the correction knows that nothing goes through them but not that nothing slides along them, cost the
/// square root of two each time.
TEST(CoupledCorrection, needs_iterations_that_grow_less_than_the_mesh_is_refined) {
  struct Band {
    CellType type;
    int directions;
    std::vector<Index> blocks;
    int least, most;  ///< on the finest mesh
  };
  for (const auto& [type, directions, blocks, least, most] :
       {Band{CellType::Hexahedron, 0, {4, 8, 16}, 50, 72}, Band{CellType::Tetrahedron, 0, {3, 6, 12}, 45, 68},
        Band{CellType::Quadrilateral, 0, {16, 32, 64}, 50, 78},
        Band{CellType::Triangle, 0, {12, 24, 48}, 38, 58}, Band{CellType::Hexahedron, 3, {4, 8, 16}, 40, 80},
        Band{CellType::Tetrahedron, 2, {3, 6, 12}, 60, 180},
        Band{CellType::Triangle, 1, {12, 24, 48}, 40, 90}}) {
    std::vector<int> iterations;
    for (const Index n : blocks)
      iterations.push_back(
          FirstStep(joined_box(type, n, directions), 0.1, Preconditioning::Multigrid, 1e-8).iterations);
    SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)) + " in " + std::to_string(directions) +
                 " directions: " + testing::PrintToString(iterations) + " iterations");
    EXPECT_GE(iterations[2], least);
    EXPECT_LE(iterations[2], most);
    if (directions == 0) {
      EXPECT_LE(iterations[2], 1.7 * iterations[1]);
    }
    const Mesh finest = joined_box(type, blocks[2], directions);
    EXPECT_LT(3 * iterations[2], FirstStep(finest, 0.1, Preconditioning::Jacobi, 1e-8).iterations);
  }
}

TEST(CoupledCorrection, leads_to_the_fluxes_of_the_diagonal) {
  for (const PeriodicBox& box : periodic_boxes()) {
    SCOPED_TRACE(box.name);
    const Mesh mesh = make_periodic(Mesh(box.raw()), box.pairs()).mesh;
    const VectorXd expected = column_of(FirstStep(mesh, 10, Preconditioning::Jacobi, 1e-11).flux),
                   flux = column_of(FirstStep(mesh, 10, Preconditioning::Multigrid, 1e-11).flux);
    EXPECT_GT(expected.norm(), 0);
    EXPECT_LE((flux - expected).norm(), 1e-7 * expected.norm());
  }
}

}  // namespace
}  // namespace curlew
