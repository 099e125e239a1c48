// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/gradient_jumps.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/parallel/exchange.hpp"

namespace curlew {

namespace {

/// The square of the ratio of extents above which a cell is flat, up to which it counts how much, and for
/// what.
constexpr Real flat_ratio = 9, flattest_ratio = 29, weight_of_jumps = 0.3;

template <class Row>
bool have_common_node(const Row& a, const Row& b) {
  for (const auto [n, sign] : a) {
    for (const auto [m, side] : b)
      if (n == m) return true;
  }
  return false;
}

bool may_tie(const Topology& topology, Id<Face> f) {
  const auto cells = topology.cells_of_face()[f];
  if (cells.size() < 2) return false;
  for (const auto [c, side] : cells) {
    for (const auto [g, sign] : topology.faces_of_cell()[c])
      if (!have_common_node(topology.nodes_of_face()[f], topology.nodes_of_face()[g])) return false;
  }
  return true;
}

/// T of a cell.
template <int d>
Tensor3 weight_of(const Mesh& mesh, Id<Cell> c) {
  const Geometry& geometry = mesh.geometry();
  const auto face_centroid = geometry.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = mesh.topology().faces_of_cell()[c];
  Eigen::Matrix<Real, d, d> extents = Eigen::Matrix<Real, d, d>::Zero();
  for (const auto [f, sign] : faces) {
    const Vector3 arm = face_centroid(f, sign) - geometry.cell_centroids()[at(c.value())];
    const Eigen::Matrix<Real, d, 1> r = Eigen::Vector3d(arm.x, arm.y, arm.z).head<d>();
    extents += sign * dot(arm, geometry.face_areas()[at(f.value())]) * r * r.transpose();
  }
  // No principal values of which one is `flat_ratio` times another have a larger product for their sum.
  const Real mean = extents.trace() / d, most = 4 * flat_ratio / ((1 + flat_ratio) * (1 + flat_ratio));
  if (extents.determinant() > 1.001 * most * std::pow(mean, d)) return {};
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, d, d>> principal(extents);
  const Eigen::Matrix<Real, d, 1> squares = principal.eigenvalues();
  const Real scale = weight_of_jumps * geometry.cell_volumes()[at(c.value())] / faces.size();
  Tensor3 weight{};
  for (int i = 1; i < d; ++i) {
    const Real excess = std::min(squares(i) / squares(0), flattest_ratio) - flat_ratio;
    if (excess <= 0) continue;
    Eigen::Vector3d along = Eigen::Vector3d::Zero();
    along.head<d>() = principal.eigenvectors().col(i);
    const Vector3 e{along(0), along(1), along(2)};
    weight += outer((scale * excess) * e, e);
  }
  return weight;
}

bool is_zero(const Tensor3& t) {
  return t.x == Vector3{} && t.y == Vector3{} && t.z == Vector3{};
}

/// Whether a cell and all neighbours that it could be tied to are flat, and there is one.
bool is_among_flat_cells(const Topology& topology, View<Cell, const Tensor3> weight, Id<Cell> c) {
  if (is_zero(weight[c])) return false;
  bool among = false;
  for (const auto [f, sign] : topology.faces_of_cell()[c]) {
    if (!may_tie(topology, f)) continue;
    among = true;
    for (const auto [cell, side] : topology.cells_of_face()[f])
      if (is_zero(weight[cell])) return false;
  }
  return among;
}

}  // namespace

GradientJumps::GradientJumps(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const Executor host = Executor::serial();
  Field<Cell, Tensor3> of_cell(host, mesh.domain().extent<Cell>(), "weight of jumps", "m3");
  parallel_for(at(of_cell.owned().size()), [&](std::size_t i) {
    const Id<Cell> c(static_cast<Index>(i));
    if (is_box(topology.cell_type(c))) return;  // whose faces tie nothing
    of_cell.view()[c] = topology.dimension() == 2 ? weight_of<2>(mesh, c) : weight_of<3>(mesh, c);
  });
  const auto are_any = [&](const auto& weights) {
    const auto view = std::as_const(weights).view();
    const bool none = std::all_of(view.data(), view.data() + weights.size(), is_zero);
    return mesh.domain().communicator().maximum(none ? 0 : 1) > 0;
  };
  if (!are_any(of_cell)) return;
  exchange_ghosts(mesh.domain(), of_cell);
  Field<Cell, Tensor3> in_layer = alike(of_cell);
  parallel_for(at(of_cell.owned().size()), [&](std::size_t i) {
    const Id<Cell> c(static_cast<Index>(i));
    const View<Cell, const Tensor3> weight = std::as_const(of_cell).view();
    if (is_among_flat_cells(topology, weight, c)) in_layer.view()[c] = weight[c];
  });
  if (!are_any(in_layer)) return;
  exchange_ghosts(mesh.domain(), in_layer);
  // Only a face's owner is sure to have both of its cells.
  Field<Face, Tensor3> of_face(host, mesh.domain().extent<Face>(), "weight of jumps", "m3");
  parallel_for(at(of_face.owned().size()), [&](std::size_t i) {
    const Id<Face> f(static_cast<Index>(i));
    const auto cells = topology.cells_of_face()[f];
    if (cells.size() < 2) return;
    const Tensor3 &first = in_layer.view()[cells[0].id], &second = in_layer.view()[cells[1].id];
    if (is_zero(first) || is_zero(second) || !may_tie(topology, f)) return;
    of_face.view()[f] = first;
    of_face.view()[f] += second;
  });
  exchange_ghosts(mesh.domain(), of_face);
  if (are_any(of_face)) weight_ = of_face.to_host();
}

bool GradientJumps::is_tied(Id<Face> f) const {
  return !is_zero(weight(f));
}

}  // namespace curlew
