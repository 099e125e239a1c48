// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "physics/heat/heat_diffusion.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parted.hpp"
#include "tests/physics/analytic_function.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {
namespace {

/// All kinds of boundary, in turn over the patches, sources, and everything changing in place and time.
HeatSettings settings_for(const Mesh& mesh, HeatScheme scheme,
                          Preconditioning preconditioning = HeatSettings().preconditioning) {
  HeatSettings settings;
  const auto source = analytic([](Vector3 x, Real t) { return 3 * std::sin(5 * x.x + t) + x.y; });
  settings.materials.assign(mesh.topology().region_names().size(), {0.7, 1.3, source});
  for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
    const auto value =
        analytic([p](Vector3 x, Real t) { return std::cos(x.x + 2 * x.y + static_cast<Real>(p) * t); });
    const auto positive = analytic([](Vector3 x, Real t) { return 2 + std::sin(x.x * x.y + t); });
    switch (p % 4) {
      case 0:
        settings.boundaries.emplace_back(FixedTemperature{value});
        break;
      case 1:
        settings.boundaries.emplace_back(HeatFlux{value});
        break;
      case 2:
        settings.boundaries.emplace_back(Convection{positive, value});
        break;
      default:
        settings.boundaries.emplace_back(FixedTemperature{positive});
    }
  }
  settings.scheme = scheme;
  settings.preconditioning = preconditioning;
  return settings;
}

bool same_bits(Real a, Real b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_same(const Parted& mesh, const HeatDiffusion& part, const HeatDiffusion& whole) {
  const Halo<Node>& halo = mesh.domain().halo<Node>();
  const std::vector<Real> mine = part.temperature().to_host(), expected = whole.temperature().to_host();
  Index differences = 0;
  for (const Id<Node> n : halo.owned()) {
    if (!same_bits(mine[at(n.value())], expected[at(halo.global(n))])) ++differences;
  }
  EXPECT_EQ(differences, 0) << "of " << halo.owned().size();
  EXPECT_TRUE(same_bits(part.balance().source, whole.balance().source));
  EXPECT_TRUE(same_bits(part.balance().stored, whole.balance().stored));
  for (std::size_t p = 0; p < whole.balance().outflow.size(); ++p) {
    EXPECT_TRUE(same_bits(part.balance().outflow[p], whole.balance().outflow[p])) << p;
  }
}

class HeatOnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(HeatOnRanks, has_the_bits_of_one_rank_in_time) {
  const Parted mesh = divided(GetParam().raw);
  const auto start = analytic([](Vector3 x, Real) { return 1 + x.x - 2 * x.y * x.z; });
  for (const HeatScheme scheme : {HeatScheme::CrankNicolson, HeatScheme::BackwardEuler}) {
    HeatDiffusion whole(Executor::serial(), mesh.whole, settings_for(mesh.whole, scheme));
    HeatDiffusion part(Executor::serial().among(all_ranks()), mesh.part, settings_for(mesh.part, scheme));
    whole.start(*start, 0);
    part.start(*start, 0);
    for (int step = 1; step <= 4; ++step) {
      const SolveReport expected = whole.advance_to(0.03 * step), report = part.advance_to(0.03 * step);
      EXPECT_EQ(report.iterations, expected.iterations);
      EXPECT_TRUE(same_bits(report.residual, expected.residual));
      expect_same(mesh, part, whole);
    }
  }
}

TEST_P(HeatOnRanks, has_the_bits_of_one_rank_when_steady) {
  const Parted mesh = divided(GetParam().raw);
  const auto start = analytic([](Vector3 x, Real) { return x.x; });
  for (const auto& [preconditioning, executor] :
       {std::pair(Preconditioning::Multigrid, Executor::openmp(2)),
        std::pair(Preconditioning::Multigrid, Executor::serial().without_overlap()),
        std::pair(Preconditioning::Multigrid, Executor::debug_device()),
        std::pair(Preconditioning::Jacobi, Executor::debug_device()),
        std::pair(Preconditioning::None, Executor::openmp(2))}) {
    HeatDiffusion whole(Executor::serial(), mesh.whole,
                        settings_for(mesh.whole, HeatScheme::CrankNicolson, preconditioning));
    HeatDiffusion part(executor.among(all_ranks()), mesh.part,
                       settings_for(mesh.part, HeatScheme::CrankNicolson, preconditioning));
    whole.start(*start, 0);
    part.start(*start, 0);
    const SolveReport expected = whole.solve_steady(), report = part.solve_steady();
    EXPECT_EQ(report.iterations, expected.iterations);
    expect_same(mesh, part, whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, HeatOnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(HeatOnRanks, looks_for_jumps_as_one_rank_does_where_a_value_is_missing) {
  RawMesh raw = make_box(CellType::Triangle, {12, 12, 0});
  forget_patches(raw);  // so that there is one all round, on every rank
  const Parted mesh = divided(raw);
  const auto settings = [](const Mesh& of) {
    HeatSettings with = settings_for(of, HeatScheme::CrankNicolson);
    // On the left there is no value in the middle of the third step, in whose first half the right jumps.
    with.boundaries.assign(of.topology().patches().size(), FixedTemperature{analytic([](Vector3 x, Real t) {
                             if (x.x == 0 && t > 0.24 && t < 0.26) throw InputError("no value");
                             return x.x == 1 && t > 0.22 ? Real(9) : x.y;
                           })});
    return with;
  };
  HeatDiffusion whole(Executor::serial(), mesh.whole, settings(mesh.whole)),
      part(Executor::serial().among(all_ranks()), mesh.part, settings(mesh.part));
  for (HeatDiffusion* heat : {&whole, &part}) heat->start(*constant(0), 0);
  for (int step = 1; step <= 4; ++step) {
    for (HeatDiffusion* heat : {&whole, &part}) heat->advance_to(0.1 * step);
    expect_same(mesh, part, whole);
  }
}

/// Large enough for levels that are divided.
TEST(HeatOnRanks, of_a_box_has_the_bits_of_one_rank) {
  const Parted mesh = divided(make_box(CellType::Tetrahedron, {12, 12, 12}));
  const auto start = analytic([](Vector3 x, Real) { return std::sin(9 * x.x) * x.y; });
  for (const auto preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
    HeatDiffusion whole(Executor::serial(), mesh.whole,
                        settings_for(mesh.whole, HeatScheme::CrankNicolson, preconditioning));
    HeatDiffusion part(Executor::serial().among(all_ranks()), mesh.part,
                       settings_for(mesh.part, HeatScheme::CrankNicolson, preconditioning));
    whole.start(*start, 0);
    part.start(*start, 0);
    // Steps of different lengths need other hierarchies.
    for (const Real time : {0.01, 0.02, 0.03, 0.5, 1.0, 50.0}) {
      const SolveReport expected = whole.advance_to(time), report = part.advance_to(time);
      EXPECT_EQ(report.iterations, expected.iterations);
      EXPECT_TRUE(same_bits(report.residual, expected.residual));
      expect_same(mesh, part, whole);
    }
  }
}

/// Leaves this rank's of what is whole.
void cut_into_slabs(RunState& state) {
  const auto cut = [](auto& arrays) {
    for (auto& [name, array] : arrays) {
      const auto values = array.values();
      const Slabs slabs(std::ssize(values), 1, all_ranks()->ranks());
      const auto first = values.begin() + slabs.first(all_ranks()->rank());
      array = std::vector(first, first + slabs.size(all_ranks()->rank()));
    }
  };
  cut(state.arrays);
  cut(state.singles);
}

TEST(HeatOnRanks, goes_on_from_the_state_of_one_rank) {
  const Parted mesh = divided(make_box(CellType::Tetrahedron, {6, 6, 6}));
  for (const HeatScheme scheme : {HeatScheme::CrankNicolson, HeatScheme::BackwardEuler}) {
    HeatDiffusion whole(Executor::serial(), mesh.whole, settings_for(mesh.whole, scheme));
    HeatDiffusion part(Executor::serial().among(all_ranks()), mesh.part, settings_for(mesh.part, scheme));
    whole.start(*analytic([](Vector3 x, Real) { return std::sin(3 * x.x) * x.y; }), 0);
    for (int step = 1; step <= 5; ++step) whole.advance_to(0.01 * step);
    RunState state = whole.state();
    EXPECT_EQ(state.singles.size(), solution_history_depth);
    cut_into_slabs(state);
    part.resume(state);
    for (int step = 6; step <= 8; ++step) {
      EXPECT_EQ(part.advance_to(0.01 * step).iterations, whole.advance_to(0.01 * step).iterations);
      expect_same(mesh, part, whole);
    }
    RunState expected = whole.state();
    cut_into_slabs(expected);
    EXPECT_EQ(part.state(), expected);
  }
}

/// One of two boxes whose parts do not touch has a temperature, heat passes through the other.
TEST(HeatOnRanks, of_parts_without_a_temperature_has_the_bits_of_one_rank_when_steady) {
  const RawMesh box = make_box(CellType::Tetrahedron, {6, 5, 4});
  const Parted mesh = divided(side_by_side(box, box, {2, 0, 0}, "second "));
  const auto settings_of = [](const Mesh& of, Real outflow) {
    HeatSettings settings;
    settings.materials.assign(of.topology().region_names().size(), {0.7, 1.3, constant(0)});
    for (const Patch& patch : of.topology().patches()) {
      HeatBoundary boundary = Insulated{};
      if (patch.name == "left") boundary = FixedTemperature{constant(3)};
      if (patch.name == "second left") boundary = HeatFlux{constant(2)};
      if (patch.name == "second right") boundary = HeatFlux{constant(-outflow)};
      settings.boundaries.push_back(boundary);
    }
    return settings;
  };
  const auto start = analytic([](Vector3 x, Real) { return x.x + x.y; });
  const auto executor = Executor::serial().among(all_ranks());
  HeatDiffusion whole(Executor::serial(), mesh.whole, settings_of(mesh.whole, 2)),
      part(executor, mesh.part, settings_of(mesh.part, 2));
  whole.start(*start, 0);
  part.start(*start, 0);
  EXPECT_FALSE(part.has_one_steady_state());
  EXPECT_EQ(part.solve_steady().iterations, whole.solve_steady().iterations);
  expect_same(mesh, part, whole);
  // Its mean is that of the start, 2.5 + 0.5, and it falls by 2 W/m2 over 0.7 W/(m K).
  const std::vector<Real> temperature = whole.temperature().to_host();
  const auto positions = mesh.whole.geometry().node_positions(MemorySpace::Host);
  for (const Id<Node> n : mesh.whole.topology().nodes()) {
    const Vector3 x = positions[n];
    EXPECT_NEAR(temperature[at(n.value())], x.x < 1.5 ? 3 : 3 - 2 / 0.7 * (x.x - 2.5), 1e-6);
  }

  HeatDiffusion unbalanced(executor, mesh.part, settings_of(mesh.part, 1));
  unbalanced.start(*start, 0);
  EXPECT_THROW(unbalanced.solve_steady(), InputError);
}

}  // namespace
}  // namespace curlew
