// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/pressure_projection.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <tuple>
#include <vector>

#include "mesh/box.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/flow_matrices.hpp"

namespace curlew {
namespace {

struct Bench {
  Bench(const Mesh& mesh, FlowSettings with, const Executor& executor = Executor::serial())
      : settings(std::move(with)),
        boundaries(executor, mesh, settings),
        mass(executor, mesh, simplex_weight),
        projection(executor, mesh, boundaries, mass, settings.pressure),
        free(mesh, boundaries),
        flux(executor, mesh.topology().faces().size(), "flux", "m3/s"),
        p(executor, mesh.topology().cells().size(), "pressure", "m2/s2") {}
  FlowSettings settings;
  FlowBoundaries boundaries;
  FluxMass mass;
  PressureProjection projection;
  FreeUnknowns free;
  PrimalCochain<Face> flux;
  DualCochain<Cell> p;
};

FlowSettings with_outlet_on_first_patch(const Mesh& mesh) {
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.boundaries[0] = Outlet{};
  return settings;
}

/// D S⁻¹ Dᵀ.
Eigen::MatrixXd laplacian_of(const Bench& bench, const FlowMatrices& m) {
  const Eigen::MatrixXd weighted =
      m.divergence * column_of(bench.projection.inverse_star().to_host()).asDiagonal();
  return weighted * m.divergence.transpose();
}

/// Largest eigenvalue of (D S⁻¹ Dᵀ)⁻¹ D M⁻¹ Dᵀ on free fluxes.
Real largest_ratio(const Bench& bench, const FlowMatrices& m, bool closed) {
  const Eigen::MatrixXd& free = bench.free.fluxes;
  const Eigen::MatrixXd d = m.divergence * free;
  const Eigen::VectorXd inverse_star =
      free.transpose() * column_of(bench.projection.inverse_star().to_host());
  const Eigen::MatrixXd mass_rows = free.transpose() * m.mass, mass = mass_rows * free;
  // In a closed domain one cell may be left out: its row is that of the others.
  const Eigen::MatrixXd rows = closed ? Eigen::MatrixXd(d.topRows(d.rows() - 1)) : d;
  if (rows.rows() == 0) return 1;
  const Eigen::MatrixXd weighted = rows * inverse_star.asDiagonal();
  return largest_eigenvalue(rows * solved(mass, rows.transpose()), weighted * rows.transpose());
}

std::vector<ShelfMesh> meshes() {
  std::vector<ShelfMesh> all = shelf();
  for (const Index n : {2, 5, 9}) {
    all.push_back({"right_triangles_" + std::to_string(n), make_box(CellType::Triangle, {n, n, 0})});
    RawMesh flat = make_box(CellType::Triangle, {n, n, 0}, {1, 0.02, 0});
    all.push_back({"needles_" + std::to_string(n), flat});
    for (Vector3& x : flat.nodes) x.x += 20 * x.y;
    all.push_back({"caps_" + std::to_string(n), flat});
    RawMesh moved = make_box(CellType::Triangle, {n, n, 0});
    distort(moved, 0.3 / n);
    all.push_back({"moved_triangles_" + std::to_string(n), moved});
    RawMesh quadrilaterals = make_box(CellType::Quadrilateral, {n, n, 0});
    distort(quadrilaterals, 0.3 / n);
    all.push_back({"moved_quadrilaterals_" + std::to_string(n), quadrilaterals});
  }
  RawMesh tetrahedra = make_box(CellType::Tetrahedron, {3, 3, 3});
  distort(tetrahedra, 0.06);
  all.push_back({"moved_tetrahedra", tetrahedra});
  return all;
}

class Projection : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Index faces_ = mesh_.topology().faces().size();
  const FlowMatrices m_{mesh_, simplex_weight, false};
};

TEST_P(Projection, the_star_is_never_so_much_larger_than_the_mass_that_extrapolated_pressure_grows) {
  const Real closed = largest_ratio(Bench(mesh_, settings_with(mesh_, Wall{})), m_, true);
  EXPECT_LE(closed, 1.3 * (1 + 1e-8));
  const Real open = largest_ratio(Bench(mesh_, with_outlet_on_first_patch(mesh_)), m_, false);
  EXPECT_LE(open, 1.3 * (1 + 1e-8));
  // Nor is it scaled down where there is no need to.
  if (measure_quality(mesh_).aspect_ratio.max < 5) {
    EXPECT_GE(open, 0.6);
  }
}

/// Eigenvalues of what a step makes of a wrong pressure: one that is too large by e makes velocities, a M U +
/// b K v = Dᵀ e, whose divergence takes T e from it.
Eigen::VectorXcd answers_to_pressure(Bench& bench, const FlowMatrices& m, Real a, Real b) {
  const Eigen::MatrixXd &fluxes = bench.free.fluxes, &tangents = bench.free.tangents;
  Eigen::MatrixXd unknowns(m.d * m.faces, fluxes.cols() + tangents.cols());
  unknowns << m.normal * fluxes, tangents;
  const Eigen::MatrixXd viscous_rows = unknowns.transpose() * m.viscous,
                        mass_rows = fluxes.transpose() * m.mass;
  Eigen::MatrixXd system = b * (viscous_rows * unknowns);
  system.topLeftCorner(fluxes.cols(), fluxes.cols()) += a * (mass_rows * fluxes);
  Eigen::MatrixXd force = Eigen::MatrixXd::Zero(unknowns.cols(), m.cells);
  force.topRows(fluxes.cols()) = (m.divergence * fluxes).transpose();
  const Eigen::MatrixXd moved = fluxes * solved(system, force).topRows(fluxes.cols());
  Eigen::MatrixXd answer(m.cells, m.cells);
  for (Index c = 0; c < m.cells; ++c) {
    const Eigen::VectorXd column = moved.col(c);
    bench.flux.copy_from_host(std::vector<Real>(column.begin(), column.end()));
    bench.p.fill(0);
    bench.projection.project(a, bench.flux, bench.p);
    bench.projection.add_viscous_part(a, b, bench.p);
    answer.col(c) = -column_of(bench.p.to_host());
  }
  return eigenvalues_of_any(answer);
}

TEST_P(Projection, with_what_viscosity_adds_answers_a_wrong_pressure_strongly_but_not_so_that_it_grows) {
  if (faces_ > 350) return;  // that takes long
  const FlowMatrices m(mesh_, simplex_weight);
  const Real size = std::pow(m.volume.sum() / m.cells, 2. / m.d);
  for (const bool closed : {true, false}) {
    FlowSettings settings = closed ? settings_with(mesh_, Wall{}) : with_outlet_on_first_patch(mesh_);
    settings.pressure.relative_tolerance = 1e-9;
    Bench bench(mesh_, settings);
    if (bench.free.fluxes.cols() == 0) continue;
    for (const Real reach : {1., 1e4}) {
      for (const std::complex<Real> answer : answers_to_pressure(bench, m, 1, reach * size)) {
        EXPECT_NEAR(answer.imag(), 0, 1e-5);
        EXPECT_LE(answer.real(), 1.3 * (1 + 1e-6)) << closed << ' ' << reach;
        // Of constants in a closed domain there is none.
        if (!closed && measure_quality(mesh_).aspect_ratio.max < 5) {
          EXPECT_GE(answer.real(), 0.01) << reach;
        }
      }
    }
  }
}

TEST_P(Projection, leaves_no_more_divergence_than_asked_for_and_moves_fluxes_by_gradients) {
  for (const bool closed : {true, false}) {
    FlowSettings settings = closed ? settings_with(mesh_, Wall{}) : with_outlet_on_first_patch(mesh_);
    settings.pressure.relative_tolerance = 1e-7;
    Bench bench(mesh_, settings);
    const Real a = 40;
    std::vector<Real> start = arbitrary(faces_);
    for (const Id<Face> f : mesh_.topology().boundary_faces())
      if (bench.boundaries.hold_of_face()[at(f.value())] != FaceHold::Free) start[at(f.value())] = 0;
    bench.flux.copy_from_host(start);
    bench.projection.project(a, bench.flux, bench.p);
    const Eigen::VectorXd u = column_of(bench.flux.to_host()), p = column_of(bench.p.to_host());
    const Eigen::VectorXd outflow = m_.divergence * u,
                          through = m_.divergence.cwiseAbs() * column_of(start).cwiseAbs();
    EXPECT_LE(outflow.norm(), 1.0001e-7 * through.norm());
    const DivergenceNorms norms = bench.projection.divergence_of(bench.flux);
    const Eigen::VectorXd now = m_.divergence.cwiseAbs() * u.cwiseAbs();
    if (now.norm() > 0) {
      // Multigrid may overshoot the tolerance, down to where the sums of a cell's fluxes are round-off.
      const Real round_off = 1e-16 * std::sqrt(static_cast<Real>(m_.cells));
      EXPECT_NEAR(norms.l2, outflow.norm() / now.norm(), 1e-6 * norms.l2 + round_off);
      EXPECT_NEAR(norms.max,
                  outflow.cwiseAbs().maxCoeff() * std::sqrt(static_cast<Real>(m_.cells)) / now.norm(),
                  1e-6 * norms.max + round_off);
    }
    // a S (U - U*) = Dᵀ p on free faces, and nothing moves elsewhere.
    const Eigen::VectorXd star = column_of(bench.projection.inverse_star().to_host());
    const Eigen::VectorXd push = m_.divergence.transpose() * p,
                          expected = column_of(start) + star.cwiseProduct(push) / a;
    EXPECT_LE((u - expected).cwiseAbs().maxCoeff(), 1e-13 * (1 + expected.cwiseAbs().maxCoeff()));
    if (closed) {
      EXPECT_NEAR(m_.volume.dot(p), 0, 1e-12 * m_.volume.dot(p.cwiseAbs()));
    }
  }
}

TEST_P(Projection, null_space_is_the_constants_of_closed_domains) {
  for (const bool closed : {true, false}) {
    const Bench bench(mesh_, closed ? settings_with(mesh_, Wall{}) : with_outlet_on_first_patch(mesh_));
    const Eigen::MatrixXd laplacian = laplacian_of(bench, m_);
    const Eigen::VectorXd values = eigenvalues(laplacian);
    const Real size = std::max(1., values(m_.cells - 1));
    EXPECT_LE(laplacian.rowwise().sum().norm() > 1e-9 * size, !closed);
    if (closed) {
      EXPECT_NEAR(values(0), 0, 1e-12 * size);
      if (m_.cells > 1) {
        EXPECT_GT(values(1), 1e-7 * size);
      }
    } else {
      EXPECT_GT(values(0), 1e-7 * size);
    }
  }
}

TEST_P(Projection, fluxes_of_the_mass_are_those_of_the_dense_saddle_point) {
  for (const bool closed : {true, false}) {
    FlowSettings settings = closed ? settings_with(mesh_, Wall{}) : with_outlet_on_first_patch(mesh_);
    Bench bench(mesh_, settings);
    const Eigen::MatrixXd& free = bench.free.fluxes;
    if (free.cols() == 0) continue;
    // Held fluxes that balance, and any net outflow of cells: it must stay.
    std::vector<Real> start = arbitrary(faces_);
    for (const Id<Face> f : mesh_.topology().boundary_faces())
      if (closed) start[at(f.value())] = 0;
    bench.flux.copy_from_host(start);
    const std::vector<Real> r = arbitrary(faces_, 4);
    DualCochain<Face> right(Executor::serial(), faces_, "right-hand side", "m2/s2");
    right.copy_from_host(r);
    bench.projection.solve_mass(right, bench.flux, bench.p, {1e-8, 0, 1000});

    // U = U0 + Z w with D Z = 0: Zᵀ M U = Zᵀ r.
    const Eigen::MatrixXd z = free * null_space(m_.divergence * free), rows = z.transpose() * m_.mass;
    const Eigen::VectorXd start_column = column_of(start);
    Eigen::VectorXd expected = start_column;
    if (z.cols() > 0) expected += z * solved(rows * z, z.transpose() * column_of(r) - rows * start_column);
    const Eigen::VectorXd u = column_of(bench.flux.to_host());
    EXPECT_LE((u - expected).cwiseAbs().maxCoeff(), 1e-5 * expected.cwiseAbs().maxCoeff());
    EXPECT_LE((m_.divergence * (u - start_column)).norm(),
              1e-8 * (m_.divergence.cwiseAbs() * u.cwiseAbs()).norm());
    // r - M U + Dᵀ p = 0 on free faces.
    Eigen::VectorXd left = column_of(r) - m_.mass * u;
    left += m_.divergence.transpose() * column_of(bench.p.to_host());
    EXPECT_LE((free.transpose() * left).norm(), 1e-5 * column_of(r).norm());
  }
}

TEST(ProjectionByMass, takes_the_same_iterations_and_bits_on_every_backend) {
  RawMesh raw = make_box(CellType::Tetrahedron, {3, 3, 3});
  distort(raw, 0.03);
  const Mesh mesh(std::move(raw));
  const Index faces = mesh.topology().faces().size();
  const auto solve_on = [&](const Executor& executor) {
    Bench bench(mesh, with_outlet_on_first_patch(mesh), executor);
    DualCochain<Face> right(executor, faces, "right-hand side", "m2/s2");
    std::vector<std::tuple<int, Real, std::vector<Real>, std::vector<Real>>> results;
    // The second solve starts where the first ended.
    for (const Real seed : {4, 7}) {
      right.copy_from_host(arbitrary(faces, seed));
      const SolveReport report = bench.projection.solve_mass(right, bench.flux, bench.p, {1e-8, 0, 1000});
      results.emplace_back(report.iterations, report.residual, bench.flux.to_host(), bench.p.to_host());
    }
    return results;
  };
  const auto expected = solve_on(Executor::serial());
  EXPECT_GT(std::get<0>(expected[0]), 20);
  // From rest, where the force alone sets the scale; not much further than asked for.
  EXPECT_LE(std::get<1>(expected[0]), 1e-8);
  EXPECT_GE(std::get<1>(expected[0]), 1e-10);
  for (const Executor& executor : backends_beside_serial())
    EXPECT_TRUE(solve_on(executor) == expected) << executor.name();
}

TEST(ProjectionByMass, says_so_where_it_does_not_converge) {
  const Mesh mesh(make_box(CellType::Triangle, {6, 6, 0}));
  Bench bench(mesh, settings_with(mesh, Wall{}));
  DualCochain<Face> right(Executor::serial(), bench.flux.size(), "right-hand side", "m2/s2");
  // At rest without a force there is nothing to do.
  EXPECT_EQ(bench.projection.solve_mass(right, bench.flux, bench.p, {1e-8, 0, 1}).residual, 0);
  right.copy_from_host(arbitrary(right.size(), 4));
  EXPECT_THAT(
      [&] {
        bench.projection.solve_mass(right, bench.flux, bench.p, {1e-12, 0, 2});
      },
      testing::ThrowsMessage<DivergedError>(
          testing::HasSubstr("the solve for fluxes did not converge after 2 iterations")));
}

INSTANTIATE_TEST_SUITE_P(Meshes, Projection, testing::ValuesIn(meshes()),
                         [](const auto& test) { return test.param.name; });

TEST(ProjectionOfParts, each_closed_part_has_a_pressure_of_mean_zero_and_the_open_one_its_outlets) {
  const RawMesh box = make_box(CellType::Triangle, {3, 3, 0});
  const Mesh mesh(side_by_side(side_by_side(box, box, {3, 0, 0}, "open_"), box, {0, 5, 0}, "upper_"));
  FlowSettings settings = settings_with(mesh, Wall{});
  boundary_of(settings, mesh, "open_left") = Outlet{};
  Bench bench(mesh, settings);
  const FlowMatrices m(mesh, simplex_weight, false);
  std::vector<Real> start = arbitrary(m.faces);
  for (const Id<Face> f : mesh.topology().boundary_faces())
    if (bench.boundaries.hold_of_face()[at(f.value())] != FaceHold::Free) start[at(f.value())] = 0;
  bench.flux.copy_from_host(start);
  bench.projection.project(1, bench.flux, bench.p);
  EXPECT_LE(bench.projection.divergence_of(bench.flux).l2, 1e-9);
  Real sum[3] = {0, 0, 0}, size = 0;
  const std::vector<Real> p = bench.p.to_host();
  for (const Id<Cell> c : mesh.topology().cells()) {
    const std::size_t i = at(c.value());
    sum[bench.boundaries.closed_part_of_cell()[i] + 1] += mesh.geometry().cell_volumes()[i] * p[i];
    size += mesh.geometry().cell_volumes()[i] * std::abs(p[i]);
  }
  EXPECT_GT(std::abs(sum[0]), 1e-6 * size);
  EXPECT_NEAR(sum[1], 0, 1e-13 * size);
  EXPECT_NEAR(sum[2], 0, 1e-13 * size);
  const Eigen::VectorXd values = eigenvalues(laplacian_of(bench, m));
  EXPECT_NEAR(values(1), 0, 1e-12);
  EXPECT_GT(values(2), 1e-3);
}

}  // namespace
}  // namespace curlew
