// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Observed order of accuracy of the fractional steps on meshes fine enough to show it.
#include <gtest/gtest.h>

#include "tests/convergence/flow_problems.hpp"

namespace curlew::test {
namespace {

const std::vector<Real> planar{1.0 / 10, 1.0 / 20, 1.0 / 40};
const std::vector<Real> spatial{1.0 / 4, 1.0 / 8, 1.0 / 16};

constexpr FlowErrors orders{.flux = 1.6, .velocity = 1.8, .pressure = 1};
/// Hexahedra whose faces are not planar cost fluxes a little.
constexpr FlowErrors hybrids{.flux = 1.5, .velocity = 1.8, .pressure = 1};

/// Angles up to nearly 180 degrees; some families lose a little of their order.
constexpr FlowErrors skewed{.flux = 1.5, .velocity = 1.6, .pressure = 1};

const std::vector<FlowCase> cases{
    {stokes(2), "gmsh_triangles", planar, orders, {5.251e-04, 7.263e-04, 1.939e-02}},
    {stokes(2), "gmsh_triangles_perturbed", planar, orders, {5.833e-04, 7.977e-04, 2.169e-02}},
    {stokes(2), "gmsh_quadrilaterals", planar, orders, {1.114e-03, 1.362e-03, 1.631e-02}},
    {stokes(2), "quadrilaterals", planar, orders, {1.066e-03, 1.461e-03, 1.566e-02}},
    {stokes(2), "quadrilaterals_perturbed", planar, orders, {1.112e-03, 1.561e-03, 1.815e-02}},
    {stokes(2), "hybrid_plane", planar, orders, {8.432e-04, 1.019e-03, 1.674e-02}},
    {kovasznay(), "gmsh_triangles", planar, orders, {3.272e-03, 6.036e-03, 4.805e-03}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, orders, {3.882e-03, 6.616e-03, 5.422e-03}},
    {kovasznay(), "gmsh_quadrilaterals", planar, orders, {8.401e-03, 1.040e-02, 7.011e-03}},
    {kovasznay(), "quadrilaterals", planar, orders, {9.390e-03, 8.931e-03, 6.732e-03}},
    {kovasznay(), "quadrilaterals_perturbed", planar, orders, {9.017e-03, 9.014e-03, 6.741e-03}},
    {kovasznay(), "hybrid_plane", planar, orders, {7.370e-03, 9.293e-03, 6.306e-03}},
    {taylor_green(), "gmsh_triangles", planar, orders, {1.362e-04, 2.642e-04, 3.689e-04}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, orders, {1.825e-04, 3.029e-04, 4.684e-04}},
    {taylor_green(), "gmsh_quadrilaterals", planar, orders, {3.436e-04, 5.849e-04, 4.608e-04}},
    {taylor_green(), "quadrilaterals", planar, orders, {3.286e-04, 5.752e-04, 4.266e-04}},
    {taylor_green(), "quadrilaterals_perturbed", planar, orders, {3.925e-04, 6.152e-04, 5.146e-04}},
    {taylor_green(), "hybrid_plane", planar, orders, {2.272e-04, 5.273e-04, 4.366e-04}},
    {stokes(3), "hexahedra", spatial, orders, {2.955e-03, 5.788e-03, 7.164e-02}},
    {stokes(3), "hexahedra_perturbed", spatial, orders, {3.354e-03, 5.801e-03, 7.141e-02}},
    {stokes(3), "gmsh_prisms", spatial, orders, {1.405e-03, 2.948e-03, 3.700e-02}},
    {stokes(3), "gmsh_tetrahedra", spatial, orders, {1.494e-03, 2.514e-03, 3.397e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, orders, {1.509e-03, 2.527e-03, 3.407e-02}},
    {stokes(3), "hybrid_perturbed", spatial, hybrids, {2.582e-03, 4.259e-03, 5.755e-02}},
    {stokes(3), "prisms", spatial, orders, {2.135e-03, 4.531e-03, 5.788e-02}},
    {stokes(3), "tetrahedra_perturbed", spatial, orders, {1.904e-03, 4.128e-03, 5.689e-02}},
    {ethier_steinman(), "hexahedra", spatial, orders, {3.669e-03, 6.791e-03, 4.829e-02}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, orders, {4.171e-03, 6.794e-03, 4.952e-02}},
    {ethier_steinman(), "gmsh_prisms", spatial, orders, {1.804e-03, 3.333e-03, 2.383e-02}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, orders, {2.148e-03, 2.848e-03, 2.709e-02}},
    {ethier_steinman(), "gmsh_tetrahedra_perturbed", spatial, orders, {2.166e-03, 2.862e-03, 2.714e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, hybrids, {3.547e-03, 5.148e-03, 4.155e-02}},
    {ethier_steinman(), "prisms", spatial, orders, {2.742e-03, 5.692e-03, 4.040e-02}},
    {ethier_steinman(), "tetrahedra_perturbed", spatial, orders, {2.417e-03, 5.499e-03, 4.038e-02}},
    {stokes(2), "triangles_skewed", planar, skewed, {1.345e-03, 1.303e-03, 2.466e-02}},
    {kovasznay(), "triangles_skewed", planar, skewed, {7.576e-03, 9.036e-03, 7.024e-03}},
    {taylor_green(), "triangles_skewed", planar, skewed, {6.083e-04, 4.794e-04, 8.813e-04}},
    {stokes(3), "tetrahedra_skewed", spatial, skewed, {2.005e-03, 4.257e-03, 5.854e-02}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, skewed, {2.585e-03, 5.682e-03, 4.160e-02}},
    {stokes(3), "hybrid", spatial, orders, {2.105e-03, 4.162e-03, 5.642e-02}},
    {ethier_steinman(), "hybrid", spatial, orders, {2.919e-03, 5.037e-03, 3.707e-02}},
};

class FlowConvergenceFine : public testing::TestWithParam<FlowCase> {};

TEST_P(FlowConvergenceFine, in_space) {
  expect_orders(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Classical, FlowConvergenceFine, testing::ValuesIn(cases),
                         [](const auto& test) { return name_of(test.param); });

INSTANTIATE_TEST_SUITE_P(Exact, FlowConvergenceFine, testing::ValuesIn(by(StepMethod::Exact, cases)),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace curlew::test
