// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Observed order of accuracy of the fractional steps on meshes fine enough to show it.
#include <gtest/gtest.h>

#include "tests/convergence/flow_problems.hpp"

namespace curlew::test {
namespace {

const std::vector<Real> planar{1.0 / 10, 1.0 / 20, 1.0 / 40};
/// For a case whose first meshes are short of the order that it comes to.
const std::vector<Real> planar_finer{1.0 / 20, 1.0 / 40, 1.0 / 80};
const std::vector<Real> spatial{1.0 / 4, 1.0 / 8, 1.0 / 16};

constexpr FlowErrors orders{.flux = 1.6, .velocity = 1.8, .pressure = 1};
/// Faces that are not planar leave errors of first order in fluxes, and more of them in pressures.
constexpr FlowErrors curved{.flux = 0.85, .velocity = 1.7, .pressure = 0.4};
constexpr FlowErrors hybrids{.flux = 1.4, .velocity = 1.75, .pressure = 1};

/// Angles up to nearly 180 degrees; some families lose a little of their order.
constexpr FlowErrors skewed{.flux = 1.5, .velocity = 1.6, .pressure = 1};

const std::vector<FlowCase> cases{
    {stokes(2), "gmsh_triangles", planar, orders, {5.251e-04, 4.889e-04, 1.939e-02}},
    {stokes(2), "gmsh_triangles_perturbed", planar, orders, {5.833e-04, 5.648e-04, 2.169e-02}},
    {stokes(2), "gmsh_quadrilaterals", planar, orders, {2.021e-04, 2.037e-04, 6.572e-03}},
    {stokes(2), "quadrilaterals", planar, orders, {1.396e-04, 1.763e-04, 3.023e-03}},
    {stokes(2), "quadrilaterals_perturbed", planar, orders, {2.365e-04, 2.601e-04, 1.057e-02}},
    {stokes(2), "hybrid_plane", planar, orders, {3.710e-04, 4.147e-04, 1.270e-02}},
    {kovasznay(), "gmsh_triangles", planar, orders, {3.272e-03, 4.813e-03, 4.805e-03}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, orders, {3.882e-03, 5.430e-03, 5.422e-03}},
    {kovasznay(), "gmsh_quadrilaterals", planar, orders, {2.297e-03, 2.471e-03, 2.611e-03}},
    {kovasznay(), "quadrilaterals", planar, orders, {1.371e-03, 1.480e-03, 1.804e-03}},
    {kovasznay(), "quadrilaterals_perturbed", planar, orders, {2.577e-03, 2.409e-03, 2.352e-03}},
    {kovasznay(), "hybrid_plane", planar, orders, {1.473e-03, 1.825e-03, 2.551e-03}},
    {taylor_green(), "gmsh_triangles", planar, orders, {1.362e-04, 1.710e-04, 3.689e-04}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, orders, {1.825e-04, 2.182e-04, 4.684e-04}},
    {taylor_green(), "gmsh_quadrilaterals", planar, orders, {1.548e-04, 1.247e-04, 2.129e-04}},
    {taylor_green(), "quadrilaterals", planar_finer, orders, {5.073e-05, 4.351e-05, 4.118e-05}},
    {taylor_green(), "quadrilaterals_perturbed", planar_finer, orders, {5.849e-05, 4.567e-05, 1.465e-04}},
    {taylor_green(), "hybrid_plane", planar, orders, {2.014e-04, 1.736e-04, 3.129e-04}},
    {stokes(3), "hexahedra", spatial, orders, {2.241e-04, 4.336e-04, 5.456e-03}},
    {stokes(3), "hexahedra_perturbed", spatial, curved, {1.372e-03, 5.319e-04, 1.301e-02}},
    {stokes(3), "gmsh_prisms", spatial, orders, {6.679e-04, 9.800e-04, 1.769e-02}},
    {stokes(3), "gmsh_tetrahedra", spatial, orders, {1.494e-03, 2.514e-03, 3.397e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, orders, {1.509e-03, 2.527e-03, 3.407e-02}},
    {stokes(3), "hybrid_perturbed", spatial, hybrids, {1.953e-03, 2.116e-03, 4.185e-02}},
    {stokes(3), "prisms", spatial, orders, {1.646e-03, 2.805e-03, 4.381e-02}},
    {stokes(3), "tetrahedra_perturbed", spatial, orders, {1.904e-03, 4.128e-03, 5.689e-02}},
    {ethier_steinman(), "hexahedra", spatial, orders, {5.274e-04, 5.358e-04, 5.152e-03}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, curved, {1.743e-03, 6.960e-04, 1.460e-02}},
    {ethier_steinman(), "gmsh_prisms", spatial, orders, {8.641e-04, 1.135e-03, 1.165e-02}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, orders, {2.148e-03, 2.848e-03, 2.709e-02}},
    {ethier_steinman(), "gmsh_tetrahedra_perturbed", spatial, orders, {2.166e-03, 2.862e-03, 2.714e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, hybrids, {2.817e-03, 3.057e-03, 3.445e-02}},
    {ethier_steinman(), "prisms", spatial, orders, {2.354e-03, 3.790e-03, 3.154e-02}},
    {ethier_steinman(), "tetrahedra_perturbed", spatial, orders, {2.417e-03, 5.499e-03, 4.038e-02}},
    {stokes(2), "triangles_skewed", planar, skewed, {1.345e-03, 1.085e-03, 2.466e-02}},
    {kovasznay(), "triangles_skewed", planar, skewed, {7.576e-03, 8.054e-03, 7.024e-03}},
    {taylor_green(), "triangles_skewed", planar, skewed, {6.083e-04, 4.526e-04, 8.813e-04}},
    {stokes(3), "tetrahedra_skewed", spatial, skewed, {2.005e-03, 4.257e-03, 5.854e-02}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, skewed, {2.585e-03, 5.682e-03, 4.160e-02}},
    {stokes(3), "hybrid", spatial, orders, {1.447e-03, 2.012e-03, 3.710e-02}},
    {ethier_steinman(), "hybrid", spatial, orders, {2.201e-03, 2.909e-03, 2.832e-02}},
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
