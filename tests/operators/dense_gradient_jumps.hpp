// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Dense>
#include <set>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// The jumps of GradientJumps by their definition, for one component of the velocities of faces: each tie's
/// sum of squares from rows of dense matrices.
inline Eigen::MatrixXd dense_gradient_jumps(const Mesh& mesh) {
  using Eigen::MatrixXd;
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  const int d = t.dimension();
  const Index faces = t.faces().size();
  const auto nodes_of = [&](Id<Face> f) {
    std::set<Index> nodes;
    for (const auto [n, sign] : t.nodes_of_face()[f]) nodes.insert(n.value());
    return nodes;
  };
  const auto touch = [&](Id<Face> f, Id<Face> e) {
    const std::set<Index> nodes = nodes_of(e);
    for (const Index n : nodes_of(f))
      if (nodes.contains(n)) return true;
    return false;
  };
  const auto may_tie = [&](Id<Face> f) {
    for (const auto [c, side] : t.cells_of_face()[f]) {
      for (const auto [e, sign] : t.faces_of_cell()[c])
        if (!touch(f, e)) return false;
    }
    return t.cells_of_face()[f].size() == 2;
  };
  std::vector<MatrixXd> weight, gradient;
  std::vector<bool> flat;
  for (const Id<Cell> c : t.cells()) {
    const Real volume = g.cell_volumes()[at(c.value())];
    MatrixXd squares = MatrixXd::Zero(d, d), of_velocities = MatrixXd::Zero(d, faces);
    for (const auto [f, sign] : t.faces_of_cell()[c]) {
      const Vector3 s = sign * g.face_areas()[at(f.value())],
                    r = g.face_centroids()[at(f.value())] - g.cell_centroids()[at(c.value())];
      const Eigen::VectorXd arm = Eigen::Vector3d(r.x, r.y, r.z).head(d);
      squares += dot(r, s) / (d * volume) * arm * arm.transpose();
      const Real components[] = {s.x, s.y, s.z};
      for (int a = 0; a < d; ++a) of_velocities(a, f.value()) = components[a] / volume;
    }
    const Eigen::SelfAdjointEigenSolver<MatrixXd> principal(squares);
    Eigen::VectorXd excess =
        (principal.eigenvalues().array() / principal.eigenvalues()(0) - 9).cwiseMax(0).cwiseMin(20);
    flat.push_back(excess.maxCoeff() > 0);
    excess *= 0.3 * volume / t.faces_of_cell()[c].size();
    weight.push_back(principal.eigenvectors() * excess.asDiagonal() * principal.eigenvectors().transpose());
    gradient.push_back(of_velocities);
  }
  const auto is_among_flat = [&](Id<Cell> c) -> bool {
    for (const auto [f, sign] : t.faces_of_cell()[c]) {
      for (const auto [other, side] : t.cells_of_face()[f])
        if (may_tie(f) && !flat[at(other.value())]) return false;
    }
    return flat[at(c.value())];
  };
  MatrixXd form = MatrixXd::Zero(faces, faces);
  for (const Id<Face> f : t.faces()) {
    if (!may_tie(f)) continue;
    const Id<Cell> a = t.cells_of_face()[f][0].id, b = t.cells_of_face()[f][1].id;
    if (!is_among_flat(a) || !is_among_flat(b)) continue;
    const MatrixXd jump = gradient[at(a.value())] - gradient[at(b.value())];
    form += jump.transpose() * (weight[at(a.value())] + weight[at(b.value())]) * jump;
  }
  return form;
}

}  // namespace curlew
