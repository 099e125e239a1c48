// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "kernels/platform.hpp"

namespace curlew {

/// Factors c of the vectors d_i whose sum c_i d_i leaves the least energy of the error of A x = b: gram c =
/// projections with gram_ij = d_i . A d_j (symmetric, row by row) and projections_i = d_i . b. Directions in
/// which the vectors hardly differ, and vectors whose numbers are not finite, take no part.
std::vector<Real> least_energy_factors(std::span<const Real> gram, std::span<const Real> projections);

}  // namespace curlew
