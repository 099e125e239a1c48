// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <utility>
#include <vector>

#include "mesh/box.hpp"
#include "physics/momentum/momentum_systems.hpp"
#include "physics/momentum/tangential_approximate_inverse.hpp"
#include "physics/momentum/tangential_chebyshev.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/physics/momentum/momentum_bench.hpp"
#include "tests/physics/momentum/momentum_parts.hpp"

namespace curlew {
namespace {

/// -K_tt⁻¹ K_t. as a matrix on whole face velocities.
Eigen::MatrixXd closure(const FlowMatrices& m, const FreeUnknowns& free) {
  if (free.tangents.cols() == 0) return Eigen::MatrixXd::Zero(m.d * m.faces, m.d * m.faces);
  const Eigen::MatrixXd rows = free.tangents.transpose() * m.viscous;
  return -free.tangents * solved(rows * free.tangents, rows);
}

/// Face velocities without their free tangential parts.
Eigen::VectorXd given_part(const FreeUnknowns& free, const Eigen::VectorXd& v) {
  return v - free.tangents * (free.tangents.transpose() * v);
}

class MomentumOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const int d_ = mesh_.topology().dimension();
  const Index faces_ = mesh_.topology().faces().size();
  const FlowMatrices m_{mesh_, simplex_weight};

  /// The same kinds of boundary with moving walls: held values that are not zero.
  FlowSettings moving(int first) const {
    FlowSettings settings = walls_symmetry_and_outlets(mesh_, first);
    bool open = false;
    for (const FlowBoundary& boundary : settings.boundaries)
      open = open || std::holds_alternative<Outlet>(boundary);
    for (FlowBoundary& boundary : settings.boundaries) {
      if (!std::holds_alternative<Wall>(boundary)) continue;
      boundary =
          Wall{steady_vector([open, this](Vector3 x) {
                 const Vector3 turning{1 - x.y, x.x, 0};
                 return open ? turning + Vector3{x.x, std::sin(x.y), d_ == 2 ? 0 : 0.3 * x.x} : turning;
               }),
               {}};
    }
    return settings;
  }
  /// Unknown fluxes as columns of velocities along normals, and tangents.
  Eigen::MatrixXd unknowns_of(const FreeUnknowns& free) const {
    Eigen::MatrixXd unknowns(d_ * faces_, free.fluxes.cols() + free.tangents.cols());
    unknowns << m_.normal * free.fluxes, free.tangents;
    return unknowns;
  }
  /// Fluxes of face velocities.
  Eigen::MatrixXd flux_of() const {
    const Eigen::MatrixXd area = m_.normal.transpose() * m_.normal;  // 1/A^2
    return inverse(area) * m_.normal.transpose();
  }
  /// a M + b K.
  Eigen::MatrixXd system_of(Real a, Real b) const {
    const Eigen::MatrixXd flux = flux_of(), weighted = m_.mass * flux;
    return flux.transpose() * (a * weighted) + b * m_.viscous;
  }
  /// A velocity on walls whose total flux through them need not vanish is no use in a closed domain.
  bool balanced(const FlowSettings& settings) const {
    for (const FlowBoundary& boundary : settings.boundaries)
      if (std::holds_alternative<Outlet>(boundary)) return true;
    for (const FlowBoundary& boundary : settings.boundaries)
      if (std::holds_alternative<Symmetry>(boundary)) return false;
    return true;
  }
  /// Calls `visit(first, bench)` for benches of those boundaries, with arbitrary velocities and sources.
  template <class Visit>
  void visit_benches(const Visit& visit) const {
    for (const int first : {0, 1, 2}) {
      const FlowSettings settings = moving(first);
      if (!balanced(settings)) continue;
      MomentumBench bench(mesh_, settings);
      bench.set(arbitrary(faces_), arbitrary_vectors(mesh_, faces_, 5));
      bench.circulation.copy_from_host(arbitrary(faces_, 3));
      visit(first, bench);
    }
  }
};

TEST_P(MomentumOnShelf, tangential_velocities_follow_from_the_dense_closure) {
  visit_benches([&](int first, MomentumBench& bench) {
    const Eigen::VectorXd given = given_part(bench.free, column_of(bench.velocity.to_host(), d_));
    const Eigen::VectorXd expected = given + closure(m_, bench.free) * given;
    bench.momentum.close(bench.velocity);
    const Eigen::VectorXd v = column_of(bench.velocity.to_host(), d_);
    EXPECT_LE((v - expected).cwiseAbs().maxCoeff(), 1e-7 * expected.cwiseAbs().maxCoeff()) << first;
  });
}

TEST_P(MomentumOnShelf, solve_is_the_dense_system_of_inertia_and_viscosity) {
  const Real a = 3, b = 0.2;
  visit_benches([&](int first, MomentumBench& bench) {
    const Eigen::MatrixXd unknowns = unknowns_of(bench.free), system = system_of(a, b);
    const Eigen::VectorXd source = flux_of().transpose() * column_of(bench.circulation.to_host());
    const Eigen::VectorXd start = column_of(bench.velocity.to_host(), d_);
    Eigen::VectorXd expected = start;
    if (unknowns.cols() > 0) {
      const Eigen::MatrixXd rows = unknowns.transpose() * system;
      expected += unknowns * solved(rows * unknowns, unknowns.transpose() * source - rows * start);
    }
    bench.momentum.solve(a, b, bench.circulation, bench.velocity);
    const Eigen::VectorXd v = column_of(bench.velocity.to_host(), d_);
    EXPECT_LE((v - expected).cwiseAbs().maxCoeff(), 1e-7 * expected.cwiseAbs().maxCoeff()) << first;
  });
}

TEST_P(MomentumOnShelf, fluxes_feel_a_force_on_tangential_velocities_that_stay_as_they_are) {
  const Real a = 3, b = 0.2;
  visit_benches([&](int first, MomentumBench& bench) {
    bench.force.copy_from_host(arbitrary_vectors(mesh_, faces_, 8));
    bench.momentum.close(bench.velocity);
    const Eigen::MatrixXd unknowns = unknowns_of(bench.free), system = system_of(a, b);
    const Eigen::VectorXd source =
        flux_of().transpose() * column_of(bench.circulation.to_host()) + column_of(bench.force.to_host(), d_);
    const std::vector<Vector3> guess = bench.velocity.to_host();
    const Eigen::VectorXd start = column_of(guess, d_);
    Eigen::VectorXd expected = m_.normal.transpose() * start;
    if (unknowns.cols() > 0) {
      const Eigen::MatrixXd rows = unknowns.transpose() * system;
      const Eigen::VectorXd change =
          unknowns * solved(rows * unknowns, unknowns.transpose() * source - rows * start);
      expected += m_.normal.transpose() * change;
    }
    // The second solve starts from what the first has found.
    for (int solve = 0; solve < 2; ++solve) {
      bench.velocity.copy_from_host(guess);
      bench.momentum.solve_for_fluxes(a, b, bench.circulation, bench.force, bench.velocity);
      const Eigen::VectorXd v = column_of(bench.velocity.to_host(), d_);
      EXPECT_LE((m_.normal.transpose() * v - expected).cwiseAbs().maxCoeff(),
                1e-7 * expected.cwiseAbs().maxCoeff())
          << first;
      const Eigen::VectorXd change = v - start;
      const Eigen::VectorXd along = m_.normal * flux_of() * change;
      EXPECT_LE((change - along).cwiseAbs().maxCoeff(), 1e-13 * start.cwiseAbs().maxCoeff()) << first;
    }
  });
}

TEST_P(MomentumOnShelf, chebyshev_is_near_the_inverse_for_tangential_velocities) {
  visit_benches([&](int first, MomentumBench& bench) {
    const Eigen::MatrixXd& tangents = bench.free.tangents;
    if (tangents.cols() == 0) return;
    TangentialChebyshev chebyshev(bench.momentum.matrices());
    FaceVectors<float> r = zero_like<FaceVectors<float>>(bench.velocity), z = alike(r);
    const auto areas = mesh_.geometry().face_areas(MemorySpace::Host);
    Eigen::MatrixXd approximate(tangents.cols(), tangents.cols());
    for (Eigen::Index j = 0; j < tangents.cols(); ++j) {
      std::vector<Vector4<float>> values(at(faces_));
      for (Index f = 0; f < faces_; ++f) {
        const auto part = tangents.col(j).segment(d_ * f, d_);
        values[at(f)] =
            rounded<float>(1 / norm(areas[Id<Face>(f)]) * Vector3{part[0], part[1], d_ == 3 ? part[2] : 0});
      }
      r.copy_from_host(values);
      chebyshev.apply(2, r, z, nullptr);
      values = z.to_host();
      std::vector<Vector3> found;
      for (Index f = 0; f < faces_; ++f)
        found.push_back(0.5 / norm(areas[Id<Face>(f)]) * widened(values[at(f)]));
      approximate.col(j) = tangents.transpose() * column_of(found, d_);
    }
    EXPECT_LE((approximate - approximate.transpose()).norm(), 1e-5 * approximate.norm()) << first;
    const Eigen::MatrixXd rows = tangents.transpose() * m_.viscous, lower = cholesky(rows * tangents),
                          symmetric = (approximate + approximate.transpose()) / 2,
                          columns = symmetric * lower;
    const Eigen::VectorXd values = eigenvalues(lower.transpose() * columns);
    // 1 less and more the reciprocal of the Chebyshev polynomial at 8/7: 0.39 of degree 3, 0.62 of degree 2.
    const Real away = has_only_simplices(mesh_) ? 0.39 : 0.62;
    EXPECT_LE(values.maxCoeff(), 1.06 + away) << first;
    EXPECT_GT(values.minCoeff(), GetParam().name.find("sliver") != std::string::npos      ? 0
                                 : GetParam().name.find("distorted") != std::string::npos ? 0.78 - away
                                                                                          : 0.84 - away)
        << first;
  });
}

/// What a scheme takes a share of at an interior face: the jump between the mean velocities of its cells,
/// less what the velocity gradient of one of them explains if `carried_on` is that one (0, 1), from face
/// velocities.
Eigen::MatrixXd jump_at(const Mesh& mesh, const FlowMatrices& m, Id<Face> f, int carried_on) {
  const int d = mesh.topology().dimension();
  const auto cells = mesh.topology().cells_of_face()[f];
  const auto centroids = mesh.geometry().cell_centroids().host();
  Eigen::MatrixXd jump =
      m.mean.middleRows(d * cells[0].id.value(), d) - m.mean.middleRows(d * cells[1].id.value(), d);
  if (carried_on < 0) return jump;
  const Id<Cell> c = cells[carried_on].id;
  const Vector3 path = centroids[at(cells[0].id.value())] - centroids[at(cells[1].id.value())];
  for (const auto [k, sign] : mesh.topology().faces_of_cell()[c]) {
    const Real share = sign * dot(mesh.geometry().face_areas()[at(k.value())], path) /
                       mesh.geometry().cell_volumes()[at(c.value())];
    jump.middleCols(d * k.value(), d) -= share * Eigen::MatrixXd::Identity(d, d);
  }
  return jump;
}

/// The force of the upwind part of a face on face velocities, for unit flux.
Eigen::VectorXd upwind_force(const Mesh& mesh, const FlowMatrices& m, const FlowSettings& settings,
                             Id<Face> f, const Eigen::VectorXd& v) {
  const auto taken = [&](int carried_on) -> Eigen::VectorXd {
    const Eigen::MatrixXd jump = jump_at(mesh, m, f, carried_on);
    return jump.transpose() * (jump * v);
  };
  if (settings.convection == ConvectionScheme::LinearUpwind) return (taken(0) + taken(1)) / 2;
  return (settings.convection == ConvectionScheme::Upwind ? 1 : settings.blend) * taken(-1);
}

TEST_P(MomentumOnShelf, convection_is_the_formula_with_dense_matrices) {
  for (const ConvectionScheme scheme : {ConvectionScheme::Central, ConvectionScheme::Upwind,
                                        ConvectionScheme::Blended, ConvectionScheme::LinearUpwind}) {
    for (const int first : {0, 1, 2}) {
      FlowSettings settings = moving(first);
      if (!balanced(settings)) continue;
      settings.convection = scheme;
      settings.blend = 0.3;
      MomentumBench bench(mesh_, settings);
      bench.set(arbitrary(faces_), arbitrary_vectors(mesh_, faces_, 5));
      bench.momentum.close(bench.velocity);
      bench.convect();

      const Eigen::VectorXd u = column_of(bench.flux.to_host());
      const Eigen::VectorXd v = column_of(bench.velocity.to_host(), d_);
      const Eigen::MatrixXd convected = m_.convected_velocity(mesh_, bench.boundaries);
      const Eigen::VectorXd at_cells = m_.interpolation * u, carried = convected * v;
      Eigen::VectorXd outflow = Eigen::VectorXd::Zero(d_ * m_.cells), w = Eigen::VectorXd::Zero(d_ * faces_);
      Eigen::VectorXd upwind = Eigen::VectorXd::Zero(d_ * faces_);
      for (const Id<Face> f : mesh_.topology().faces()) {
        const auto cells = mesh_.topology().cells_of_face()[f];
        const Index i = f.value();
        for (const auto [c, sign] : cells)
          outflow.segment(d_ * c.value(), d_) += sign * u(i) * carried.segment(d_ * i, d_);
        if (bench.boundaries.hold_of_face()[at(i)] == FaceHold::All && u(i) < 0) {
          // Given inflow: tangential velocities are carried by what they differ from those inside.
          const Index c = cells[0].id.value();
          const Eigen::VectorXd n = m_.normal.block(d_ * i, i, d_, 1).normalized();
          const Eigen::VectorXd excess = v.segment(d_ * i, d_) - at_cells.segment(d_ * c, d_);
          outflow.segment(d_ * c, d_) += u(i) * (excess - excess.dot(n) * n);
        }
        if (cells.size() == 2) {
          const Index one = cells[0].id.value(), two = cells[1].id.value();
          w.segment(d_ * i, d_) = u(i) * (at_cells.segment(d_ * one, d_) - at_cells.segment(d_ * two, d_));
          if (scheme != ConvectionScheme::Central)
            upwind += std::abs(u(i)) * upwind_force(mesh_, m_, settings, f, v);
        } else if (bench.boundaries.hold_of_face()[at(i)] == FaceHold::Free) {
          w.segment(d_ * i, d_) = u(i) * at_cells.segment(d_ * cells[0].id.value(), d_) -
                                  std::max(u(i), 0.) * carried.segment(d_ * i, d_);
        }
      }
      w = convected.transpose() * w - upwind;
      const Eigen::MatrixXd follows = closure(m_, bench.free) * m_.normal + m_.normal;  // U to v
      const Eigen::VectorXd expected = (m_.interpolation.transpose() * outflow - follows.transpose() * w) / 2;
      const Eigen::VectorXd c = column_of(bench.circulation.to_host());
      const Eigen::MatrixXd& free = bench.free.fluxes;
      if (free.cols() == 0) continue;
      EXPECT_LE((free.transpose() * (c - expected)).cwiseAbs().maxCoeff(),
                1e-7 * expected.cwiseAbs().maxCoeff())
          << first << " scheme " << static_cast<int>(scheme);

      // The force on faces: along free normals the circulation, across them nothing that is free.
      const Eigen::VectorXd force = column_of(bench.force.to_host(), d_);
      const Real size = force.cwiseAbs().maxCoeff();
      const Eigen::VectorXd along = m_.normal.transpose() * force;
      EXPECT_LE((free.transpose() * (along - c)).cwiseAbs().maxCoeff(), 1e-11 * c.cwiseAbs().maxCoeff());
      if (bench.free.tangents.cols() > 0) {
        EXPECT_LE((bench.free.tangents.transpose() * force).cwiseAbs().maxCoeff(), 1e-8 * size);
      }
    }
  }
}

TEST_P(MomentumOnShelf, a_solve_refers_to_the_norm_of_what_is_given_to_it) {
  const Real a = 3, b = 0.2;
  const FaceStencil stencil(mesh_);
  const FluxMass mass(Executor::serial(), mesh_, stencil, simplex_weight);
  const ViscousForm viscous_form(Executor::serial(), mesh_, stencil);
  visit_benches([&](int number, MomentumBench& bench) {
    const MomentumMatrices matrices(Executor::serial(), mesh_, bench.boundaries, mass, viscous_form);
    FaceVectors<float> given(Executor::serial(), faces_, "given", "m/s"), image = alike(given);
    FaceVelocity first = alike(bench.velocity), again = alike(first);
    const Eigen::VectorXd v = column_of(bench.velocity.to_host(), d_),
                          c = column_of(bench.circulation.to_host());
    // Of a system with a right-hand side, on what is free.
    const auto expect = [&](const RefinedSystem<FaceVelocity>& system, const Eigen::MatrixXd& unknowns,
                            const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right) {
      const Eigen::MatrixXd free = unknowns.colwise().normalized();
      const Eigen::VectorXd held = v - free * (free.transpose() * v);
      const Real expected = (free.transpose() * (right - matrix * held)).norm();
      SumInParts squared(Executor::serial());
      system.set_first_residual(bench.velocity, first, given, image, squared);
      EXPECT_NEAR(std::sqrt(squared.value()), expected, 1e-6 * expected) << number;
      system.set_residual(bench.velocity, again);
      EXPECT_EQ(column_of(first.to_host(), d_), column_of(again.to_host(), d_));
      const Eigen::VectorXd residual = free * (free.transpose() * (right - matrix * v));
      EXPECT_LE((column_of(first.to_host(), d_) - residual).norm(),
                1e-12 * (matrix.cwiseAbs() * v.cwiseAbs()).norm());
    };
    expect(MomentumSystem(matrices, a, b, &bench.circulation), unknowns_of(bench.free), system_of(a, b),
           flux_of().transpose() * c);
    expect(TangentialSystem(matrices), bench.free.tangents, system_of(0, 1), Eigen::VectorXd::Zero(v.size()));
  });
}

TEST_P(MomentumOnShelf, what_products_in_single_precision_are_wrong_by_is_foreseen) {
  const Real a = 3, b = 0.2;
  const FaceStencil stencil(mesh_);
  const FluxMass mass(Executor::serial(), mesh_, stencil, simplex_weight);
  const ViscousForm viscous_form(Executor::serial(), mesh_, stencil);
  visit_benches([&](int number, MomentumBench& bench) {
    const MomentumMatrices matrices(Executor::serial(), mesh_, bench.boundaries, mass, viscous_form);
    FaceVectors<float> e(Executor::serial(), faces_, "correction", "m/s"), image = alike(e);
    const auto expect = [&](const RefinedSystem<FaceVelocity>& system, const Eigen::MatrixXd& unknowns,
                            const Eigen::MatrixXd& matrix) {
      if (unknowns.cols() == 0) return;
      const Eigen::MatrixXd free = unknowns.colwise().normalized();
      const std::vector<Vector3> velocity = bench.velocity.to_host();
      const Eigen::VectorXd v = free * (free.transpose() * column_of(velocity, d_));
      std::vector<Vector4<float>> rounded_values;
      const auto normal = mesh_.geometry().face_areas(MemorySpace::Host);
      for (Index f = 0; f < faces_; ++f) {
        Vector3 value{};
        for (Eigen::Index k = 0; k < d_; ++k) (k == 0 ? value.x : k == 1 ? value.y : value.z) = v(d_ * f + k);
        const Vector4<float> r = rounded<float>(value);
        const Vector4<float> n = rounded<float>(normal[Id<Face>(f)] / norm(normal[Id<Face>(f)]));
        rounded_values.push_back(r.with_fourth(own_dot(r, n)));
      }
      e.copy_from_host(rounded_values);
      system.apply(e, image);
      std::vector<Vector3> result;
      for (const Vector4<float>& value : image.to_host()) result.push_back(widened(value));
      const Eigen::VectorXd exact = free * (free.transpose() * (matrix * v));
      const Real wrong = (column_of(result, d_) - exact).norm(), foreseen = system.rounding_of(e);
      EXPECT_LE(wrong, foreseen) << number;
      EXPECT_GE(wrong, 1e-3 * foreseen) << number;
    };
    expect(MomentumSystem(matrices, a, b), unknowns_of(bench.free), system_of(a, b));
    expect(TangentialSystem(matrices), bench.free.tangents, system_of(0, 1));
  });
}

TEST(MomentumSolves, are_preconditioned_by_the_matrix_of_their_own_whatever_came_before) {
  const Mesh mesh(make_box(CellType::Hexahedron, {6, 4, 5}, {1, 0.1, 4}));
  using Factors = std::pair<Real, Real>;
  const auto solve = [&](Preconditioning preconditioning, const std::vector<Factors>& solves) {
    FlowSettings settings = walls_symmetry_and_outlets(mesh);
    settings.momentum_preconditioning = preconditioning;
    MomentumBench bench(mesh, settings);
    SolveReport last;
    for (const auto& [mass_factor, viscous_factor] : solves) {
      bench.set(arbitrary(bench.flux.size()), arbitrary_vectors(mesh, bench.flux.size(), 5));
      bench.circulation.copy_from_host(arbitrary(bench.flux.size(), 3));
      last = bench.momentum.solve(mass_factor, viscous_factor, bench.circulation, bench.velocity);
    }
    return std::pair(last.iterations, column_of(bench.velocity.to_host(), 3));
  };
  const Factors one{1, 50}, other{1e6, 1e-3};
  EXPECT_LT(solve(Preconditioning::Jacobi, {one}).first, solve(Preconditioning::None, {one}).first);
  for (const auto preconditioning : {Preconditioning::Jacobi, Preconditioning::Multigrid}) {
    const auto alone = solve(preconditioning, {one});
    EXPECT_EQ(solve(preconditioning, {other, one}), alone);
    EXPECT_EQ(solve(preconditioning, {one, other, one}), alone);
  }
}

INSTANTIATE_TEST_SUITE_P(SmallShelf, MomentumOnShelf, testing::ValuesIn(small_shelf()),
                         [](const auto& test) { return test.param.name; });

/// Between the faces of cubes rounding leaves entries of 1e-19 in the mass, in the place of zeros.
TEST(MomentumSystem, multiplies_small_numbers_on_cubes_without_denormal_ones) {
  const Mesh mesh(make_box(CellType::Hexahedron, {6, 6, 6}));
  const MomentumParts parts(mesh, walls_symmetry_and_outlets(mesh));
  FaceVectors<float> v = alike(parts.like), image = alike(v);
  std::vector<Vector4<float>> values;
  for (const Vector3 a : arbitrary_vectors(mesh, v.size(), 1))
    values.push_back(rounded<float>(1e-25 * a).with_fourth(static_cast<float>(1e-25 * (a.x + a.y + a.z))));
  v.copy_from_host(values);
  std::feclearexcept(FE_UNDERFLOW);
  MomentumSystem(parts.matrices, 1, 0.01).apply(v, image);
  EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0);
  EXPECT_GT(product(image, image), 0);
}

}  // namespace
}  // namespace curlew
