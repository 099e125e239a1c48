// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Core>

namespace curlew {

// Eigen's dense algebra for tests, compiled once: each of these takes a compiler seconds wherever it is used.

/// A⁻¹.
Eigen::MatrixXd inverse(const Eigen::MatrixXd& a);
/// A⁺, with which A⁺ b is the shortest of all x that come nearest to A x = b.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a);
/// A⁻¹ B of a symmetric positive definite or semidefinite A, by LDLᵀ.
Eigen::MatrixXd solved(const Eigen::MatrixXd& symmetric, const Eigen::MatrixXd& b);
/// L of a symmetric positive definite A = L Lᵀ.
Eigen::MatrixXd cholesky(const Eigen::MatrixXd& symmetric);
/// Of a symmetric matrix, the smallest first.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric);
/// Of any matrix, in no order.
Eigen::VectorXcd eigenvalues_of_any(const Eigen::MatrixXd& a);
/// The largest one x with A v = x B v, of symmetric A and positive definite B.
double largest_eigenvalue(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// Columns that span what A takes to zero; pivots below 1e-9 of the largest count as zero.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& a);
/// A symmetric matrix with eigenvalues from 1 to `last` in geometric progression, its eigenvectors from
/// random numbers.
Eigen::MatrixXd random_symmetric(Eigen::Index size, double last, unsigned seed);

}  // namespace curlew
