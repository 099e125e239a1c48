// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/stream_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/launch_sequence.hpp"
#include "physics/streamfunction/stream_preconditioner.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/block_shapes.hpp"
#include "tests/physics/flow_matrices.hpp"
#include "tests/physics/streamfunction/stream_parts.hpp"

namespace curlew {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Real a = 3, b = 0.2;
constexpr Real far_reaching = 1000;  ///< a viscosity that reaches across cells

class StreamOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  StreamOnShelf() {
    const Topology& t = mesh_.topology();
    const Index edges = t.edges().size(), loops = static_cast<Index>(on_.loops.size());
    const FlowMatrices m(mesh_, 1);
    flux_ = MatrixXd::Zero(faces_, edges + loops + d_ * faces_);
    for (const Id<Face> f : t.faces())
      for (const auto [e, sign] : t.edges_of_face()[f])
        if (on_.free[at(e.value())] != 0) flux_(f.value(), e.value()) += sign;
    for (Index l = 0; l < loops; ++l)
      for (const auto [f, sign] : on_.loops[at(l)]) flux_(f.value(), edges + l) += sign;
    velocity_ = m.normal * flux_;
    const MatrixXd tangents = FreeUnknowns(mesh_, on_.boundaries).tangents;
    free_tangential_ = tangents * tangents.transpose();
    for (const Id<Face> f : t.faces())
      velocity_.middleCols(edges + loops + d_ * f.value(), d_) =
          free_tangential_.middleCols(d_ * f.value(), d_) /
          norm(mesh_.geometry().face_areas()[at(f.value())]);
    mass_ = a * m.mass;
    viscous_ = b * m.viscous;
    normal_ = m.normal;
    const MatrixXd of_flux = mass_ * flux_, of_velocity = viscous_ * velocity_;
    system_ = flux_.transpose() * of_flux;
    system_ += velocity_.transpose() * of_velocity;
  }

  template <class V>
  VectorXd column(const V& x) const {
    VectorXd result(flux_.cols());
    const auto stream = x.stream.to_host();
    const auto loop = x.loop.to_host();
    std::vector<Vector3> velocity;
    for (const auto& v : x.velocity.to_host())
      velocity.push_back({static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)});
    const std::vector<Real> edges(stream.begin(), stream.end());
    result << column_of(edges), column_of(loop), column_of(velocity, d_);
    return result;
  }
  /// Arbitrary values of what is free.
  template <class V>
  void set(V& x) const {
    std::vector<typename decltype(V::stream)::Value> stream;
    for (const Real value : arbitrary(x.stream.size(), 3))
      stream.push_back(on_.free[stream.size()] != 0 ? static_cast<decltype(stream)::value_type>(value) : 0);
    x.stream.copy_from_host(stream);
    x.loop.copy_from_host(arbitrary(x.loop.size(), 5));
    const VectorXd free = free_tangential_ * column_of(arbitrary_vectors(mesh_, faces_, 7), d_);
    std::vector<typename decltype(V::velocity)::Value> velocity(at(faces_));
    for (Index f = 0; f < faces_; ++f) {
      auto& v = velocity[at(f)];
      const auto part = free.segment(d_ * f, d_);
      using T = decltype(v.x);
      v.x = static_cast<T>(part[0]);
      v.y = static_cast<T>(part[1]);
      if (d_ == 3) v.z = static_cast<T>(part[2]);
    }
    x.velocity.copy_from_host(velocity);
  }
  template <class T>
  void check_products(Real tolerance) {
    std::vector<VectorXd> images;
    std::vector<Real> energies;
    for (const Executor& executor : all_backends()) {
      const OnBackend on(executor, mesh_);
      auto x = on.vectors<StreamVectors<T>>(mesh_);
      auto y = on.vectors<Paired<StreamVectors<T>>>(mesh_);
      set(x);
      SumInParts energy(executor);
      StreamSystem(*on.matrices, a, b).apply_with_product(x, y, energy);
      images.push_back(column(y));
      energies.push_back(energy.value());
      EXPECT_EQ(images.back(), images.front()) << executor.name();
      EXPECT_EQ(energies.back(), energies.front()) << executor.name();
      if (images.size() > 1) continue;
      const VectorXd expected = system_ * column(x);
      const Real size = (system_.cwiseAbs() * column(x).cwiseAbs()).norm();
      EXPECT_LE((images[0] - expected).norm(), tolerance * size);
      EXPECT_NEAR(energies[0], column(x).dot(expected), tolerance * column(x).norm() * size);
      StreamSystem(*on.matrices, a, b).apply(x, y);
      EXPECT_EQ(column(y), images[0]);
    }
  }

  const Mesh mesh_{GetParam().raw};
  const OnBackend on_{Executor::serial(), mesh_};
  const int d_ = mesh_.topology().dimension();
  const Index faces_ = mesh_.topology().faces().size();
  MatrixXd flux_, velocity_;  ///< of unknowns: fluxes, face velocities
  MatrixXd mass_, viscous_, normal_, free_tangential_;
  MatrixXd system_;
};

TEST_P(StreamOnShelf, products_are_those_of_the_dense_system_on_every_backend) {
  check_products<Real>(1e-13);
  check_products<float>(1e-6);
}

/// Not too close to what double precision holds on slivers.
Real tightest(const std::string& name) {
  return name.find("sliver") == std::string::npos ? 1e-12 : 1e-11;
}

TEST_P(StreamOnShelf, refinement_solves_the_dense_system_far_beyond_single_precision) {
  const Real tolerance = tightest(GetParam().name);
  DualCochain<Face> circulation(Executor::serial(), faces_, "circulation", "m3/s2");
  PrimalCochain<Face> flux(Executor::serial(), faces_, "flux", "m3/s");
  FaceVelocity velocity(Executor::serial(), faces_, "velocity", "m/s");
  circulation.copy_from_host(arbitrary(faces_, 11));
  flux.copy_from_host(arbitrary(faces_, 13));
  velocity.copy_from_host(arbitrary_vectors(mesh_, faces_, 17));
  DualCochain<Loop> round_loops(Executor::serial(), static_cast<Index>(on_.loops.size()), "round loops",
                                "m3/s2");
  round_loops.fill(0.5);
  const StreamSystem::Sources sources{circulation, flux, velocity, &round_loops};
  const StreamSystem system(*on_.matrices, a, b, &sources);

  // v with the fluxes' normal parts.
  const VectorXd u = column_of(flux.to_host());
  VectorXd v = column_of(velocity.to_host(), d_);
  for (Index f = 0; f < faces_; ++f) {
    const VectorXd n = normal_.block(d_ * f, f, d_, 1).normalized();
    v.segment(d_ * f, d_) -= n.dot(v.segment(d_ * f, d_)) * n;
  }
  v += normal_ * u;
  VectorXd given = flux_.transpose() * column_of(circulation.to_host());
  for (Index l = 0; l < static_cast<Index>(on_.loops.size()); ++l)
    given(mesh_.topology().edges().size() + l) += 0.5;
  const VectorXd of_flux = mass_ * u, of_velocity = viscous_ * v,
                 own = flux_.transpose() * of_flux + velocity_.transpose() * of_velocity;

  auto x = on_.vectors<StreamVelocity>(mesh_);
  auto r = on_.vectors<Paired<StreamVelocity>>(mesh_);
  set(x);
  system.set_residual(x, r);
  const VectorXd residual = given - own - system_ * column(x);
  EXPECT_LE((column(r) - residual).norm(), 1e-13 * (system_.cwiseAbs() * column(x).cwiseAbs() + own).norm());
  set_to_zero(x);
  auto single = on_.vectors<StreamVectors<float>>(mesh_);
  auto image = on_.vectors<Paired<StreamVectors<float>>>(mesh_);
  const Real reference = std::sqrt(given.squaredNorm() + own.squaredNorm());
  SumInParts squared(Executor::serial());
  system.set_first_residual(x, r, single, image, squared);
  EXPECT_NEAR(std::sqrt(squared.value()), reference, 1e-12 * reference);
  EXPECT_LE((column(r) - (given - own)).norm(), 1e-13 * own.norm());

  StreamPreconditioner preconditioner(x);
  std::vector<Real> diagonal;
  for (Eigen::Index k = 0; k < system_.cols(); ++k) diagonal.push_back(system_(k, k));
  const std::size_t edges = on_.free.size(), loops = on_.loops.size();
  std::vector<Real> across(at(faces_), 1);
  preconditioner.set(std::span(diagonal).first(edges), std::span(diagonal).subspan(edges, loops), across, a,
                     b);
  RefinedConjugateGradient<StreamVelocity> solver(alike(r), {tolerance, 0, 100000});
  const SolveReport report = solver.solve("streamfunction", system, preconditioner, x, 0, {});
  const VectorXd left = given - own - system_ * column(x);
  EXPECT_LE(left.norm(), 1.5 * tolerance * reference);
  EXPECT_NEAR(report.residual, left.norm() / reference, 0.5 * tolerance);
  // What is held stays as it is.
  const auto stream = x.stream.to_host();
  for (std::size_t e = 0; e < edges; ++e) {
    if (on_.free[e] == 0) {
      EXPECT_EQ(stream[e], 0);
    }
  }
  const VectorXd tangential = column_of(x.velocity.to_host(), d_);
  EXPECT_LE((tangential - free_tangential_ * tangential).norm(), 1e-12 * tangential.norm());
}

/// A block with so many tunnels side by side.
Mesh with_tunnels(int tunnels) {
  return blocks(CellType::Hexahedron, {2 * tunnels + 1, 3, 2},
                [](int x, int y, int) { return x % 2 == 0 || y != 1; });
}

/// Arbitrary flows on free edges and through loops, rounded as they are kept.
std::unique_ptr<HarmonicFlows> arbitrary_flows(const OnBackend& on, const Mesh& mesh, MatrixXd* columns) {
  auto flow = on.vectors<StreamVelocity>(mesh);
  auto flows = std::make_unique<HarmonicFlows>(flow);
  const Index edges = flow.stream.size(), loops = flow.loop.size();
  if (columns != nullptr) *columns = MatrixXd::Zero(edges + loops, loops);
  for (const Id<HarmonicFlow> k : flows->range()) {
    std::vector<Real> stream = arbitrary(edges, 2 + k.value());
    for (std::size_t e = 0; e < stream.size(); ++e)
      stream[e] = on.free[e] != 0 ? static_cast<Real>(static_cast<float>(stream[e])) : 0;
    const std::vector<Real> loop = arbitrary(loops, 31 + k.value());
    flow.stream.copy_from_host(stream);
    flow.loop.copy_from_host(loop);
    flows->set(k, flow);
    if (columns != nullptr) columns->col(k.value()) << column_of(stream), column_of(loop);
  }
  auto single = on.vectors<StreamVectors<float>>(mesh);
  auto image = on.vectors<Paired<StreamVectors<float>>>(mesh);
  flows->set_energies(StreamSystem(*on.matrices, 1, 0), StreamSystem(*on.matrices, 0, 1), single, image);
  return flows;
}

template <class V>
VectorXd streams_and_loops(const V& x) {
  const auto stream = x.stream.to_host();
  VectorXd result(x.stream.size() + x.loop.size());
  result << column_of(std::vector<Real>(stream.begin(), stream.end())), column_of(x.loop.to_host());
  return result;
}

template <class T>
void check_harmonic_flows(int tunnels) {
  const Mesh mesh = with_tunnels(tunnels);
  const Index edges = mesh.topology().edges().size();
  std::vector<VectorXd> found;
  std::vector<Real> products;
  for (const Executor& executor : all_backends()) {
    const OnBackend on(executor, mesh);
    ASSERT_EQ(on.loops.size(), at(tunnels));
    // Beside them the inverse of the identity.
    StreamPreconditioner preconditioner(on.vectors<StreamVelocity>(mesh));
    MatrixXd y;
    preconditioner.set_harmonic(arbitrary_flows(on, mesh, &y));
    const std::vector<Real> unit(at(std::max(edges, mesh.topology().faces().size())), 1);
    preconditioner.set(std::span(unit).first(at(edges)), {},
                       std::span(unit).first(at(mesh.topology().faces().size())), a, b);
    auto r = on.vectors<Paired<StreamVectors<T>>>(mesh);
    auto z = on.vectors<StreamVectors<T>>(mesh);
    std::vector<T> stream;
    for (const Real value : arbitrary(edges, 3)) stream.push_back(static_cast<T>(value));
    r.stream.copy_from_host(stream);
    r.loop.copy_from_host(arbitrary(tunnels, 5));
    const VectorXd residual = streams_and_loops(r);
    SumInParts product(executor);
    preconditioner.apply_with_product(r, z, product);
    products.push_back(product.value());
    found.push_back(streams_and_loops(z));
    EXPECT_EQ(found.back(), found.front()) << executor.name();
    EXPECT_EQ(products.back(), products.front()) << executor.name();
    if (found.size() > 1) continue;

    // The dense projection, with energies from products of the matrix in double precision.
    auto x = on.vectors<StreamVectors<Real>>(mesh);
    auto image = on.vectors<Paired<StreamVectors<Real>>>(mesh);
    MatrixXd images(y.rows(), y.cols());
    for (int k = 0; k < tunnels; ++k) {
      const VectorXd of_edges = y.col(k).head(edges), of_loops = y.col(k).tail(tunnels);
      x.stream.copy_from_host(std::vector<Real>(of_edges.begin(), of_edges.end()));
      x.loop.copy_from_host(std::vector<Real>(of_loops.begin(), of_loops.end()));
      StreamSystem(*on.matrices, a, b).apply(x, image);
      images.col(k) = streams_and_loops(image);
    }
    const VectorXd by_flows = y * solved(y.transpose() * images, y.transpose() * residual);
    VectorXd expected = by_flows;
    expected.head(edges) += residual.head(edges);
    EXPECT_LE((found[0] - expected).norm(), 1e-5 * by_flows.norm());
    EXPECT_NEAR(products[0], residual.dot(found[0]), 1e-12 * residual.norm() * found[0].norm());
    preconditioner.apply(r, z);
    EXPECT_EQ(streams_and_loops(z), found[0]);
  }
}

TEST(HarmonicFlows, solve_exactly_what_they_span_on_every_backend) {
  for (const int tunnels : {1, 3}) {
    check_harmonic_flows<float>(tunnels);
    check_harmonic_flows<Real>(tunnels);
  }
}

/// A system, and how often it was asked for products.
template <class T>
class Counted : public FusedOperator<StreamVectors<T>> {
 public:
  using X = StreamVectors<T>;
  explicit Counted(const StreamSystem& system) : system_(system) {}
  void apply(const X& x, Paired<X>& y) const override { system_.apply(x, y); }
  void apply_transpose(const X& x, Paired<X>& y) const override { system_.apply(x, y); }
  void apply_with_product(const X& x, Paired<X>& y, SumInParts& product) const override {
    ++asked;
    system_.apply_with_product(x, y, product);
  }
  mutable int asked = 0;

 private:
  const StreamSystem& system_;
};

/// What iterations round tunnels come to; on devices they have to be recorded.
template <class T>
std::pair<int, VectorXd> iterate_on(const Executor& executor, const Mesh& mesh, bool by_multigrid,
                                    Real viscosity) {
  const OnBackend on(executor, mesh);
  const auto like = on.vectors<StreamVelocity>(mesh);
  StreamPreconditioner preconditioner =
      by_multigrid ? on.smooth_preconditioner(mesh) : StreamPreconditioner(like);
  if (by_multigrid) preconditioner.set_harmonic(arbitrary_flows(on, mesh, nullptr));
  std::vector<Real> of_edges(at(like.stream.size())), of_loops(on.loops.size(), 1),
      of_faces(at(like.velocity.size()), 1);
  for (std::size_t e = 0; e < of_edges.size(); ++e) of_edges[e] = on.free[e];
  preconditioner.set(of_edges, of_loops, of_faces, a, viscosity);

  const StreamSystem system(*on.matrices, a, viscosity);
  const Counted<T> counted(system);
  ConjugateGradientIteration<StreamVectors<T>> iteration(on.vectors<Paired<StreamVectors<T>>>(mesh),
                                                         on.vectors<StreamVectors<T>>(mesh));
  auto x = on.vectors<StreamVectors<T>>(mesh);
  x.loop.copy_from_host(arbitrary(x.loop.size(), 5));
  system.apply(x, iteration.residual());
  set_to_zero(x);
  iteration.start({.residual = 1, .target = 1e-4, .iterations = 0, .limit = 1000});
  LaunchSequence launches(executor);
  const ConjugateGradientState state = iterate<FusedOperator<StreamVectors<T>>, StreamVectors<T>>(
      launches, iteration, counted, preconditioner, x);
  EXPECT_EQ(state.ending, Ending::Converged) << executor.name();
  EXPECT_GE(state.iterations, 5);
  const bool on_device = executor.space() != MemorySpace::Host;
  EXPECT_EQ(launches.repeats(), on_device) << executor.name();
  EXPECT_EQ(counted.asked, on_device ? LaunchSequence::runs_before_recording + 1 : state.iterations)
      << executor.name();
  return {state.iterations, streams_and_loops(x)};
}

// An iteration is asked for once, and once more to record it.
TEST(StreamIteration, round_tunnels_needs_no_host_and_has_the_same_bits_on_every_backend) {
  for (const int tunnels : {1, 3}) {
    const Mesh mesh = with_tunnels(tunnels);
    for (const auto& [by_multigrid, viscosity] : {std::pair(true, b), {false, b}, {true, far_reaching}}) {
      const auto single = iterate_on<float>(Executor::serial(), mesh, by_multigrid, viscosity);
      const auto wide = iterate_on<Real>(Executor::serial(), mesh, by_multigrid, viscosity);
      for (const Executor& executor : backends_beside_serial()) {
        EXPECT_EQ(iterate_on<float>(executor, mesh, by_multigrid, viscosity), single) << executor.name();
        EXPECT_EQ(iterate_on<Real>(executor, mesh, by_multigrid, viscosity), wide) << executor.name();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SmallShelf, StreamOnShelf, testing::ValuesIn(small_shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
