// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/flow_fields.hpp"
#include "physics/flow/flow_monitors.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parallel_flow.hpp"

namespace curlew {
namespace {

bool is_sliver(const ShelfMesh& mesh) {
  return mesh.name.find("sliver") != std::string::npos;  // takes long and shows no more
}

bool is_star_shaped(const Mesh& mesh) {
  try {
    const FluxMass attempt(Executor::serial(), mesh);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

const auto swirl = analytic_vector([](Vector3 x, Real) { return Vector3{std::sin(3 * x.y), x.x, 0}; });

class FlowOnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(FlowOnRanks, has_the_bits_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  if (is_sliver(GetParam()) || !is_star_shaped(mesh.whole)) return;
  expect_same_run<ClassicalFractionalStep>(mesh, cavity(mesh.whole), cavity(mesh.part), *swirl, 3);
  if (mesh.whole.topology().patches().size() < 4) return;
  expect_same_run<ClassicalFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 3);
}

INSTANTIATE_TEST_SUITE_P(Shelf, FlowOnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

RawMesh distorted_box(CellType type, std::array<Index, 3> blocks) {
  RawMesh raw = make_box(type, blocks);
  distort(raw, 0.02);
  return raw;
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_in_every_scheme) {
  const Parted mesh = divided(distorted_box(CellType::Triangle, {6, 5, 0}));
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2, FlowScheme::Euler,
                                  FlowScheme::SspRk2, FlowScheme::SspRk3, FlowScheme::SspRk4}) {
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.scheme = part.scheme = scheme;
    expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 3);
  }
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_with_every_convection_and_on_backends) {
  const Parted mesh = divided(distorted_box(CellType::Quadrilateral, {8, 7, 0}));
  for (const auto& [convection, executor] :
       {std::pair(ConvectionScheme::Upwind, Executor::openmp(2)),
        std::pair(ConvectionScheme::LinearUpwind, Executor::debug_device()),
        std::pair(ConvectionScheme::Blended, Executor::serial().without_overlap()),
        std::pair(ConvectionScheme::None, Executor::openmp(2))}) {
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.convection = part.convection = convection;
    expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 2, executor);
  }
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_where_a_force_holds_the_mean_flow) {
  const Parted mesh = divided(make_box(CellType::Triangle, {9, 5, 0}));
  const FlowBoundary wall = Wall{};
  const auto settings = [&](const Mesh& of) {
    FlowSettings held = quick_settings(of, wall);
    held.mean_flow = MeanFlow{{1, 0, 0}, 0.8};
    boundary_of(held, of, "left") = boundary_of(held, of, "right") = Outlet{};
    return held;
  };
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::SspRk3}) {
    FlowSettings whole = settings(mesh.whole), part = settings(mesh.part);
    whole.scheme = part.scheme = scheme;
    expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 3);
  }
}

/// Large enough for levels that are divided.
TEST(FlowOnRanks, has_the_bits_of_one_rank_with_both_preconditioners_of_the_pressure) {
  const Parted mesh = divided(make_box(CellType::Triangle, {40, 30, 0}));
  for (const auto preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.pressure_preconditioning = part.pressure_preconditioning = preconditioning;
    expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 2);
  }
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_where_viscosity_reaches_everywhere) {
  for (const RawMesh& raw :
       {make_box(CellType::Triangle, {40, 30, 0}), distorted_box(CellType::Hexahedron, {6, 5, 7})}) {
    const Parted mesh = divided(raw);
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.viscosity = part.viscosity = 100;
    expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 5);
  }
}

/// Cells dealt out one by one: every rank is everyone's neighbour.
TEST(FlowOnRanks, has_the_bits_of_one_rank_where_flat_cells_are_tied_to_their_neighbours) {
  for (const CellType type : {CellType::Triangle, CellType::Prism, CellType::Tetrahedron}) {
    const Parted mesh = tied_cells(type);
    expect_same_run<ClassicalFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 1);
  }
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_where_some_have_no_tied_cells) {
  const Parted mesh = tied_cells_beside_others();
  expect_same_run<ClassicalFractionalStep>(mesh, cavity(mesh.whole), cavity(mesh.part), *swirl, 2);
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_on_the_worst_partition) {
  const RawMesh raw = distorted_box(CellType::Tetrahedron, {3, 3, 3});
  const Parted mesh = divided(raw, dealt_out(Mesh(raw)));
  expect_same_run<ClassicalFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 2);
}

TEST(FlowOnRanks, has_the_bits_of_one_rank_where_some_have_nothing) {
  const RawMesh raw = make_box(CellType::Hexahedron, {3, 3, 3});
  Partition partition{all_ranks()->ranks(), {}};
  for (Index c = 0; c < Mesh(raw).topology().cells().size(); ++c)
    partition.part_of_cell.push_back(partition.parts > 2 && c % 3 == 0 ? partition.parts - 2
                                                                       : partition.parts - 1);
  const Parted mesh = divided(raw, partition);
  expect_same_run<ClassicalFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 2);
}

/// Closed parts of the domain keep their mean pressure and their balance each for itself.
TEST(FlowOnRanks, has_the_bits_of_one_rank_in_parts_that_do_not_touch) {
  const RawMesh box = make_box(CellType::Triangle, {6, 5, 0});
  const Parted mesh =
      divided(side_by_side(side_by_side(box, box, {2, 0, 0}, "second "),
                           make_box(CellType::Quadrilateral, {4, 4, 0}), {0, 3, 0}, "third "));
  const auto settings = [](const Mesh& of) {
    FlowSettings closed = cavity(of);
    const auto through = steady_vector([](Vector3 x) { return Vector3{1 + x.y * x.y, 0, 0}; });
    for (const char* patch : {"left", "right", "second left", "second right"})
      boundary_of(closed, of, patch) = Inlet{through, {}};
    boundary_of(closed, of, "third right") = Outlet{};
    return closed;
  };
  expect_same_run<ClassicalFractionalStep>(mesh, settings(mesh.whole), settings(mesh.part), *swirl, 3);
}

class FieldsOnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(FieldsOnRanks, have_the_bits_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  const bool plane = mesh.whole.topology().dimension() == 2;
  if (!is_star_shaped(mesh.whole)) return;
  const FlowSettings of_whole = cavity(mesh.whole), of_part = cavity(mesh.part);
  ClassicalFractionalStep whole(Executor::serial(), mesh.whole, of_whole);
  ClassicalFractionalStep part(Executor::serial().among(all_ranks()), mesh.part, of_part);
  whole.start(*swirl, 0);
  part.start(*swirl, 0);
  const auto gradient = velocity_gradient(mesh.part, part.face_velocity());
  const auto expected_gradient = velocity_gradient(mesh.whole, whole.face_velocity());
  EXPECT_EQ(differences(mesh, gradient, expected_gradient), 0);
  EXPECT_EQ(differences(mesh, at_centroids(mesh.part, part), at_centroids(mesh.whole, whole)), 0);
  EXPECT_EQ(differences(mesh, vorticity(gradient), vorticity(expected_gradient)), 0);
  EXPECT_EQ(differences(mesh, q_criterion(gradient), q_criterion(expected_gradient)), 0);
  EXPECT_EQ(differences(mesh, divergence(mesh.part, part.flux()), divergence(mesh.whole, whole.flux())), 0);
  const Range<Cell> own = mesh.domain().halo<Cell>().owned();
  EXPECT_EQ(differences(mesh, own, pressure_gradients(part), pressure_gradients(whole)), 0);
  const auto forces = part.boundary_forces(), expected_forces = whole.boundary_forces();
  const WallFriction friction = wall_friction(mesh.part, of_part, forces);
  const WallFriction expected_friction = wall_friction(mesh.whole, of_whole, expected_forces);
  EXPECT_EQ(differences(mesh, own, friction.shear_stress, expected_friction.shear_stress), 0);
  EXPECT_EQ(differences(mesh, own, friction.y_plus, expected_friction.y_plus), 0);
  if (plane) {
    EXPECT_EQ(
        differences(mesh, mesh.domain().halo<Node>().all(), streamfunction(mesh.part, part.flux().to_host()),
                    streamfunction(mesh.whole, whole.flux().to_host())),
        0);
  }
  std::vector<std::size_t> patches(of_whole.boundaries.size());
  std::iota(patches.begin(), patches.end(), 0);
  const BodyForces body = forces_on_patches(mesh.part, 1.7, forces, patches, {1, 2, 3});
  const BodyForces expected_body = forces_on_patches(mesh.whole, 1.7, expected_forces, patches, {1, 2, 3});
  EXPECT_TRUE(same_bits(body.pressure, expected_body.pressure));
  EXPECT_TRUE(same_bits(body.viscous, expected_body.viscous));
  EXPECT_TRUE(same_bits(body.moment, expected_body.moment));
  EXPECT_EQ(patch_outflows(mesh.part, part.flux()), patch_outflows(mesh.whole, whole.flux()));
}

INSTANTIATE_TEST_SUITE_P(Shelf, FieldsOnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(FieldsOnRanks, of_a_streamfunction_without_one_value_are_refused_on_all) {
  const Parted mesh = divided(
      shelf()[at(std::ranges::find(shelf(), "triangles_ring", &ShelfMesh::name) - shelf().begin())].raw);
  std::vector<Real> out;
  for (const Id<Face> f : mesh.part.topology().faces()) {
    const Vector3 x = mesh.part.geometry().face_centroids()[at(f.value())] - Vector3{0.5, 0.5, 0};
    out.push_back(dot(x, mesh.part.geometry().face_areas()[at(f.value())]) / dot(x, x));
  }
  EXPECT_THROW(streamfunction(mesh.part, out), InputError);
}

TEST(FlowOnRanks, names_the_imbalance_of_a_closed_part_on_all) {
  const Parted mesh = divided(make_box(CellType::Triangle, {6, 5, 0}));
  FlowSettings settings = cavity(mesh.part);
  boundary_of(settings, mesh.part, "left") = Inlet{{}, constant(2)};
  ClassicalFractionalStep flow(Executor::serial().among(all_ranks()), mesh.part, settings);
  try {
    flow.start(*uniform_vector({}), 0);
    FAIL() << "it starts";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("2 m2/s enter a closed part"));
  }
}

TEST(FlowOnRanks, says_on_all_where_it_fails) {
  const Parted mesh = divided(distorted_box(CellType::Triangle, {8, 8, 0}));
  const auto message_of = [](const Executor& executor, const Mesh& on) {
    FlowSettings settings = channel(on);
    settings.viscosity = 1e-6;
    ClassicalFractionalStep flow(executor, on, settings);
    flow.start(*swirl, 0);
    try {
      for (int k = 0; k < 40; ++k) flow.advance(1);
    } catch (const DivergedError& error) {
      return std::string(error.what());
    }
    return std::string("it goes on");
  };
  const std::string expected = message_of(Executor::serial(), mesh.whole);
  EXPECT_THAT(expected, testing::HasSubstr("in cell "));
  EXPECT_EQ(message_of(Executor::serial().among(all_ranks()), mesh.part), expected);
}

TEST(FlowOnRanks, goes_on_from_the_state_of_an_earlier_run) {
  const Parted mesh = divided(distorted_box(CellType::Triangle, {6, 6, 0}));
  const auto flow_on = [&] {
    return ClassicalFractionalStep(Executor::serial().among(all_ranks()), mesh.part, channel(mesh.part));
  };
  ClassicalFractionalStep flow = flow_on(), other = flow_on();
  flow.start(*swirl, 0);
  for (int k = 0; k < 3; ++k) flow.advance(0.01);
  other.resume(flow.state());
  for (int k = 0; k < 2; ++k) {
    flow.advance(0.01);
    other.advance(0.01);
  }
  const std::vector<Real> a = flow.flux().to_host(), b = other.flux().to_host();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)), 0);
}

TEST(FlowOnRanks, needs_an_executor_among_them) {
  const Parted mesh = divided(make_box(CellType::Triangle, {6, 5, 0}));
  if (all_ranks()->ranks() == 1) GTEST_SKIP() << "one rank alone needs none";
  EXPECT_THROW(ClassicalFractionalStep(Executor::serial(), mesh.part, cavity(mesh.part)), Error);
}

}  // namespace
}  // namespace curlew
