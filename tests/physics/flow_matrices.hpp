// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "physics/flow_boundary.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {

/// The meshes of the shelf that are small enough for dense matrices of face velocities, and small ones of the
/// types that are then missing.
inline std::vector<ShelfMesh> small_shelf() {
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

/// Vectors of faces or cells as one column of their first d components.
inline Eigen::VectorXd column_of(const std::vector<Vector3>& vectors, int d) {
  Eigen::VectorXd column(static_cast<Eigen::Index>(vectors.size()) * d);
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    const Real components[] = {vectors[k].x, vectors[k].y, vectors[k].z};
    for (int i = 0; i < d; ++i) column(static_cast<Eigen::Index>(k) * d + i) = components[i];
  }
  return column;
}
inline Eigen::VectorXd column_of(const std::vector<Real>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}
inline std::vector<Real> values_of(const Eigen::VectorXd& column) {
  return {column.data(), column.data() + column.size()};
}

/// The operators of a flow as dense matrices, from their formulas.
struct FlowMatrices {
  int d;
  Index faces, cells;
  Eigen::VectorXd volume;         ///< of cells
  Eigen::MatrixXd divergence;     ///< cells x faces
  Eigen::MatrixXd interpolation;  ///< d cells x faces
  Eigen::MatrixXd mean;           ///< d cells x d faces: v_c = sum w_f v_f
  Eigen::MatrixXd normal;         ///< d faces x faces: n/A
  Eigen::MatrixXd mass;           ///< faces x faces
  Eigen::MatrixXd viscous;        ///< d faces x d faces

  explicit FlowMatrices(const Mesh& mesh, Real simplex_weight = 2, bool with_viscous = true)
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
      MatrixXd s(d, n), r(d, n), turn = MatrixXd::Zero(n, n);
      Eigen::VectorXd h_over_a(n), share(n);
      for (Index k = 0; k < n; ++k) {
        const std::size_t f = at(row[k].id.value());
        s.col(k) = column_of({row[k].sign * g.face_areas()[f]}, d);
        r.col(k) = column_of({g.face_centroids()[f] - g.cell_centroids()[at(c.value())]}, d);
        h_over_a(k) = r.col(k).dot(s.col(k)) / s.col(k).squaredNorm();
        share(k) = r.col(k).dot(s.col(k)) / (d * volume(c.value()));
        turn(k, k) = row[k].sign;
      }
      const MatrixXd one = MatrixXd::Identity(n, n), at_cell = r / volume(c.value());
      const MatrixXd lost = one - s.transpose() * at_cell;
      const Real weight = is_simplex(t.cell_type(c)) ? simplex_weight : 1;
      const MatrixXd local_mass = turn *
                                  (volume(c.value()) * at_cell.transpose() * at_cell +
                                   weight * lost.transpose() * h_over_a.asDiagonal() * lost) *
                                  turn;
      const MatrixXd gradient = s / volume(c.value());
      // What is left of velocities by the gradient that is exact for linear ones, on any faces.
      const MatrixXd exact = (r * s.transpose() / volume(c.value())).inverse().transpose() * gradient;
      const MatrixXd rough =
          one - Eigen::VectorXd::Ones(n) * share.transpose() - (r.colwise() - r * share).transpose() * exact;
      const MatrixXd local_viscous = volume(c.value()) * gradient.transpose() * gradient +
                                     6 * rough.transpose() * h_over_a.cwiseInverse().asDiagonal() * rough;
      for (Index i = 0; i < n; ++i) {
        const Index f = row[i].id.value();
        divergence(c.value(), f) = row[i].sign;
        interpolation.block(d * c.value(), f, d, 1) = row[i].sign * at_cell.col(i);
        for (int a = 0; with_viscous && a < d; ++a) mean(d * c.value() + a, d * f + a) = share(i);
        for (Index j = 0; j < n; ++j) {
          mass(f, row[j].id.value()) += local_mass(i, j);
          for (int a = 0; with_viscous && a < d; ++a)
            viscous(d * f + a, d * row[j].id.value() + a) += local_viscous(i, j);
        }
      }
    }
  }
};

/// What the boundary leaves free: columns of directions across faces, and of faces whose flux is free.
struct FreeUnknowns {
  Eigen::MatrixXd tangents;  ///< d faces x free tangential velocities
  Eigen::MatrixXd fluxes;    ///< faces x free fluxes

  FreeUnknowns(const Mesh& mesh, const FlowBoundaries& boundaries) {
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
};

/// The fluxes next to `flux` without net outflow of any cell, changed through the columns of `free` alone.
inline Eigen::VectorXd without_divergence(const Eigen::MatrixXd& divergence, const Eigen::MatrixXd& free,
                                          const Eigen::VectorXd& flux) {
  const Eigen::MatrixXd d = divergence * free;
  Eigen::VectorXd result = flux;
  for (int pass = 0; pass < 2; ++pass) {
    const Eigen::VectorXd p =
        (d * d.transpose()).completeOrthogonalDecomposition().solve(divergence * result);
    result -= free * (d.transpose() * p);
  }
  return result;
}

}  // namespace curlew
