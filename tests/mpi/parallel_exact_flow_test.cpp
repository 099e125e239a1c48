// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <cstring>

#include "mesh/box.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parallel_flow.hpp"

namespace curlew {
namespace {

const auto swirl = analytic_vector([](Vector3 x, Real) { return Vector3{std::sin(3 * x.y), x.x, 0}; });

/// A channel past two bodies, in space columns from wall to wall at right angles.
RawMesh past_two_bodies(CellType type, Index finer = 1) {
  const bool plane = type == CellType::Triangle || type == CellType::Quadrilateral;
  const RawMesh raw = plane ? make_box(type, {12 * finer, 6 * finer, 0}, {2, 1, 0})
                            : make_box(type, {6 * finer, 3 * finer, 3 * finer}, {2, 1, 1});
  return without(raw, [plane](Vector3 x) {
    const int i = static_cast<int>(3 * x.x), j = static_cast<int>(3 * x.y), k = static_cast<int>(3 * x.z);
    return (i == 1 && j == 1) || (i == 4 && (plane ? j : k) == 1);
  });
}

void expect_no_outflow(const Mesh& mesh, const IncompressibleFlow& flow) {
  const std::vector<Real> flux = flow.flux().to_host();
  Index leaking = 0;
  for (const Id<Cell> c : mesh.domain().halo<Cell>().all()) {
    Real net = 0;
    for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) net += sign * flux[at(f.value())];
    if (net != 0) ++leaking;
  }
  EXPECT_EQ(leaking, 0);
}

class ExactFlowOnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(ExactFlowOnRanks, has_the_bits_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  if (GetParam().name.find("sliver") != std::string::npos) return;  // takes long and shows no more
  expect_same_run<ExactFractionalStep>(mesh, cavity(mesh.whole), cavity(mesh.part), *swirl, 2);
  if (mesh.whole.topology().patches().size() < 4) return;
  expect_same_run<ExactFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 2);
}

INSTANTIATE_TEST_SUITE_P(Shelf, ExactFlowOnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_ways_differ_and_no_cell_leaks) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron}) {
    const Parted mesh = divided(past_two_bodies(type));
    for (const bool open : {true, false}) {
      const auto settings = [&](const Mesh& of) {
        FlowSettings chosen = open ? channel(of) : cavity(of);
        if (open) {
          boundary_of(chosen, of, "left") = Inlet{analytic_vector([](Vector3 x, Real t) {
                                                    return Vector3{(1 + t) * (1 + 0.3 * x.y), 0.1, 0};
                                                  }),
                                                  {}};
        }
        return chosen;
      };
      ExactFractionalStep whole(Executor::serial(), mesh.whole, settings(mesh.whole));
      ExactFractionalStep part(Executor::serial().among(all_ranks()), mesh.part, settings(mesh.part));
      EXPECT_EQ(part.loops(), 2);
      EXPECT_EQ(whole.loops(), 2);
      expect_same_report(part.start(*swirl, 0), whole.start(*swirl, 0));
      for (int k = 0; k < 2; ++k) {
        expect_same_report(part.advance(0.01), whole.advance(0.01));
        expect_same_unknowns(mesh, part, whole);
        expect_no_outflow(mesh.part, part);
      }
      expect_same_balances(mesh, part, whole);
    }
  }
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_in_narrow_gaps) {
  for (const bool named : {true, false}) {
    RawMesh raw = narrow_gaps(10, 2);
    if (!named) forget_patches(raw);
    const Parted mesh = divided(raw);
    expect_same_run<ExactFractionalStep>(mesh, cavity(mesh.whole), cavity(mesh.part), *swirl, 1);
  }
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_in_schemes_and_on_backends) {
  const Parted mesh = divided(past_two_bodies(CellType::Triangle));
  for (const auto& [scheme, executor] : {std::pair(FlowScheme::CrankNicolsonAb2, Executor::openmp(2)),
                                         std::pair(FlowScheme::SspRk3, Executor::debug_device()),
                                         std::pair(FlowScheme::Midpoint, Executor::serial())}) {
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.scheme = part.scheme = scheme;
    expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 2, executor);
  }
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_a_force_holds_the_mean_flow) {
  const Parted mesh = divided(past_two_bodies(CellType::Quadrilateral));
  const auto settings = [](const Mesh& of) {
    FlowSettings held = quick_settings(of, Wall{});
    held.mean_flow = MeanFlow{{1, 0, 0}, 0.8};
    boundary_of(held, of, "left") = boundary_of(held, of, "right") = Outlet{};
    return held;
  };
  expect_same_run<ExactFractionalStep>(mesh, settings(mesh.whole), settings(mesh.part), *swirl, 3);
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_flat_cells_are_tied_to_their_neighbours) {
  for (const CellType type : {CellType::Triangle, CellType::Prism, CellType::Tetrahedron}) {
    const Parted mesh = tied_cells(type);
    expect_same_run<ExactFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 1);
  }
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_some_have_no_tied_cells) {
  const Parted mesh = tied_cells_beside_others();
  expect_same_run<ExactFractionalStep>(mesh, cavity(mesh.whole), cavity(mesh.part), *swirl, 2);
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_on_the_worst_partition) {
  const RawMesh raw = past_two_bodies(CellType::Tetrahedron);
  const Parted mesh = divided(raw, dealt_out(Mesh(raw)));
  expect_same_run<ExactFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 1);
}

TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_some_have_nothing) {
  const RawMesh raw = past_two_bodies(CellType::Quadrilateral);
  Partition partition{all_ranks()->ranks(), {}};
  for (Index c = 0; c < Mesh(raw).topology().cells().size(); ++c)
    partition.part_of_cell.push_back(partition.parts > 2 && c % 3 == 0 ? partition.parts - 2
                                                                       : partition.parts - 1);
  const Parted mesh = divided(raw, partition);
  expect_same_run<ExactFractionalStep>(mesh, channel(mesh.whole), channel(mesh.part), *swirl, 2);
}

/// Large enough for levels that are divided.
TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_with_both_preconditioners) {
  for (const auto& [type, finer] : {std::pair(CellType::Triangle, 4), std::pair(CellType::Tetrahedron, 3)}) {
    const Parted mesh = divided(past_two_bodies(type, finer));
    for (const auto preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
      FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
      for (FlowSettings* settings : {&whole, &part})
        settings->pressure_preconditioning = settings->streamfunction_preconditioning = preconditioning;
      expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 1);
    }
  }
}

/// The correction of streamfunction and tangential velocities together, between nodes on several levels.
TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_viscosity_reaches_far) {
  for (const auto& [type, finer] : {std::pair(CellType::Triangle, 4),
                                    {CellType::Tetrahedron, 3},
                                    {CellType::Prism, 2},
                                    {CellType::Hexahedron, 2}}) {
    const RawMesh raw = past_two_bodies(type, finer);
    for (const Parted& mesh : {divided(raw), divided(raw, dealt_out(Mesh(raw)))}) {
      FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
      whole.viscosity = part.viscosity = 20;
      expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 1);
    }
  }
}

/// On flat cells corrections between nodes know of viscosity instead.
TEST(ExactFlowOnRanks, has_the_bits_of_one_rank_where_viscosity_reaches_across_flat_cells) {
  for (const CellType type : {CellType::Hexahedron, CellType::Prism}) {
    RawMesh raw = past_two_bodies(type, 2);
    for (Vector3& x : raw.nodes) x.z *= 0.05;
    const Parted mesh = divided(raw);
    FlowSettings whole = channel(mesh.whole), part = channel(mesh.part);
    whole.viscosity = part.viscosity = 0.1;
    expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 1);
  }
}

TEST(ExactFlowOnRanks, goes_on_from_the_state_of_an_earlier_run) {
  const Parted mesh = divided(past_two_bodies(CellType::Triangle));
  ExactFractionalStep flow(Executor::serial().among(all_ranks()), mesh.part, channel(mesh.part));
  ExactFractionalStep other(Executor::serial().among(all_ranks()), mesh.part, channel(mesh.part));
  flow.start(*swirl, 0);
  for (int k = 0; k < 3; ++k) flow.advance(0.01);
  other.resume(flow.state());
  for (int k = 0; k < 2; ++k) expect_same_report(other.advance(0.01), flow.advance(0.01));
  const std::vector<Real> a = flow.flux().to_host(), b = other.flux().to_host();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)), 0);
}

}  // namespace
}  // namespace curlew
