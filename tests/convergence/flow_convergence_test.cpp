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
    {stokes(2), "gmsh_quadrilaterals", planar, {1.8, 1.8, 1.3}, {8.096e-04, 8.783e-04, 1.556e-02}},
    {stokes(2), "quadrilaterals", planar, {1.8, 1.8, 1.3}, {5.587e-04, 7.744e-04, 1.005e-02}},
    {stokes(2), "quadrilaterals_perturbed", planar, {1.7, 1.8, 0.9}, {8.868e-04, 1.067e-03, 2.359e-02}},
    {stokes(2), "hybrid_plane", planar, {1.8, 1.8, 1.3}, {1.527e-03, 1.688e-03, 3.310e-02}},
    {stokes(2), "triangles_skewed", planar, {1.8, 1.8, 1.2}, {4.994e-03, 4.180e-03, 5.667e-02}},
    {kovasznay(), "triangles_skewed", planar, {1.7, 1.5, 1.4}, {2.487e-02, 2.575e-02, 1.705e-02}},
    {taylor_green(), "triangles_skewed", planar, {1.7, 1.8, 1.4}, {1.955e-03, 1.645e-03, 2.130e-03}},
    {stokes(3), "tetrahedra_skewed", spatial, {1.3, 1.5, 1.2}, {6.580e-03, 1.535e-02, 1.749e-01}},
    {ethier_steinman(), "tetrahedra_skewed", spatial, {1.2, 1.5, 1.1}, {7.843e-03, 2.026e-02, 1.249e-01}},
    {kovasznay(), "gmsh_triangles", planar, {1.7, 1.5, 1.4}, {1.123e-02, 1.745e-02, 1.600e-02}},
    {kovasznay(), "gmsh_triangles_perturbed", planar, {1.7, 1.5, 1.4}, {1.484e-02, 2.051e-02, 1.767e-02}},
    {kovasznay(), "gmsh_quadrilaterals", planar, {1.4, 1.5, 1.4}, {7.883e-03, 9.088e-03, 9.434e-03}},
    {kovasznay(), "quadrilaterals", planar, {1.7, 1.5, 1.4}, {5.087e-03, 6.443e-03, 6.883e-03}},
    {kovasznay(), "quadrilaterals_perturbed", planar, {1.7, 1.5, 1.4}, {8.944e-03, 9.287e-03, 8.291e-03}},
    {kovasznay(), "hybrid_plane", planar, {1.35, 1.5, 1.4}, {9.074e-03, 1.056e-02, 1.182e-02}},
    {taylor_green(), "gmsh_triangles", planar, {1.7, 1.8, 1.6}, {5.800e-04, 6.998e-04, 1.082e-03}},
    {taylor_green(), "gmsh_triangles_perturbed", planar, {1.7, 1.8, 1.6}, {7.258e-04, 8.303e-04, 1.240e-03}},
    {taylor_green(), "gmsh_quadrilaterals", planar, {1.7, 1.8, 1.6}, {5.604e-04, 4.489e-04, 6.443e-04}},
    {taylor_green(), "quadrilaterals", planar, {1.6, 1.6, 1.6}, {6.453e-04, 5.292e-04, 6.250e-04}},
    {taylor_green(), "quadrilaterals_perturbed", planar, {1.7, 1.7, 1.6}, {7.608e-04, 5.636e-04, 8.851e-04}},
    {taylor_green(), "hybrid_plane", planar, {1.7, 1.8, 1.4}, {7.907e-04, 6.771e-04, 8.921e-04}},
    {stokes(3), "gmsh_tetrahedra", spatial, {1.4, 1.5, 1.2}, {5.052e-03, 9.313e-03, 9.507e-02}},
    {stokes(3), "gmsh_tetrahedra_perturbed", spatial, {1.4, 1.5, 1.2}, {5.139e-03, 9.382e-03, 9.559e-02}},
    {stokes(3), "hexahedra", spatial, {1.4, 1.5, 1.2}, {8.757e-04, 2.076e-03, 1.738e-02}},
    {stokes(3), "hexahedra_perturbed", spatial, {0.8, 1.5, 1.2}, {2.595e-03, 2.193e-03, 2.144e-02}},
    {stokes(3), "prisms", spatial, {1.4, 1.5, 1.2}, {5.679e-03, 1.036e-02, 1.296e-01}},
    {stokes(3), "gmsh_prisms", spatial, {1.4, 1.5, 1.2}, {2.521e-03, 3.842e-03, 5.185e-02}},
    {stokes(3), "hybrid_perturbed", spatial, {1.4, 1.5, 1.1}, {5.680e-03, 7.520e-03, 1.025e-01}},
    {ethier_steinman(), "gmsh_tetrahedra", spatial, {1.3, 1.5, 1.1}, {7.236e-03, 1.055e-02, 6.925e-02}},
    {ethier_steinman(),
     "gmsh_tetrahedra_perturbed",
     spatial,
     {1.3, 1.5, 1.1},
     {7.363e-03, 1.064e-02, 6.968e-02}},
    {ethier_steinman(), "hexahedra", spatial, {1.3, 1.5, 1.1}, {1.901e-03, 2.187e-03, 1.487e-02}},
    {ethier_steinman(), "hexahedra_perturbed", spatial, {1.2, 1.5, 1.1}, {3.290e-03, 2.359e-03, 1.972e-02}},
    {ethier_steinman(), "prisms", spatial, {1.3, 1.5, 1.1}, {8.023e-03, 1.376e-02, 1.002e-01}},
    {ethier_steinman(), "gmsh_prisms", spatial, {1.3, 1.5, 1.1}, {3.150e-03, 4.518e-03, 3.289e-02}},
    {ethier_steinman(), "hybrid_perturbed", spatial, {1.3, 1.5, 1.1}, {8.356e-03, 1.062e-02, 8.205e-02}},
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
  expect_orders(vortices(ConvectionScheme::LinearUpwind, {1.8, 1.8, 1.6}, {5.558e-4, 7.036e-04, 1.149e-3}));
}

}  // namespace
}  // namespace curlew::test
