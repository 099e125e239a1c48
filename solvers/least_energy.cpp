// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/least_energy.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "kernels/error.hpp"

namespace curlew {

std::vector<Real> least_energy_factors(std::span<const Real> gram, std::span<const Real> projections) {
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const auto size = static_cast<Eigen::Index>(projections.size());
  REQUIRE(gram.size() == projections.size() * projections.size(), "a Gram matrix must be square");
  Matrix matrix = Eigen::Map<const Matrix>(gram.data(), size, size);
  Vector vector = Eigen::Map<const Vector>(projections.data(), size);
  // Scaled to a diagonal of one, as the vectors differ in size by many orders.
  Vector scale(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const bool fit = std::isnormal(matrix(i, i)) && matrix(i, i) > 0 && std::isfinite(vector(i));
    scale(i) = fit ? 1 / std::sqrt(matrix(i, i)) : 0;
  }
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) {
      const bool both = scale(i) > 0 && scale(j) > 0;
      matrix(i, j) = both ? scale(i) * matrix(i, j) * scale(j) : Real(i == j);
    }
    vector(i) = scale(i) > 0 ? scale(i) * vector(i) : 0;
  }
  // Below this an eigenvalue is the rounding of the inner products.
  constexpr Real least_eigenvalue = 1e-12;
  const Eigen::SelfAdjointEigenSolver<Matrix> modes(matrix);
  Vector of_modes = modes.eigenvectors().transpose() * vector;
  for (Eigen::Index i = 0; i < size; ++i) {
    const Real eigenvalue = modes.eigenvalues()(i);
    of_modes(i) = eigenvalue > least_eigenvalue ? of_modes(i) / eigenvalue : 0;
  }
  const Vector factors = scale.cwiseProduct(modes.eigenvectors() * of_modes);
  return {factors.begin(), factors.end()};
}

}  // namespace curlew
