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
    {stokes(2), "gmsh_triangles", planar, {1.8, 1.8, 1.3}, {2.104e-03, 2.866e-03, 4.397e-02}},
    {stokes(2), "gmsh_triangles_perturbed", planar, {1.8, 1.8, 1.3}, {2.317e-03, 3.118e-03, 4.820e-02}},
    {stokes(2), "gmsh_quadrilaterals", planar, {1.8, 1.8, 1.3}, {3.990e-03, 5.325e-03, 5.137e-02}},
    {stokes(2), "quadrilaterals", planar, {1.8, 1.8, 1.3}, {4.184e-03, 5.687e-03, 4.809e-02}},
    {stokes(2), "quadrilaterals_perturbed", planar, {1.8, 1.8, 1.3}, {4.305e-03, 6.037e-03, 5.132e-02}},
    {stokes(2), "hybrid_plane", planar, {1.8, 1.8, 1.3}, {3.642e-03, 4.119e-03, 4.630e-02}},
    {stokes(2), "triangles_skewed", planar, {1.8, 1.8, 1.2}, {4.994e-03, 5.070e-03, 5.667e-02}},
    {kovasznay(), "triangles_skewed", planar, {1.7, 1.5, 1.4}, {2.487e-02, 2.928e-02, 1.705e-02}},
    {taylor_green(), "triangles_skewed", planar, {1.7, 1.8, 1.4}, {1.955e-03, 1.819e-03, 2.130e-03}},
    {stokes(3), "tetrahedra_skewed", spatial, {1.3, 1.5, 1.2}, {6.580e-03, 1.535e-02, 1.749e-01}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, {1.2, 1.5, 1.1}, {7.843e-03, 2.026e-02, 1.249e-01}},
    {kovasznay(), "gmsh_triangles", planar, {1.7, 1.5, 1.4}, {1.123e-02, 2.189e-02, 1.600e-02}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, {1.7, 1.5, 1.4}, {1.484e-02, 2.457e-02, 1.767e-02}},
    {kovasznay(), "gmsh_quadrilaterals", planar, {1.7, 1.5, 1.4}, {3.678e-02, 3.959e-02, 2.449e-02}},
    {kovasznay(), "quadrilaterals", planar, {1.7, 1.5, 1.4}, {3.555e-02, 3.236e-02, 2.353e-02}},
    {kovasznay(), "quadrilaterals_perturbed", planar, {1.7, 1.5, 1.4}, {3.424e-02, 3.229e-02, 2.207e-02}},
    {kovasznay(), "hybrid_plane", planar, {1.7, 1.5, 1.4}, {2.985e-02, 3.593e-02, 1.759e-02}},
    {taylor_green(), "gmsh_triangles", planar, {1.7, 1.8, 1.6}, {5.800e-04, 1.042e-03, 1.082e-03}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, {1.7, 1.8, 1.6}, {7.258e-04, 1.141e-03, 1.240e-03}},
    {taylor_green(), "gmsh_quadrilaterals", planar, {1.7, 1.8, 1.6}, {1.684e-03, 2.228e-03, 1.513e-03}},
    {taylor_green(), "quadrilaterals", planar, {1.7, 1.8, 1.6}, {1.312e-03, 2.149e-03, 1.577e-03}},
    {taylor_green(), "quadrilaterals_perturbed", planar, {1.7, 1.8, 1.6}, {1.553e-03, 2.285e-03, 1.683e-03}},
    {taylor_green(), "hybrid_plane", planar, {1.7, 1.8, 1.6}, {1.005e-03, 1.979e-03, 1.391e-03}},
    {stokes(3), "gmsh_tetrahedra", spatial, {1.4, 1.5, 1.2}, {5.052e-03, 9.313e-03, 9.507e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, {1.4, 1.5, 1.2}, {5.139e-03, 9.382e-03, 9.559e-02}},
    {stokes(3), "hexahedra", spatial, {1.4, 1.5, 1.2}, {1.002e-02, 2.053e-02, 2.102e-01}},
    {stokes(3), "hexahedra_perturbed", spatial, {1.4, 1.5, 1.2}, {1.044e-02, 2.059e-02, 2.101e-01}},
    {stokes(3), "prisms", spatial, {1.4, 1.5, 1.2}, {7.311e-03, 1.641e-02, 1.725e-01}},
    {stokes(3), "gmsh_prisms", spatial, {1.4, 1.5, 1.2}, {5.117e-03, 1.075e-02, 1.114e-01}},
    {stokes(3), "hybrid_perturbed", spatial, {1.4, 1.5, 1.2}, {7.714e-03, 1.518e-02, 1.648e-01}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, {1.3, 1.5, 1.1}, {7.236e-03, 1.055e-02, 6.925e-02}},
    {ethier_steinman(),
     "gmsh_tetrahedra_perturbed",
     spatial,
     {1.3, 1.5, 1.1},
     {7.363e-03, 1.064e-02, 6.968e-02}},
    {ethier_steinman(), "hexahedra", spatial, {1.3, 1.5, 1.1}, {1.225e-02, 2.381e-02, 1.388e-01}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, {1.3, 1.5, 1.1}, {1.273e-02, 2.382e-02, 1.387e-01}},
    {ethier_steinman(), "prisms", spatial, {1.3, 1.5, 1.1}, {9.002e-03, 2.037e-02, 1.240e-01}},
    {ethier_steinman(), "gmsh_prisms", spatial, {1.3, 1.5, 1.1}, {6.312e-03, 1.212e-02, 7.208e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, {1.3, 1.5, 1.1}, {1.066e-02, 1.823e-02, 1.096e-01}},
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
  expect_orders(vortices(ConvectionScheme::Upwind, {0.9, 0.9, 0.9}, {4.126e-3, 4.841e-3, 6.481e-3}));
}
TEST(ConvectionScheme, linear_upwind_is_second_order) {
  expect_orders(vortices(ConvectionScheme::LinearUpwind, {1.8, 1.8, 1.6}, {5.834e-4, 1.043e-3, 1.091e-3}));
}

}  // namespace
}  // namespace curlew::test
