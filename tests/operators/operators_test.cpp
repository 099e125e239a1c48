// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "mesh/box.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

template <class E>
Index count_of(const Topology& t);
template <>
Index count_of<Node>(const Topology& t) {
  return t.nodes().size();
}
template <>
Index count_of<Edge>(const Topology& t) {
  return t.edges().size();
}
template <>
Index count_of<Face>(const Topology& t) {
  return t.faces().size();
}
template <>
Index count_of<Cell>(const Topology& t) {
  return t.cells().size();
}

template <class F>
F make_field(const Executor& executor, const Topology& t) {
  return F(executor, count_of<typename F::Entity>(t), "field", "1");
}

Real random_value(std::mt19937_64& generator, Real*) {
  return std::uniform_real_distribution<Real>(-1, 1)(generator);
}
Vector3 random_value(std::mt19937_64& generator, Vector3*) {
  std::uniform_real_distribution<Real> uniform(-1, 1);
  return {uniform(generator), uniform(generator), uniform(generator)};
}

template <class F>
void fill_at_random(F& field, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<typename F::Value> values(at(field.size()));
  for (auto& value : values) value = random_value(generator, static_cast<typename F::Value*>(nullptr));
  field.copy_from_host(values);
}

Real product(Real a, Real b) {
  return a * b;
}
Real product(Vector3 a, Vector3 b) {
  return dot(a, b);
}
/// Inner product and the sum of the terms' magnitudes, which says how large rounding may be.
template <class F, class G>
std::pair<Real, Real> pairing(const F& a, const G& b) {
  const auto x = a.to_host();
  const auto y = b.to_host();
  Real sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += product(x[i], y[i]);
    magnitude += std::abs(product(x[i], y[i]));
  }
  return {sum, magnitude};
}

template <class X, class Y>
void expect_adjoint(const Operator<X, Y>& op, const Executor& executor, const Topology& t) {
  X x = make_field<X>(executor, t);
  Y ax = make_field<Y>(executor, t);
  Paired<Y> y = make_field<Paired<Y>>(executor, t);
  Paired<X> aty = make_field<Paired<X>>(executor, t);
  fill_at_random(x, 1);
  fill_at_random(y, 2);
  op.apply(x, ax);
  op.apply_transpose(y, aty);
  const auto [left, left_size] = pairing(ax, y);
  const auto [right, right_size] = pairing(x, aty);
  EXPECT_NEAR(left, right, 1e-13 * (left_size + right_size));
}

template <class X, class Y>
std::vector<typename Y::Value> applied(const Operator<X, Y>& op, const Executor& executor,
                                       const Topology& t) {
  X x = make_field<X>(executor, t);
  Y y = make_field<Y>(executor, t);
  fill_at_random(x, 3);
  op.apply(x, y);
  return y.to_host();
}
template <class X, class Y>
std::vector<typename X::Value> applied_transposed(const Operator<X, Y>& op, const Executor& executor,
                                                  const Topology& t) {
  Paired<X> x = make_field<Paired<X>>(executor, t);
  Paired<Y> y = make_field<Paired<Y>>(executor, t);
  fill_at_random(y, 4);
  op.apply_transpose(y, x);
  return x.to_host();
}

/// Calls visit(operator) for each operator of discrete calculus on one mesh and executor.
template <class Visit>
void visit_operators(const Executor& executor, const Mesh& mesh, const Visit& visit) {
  visit(Divergence(executor, mesh.topology()));
  visit(Gradient(executor, mesh.topology()));
  visit(Curl(executor, mesh.topology()));
  visit(Rotation(executor, mesh.topology()));
  visit(NodeGradient(executor, mesh.topology()));
  visit(Interpolation(executor, mesh));
  visit(Integration(executor, mesh));
}

class OnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Topology& t_ = mesh_.topology();
  const Executor executor_ = Executor::serial();
};

TEST_P(OnShelf, operators_and_their_transposes_are_adjoint) {
  visit_operators(executor_, mesh_, [&](const auto& op) { expect_adjoint(op, executor_, t_); });
}

/// Results of all operators and their transposes, one after the other.
std::vector<std::vector<Real>> results_of_all(const Executor& executor, const Mesh& mesh) {
  std::vector<std::vector<Real>> all;
  const auto store = [&](const auto& values) {
    all.emplace_back(values.size() * sizeof(values[0]) / sizeof(Real));
    if (!values.empty()) std::memcpy(all.back().data(), values.data(), values.size() * sizeof(values[0]));
  };
  visit_operators(executor, mesh, [&](const auto& op) {
    store(applied(op, executor, mesh.topology()));
    store(applied_transposed(op, executor, mesh.topology()));
  });
  return all;
}

const std::vector<Executor>& all_backends() {
  static const std::vector<Executor> backends = backends_beside_serial();
  return backends;
}

TEST_P(OnShelf, every_backend_gives_the_bits_of_the_serial_reference) {
  const auto expected = results_of_all(Executor::serial(), mesh_);
  for (const Executor& executor : all_backends()) {
    EXPECT_EQ(results_of_all(executor, mesh_), expected) << executor.name();
  }
}

TEST(Operator, every_backend_gives_the_bits_of_the_serial_reference_on_a_mesh_large_enough_for_threads) {
  RawMesh raw = make_box(CellType::Tetrahedron, {12, 12, 12});
  distort(raw, 0.01);
  const Mesh mesh(raw);
  ASSERT_GT(mesh.topology().cells().size(), 2 * OpenMP::smallest_parallel_range);
  const auto expected = results_of_all(Executor::serial(), mesh);
  for (const Executor& executor : all_backends()) {
    EXPECT_EQ(results_of_all(executor, mesh), expected) << executor.name();
  }
}

/// Whole blocks of its rows are read from slices, the others from the table.
TEST(Operator, rotation_on_part_of_a_range_gives_the_bits_of_the_whole_and_leaves_the_rest) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {12, 12, 12}));
  const Topology& t = mesh.topology();
  ASSERT_GT(t.edges().size(), 2 * sliced_incidence::rows_per_block);
  const Rotation rotation(Executor::serial(), t);
  auto circulation = make_field<DualCochain<Face>>(Executor::serial(), t);
  auto result = make_field<DualCochain<Edge>>(Executor::serial(), t);
  fill_at_random(circulation, 5);
  rotation.apply(circulation, result);
  const std::vector<Real> whole = result.to_host();
  const Index size = t.edges().size();
  for (const Range<Edge> part : {Range<Edge>(0, size / 3), Range<Edge>(size / 3, size)}) {
    result.fill(99);
    rotation.apply_on(part, circulation, result);
    const std::vector<Real> values = result.to_host();
    for (const Id<Edge> e : t.edges()) {
      EXPECT_EQ(values[at(e.value())], part.contains(e) ? whole[at(e.value())] : 99);
    }
  }
}

TEST_P(OnShelf, divergence_of_curl_and_rotation_of_gradient_vanish_for_integers) {
  // Integers up to 1000 are summed without rounding, so that anything but zero would be a wrong sign.
  const auto fill_with_integers = [](auto& field) {
    std::vector<Real> values(at(field.size()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>((i * 7919) % 1000);
    field.copy_from_host(values);
  };
  auto s = make_field<PrimalCochain<Edge>>(executor_, t_);
  auto u = make_field<PrimalCochain<Face>>(executor_, t_);
  auto d = make_field<PrimalCochain<Cell>>(executor_, t_);
  fill_with_integers(s);
  Curl(executor_, t_).apply(s, u);
  Divergence(executor_, t_).apply(u, d);
  for (const Real value : d.to_host()) EXPECT_EQ(value, 0);

  auto T = make_field<PrimalCochain<Node>>(executor_, t_);
  fill_with_integers(T);
  NodeGradient(executor_, t_).apply(T, s);
  Curl(executor_, t_).apply(s, u);
  for (const Real value : u.to_host()) EXPECT_EQ(value, 0);

  // R G = 0 where the dual face is closed: round edges away from the boundary.
  auto p = make_field<DualCochain<Cell>>(executor_, t_);
  auto g = make_field<DualCochain<Face>>(executor_, t_);
  auto r = make_field<DualCochain<Edge>>(executor_, t_);
  fill_with_integers(p);
  Gradient(executor_, t_).apply(p, g);
  Rotation(executor_, t_).apply(g, r);
  const std::vector<Real> circulation = r.to_host();
  for (const Id<Edge> e : t_.edges()) {
    bool open = false;
    for (const auto [f, sign] : t_.faces_of_edge()[e]) open = open || t_.boundary_faces().contains(f);
    if (!open) {
      EXPECT_EQ(circulation[at(e.value())], 0);
    }
  }
}

TEST_P(OnShelf, a_uniform_stream_has_no_divergence_and_is_interpolated_exactly) {
  if (GetParam().name.find("hexahedra_distorted") != std::string::npos ||
      GetParam().name.find("prisms_distorted") != std::string::npos ||
      GetParam().name.find("pyramids_distorted") != std::string::npos ||
      GetParam().name.find("polyhedra_distorted") != std::string::npos || GetParam().name == "hybrid") {
    return;  // curved faces, for which interpolation does not promise this
  }
  const Vector3 stream{1, -2, t_.dimension() == 2 ? 0. : 3.};
  auto u = make_field<PrimalCochain<Face>>(executor_, t_);
  std::vector<Real> flux(at(t_.faces().size()));
  for (std::size_t f = 0; f < flux.size(); ++f) flux[f] = dot(stream, mesh_.geometry().face_areas()[f]);
  u.copy_from_host(flux);
  auto v = make_field<Field<Cell, Vector3>>(executor_, t_);
  Interpolation(executor_, mesh_).apply(u, v);
  for (const Vector3& value : v.to_host()) EXPECT_LE(norm(value - stream), 1e-12 * norm(stream));
}

TEST_P(OnShelf, a_uniform_stream_has_no_divergence) {
  const Vector3 stream{1, -2, t_.dimension() == 2 ? 0. : 3.};
  auto u = make_field<PrimalCochain<Face>>(executor_, t_);
  std::vector<Real> flux(at(t_.faces().size()));
  for (std::size_t f = 0; f < flux.size(); ++f) flux[f] = dot(stream, mesh_.geometry().face_areas()[f]);
  u.copy_from_host(flux);
  auto d = make_field<PrimalCochain<Cell>>(executor_, t_);
  Divergence(executor_, t_).apply(u, d);
  for (const Real value : d.to_host()) EXPECT_NEAR(value, 0, 1e-15 * norm(stream));
}

TEST_P(OnShelf, curl_of_a_linear_streamfunction_is_the_flux_of_its_curl) {
  // psi = (2y - z, 3z, x + 4y): its curl is (4 - 3, -1 - 1, -2). In the plane psi = 4y - 2x along z: (4, 2).
  const auto x = mesh_.geometry().node_positions(MemorySpace::Host);
  const bool planar = t_.dimension() == 2;
  const Vector3 curl = planar ? Vector3{4, 2, 0} : Vector3{1, -2, -2};
  auto s = make_field<PrimalCochain<Edge>>(executor_, t_);
  std::vector<Real> integral(at(t_.edges().size()));
  for (const Id<Edge> e : t_.edges()) {
    if (planar) {
      const Vector3 at_node = x[Id<Node>(e.value())];
      integral[at(e.value())] = 4 * at_node.y - 2 * at_node.x;
    } else {
      const auto ends = t_.nodes_of_edge()[e];
      const Vector3 a = x[ends[0].id], b = x[ends[1].id], m = Real(0.5) * (a + b);
      integral[at(e.value())] = dot({2 * m.y - m.z, 3 * m.z, m.x + 4 * m.y}, b - a);
    }
  }
  s.copy_from_host(integral);
  auto u = make_field<PrimalCochain<Face>>(executor_, t_);
  Curl(executor_, t_).apply(s, u);
  const std::vector<Real> flux = u.to_host();
  for (std::size_t f = 0; f < flux.size(); ++f) {
    EXPECT_NEAR(flux[f], dot(curl, mesh_.geometry().face_areas()[f]), 1e-13);
  }
}

TEST_P(OnShelf, gradient_of_a_linear_field_is_its_change_along_dual_and_mesh_edges) {
  const Vector3 slope{1, -2, t_.dimension() == 2 ? 0. : 3.};
  auto p = make_field<DualCochain<Cell>>(executor_, t_);
  std::vector<Real> values;
  for (const Vector3& c : mesh_.geometry().cell_centroids().host()) values.push_back(dot(slope, c));
  p.copy_from_host(values);
  auto g = make_field<DualCochain<Face>>(executor_, t_);
  Gradient(executor_, t_).apply(p, g);
  const std::vector<Real> difference = g.to_host();
  for (const Id<Face> f : t_.interior_faces()) {
    EXPECT_NEAR(difference[at(f.value())], dot(slope, mesh_.geometry().dual_edge(t_, f)), 1e-13);
  }
  if (t_.dimension() == 2) return;
  auto T = make_field<PrimalCochain<Node>>(executor_, t_);
  values.clear();
  for (const Vector3& n : mesh_.geometry().node_positions().host()) values.push_back(dot(slope, n));
  T.copy_from_host(values);
  auto along = make_field<PrimalCochain<Edge>>(executor_, t_);
  NodeGradient(executor_, t_).apply(T, along);
  const std::vector<Real> change = along.to_host();
  const auto x = mesh_.geometry().node_positions(MemorySpace::Host);
  for (const Id<Edge> e : t_.edges()) {
    const auto ends = t_.nodes_of_edge()[e];
    EXPECT_TRUE(ends[0].id < ends[1].id);
    EXPECT_NEAR(change[at(e.value())], dot(slope, x[ends[1].id] - x[ends[0].id]), 1e-13);
  }
}

TEST_P(OnShelf, integration_of_a_constant_vector_is_its_component_along_the_dual_edge) {
  const Vector3 vector{1, -2, t_.dimension() == 2 ? 0. : 3.};
  auto v = make_field<Field<Cell, Vector3>>(executor_, t_);
  v.fill(vector);
  auto c = make_field<DualCochain<Face>>(executor_, t_);
  Integration(executor_, mesh_).apply(v, c);
  const std::vector<Real> integral = c.to_host();
  for (const Id<Face> f : t_.faces()) {
    EXPECT_NEAR(integral[at(f.value())], dot(vector, mesh_.geometry().dual_edge(t_, f)), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(Operator, refuses_fields_of_another_length_or_memory) {
  const Mesh mesh(shelf().front().raw);
  const Divergence divergence(Executor::serial(), mesh.topology());
  PrimalCochain<Face> flux(Executor::serial(), mesh.topology().faces().size(), "flux", "m3/s");
  PrimalCochain<Cell> short_field(Executor::serial(), 1, "outflow", "m3/s");
  EXPECT_THROW(divergence.apply(flux, short_field), Error);
  PrimalCochain<Cell> elsewhere(Executor::debug_device(), mesh.topology().cells().size(), "outflow", "m3/s");
  EXPECT_THROW(divergence.apply(flux, elsewhere), Error);
}

}  // namespace
}  // namespace curlew
