// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numbers>

#include "mesh/parallel/gather.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "physics/flow/flow_fields.hpp"
#include "physics/flow/flow_monitors.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mpi/parallel_flow.hpp"

namespace curlew {
namespace {

const auto swirl = analytic_vector([](Vector3 x, Real) {
  return Vector3{1 + std::sin(std::numbers::pi * x.y), std::sin(2 * std::numbers::pi * x.x), 0};
});

Mesh joined(const PeriodicBox& box) {
  return make_periodic(Mesh(box.raw()), box.pairs()).mesh;
}

/// All cells on the last two ranks, most of them on the last.
Partition crowded(const Mesh& mesh) {
  Partition partition{all_ranks()->ranks(), {}};
  for (Index c = 0; c < mesh.topology().cells().size(); ++c)
    partition.part_of_cell.push_back(partition.parts > 2 && c % 3 == 0 ? partition.parts - 2
                                                                       : partition.parts - 1);
  return partition;
}

/// Driven along the periodic directions, by walls that slide, a force that turns, and one that holds the mean
/// flow.
FlowSettings driven(const Mesh& mesh, bool held) {
  const FlowBoundary wall = Wall{};  // named, as GCC 12 warns of it otherwise
  FlowSettings settings = quick_settings(mesh, wall);
  const bool plane = mesh.topology().dimension() == 2;
  settings.body_force = steady_vector([plane](Vector3 x) {
    return Vector3{std::sin(std::numbers::pi * x.y), std::cos(2 * std::numbers::pi * x.x), plane ? 0 : 0.3};
  });
  if (held) settings.mean_flow = MeanFlow{{1, 0, 0}, 0.8};
  for (std::size_t p = 0; p < settings.boundaries.size(); ++p) {
    if (mesh.topology().patches()[p].name == "top")
      settings.boundaries[p] = Wall{uniform_vector({1, 0, 0}), {}};
  }
  return settings;
}

class PeriodicOnRanks : public testing::TestWithParam<PeriodicBox> {};

TEST_P(PeriodicOnRanks, flow_has_the_bits_of_one_rank_by_either_method) {
  const Parted mesh = divided(joined(GetParam()));
  expect_same_run<ClassicalFractionalStep>(mesh, driven(mesh.whole, true), driven(mesh.part, true), *swirl,
                                           2);
  expect_same_run<ExactFractionalStep>(mesh, driven(mesh.whole, false), driven(mesh.part, false), *swirl, 2);
  FlowSettings whole = driven(mesh.whole, true), part = driven(mesh.part, true);
  whole.viscosity = part.viscosity = 100;  // it reaches everywhere
  expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 2);
  expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 1);
}

TEST_P(PeriodicOnRanks, parts_fit_the_parts_of_the_mesh_before_it_was_joined) {
  Mesh periodic = joined(GetParam());
  const Partition partition = dealt_out(periodic);
  const Parted mesh = divided(std::move(periodic), partition);
  const Mesh &shown = mesh.part.unfolded(), &whole_shown = mesh.whole.unfolded();
  const Halo<Cell>&cells = mesh.domain().halo<Cell>(), &shown_cells = shown.domain().halo<Cell>();
  ASSERT_EQ(shown_cells.all().size(), cells.all().size());
  EXPECT_EQ(shown_cells.owned().size(), cells.owned().size());
  for (const Id<Cell> c : cells.all()) EXPECT_EQ(shown_cells.global(c), cells.global(c));

  // Each face that became another is found again where the rank has one of its cells.
  const Halo<Face>&faces = mesh.domain().halo<Face>(), &shown_faces = shown.domain().halo<Face>();
  std::vector<int> met(at(shown_faces.all().size()), 0);
  for (const Id<Face> f : faces.all()) {
    const Id<Face> global(static_cast<Index>(faces.global(f)));
    const bool is_periodic = mesh.whole.topology().periodic_faces().contains(global);
    const bool is_owned = faces.owned().contains(f);
    if (is_owned) {
      EXPECT_EQ(mesh.part.topology().periodic_faces().contains(f), is_periodic);
    }
    std::vector<std::pair<Index, Real>> expected, found;
    mesh.whole.visit_unfolded(global, [&](Id<Face> g, Real sign) { expected.emplace_back(g.value(), sign); });
    mesh.part.visit_unfolded(f, [&](Id<Face> g, Real sign) {
      ++met[at(g.value())];
      found.emplace_back(static_cast<Index>(shown_faces.global(g)), sign);
      const Vector3 area = sign * mesh.part.geometry().face_areas()[at(f.value())];
      EXPECT_LE(norm(area - shown.geometry().face_areas()[at(g.value())]), 1e-12 * norm(area));
    });
    if (is_owned) {
      EXPECT_EQ(found, expected);
    }
    for (const auto& pair : found) EXPECT_NE(std::ranges::find(expected, pair), expected.end());
    // Where the cells see it is where the whole mesh has it.
    const auto seen = mesh.part.geometry().face_centroids_of_cells(MemorySpace::Host);
    const auto expected_seen = mesh.whole.geometry().face_centroids_of_cells(MemorySpace::Host);
    for (const auto [c, sign] : mesh.part.topology().cells_of_face()[f])
      EXPECT_TRUE(same_bits(seen(f, sign), expected_seen(global, sign)));
  }
  for (const Id<Face> f : shown_faces.all()) EXPECT_EQ(met[at(f.value())], 1);
  if (mesh.whole.topology().dimension() == 3) {
    const Halo<Edge>& edges = mesh.domain().halo<Edge>();
    for (const Id<Edge> e : edges.all()) {
      const Id<Edge> global(static_cast<Index>(edges.global(e)));
      EXPECT_TRUE(same_bits(mesh.part.geometry().edge_vector(mesh.part.topology(), e),
                            mesh.whole.geometry().edge_vector(mesh.whole.topology(), global)));
    }
  }
  const std::vector<Vector3> positions =
      gathered<Node>(shown.domain(), shown.geometry().node_positions().host());
  if (all_ranks()->rank() == 0) {
    const auto expected = whole_shown.geometry().node_positions().host();
    ASSERT_EQ(positions.size(), expected.size());
    for (std::size_t n = 0; n < positions.size(); ++n) EXPECT_TRUE(same_bits(positions[n], expected[n]));
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, PeriodicOnRanks, testing::ValuesIn(periodic_boxes()),
                         [](const auto& box) { return box.param.name; });

const PeriodicBox channel_box{"channel", CellType::Triangle, {8, 6, 0}, 1, true};
const PeriodicBox triple_box{"triple", CellType::Tetrahedron, {3, 3, 3}, 3, true};

TEST(PeriodicOnRanks, flow_has_the_bits_of_one_rank_however_cells_are_divided) {
  for (const PeriodicBox& box : {channel_box, triple_box}) {
    for (const auto& divide : {dealt_out, crowded}) {
      Mesh periodic = joined(box);
      const Partition partition = divide(periodic);
      const Parted mesh = divided(std::move(periodic), partition);
      expect_same_run<ClassicalFractionalStep>(mesh, driven(mesh.whole, true), driven(mesh.part, true),
                                               *swirl, 2);
      expect_same_run<ExactFractionalStep>(mesh, driven(mesh.whole, true), driven(mesh.part, true), *swirl,
                                           2);
    }
  }
}

TEST(PeriodicOnRanks, flow_has_the_bits_of_one_rank_in_schemes_and_on_backends) {
  const Parted mesh = divided(joined(channel_box));
  for (const auto& [scheme, convection, executor] :
       {std::tuple(FlowScheme::CrankNicolsonAb2, ConvectionScheme::LinearUpwind, Executor::serial()),
        std::tuple(FlowScheme::SspRk3, ConvectionScheme::Blended, Executor::debug_device()),
        std::tuple(FlowScheme::Midpoint, ConvectionScheme::Central, Executor::serial())}) {
    FlowSettings whole = driven(mesh.whole, true), part = driven(mesh.part, true);
    whole.scheme = part.scheme = scheme;
    whole.convection = part.convection = convection;
    expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 2, executor);
    if (scheme != FlowScheme::Midpoint)
      expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 2, executor);
  }
}

TEST(PeriodicOnRanks, flow_has_the_bits_of_one_rank_with_either_preconditioner) {
  for (const PeriodicBox& box : {channel_box, triple_box}) {
    const Parted mesh = divided(joined(box));
    for (const Preconditioning chosen : {Preconditioning::Jacobi, Preconditioning::Multigrid}) {
      FlowSettings whole = driven(mesh.whole, true), part = driven(mesh.part, true);
      for (FlowSettings* settings : {&whole, &part})
        settings->pressure_preconditioning = settings->streamfunction_preconditioning = chosen;
      expect_same_run<ClassicalFractionalStep>(mesh, whole, part, *swirl, 2);
      expect_same_run<ExactFractionalStep>(mesh, whole, part, *swirl, 2);
    }
  }
}

// Levels of up to 1000 unknowns are worked on by every rank alike.
TEST(PeriodicOnRanks, flow_has_the_bits_of_one_rank_where_levels_of_multigrid_are_divided) {
  for (const PeriodicBox& box : {PeriodicBox{"plane", CellType::Triangle, {36, 34, 0}, 2, true},
                                 PeriodicBox{"channel", CellType::Hexahedron, {11, 9, 11}, 1, true},
                                 PeriodicBox{"triple", CellType::Hexahedron, {11, 10, 11}, 3, true}}) {
    const Parted mesh = divided(joined(box));
    expect_same_run<ExactFractionalStep>(mesh, driven(mesh.whole, false), driven(mesh.part, false), *swirl,
                                         2);
  }
}

TEST(PeriodicOnRanks, fields_have_the_bits_of_one_rank) {
  for (const PeriodicBox& box : {channel_box, triple_box}) {
    Mesh periodic = joined(box);
    const Partition partition = dealt_out(periodic);
    const Parted mesh = divided(std::move(periodic), partition);
    const FlowSettings of_whole = driven(mesh.whole, false), of_part = driven(mesh.part, false);
    ClassicalFractionalStep whole(Executor::serial(), mesh.whole, of_whole);
    ClassicalFractionalStep part(Executor::serial().among(all_ranks()), mesh.part, of_part);
    whole.start(*swirl, 0);
    part.start(*swirl, 0);
    EXPECT_EQ(differences(mesh, velocity_gradient(mesh.part, part.face_velocity()),
                          velocity_gradient(mesh.whole, whole.face_velocity())),
              0);
    EXPECT_EQ(differences(mesh, at_centroids(mesh.part, part), at_centroids(mesh.whole, whole)), 0);
    const Range<Cell> own = mesh.domain().halo<Cell>().owned();
    EXPECT_EQ(differences(mesh, own, pressure_gradients(part), pressure_gradients(whole)), 0);
    EXPECT_TRUE(patch_outflows(mesh.part, part.flux()) == patch_outflows(mesh.whole, whole.flux()));
    if (mesh.whole.topology().dimension() == 2) {
      const Domain& shown = mesh.part.unfolded().domain();
      const std::vector<Real> mine = streamfunction(mesh.part, part.flux().to_host()),
                              expected = streamfunction(mesh.whole, whole.flux().to_host());
      for (const Id<Node> n : shown.halo<Node>().all())
        EXPECT_TRUE(same_bits(mine[at(n.value())], expected[at(shown.halo<Node>().global(n))]));
    }
  }
}

TEST(PeriodicOnRanks, flow_goes_on_from_the_state_of_an_earlier_run) {
  const Parted mesh = divided(joined(channel_box));
  ExactFractionalStep flow(Executor::serial().among(all_ranks()), mesh.part, driven(mesh.part, true));
  ExactFractionalStep other(Executor::serial().among(all_ranks()), mesh.part, driven(mesh.part, true));
  flow.start(*swirl, 0);
  for (int k = 0; k < 3; ++k) flow.advance(0.01);
  other.resume(flow.state());
  for (int k = 0; k < 2; ++k) expect_same_report(other.advance(0.01), flow.advance(0.01));
  const std::vector<Real> a = flow.flux().to_host(), b = other.flux().to_host();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)), 0);
}

}  // namespace
}  // namespace curlew
