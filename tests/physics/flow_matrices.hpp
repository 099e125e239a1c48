// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "physics/flow/flow_boundary.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {

/// The meshes of the shelf that are small enough for dense matrices of face velocities, and small ones of the
/// types that are then missing.
std::vector<ShelfMesh> small_shelf();

/// Vectors of faces or cells as one column of their first d components.
Eigen::VectorXd column_of(const std::vector<Vector3>& vectors, int d);
Eigen::VectorXd column_of(const std::vector<Real>& values);
std::vector<Real> values_of(const Eigen::VectorXd& column);

/// How much heavier the mass takes simplices, as a classical fractional step does.
inline constexpr Real simplex_weight = 2;

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

  explicit FlowMatrices(const Mesh& mesh, Real weight_of_simplices = simplex_weight,
                        bool with_viscous = true);
  /// d faces x d faces: P v, the velocity that fluxes carry with them; needs `with_viscous`.
  Eigen::MatrixXd convected_velocity(const Mesh& mesh, const FlowBoundaries& boundaries) const;
};

/// What the boundary leaves free: columns of directions across faces, and of faces whose flux is free.
struct FreeUnknowns {
  Eigen::MatrixXd tangents;  ///< d faces x free tangential velocities
  Eigen::MatrixXd fluxes;    ///< faces x free fluxes

  FreeUnknowns(const Mesh& mesh, const FlowBoundaries& boundaries);
};

/// The fluxes next to `flux` without net outflow of any cell, changed through the columns of `free` alone.
Eigen::VectorXd without_divergence(const Eigen::MatrixXd& divergence, const Eigen::MatrixXd& free,
                                   const Eigen::VectorXd& flux);

}  // namespace curlew
