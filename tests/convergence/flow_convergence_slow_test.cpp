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
/// Faces that are not planar cost fluxes of their order.
constexpr FlowErrors curved{.flux = 1.2, .velocity = 1.8, .pressure = 1};
constexpr FlowErrors hybrids{.flux = 1.4, .velocity = 1.75, .pressure = 1};

/// Angles up to nearly 180 degrees; some families lose a little of their order.
constexpr FlowErrors skewed{.flux = 1.5, .velocity = 1.6, .pressure = 1};

const std::vector<FlowCase> cases{
    {stokes(2), "gmsh_triangles", planar, orders, {5.251e-04, 4.889e-04, 1.939e-02}},
    {stokes(2), "gmsh_triangles_perturbed", planar, orders, {5.833e-04, 5.648e-04, 2.169e-02}},
    {stokes(2), "gmsh_quadrilaterals", planar, orders, {3.588e-04, 3.279e-04, 6.315e-03}},
    {stokes(2), "quadrilaterals", planar, orders, {3.233e-04, 3.303e-04, 5.649e-03}},
    {stokes(2), "quadrilaterals_perturbed", planar, orders, {3.925e-04, 4.180e-04, 9.357e-03}},
    {stokes(2), "hybrid_plane", planar, orders, {4.332e-04, 4.338e-04, 1.289e-02}},
    {kovasznay(), "gmsh_triangles", planar, orders, {3.272e-03, 4.813e-03, 4.805e-03}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, orders, {3.882e-03, 5.430e-03, 5.422e-03}},
    {kovasznay(), "gmsh_quadrilaterals", planar, orders, {2.709e-03, 3.502e-03, 3.386e-03}},
    {kovasznay(), "quadrilaterals", planar, orders, {1.397e-03, 1.868e-03, 2.354e-03}},
    {kovasznay(), "quadrilaterals_perturbed", planar, orders, {2.209e-03, 2.534e-03, 2.857e-03}},
    {kovasznay(), "hybrid_plane", planar, orders, {1.854e-03, 2.235e-03, 3.083e-03}},
    {taylor_green(), "gmsh_triangles", planar, orders, {1.362e-04, 1.710e-04, 3.689e-04}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, orders, {1.825e-04, 2.182e-04, 4.684e-04}},
    {taylor_green(), "gmsh_quadrilaterals", planar, orders, {1.589e-04, 1.304e-04, 2.122e-04}},
    {taylor_green(), "quadrilaterals", planar, orders, {1.715e-04, 1.336e-04, 1.897e-04}},
    {taylor_green(), "quadrilaterals_perturbed", planar, orders, {2.157e-04, 1.665e-04, 2.879e-04}},
    {taylor_green(), "hybrid_plane", planar, orders, {1.752e-04, 1.635e-04, 3.184e-04}},
    {stokes(3), "hexahedra", spatial, orders, {7.594e-04, 1.259e-03, 2.029e-02}},
    {stokes(3), "hexahedra_perturbed", spatial, curved, {1.610e-03, 1.323e-03, 2.138e-02}},
    {stokes(3), "gmsh_prisms", spatial, orders, {7.445e-04, 1.135e-03, 2.004e-02}},
    {stokes(3), "gmsh_tetrahedra", spatial, orders, {1.494e-03, 2.514e-03, 3.397e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, orders, {1.509e-03, 2.527e-03, 3.407e-02}},
    {stokes(3), "hybrid_perturbed", spatial, hybrids, {2.086e-03, 2.415e-03, 4.277e-02}},
    {stokes(3), "prisms", spatial, orders, {1.696e-03, 2.929e-03, 4.564e-02}},
    {stokes(3), "tetrahedra_perturbed", spatial, orders, {1.904e-03, 4.128e-03, 5.689e-02}},
    {ethier_steinman(), "hexahedra", spatial, orders, {1.041e-03, 1.392e-03, 1.105e-02}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, curved, {2.030e-03, 1.470e-03, 1.658e-02}},
    {ethier_steinman(), "gmsh_prisms", spatial, orders, {9.487e-04, 1.298e-03, 1.273e-02}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, orders, {2.148e-03, 2.848e-03, 2.709e-02}},
    {ethier_steinman(), "gmsh_tetrahedra_perturbed", spatial, orders, {2.166e-03, 2.862e-03, 2.714e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, hybrids, {2.953e-03, 3.316e-03, 3.527e-02}},
    {ethier_steinman(), "prisms", spatial, orders, {2.367e-03, 3.887e-03, 3.264e-02}},
    {ethier_steinman(), "tetrahedra_perturbed", spatial, orders, {2.417e-03, 5.499e-03, 4.038e-02}},
    {stokes(2), "triangles_skewed", planar, skewed, {1.345e-03, 1.085e-03, 2.466e-02}},
    {kovasznay(), "triangles_skewed", planar, skewed, {7.576e-03, 8.054e-03, 7.024e-03}},
    {taylor_green(), "triangles_skewed", planar, skewed, {6.083e-04, 4.526e-04, 8.813e-04}},
    {stokes(3), "tetrahedra_skewed", spatial, skewed, {2.005e-03, 4.257e-03, 5.854e-02}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, skewed, {2.585e-03, 5.682e-03, 4.160e-02}},
    {stokes(3), "hybrid", spatial, orders, {1.409e-03, 2.221e-03, 3.961e-02}},
    {ethier_steinman(), "hybrid", spatial, orders, {2.207e-03, 3.109e-03, 2.949e-02}},
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
