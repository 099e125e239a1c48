// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/physics/flow_matrices.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/operators/dense_gradient_jumps.hpp"

namespace curlew {

std::vector<ShelfMesh> small_shelf() {
  std::vector<ShelfMesh> meshes;
  for (const ShelfMesh& mesh : shelf()) {
    if (mesh.raw.cell_types.size() <= (mesh.raw.dimension == 2 ? 100 : 30)) meshes.push_back(mesh);
  }
  for (const CellType type :
       {CellType::Tetrahedron, CellType::Pyramid, CellType::Prism, CellType::Hexahedron}) {
    const std::string name = "small_" + std::to_string(static_cast<int>(type));
    RawMesh raw = make_box(type, {2, 2, 2});
    for (Vector3& x : raw.nodes) x = {x.x + 0.9 * x.y, 0.2 * x.y, x.z + 0.5 * x.x};
    meshes.push_back({name + "_sliver", raw});
    raw = make_box(type, {2, 2, 2});
    distort(raw, 0.1);
    meshes.push_back({name + "_distorted", raw});
  }
  return meshes;
}

Eigen::VectorXd column_of(const std::vector<Vector3>& vectors, int d) {
  Eigen::VectorXd column(static_cast<Eigen::Index>(vectors.size()) * d);
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    const Real components[] = {vectors[k].x, vectors[k].y, vectors[k].z};
    for (int i = 0; i < d; ++i) column(static_cast<Eigen::Index>(k) * d + i) = components[i];
  }
  return column;
}
Eigen::VectorXd column_of(const std::vector<Real>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}
std::vector<Real> values_of(const Eigen::VectorXd& column) {
  return {column.data(), column.data() + column.size()};
}

FlowMatrices::FlowMatrices(const Mesh& mesh, Real weight_of_simplices, bool with_viscous)
    : d(mesh.topology().dimension()),
      faces(mesh.topology().faces().size()),
      cells(mesh.topology().cells().size()) {
  using Eigen::MatrixXd;
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  volume = column_of(std::vector<Real>(g.cell_volumes().host().begin(), g.cell_volumes().host().end()));
  divergence = MatrixXd::Zero(cells, faces);
  interpolation = MatrixXd::Zero(d * cells, faces);
  mean = MatrixXd::Zero(with_viscous ? d * cells : 0, d * faces);
  normal = MatrixXd::Zero(d * faces, faces);
  mass = MatrixXd::Zero(faces, faces);
  viscous = MatrixXd::Zero(with_viscous ? d * faces : 0, d * faces);
  for (const Id<Face> f : t.faces()) {
    const Eigen::VectorXd area = column_of({g.face_areas()[at(f.value())]}, d);
    normal.block(d * f.value(), f.value(), d, 1) = area / area.squaredNorm();
  }
  for (const Id<Cell> c : t.cells()) {
    const auto row = t.faces_of_cell()[c];
    const Index n = row.size();
    MatrixXd s(d, n), r(d, n);
    Eigen::VectorXd h_over_a(n), share(n);
    for (Index k = 0; k < n; ++k) {
      const std::size_t f = at(row[k].id.value());
      s.col(k) = column_of({row[k].sign * g.face_areas()[f]}, d);
      r.col(k) = column_of({g.face_centroids()[f] - g.cell_centroids()[at(c.value())]}, d);
      h_over_a(k) = r.col(k).dot(s.col(k)) / s.col(k).squaredNorm();
      share(k) = r.col(k).dot(s.col(k)) / (d * volume(c.value()));
    }
    const MatrixXd one = MatrixXd::Identity(n, n), at_cell = r / volume(c.value());
    const MatrixXd lost = one - s.transpose() * at_cell;
    const Real weight = is_simplex(t.cell_type(c)) ? weight_of_simplices : 1;
    const MatrixXd weighted_loss = weight * h_over_a.asDiagonal() * lost;
    MatrixXd local_mass = r.transpose() * at_cell;
    local_mass += lost.transpose() * weighted_loss;
    // What is left of velocities by the gradient that is exact for linear ones, on any faces.
    const MatrixXd exact = inverse(s * r.transpose()) * s, arms = r.colwise() - r * share;
    MatrixXd rough = one - arms.transpose() * exact;
    rough.rowwise() -= share.transpose();
    MatrixXd local_viscous = s.transpose() * s / volume(c.value());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) {
        const Eigen::RowVectorXd apart = rough.row(i) - rough.row(j);
        local_viscous += 3 * (share(j) / h_over_a(i) + share(i) / h_over_a(j)) * apart.transpose() * apart;
      }
    }
    for (Index i = 0; i < n; ++i) {
      const Index f = row[i].id.value();
      divergence(c.value(), f) = row[i].sign;
      interpolation.block(d * c.value(), f, d, 1) = row[i].sign * at_cell.col(i);
      for (int a = 0; with_viscous && a < d; ++a) mean(d * c.value() + a, d * f + a) = share(i);
      for (Index j = 0; j < n; ++j) {
        mass(f, row[j].id.value()) += row[i].sign * row[j].sign * local_mass(i, j);
        for (int a = 0; with_viscous && a < d; ++a)
          viscous(d * f + a, d * row[j].id.value() + a) += local_viscous(i, j);
      }
    }
  }
  if (!with_viscous) return;
  const MatrixXd jumps = dense_gradient_jumps(mesh);
  for (Index f = 0; f < jumps.rows(); ++f) {
    for (Index e = 0; e < jumps.cols(); ++e) {
      for (int a = 0; a < d; ++a) viscous(d * f + a, d * e + a) += jumps(f, e);
    }
  }
}

Eigen::MatrixXd FlowMatrices::convected_velocity(const Mesh& mesh, const FlowBoundaries& boundaries) const {
  using Eigen::MatrixXd;
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  MatrixXd result = MatrixXd::Identity(d * faces, d * faces);
  for (const Id<Face> f : t.faces()) {
    if (boundaries.hold_of_face()[at(f.value())] != FaceHold::Free) continue;
    const auto both = t.cells_of_face()[f];
    const auto length = [&](Id<Cell> c, Id<Face> across) {
      return g.cell_volumes()[at(c.value())] / norm(g.face_areas()[at(across.value())]);
    };
    Real ratio = 1;
    for (const auto [c, side] : both) {
      if (!is_box(t.cell_type(c))) continue;
      for (const auto [k, sign] : t.faces_of_cell()[c]) ratio = std::max(ratio, length(c, f) / length(c, k));
    }
    if (ratio * ratio <= 1.5) continue;
    const MatrixXd one = MatrixXd::Identity(d, d);
    const Eigen::VectorXd n = normal.block(d * f.value(), f.value(), d, 1).normalized();
    // Where the line between the centroids meets the plane of the face.
    Eigen::VectorXd place[2];
    MatrixXd mean_of[2], gradient_along_offset = MatrixXd::Zero(d, d * faces);
    for (Index k = 0; k < both.size(); ++k) {
      const Id<Cell> c = both[k].id;
      place[k] = column_of({g.cell_centroids()[at(c.value())] - g.face_centroids()[at(f.value())]}, d);
      mean_of[k] = mean.middleRows(d * c.value(), d);
    }
    const bool between = both.size() == 2;
    const Real share = between ? n.dot(place[1]) / n.dot(place[1] - place[0]) : 1;
    // On the boundary, from the place in the plane through the centroid that is nearest to the face's.
    const Eigen::VectorXd offset = between ? Eigen::VectorXd(-share * place[0] - (1 - share) * place[1])
                                           : Eigen::VectorXd(n * n.dot(place[0]) - place[0]);
    for (const auto [c, side] : both) {
      for (const auto [k, sign] : t.faces_of_cell()[c]) {
        const Real along = sign * column_of({g.face_areas()[at(k.value())]}, d).dot(offset);
        gradient_along_offset.middleCols(d * k.value(), d) += along / (both.size() * volume(c.value())) * one;
      }
    }
    MatrixXd change = share * mean_of[0] + gradient_along_offset;
    if (between) change += (1 - share) * mean_of[1];
    change.middleCols(d * f.value(), d) -= one;
    result.middleRows(d * f.value(), d) +=
        (1 - std::sqrt(2.5 / (ratio * ratio + 1))) * (one - n * n.transpose()) * change;
  }
  return result;
}

FreeUnknowns::FreeUnknowns(const Mesh& mesh, const FlowBoundaries& boundaries) {
  const int d = mesh.topology().dimension();
  const Index faces = mesh.topology().faces().size();
  tangents = Eigen::MatrixXd::Zero(d * faces, (d - 1) * faces);
  fluxes = Eigen::MatrixXd::Zero(faces, faces);
  Index across = 0, through = 0;
  for (Index f = 0; f < faces; ++f) {
    const FaceHold hold = boundaries.hold_of_face()[at(f)];
    if (hold == FaceHold::Free) fluxes(f, through++) = 1;
    if (hold == FaceHold::All) continue;
    const Vector3 n = mesh.geometry().face_areas()[at(f)] / norm(mesh.geometry().face_areas()[at(f)]);
    if (d == 2) {
      tangents.block(d * f, across++, d, 1) = column_of({Vector3{-n.y, n.x, 0}}, d);
    } else {
      Vector3 one = cross(n, std::abs(n.x) < 0.5 ? Vector3{1, 0, 0} : Vector3{0, 1, 0});
      one = one / norm(one);
      tangents.block(d * f, across++, d, 1) = column_of({one}, d);
      tangents.block(d * f, across++, d, 1) = column_of({cross(n, one)}, d);
    }
  }
  tangents.conservativeResize(Eigen::NoChange, across);
  fluxes.conservativeResize(Eigen::NoChange, through);
}

Eigen::VectorXd without_divergence(const Eigen::MatrixXd& divergence, const Eigen::MatrixXd& free,
                                   const Eigen::VectorXd& flux) {
  const Eigen::MatrixXd flux_of_outflow = free * pseudo_inverse(divergence * free);
  Eigen::VectorXd result = flux;
  for (int pass = 0; pass < 2; ++pass) result -= flux_of_outflow * (divergence * result);
  return result;
}

}  // namespace curlew
