// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "mesh/box.hpp"
#include "mesh/import/periodic.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"
#include "operators/node_diffusion.hpp"
#include "operators/viscous_form.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/operators/operator_matrix.hpp"

namespace curlew {
namespace {

/// K for one component of the velocity, which does not mix with the others.
Eigen::MatrixXd matrix_of_one_component(const Executor& executor, const Mesh& mesh) {
  const ViscousForm form(executor, mesh);
  const Index faces = mesh.topology().faces().size();
  Eigen::MatrixXd matrix(faces, faces);
  Field<Face, Vector3> v(executor, faces, "v", "m/s"), force(executor, faces, "force", "m3/s2");
  std::vector<Vector3> unit(at(faces));
  for (Index j = 0; j < faces; ++j) {
    unit[at(j)].x = 1;
    v.copy_from_host(unit);
    unit[at(j)].x = 0;
    form.apply(v, force);
    const std::vector<Vector3> column = force.to_host();
    for (Index i = 0; i < faces; ++i) matrix(i, j) = column[at(i)].x;
  }
  return matrix;
}

class OnPeriodicBox : public testing::TestWithParam<PeriodicBox> {
 protected:
  std::vector<Real> uniform_flux() const {
    std::vector<Real> flux;
    for (const Vector3 area : mesh_.geometry().face_areas().host()) flux.push_back(dot(stream_, area));
    return flux;
  }

  const Executor executor_ = Executor::serial();
  const Mesh mesh_ = make_periodic(Mesh(GetParam().raw()), GetParam().pairs()).mesh;
  const Index faces_ = mesh_.topology().faces().size(), cells_ = mesh_.topology().cells().size();
  const Vector3 stream_{1, -2, mesh_.topology().dimension() == 2 ? 0. : 3.};
};

TEST_P(OnPeriodicBox, a_uniform_stream_has_no_divergence_and_is_interpolated_exactly) {
  PrimalCochain<Face> flux(executor_, faces_, "flux", "m3/s");
  flux.copy_from_host(uniform_flux());
  PrimalCochain<Cell> outflow(executor_, cells_, "outflow", "m3/s");
  Divergence(executor_, mesh_.topology()).apply(flux, outflow);
  for (const Real value : outflow.to_host()) EXPECT_NEAR(value, 0, 1e-13);
  if (!GetParam().has_planar_faces()) return;
  Field<Cell, Vector3> velocity(executor_, cells_, "velocity", "m/s");
  Interpolation(executor_, mesh_).apply(flux, velocity);
  for (const Vector3 v : velocity.to_host()) EXPECT_LE(norm(v - stream_), 1e-12);
}

TEST_P(OnPeriodicBox, integration_of_a_constant_vector_is_its_component_along_the_dual_edge) {
  Field<Cell, Vector3> velocity(executor_, cells_, "velocity", "m/s");
  velocity.fill(stream_);
  DualCochain<Face> integral(executor_, faces_, "integral", "m2/s");
  Integration(executor_, mesh_).apply(velocity, integral);
  const std::vector<Real> values = integral.to_host();
  for (const Id<Face> f : mesh_.topology().faces()) {
    const Vector3 along = mesh_.geometry().dual_edge(mesh_.topology(), f);
    EXPECT_NEAR(values[at(f.value())], dot(stream_, along), 1e-13);
    EXPECT_LT(norm(along), 1.5 * norm({1, 2, 1.5}) / 2);
  }
}

TEST_P(OnPeriodicBox, energy_of_a_uniform_stream_is_exact_where_faces_are_planar) {
  if (!GetParam().has_planar_faces()) return;
  PrimalCochain<Face> flux(executor_, faces_, "flux", "m3/s");
  flux.copy_from_host(uniform_flux());
  DualCochain<Face> circulation(executor_, faces_, "circulation", "m2/s");
  FluxMass(executor_, mesh_, 2).apply(flux, circulation);
  const std::vector<Real> u = flux.to_host(), m = circulation.to_host();
  Real energy = 0, volume = 0;
  for (std::size_t f = 0; f < u.size(); ++f) energy += u[f] * m[f] / 2;
  for (const Real v : mesh_.geometry().cell_volumes().host()) volume += v;
  EXPECT_NEAR(energy, volume * dot(stream_, stream_) / 2, 1e-12 * volume * dot(stream_, stream_));
}

TEST_P(OnPeriodicBox, viscous_form_sees_all_but_uniform_streams) {
  Field<Face, Vector3> velocity(executor_, faces_, "velocity", "m/s"), force(executor_, faces_, "f", "m3/s2");
  velocity.fill(stream_);
  ViscousForm(executor_, mesh_).apply(velocity, force);
  const Eigen::MatrixXd k = matrix_of_one_component(executor_, mesh_);
  const Real size = k.cwiseAbs().maxCoeff();
  for (const Vector3 value : force.to_host()) EXPECT_LE(norm(value), 1e-13 * size);
  EXPECT_LE((k - k.transpose()).cwiseAbs().maxCoeff(), 1e-12 * size);
  const Eigen::VectorXd values = eigenvalues(k);
  EXPECT_NEAR(values(0), 0, 1e-12 * size);
  EXPECT_GT(values(1), 1e-4 * size);
}

TEST_P(OnPeriodicBox, diagonals_are_those_of_the_matrices) {
  const auto expect_diagonal = [](const std::vector<Real>& diagonal, const Eigen::MatrixXd& matrix) {
    for (std::size_t f = 0; f < diagonal.size(); ++f) {
      const auto i = static_cast<Eigen::Index>(f);
      EXPECT_NEAR(diagonal[f], matrix(i, i), 1e-12 * matrix.cwiseAbs().maxCoeff());
    }
  };
  const FluxMass mass(executor_, mesh_);
  expect_diagonal(mass.matrix().diagonal(), matrix_of(mass, faces_, faces_));
  expect_diagonal(ViscousForm(executor_, mesh_).matrix().diagonal(),
                  matrix_of_one_component(executor_, mesh_));
}

TEST_P(OnPeriodicBox, operators_do_not_know_where_the_periodic_mesh_was_cut_open) {
  // The same mesh by other numbers and orientations: the same eigenvalues.
  const PeriodicBox& box = GetParam();
  if (box.directions < mesh_.topology().dimension()) return;
  const Mesh other = make_periodic(Mesh(box.raw(1)), box.pairs()).mesh;
  const auto expect_equal = [](const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_GT(a(0), -1e-10 * a(a.size() - 1));
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 1e-12 * a(a.size() - 1));
  };
  const auto mass = [&](const Mesh& mesh) {
    return eigenvalues(matrix_of(FluxMass(executor_, mesh), faces_, faces_));
  };
  EXPECT_GT(mass(mesh_)(0), 0);
  expect_equal(mass(mesh_), mass(other));
  expect_equal(eigenvalues(matrix_of_one_component(executor_, mesh_)),
               eigenvalues(matrix_of_one_component(executor_, other)));
}

TEST_P(OnPeriodicBox, matrices_are_those_of_the_mesh_before_it_was_joined) {
  const Mesh& open = mesh_.unfolded();
  const Index all = open.topology().faces().size();
  const auto magnitude = [](const auto& v) {
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Vector3>) {
      return norm(v);
    } else {
      return std::abs(v);
    }
  };
  // `image`: what the other face of a periodic one has of its value. A flux turns with the normal.
  const auto compare = [&]<class F, class G>(const auto& joined, const auto& apart, F x, G y, F open_x,
                                             G open_y, Real image, const auto& value) {
    std::vector<typename F::Value> values(at(faces_)), open_values(at(all));
    for (const Id<Face> f : mesh_.topology().faces()) {
      values[at(f.value())] = value(std::sin(3. * f.value()));
      mesh_.visit_unfolded(f, [&](Id<Face> open_face, Real sign) {
        open_values[at(open_face.value())] = (sign < 0 ? image : 1) * values[at(f.value())];
      });
    }
    x.copy_from_host(values);
    open_x.copy_from_host(open_values);
    joined.apply(x, y);
    apart.apply(open_x, open_y);
    const auto result = y.to_host(), open_result = open_y.to_host();
    Real size = 0;
    for (const auto& v : result) size = std::max(size, magnitude(v));
    for (const Id<Face> f : mesh_.topology().faces()) {
      typename G::Value expected{};
      mesh_.visit_unfolded(f, [&](Id<Face> open_face, Real sign) {
        expected += (sign < 0 ? image : 1) * open_result[at(open_face.value())];
      });
      const auto error = result[at(f.value())] - expected;
      EXPECT_LE(magnitude(error), 1e-12 * size);
    }
  };
  using Flux = PrimalCochain<Face>;
  using Circulation = DualCochain<Face>;
  using Velocity = Field<Face, Vector3>;
  compare(FluxMass(executor_, mesh_), FluxMass(executor_, open), Flux(executor_, faces_, "u", "1"),
          Circulation(executor_, faces_, "c", "1"), Flux(executor_, all, "u", "1"),
          Circulation(executor_, all, "c", "1"), -1, [](Real x) { return x; });
  // Cells that are tied across the joined patches are not before.
  if (!GradientJumps(mesh_).empty()) return;
  compare(ViscousForm(executor_, mesh_), ViscousForm(executor_, open), Velocity(executor_, faces_, "v", "1"),
          Velocity(executor_, faces_, "f", "1"), Velocity(executor_, all, "v", "1"),
          Velocity(executor_, all, "f", "1"), 1, [](Real x) {
            return Vector3{x, x * x, 1 - x};
          });
}

TEST_P(OnPeriodicBox, node_diffusion_is_that_of_the_mesh_before_it_was_joined_between_nodes_that_became_one) {
  const PeriodicMesh periodic = make_periodic(Mesh(GetParam().raw()), GetParam().pairs());
  const Mesh& open = mesh_.unfolded();
  std::vector<Real> conductivity(at(cells_));
  for (std::size_t c = 0; c < conductivity.size(); ++c)
    conductivity[c] = 1.5 + std::sin(static_cast<Real>(c));
  const auto matrix = [&](const Mesh& mesh) {
    const Index nodes = mesh.topology().nodes().size();
    return matrix_of(NodeDiffusion(executor_, mesh, conductivity), nodes, nodes);
  };
  const Index nodes = mesh_.topology().nodes().size();
  Eigen::MatrixXd became = Eigen::MatrixXd::Zero(open.topology().nodes().size(), nodes);
  for (Index n = 0; n < open.topology().nodes().size(); ++n)
    became(n, periodic.node_of_original[at(n)].value()) = 1;
  const Eigen::MatrixXd of_open = matrix(open), k = matrix(mesh_);
  const Eigen::MatrixXd expected = became.transpose() * of_open * became;
  EXPECT_LE((k - expected).cwiseAbs().maxCoeff(), 1e-12 * of_open.cwiseAbs().maxCoeff());
  if (nodes == 1) return;
  const Eigen::VectorXd values = eigenvalues(k);
  EXPECT_NEAR(values(0), 0, 1e-12 * of_open.cwiseAbs().maxCoeff());
  EXPECT_GT(values(1), 1e-4 * of_open.cwiseAbs().maxCoeff());
}

TEST_P(OnPeriodicBox, every_backend_gives_the_bits_of_the_serial_reference) {
  const auto results = [&](const Executor& executor) {
    PrimalCochain<Face> flux(executor, faces_, "flux", "m3/s");
    std::vector<Real> values(at(faces_));
    for (std::size_t f = 0; f < values.size(); ++f) values[f] = std::sin(static_cast<Real>(f));
    flux.copy_from_host(values);
    DualCochain<Face> circulation(executor, faces_, "circulation", "m2/s");
    FluxMass(executor, mesh_).apply(flux, circulation);
    Field<Cell, Vector3> velocity(executor, cells_, "velocity", "m/s");
    Interpolation(executor, mesh_).apply(flux, velocity);
    return std::pair(circulation.to_host(), velocity.to_host());
  };
  const auto expected = results(executor_);
  for (const Executor& executor : backends_beside_serial())
    EXPECT_TRUE(results(executor) == expected) << executor.name();
}

INSTANTIATE_TEST_SUITE_P(Boxes, OnPeriodicBox, testing::ValuesIn(periodic_boxes()),
                         [](const auto& test) { return test.param.name; });

TEST(Periodic, mass_of_fluxes_of_a_grid_is_its_spacing_over_area_everywhere) {
  const Mesh original(make_box(CellType::Hexahedron, {4, 3, 2}, {4, 3, 2}));
  const Mesh mesh = make_periodic(original, {{{"left", "right"}, {"bottom", "top"}, {"back", "front"}}}).mesh;
  const Index faces = mesh.topology().faces().size();
  const Eigen::MatrixXd mass = matrix_of(FluxMass(Executor::serial(), mesh), faces, faces);
  EXPECT_LE((mass - Eigen::MatrixXd::Identity(faces, faces)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Periodic, waves_along_a_grid_are_modes_of_node_diffusion) {
  // On squares and cubes, however divided, a wave along x has the eigenvalue of differences along a line.
  for (const CellType type :
       {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron, CellType::Hexahedron}) {
    const bool plane = is_planar(type);
    const Index n = 5;
    const Mesh original(make_box(type, {n, n, plane ? 0 : n}, {1, 1, plane ? 0. : 1.}));
    std::vector<PeriodicPair> pairs{{"left", "right"}, {"bottom", "top"}};
    if (!plane) pairs.push_back({"back", "front"});
    const PeriodicMesh periodic = make_periodic(original, pairs);
    const std::vector<Real> conductivity(at(original.topology().cells().size()), 2);
    const NodeDiffusion diffusion(Executor::serial(), periodic.mesh, conductivity);
    for (int waves = 0; waves < n; ++waves) {
      std::vector<Real> values(at(periodic.mesh.topology().nodes().size()));
      for (std::size_t i = 0; i < periodic.node_of_original.size(); ++i) {
        const Vector3 x = original.geometry().node_positions()[i];
        values[at(periodic.node_of_original[i].value())] = std::cos(2 * std::numbers::pi * waves * x.x + 0.3);
      }
      PrimalCochain<Node> temperature(Executor::serial(), static_cast<Index>(values.size()), "T", "K");
      temperature.copy_from_host(values);
      DualCochain<Node> outflow(Executor::serial(), temperature.size(), "outflow", "W");
      diffusion.apply(temperature, outflow);
      const Real width = plane ? 1 : 1. / n;  // volume of a node over the square of the distance
      const Real eigenvalue = 2 * width * 2 * (1 - std::cos(2 * std::numbers::pi * waves / n));
      const std::vector<Real> result = outflow.to_host();
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(result[i], eigenvalue * values[i], 1e-13);
    }
  }
}

}  // namespace
}  // namespace curlew
