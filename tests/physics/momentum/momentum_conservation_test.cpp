// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "operators/interpolation.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/physics/momentum/momentum_bench.hpp"

namespace curlew {
namespace {

class Conservation : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const int d_ = mesh_.topology().dimension();
  const Index faces_ = mesh_.topology().faces().size();
  const FlowMatrices m_{mesh_, simplex_weight, false};
  const Vector3 stream_{1, -2, d_ == 2 ? 0. : 0.5};

  std::vector<Real> solenoidal(const MomentumBench& bench, Real seed = 1) const {
    PrimalCochain<Face> flux(Executor::serial(), faces_, "flux", "m3/s");
    FaceVelocity velocity(Executor::serial(), faces_, "velocity", "m/s");
    flux.copy_from_host(arbitrary(faces_, seed));
    bench.boundaries.impose(flux, velocity);
    return values_of(without_divergence(m_.divergence, bench.free.fluxes, column_of(flux.to_host())));
  }
  std::vector<Real> uniform() const {
    std::vector<Real> flux;
    for (const Vector3 area : mesh_.geometry().face_areas().host()) flux.push_back(dot(stream_, area));
    return flux;
  }
};

TEST_P(Conservation, central_convection_does_no_work_on_a_flow_that_crosses_no_boundary) {
  for (const FlowBoundary& boundary : {FlowBoundary{Wall{}}, FlowBoundary{Symmetry{}}}) {
    MomentumBench bench(mesh_, settings_with(mesh_, boundary));
    bench.set(solenoidal(bench), std::vector<Vector3>(at(faces_)));
    bench.momentum.close(bench.velocity);
    bench.convect();
    const Eigen::VectorXd u = column_of(bench.flux.to_host()), c = column_of(bench.circulation.to_host());
    const Real rounding = 1e-13 * u.norm() * c.norm();  // fluxes and circulations may be on different faces
    EXPECT_NEAR(u.dot(c), 0, 1e-9 * u.cwiseAbs().dot(c.cwiseAbs()) + rounding);
  }
}

TEST_P(Conservation, a_wall_that_slides_along_works_through_its_own_force_alone) {
  MomentumBench bench(mesh_, settings_with(mesh_, Wall{}));
  std::vector<Vector3> sliding = arbitrary_vectors(mesh_, faces_, 7);
  bench.set(solenoidal(bench), sliding);
  // What impose() took from the walls comes back along them.
  std::vector<Vector3> v = bench.velocity.to_host();
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const Vector3 area = mesh_.geometry().face_areas()[at(f.value())];
    v[at(f.value())] = sliding[at(f.value())] - dot(sliding[at(f.value())], area) / dot(area, area) * area;
  }
  bench.velocity.copy_from_host(v);
  bench.momentum.close(bench.velocity);
  bench.convect();
  const Eigen::VectorXd w = column_of(bench.velocity.to_host(), d_),
                        force = column_of(bench.force.to_host(), d_);
  EXPECT_NEAR(w.dot(force), 0, 1e-9 * w.cwiseAbs().dot(force.cwiseAbs()));
}

TEST_P(Conservation, momentum_of_a_solenoidal_flow_is_that_of_its_flow_through_the_boundary) {
  MomentumBench bench(mesh_, settings_with(mesh_, Outlet{}));
  const std::vector<Real> u = solenoidal(bench);
  bench.flux.copy_from_host(u);
  Field<Cell, Vector3> at_cells(Executor::serial(), m_.cells, "N U", "m/s");
  Interpolation(Executor::serial(), mesh_).apply(bench.flux, at_cells);
  const std::vector<Vector3> v = at_cells.to_host();
  Vector3 momentum{}, expected{};
  for (std::size_t c = 0; c < v.size(); ++c) momentum += mesh_.geometry().cell_volumes()[c] * v[c];
  for (const Id<Face> f : mesh_.topology().boundary_faces())
    expected += u[at(f.value())] * mesh_.geometry().face_centroids()[at(f.value())];
  EXPECT_LE(norm(momentum - expected), 1e-12 * static_cast<Real>(faces_));
}

TEST_P(Conservation, kinetic_energy_leaves_an_outlet_with_the_fluid_and_none_enters) {
  MomentumBench bench(mesh_, settings_with(mesh_, Outlet{}));
  bench.set(solenoidal(bench), std::vector<Vector3>(at(faces_)));
  bench.momentum.close(bench.velocity);
  bench.convect();
  const std::vector<Real> u = bench.flux.to_host();
  const std::vector<Vector3> v = bench.momentum.convected(bench.velocity).to_host();
  Real leaving = 0;
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const std::size_t i = at(f.value());
    leaving += std::max(u[i], 0.) * dot(v[i], v[i]) / 2;
  }
  ASSERT_GT(leaving, 0);
  const Eigen::VectorXd c = column_of(bench.circulation.to_host());
  EXPECT_NEAR(column_of(u).dot(c), leaving, 1e-9 * column_of(u).cwiseAbs().dot(c.cwiseAbs()));
}

TEST_P(Conservation, upwinding_never_adds_energy_and_leaves_a_uniform_stream_alone) {
  FlowSettings settings = settings_with(mesh_, Symmetry{});
  settings.blend = 0.25;
  std::vector<std::vector<Real>> flows;
  for (const Real seed : {1., 2., 3.}) flows.push_back(solenoidal(MomentumBench(mesh_, settings), seed));
  for (const ConvectionScheme scheme :
       {ConvectionScheme::Upwind, ConvectionScheme::Blended, ConvectionScheme::LinearUpwind}) {
    settings.convection = scheme;
    MomentumBench bench(mesh_, settings);
    for (const std::vector<Real>& flow : flows) {
      bench.set(flow, std::vector<Vector3>(at(faces_)));
      bench.momentum.close(bench.velocity);
      bench.convect();
      const Eigen::VectorXd u = column_of(bench.flux.to_host()), c = column_of(bench.circulation.to_host());
      const Real size = u.cwiseAbs().dot(c.cwiseAbs());
      EXPECT_GE(u.dot(c), -1e-10 * size - 1e-100);
      // A flow that moves through several cells loses some.
      if (m_.cells > 8 && scheme == ConvectionScheme::Upwind) {
        EXPECT_GE(u.dot(c), 1e-5 * size);
      }
    }
    if (!has_planar_faces(mesh_)) continue;
    FlowSettings open = settings_with(mesh_, Inlet{uniform_vector(stream_), {}});
    open.convection = scheme;
    MomentumBench through(mesh_, open);
    through.set(uniform(), std::vector<Vector3>(at(faces_), stream_));
    through.convect();
    const Eigen::VectorXd c = column_of(through.circulation.to_host());
    if (through.free.fluxes.cols() == 0) continue;
    EXPECT_LE((through.free.fluxes.transpose() * c).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST_P(Conservation, linear_upwinding_leaves_a_linear_flow_alone) {
  if (!has_planar_faces(mesh_)) return;
  std::vector<Real> flux;
  std::vector<Vector3> velocity;
  for (std::size_t f = 0; f < at(faces_); ++f) {
    const Vector3 x = mesh_.geometry().face_centroids()[f];
    velocity.push_back(stream_ + Vector3{x.x + 3 * x.y, 2 * x.x - x.y, 0});
    flux.push_back(dot(velocity[f], mesh_.geometry().face_areas()[f]));
  }
  std::vector<Vector3> central;
  for (const ConvectionScheme scheme : {ConvectionScheme::Central, ConvectionScheme::LinearUpwind}) {
    FlowSettings settings = settings_with(mesh_, Symmetry{});
    settings.convection = scheme;
    MomentumBench bench(mesh_, settings);
    bench.flux.copy_from_host(flux);
    bench.velocity.copy_from_host(velocity);
    bench.momentum.convection(bench.flux, bench.velocity, bench.force);
    const std::vector<Vector3> force = bench.force.to_host();
    if (scheme == ConvectionScheme::Central) central = force;
    for (std::size_t f = 0; f < force.size(); ++f) EXPECT_LE(norm(force[f] - central[f]), 1e-12) << f;
  }
}

TEST_P(Conservation, viscosity_takes_energy_from_any_flow) {
  MomentumBench bench(mesh_, settings_with(mesh_, Symmetry{}));
  for (const Real seed : {1., 2., 3.}) {
    bench.set(solenoidal(bench, seed), std::vector<Vector3>(at(faces_)));
    bench.momentum.close(bench.velocity);
    FaceVelocity force(Executor::serial(), faces_, "force", "m3/s2");
    bench.momentum.viscous_form().apply(bench.velocity, force);
    bench.circulation.fill(0);
    bench.momentum.add_normal_part(1, force, bench.circulation);
    const Real work = column_of(bench.flux.to_host()).dot(column_of(bench.circulation.to_host()));
    if (m_.cells > 2) {
      EXPECT_GT(work, 0);
    }
  }
}

TEST_P(Conservation, a_linear_potential_force_is_the_difference_of_its_potential) {
  // Body forces and pressures are integrals along the same dual edges.
  if (!has_planar_faces(mesh_)) return;
  const Vector3 gravity{1, -9, d_ == 2 ? 0 : 2.};
  FlowSettings settings =
      settings_with(mesh_, Outlet{analytic([&](Vector3 x, Real) { return dot(gravity, x); })});
  settings.body_force = uniform_vector(gravity);
  MomentumBench bench(mesh_, settings);
  DualCochain<Cell> p(Executor::serial(), m_.cells, "pressure", "m2/s2");
  std::vector<Real> hydrostatic;
  for (const Vector3 x : mesh_.geometry().cell_centroids().host()) hydrostatic.push_back(dot(gravity, x));
  p.copy_from_host(hydrostatic);
  bench.circulation.fill(0);
  bench.momentum.add_body_force(0, {0.5, 0.5, 0}, bench.circulation);
  bench.momentum.add_pressure_force(p, bench.circulation);
  bench.momentum.add_outside_pressure(bench.circulation);
  bench.momentum.add_body_force(0, {-0.5, -0.5, 0}, bench.circulation);
  bench.momentum.add_pressure_force(p, bench.circulation);
  bench.momentum.add_outside_pressure(bench.circulation);
  const std::vector<Real> left = bench.circulation.to_host();
  for (std::size_t f = 0; f < left.size(); ++f) EXPECT_NEAR(left[f], 0, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Shelf, Conservation, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

/// Energy that a scheme takes per second from a flow that changes from cell to cell.
Real power_taken(const Mesh& mesh, ConvectionScheme scheme) {
  FlowSettings settings = settings_with(mesh, Symmetry{});
  settings.convection = scheme;
  MomentumBench bench(mesh, settings);
  const FlowMatrices m(mesh, simplex_weight, false);
  const Eigen::VectorXd arbitrary_flux = column_of(arbitrary(mesh.topology().faces().size(), 1));
  bench.set(values_of(without_divergence(m.divergence, bench.free.fluxes, arbitrary_flux)),
            std::vector<Vector3>(at(mesh.topology().faces().size())));
  bench.momentum.close(bench.velocity);
  bench.convect();
  return column_of(bench.flux.to_host()).dot(column_of(bench.circulation.to_host()));
}

// On the good triangles of a box the mean of two cells' gradients explains every jump between them: what
// looks at that alone takes nothing there.
TEST(LinearUpwinding, takes_energy_from_what_changes_from_cell_to_cell_on_every_kind_of_cell) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
    const Index blocks = is_planar(type) ? 6 : 3;
    const Mesh mesh(make_box(type, {blocks, blocks, blocks}));
    const Real all = power_taken(mesh, ConvectionScheme::Upwind);
    ASSERT_GT(all, 0);
    EXPECT_NEAR(power_taken(mesh, ConvectionScheme::Central), 0, 1e-9 * all);
    EXPECT_GE(power_taken(mesh, ConvectionScheme::LinearUpwind), 0.3 * all) << static_cast<int>(type);
  }
}

}  // namespace
}  // namespace curlew
