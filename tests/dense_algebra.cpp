// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/dense_algebra.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <cstdlib>

namespace curlew {

using Eigen::MatrixXd;

MatrixXd inverse(const MatrixXd& a) {
  return a.inverse();
}

MatrixXd pseudo_inverse(const MatrixXd& a) {
  if (a.size() == 0) return MatrixXd(a.cols(), a.rows());
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

MatrixXd solved(const MatrixXd& symmetric, const MatrixXd& b) {
  return symmetric.ldlt().solve(b);
}

MatrixXd cholesky(const MatrixXd& symmetric) {
  return Eigen::LLT<MatrixXd>(symmetric).matrixL();
}

Eigen::VectorXd eigenvalues(const MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXcd eigenvalues_of_any(const MatrixXd& a) {
  return Eigen::EigenSolver<MatrixXd>(a, false).eigenvalues();
}

double largest_eigenvalue(const MatrixXd& a, const MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(a, b, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .maxCoeff();
}

MatrixXd null_space(const MatrixXd& a) {
  Eigen::FullPivLU<MatrixXd> lu(a);
  lu.setThreshold(1e-9);
  return lu.dimensionOfKernel() > 0 ? MatrixXd(lu.kernel()) : MatrixXd(a.cols(), 0);
}

MatrixXd random_symmetric(Eigen::Index size, double last, unsigned seed) {
  std::srand(seed);
  const MatrixXd random = MatrixXd::Random(size, size);
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(random).householderQ();
  Eigen::VectorXd eigenvalues(size);
  for (Eigen::Index i = 0; i < size; ++i)
    eigenvalues(i) = std::pow(last, static_cast<double>(i) / static_cast<double>(size - 1));
  const MatrixXd scaled = q * eigenvalues.asDiagonal(), a = scaled * q.transpose();
  return (a + a.transpose()) / 2;
}

}  // namespace curlew
