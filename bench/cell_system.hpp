// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "mesh/mesh.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// Of the two-point Laplacian between cells: area over distance, one a face.
inline std::vector<Real> two_point_coefficients(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const Geometry& geometry = mesh.geometry();
  std::vector<Real> coefficients;
  for (const Id<Face> f : topology.faces()) {
    const Vector3 area = geometry.face_areas()[at(f.value())];
    coefficients.push_back(dot(area, area) / dot(geometry.dual_edge(topology, f), area));
  }
  return coefficients;
}

/// All entries of a matrix that are not zero, the diagonal first in each row.
inline SparseRows with_diagonal(const SymmetricMatrix& matrix) {
  SparseRows rows;
  for (Index c = 0; c < matrix.rows(); ++c) {
    rows.columns.push_back(c);
    rows.values.push_back(matrix.diagonal[at(c)]);
    for (Index k = matrix.off_diagonal.starts[at(c)]; k < matrix.off_diagonal.starts[at(c) + 1]; ++k) {
      if (matrix.off_diagonal.values[at(k)] == 0) continue;
      rows.columns.push_back(matrix.off_diagonal.columns[at(k)]);
      rows.values.push_back(matrix.off_diagonal.values[at(k)]);
    }
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));
  }
  return rows;
}

}  // namespace curlew
