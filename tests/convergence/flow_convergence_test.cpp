// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Observed order of accuracy of the fractional steps on coarse meshes, where three-dimensional flows
// and Kovasznay's are not yet at their last order: flow_convergence_slow_test asks for that on finer ones.
#include <gtest/gtest.h>

#include "tests/convergence/flow_problems.hpp"

namespace curlew::test {
namespace {

const std::vector<Real> planar{1.0 / 10, 1.0 / 20};
const std::vector<Real> spatial{1.0 / 4, 1.0 / 8};

const std::vector<FlowCase> cases{
    {stokes(2), "gmsh_triangles", planar, {1.8, 1.8, 1.3}, {2.104e-03, 1.980e-03, 4.397e-02}},
    {stokes(2), "gmsh_triangles_perturbed", planar, {1.8, 1.8, 1.3}, {2.317e-03, 2.248e-03, 4.820e-02}},
    {stokes(2), "gmsh_quadrilaterals", planar, {1.8, 1.8, 1.3}, {1.350e-03, 1.333e-03, 1.871e-02}},
    {stokes(2), "quadrilaterals", planar, {1.8, 1.8, 1.3}, {1.285e-03, 1.357e-03, 1.811e-02}},
    {stokes(2), "quadrilaterals_perturbed", planar, {1.8, 1.8, 1.2}, {1.503e-03, 1.668e-03, 2.452e-02}},
    {stokes(2), "hybrid_plane", planar, {1.8, 1.8, 1.3}, {1.775e-03, 1.726e-03, 3.297e-02}},
    {stokes(2), "triangles_skewed", planar, {1.8, 1.8, 1.2}, {4.994e-03, 4.180e-03, 5.667e-02}},
    {kovasznay(), "triangles_skewed", planar, {1.7, 1.5, 1.4}, {2.487e-02, 2.575e-02, 1.705e-02}},
    {taylor_green(), "triangles_skewed", planar, {1.7, 1.8, 1.4}, {1.955e-03, 1.645e-03, 2.130e-03}},
    {stokes(3), "tetrahedra_skewed", spatial, {1.3, 1.5, 1.2}, {6.580e-03, 1.535e-02, 1.749e-01}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, {1.2, 1.5, 1.1}, {7.843e-03, 2.026e-02, 1.249e-01}},
    {kovasznay(), "gmsh_triangles", planar, {1.7, 1.5, 1.4}, {1.123e-02, 1.745e-02, 1.600e-02}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, {1.7, 1.5, 1.4}, {1.484e-02, 2.051e-02, 1.767e-02}},
    {kovasznay(), "gmsh_quadrilaterals", planar, {1.7, 1.5, 1.4}, {1.007e-02, 1.305e-02, 1.237e-02}},
    {kovasznay(), "quadrilaterals", planar, {1.7, 1.5, 1.4}, {5.668e-03, 7.956e-03, 8.972e-03}},
    {kovasznay(), "quadrilaterals_perturbed", planar, {1.7, 1.5, 1.4}, {7.810e-03, 9.646e-03, 9.536e-03}},
    {kovasznay(), "hybrid_plane", planar, {1.7, 1.5, 1.4}, {1.077e-02, 1.304e-02, 1.260e-02}},
    {taylor_green(), "gmsh_triangles", planar, {1.7, 1.8, 1.6}, {5.800e-04, 6.998e-04, 1.082e-03}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, {1.7, 1.8, 1.6}, {7.258e-04, 8.303e-04, 1.240e-03}},
    {taylor_green(), "gmsh_quadrilaterals", planar, {1.7, 1.8, 1.6}, {6.920e-04, 5.514e-04, 7.476e-04}},
    {taylor_green(), "quadrilaterals", planar, {1.7, 1.8, 1.6}, {6.532e-04, 5.113e-04, 7.744e-04}},
    {taylor_green(), "quadrilaterals_perturbed", planar, {1.7, 1.8, 1.6}, {8.115e-04, 6.320e-04, 9.542e-04}},
    {taylor_green(), "hybrid_plane", planar, {1.7, 1.8, 1.6}, {7.280e-04, 6.619e-04, 9.058e-04}},
    {stokes(3), "gmsh_tetrahedra", spatial, {1.4, 1.5, 1.2}, {5.052e-03, 9.313e-03, 9.507e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, {1.4, 1.5, 1.2}, {5.139e-03, 9.382e-03, 9.559e-02}},
    {stokes(3), "hexahedra", spatial, {1.4, 1.5, 1.2}, {2.858e-03, 5.068e-03, 6.540e-02}},
    {stokes(3), "hexahedra_perturbed", spatial, {1.4, 1.5, 1.2}, {3.850e-03, 5.189e-03, 6.578e-02}},
    {stokes(3), "prisms", spatial, {1.4, 1.5, 1.2}, {5.846e-03, 1.080e-02, 1.354e-01}},
    {stokes(3), "gmsh_prisms", spatial, {1.4, 1.5, 1.2}, {2.810e-03, 4.398e-03, 5.986e-02}},
    {stokes(3), "hybrid_perturbed", spatial, {1.4, 1.5, 1.2}, {5.597e-03, 8.403e-03, 1.113e-01}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, {1.3, 1.5, 1.1}, {7.236e-03, 1.055e-02, 6.925e-02}},
    {ethier_steinman(),
     "gmsh_tetrahedra_perturbed",
     spatial,
     {1.3, 1.5, 1.1},
     {7.363e-03, 1.064e-02, 6.968e-02}},
    {ethier_steinman(), "hexahedra", spatial, {1.3, 1.5, 1.1}, {4.056e-03, 5.543e-03, 3.693e-02}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, {1.3, 1.5, 1.1}, {4.921e-03, 5.646e-03, 3.900e-02}},
    {ethier_steinman(), "prisms", spatial, {1.3, 1.5, 1.1}, {8.003e-03, 1.408e-02, 1.031e-01}},
    {ethier_steinman(), "gmsh_prisms", spatial, {1.3, 1.5, 1.1}, {3.477e-03, 5.083e-03, 3.745e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, {1.3, 1.5, 1.1}, {8.426e-03, 1.145e-02, 8.652e-02}},
};

class FlowConvergence : public testing::TestWithParam<FlowCase> {};

TEST_P(FlowConvergence, in_space) {
  expect_orders(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Classical, FlowConvergence, testing::ValuesIn(cases),
                         [](const auto& test) { return name_of(test.param); });

INSTANTIATE_TEST_SUITE_P(Exact, FlowConvergence, testing::ValuesIn(by(StepMethod::Exact, cases)),
                         [](const auto& test) { return name_of(test.param); });

FlowCase vortices(ConvectionScheme convection, FlowErrors least_order, FlowErrors error) {
  FlowCase flow{taylor_green(), "gmsh_triangles", planar, least_order, error};
  flow.problem.convection = convection;
  return flow;
}

TEST(ConvectionScheme, upwind_is_first_order) {
  expect_orders(vortices(ConvectionScheme::Upwind, {0.9, 0.9, 0.9}, {4.126e-3, 4.545e-03, 6.481e-3}));
}
TEST(ConvectionScheme, linear_upwind_is_second_order) {
  expect_orders(vortices(ConvectionScheme::LinearUpwind, {1.8, 1.8, 1.6}, {5.834e-4, 7.017e-04, 1.091e-3}));
}

}  // namespace
}  // namespace curlew::test
