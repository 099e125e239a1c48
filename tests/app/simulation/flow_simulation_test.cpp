// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <cmath>

#include "tests/app/simulation/flow_run.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(FlowRun, pressure_is_in_pascal_and_linear_at_points) {
  const auto run = simulation();
  run->start();
  const Real x = mesh.geometry().cell_centroids()[0].x;
  EXPECT_NEAR(value(*run, "pressure"), 1000 * x, 1e-10);
  const auto snapshot = run->snapshot();
  const PointSampler sampler = PointSampler::at_points(PointLocator(mesh), "p", {{0.1, 0.2, 0}});
  EXPECT_NEAR(sampler(snapshot->field_in("pressure", sampler.cells())).at(0), 100, 1e-9);
  EXPECT_NEAR(sampler(sample(snapshot->field("pressure"), sampler.cells())).at(0), 250, 1e-9);
}

TEST_F(FlowRun, averages_in_time_weigh_steps_by_their_length_from_their_start_on) {
  settings.monitors = {average("all", std::nullopt), average("late", 0.5)};
  const auto run = simulation();
  EXPECT_THAT(run->output_fields(),
              testing::ElementsAre(velocity, pressure, FieldDescription{"all_velocity", "m/s", 3},
                                   FieldDescription{"all_pressure", "Pa", 1},
                                   FieldDescription{"late_velocity", "m/s", 3},
                                   FieldDescription{"late_pressure", "Pa", 1}));
  run->start();
  run->advance();
  EXPECT_NEAR(value(*run, "all_velocity"), 1 + 1. / 8, 1e-14);
  for (const char* name : {"late_velocity", "late_pressure"})
    EXPECT_TRUE(std::isnan(value(*run, name))) << name;
  run_to_end(*run);
  // Values at the ends of the steps: the mean of k / 8 over k = 1…8, and over k = 5…8.
  EXPECT_NEAR(value(*run, "all_velocity"), 1 + 4.5 / 8, 1e-14);
  EXPECT_NEAR(value(*run, "late_velocity"), 1 + 6.5 / 8, 1e-14);
  EXPECT_NEAR(value(*run, "late_pressure"), 1000 * (mesh.geometry().cell_centroids()[0].x + 6.5 / 8), 1e-9);
}

TEST_F(FlowRun, says_at_its_end_which_averages_have_no_step) {
  settings.monitors = {average("all", std::nullopt), average("last", 0.875), average("later", 0.9)};
  const auto run = simulation();
  run->start();
  while (!run->finished()) {
    EXPECT_THAT(run->warnings(), testing::IsEmpty());
    run->advance();
  }
  EXPECT_THAT(
      run->warnings(),
      testing::ElementsAre("no step began after the start of 'later' (start = 0.9 s): this average is "
                           "no number; let it start earlier"));
  EXPECT_THAT(run->warnings(), testing::IsEmpty()) << "once is enough";
}

TEST_F(FlowRun, an_average_that_begins_after_a_checkpoint_takes_nothing_from_it) {
  settings.monitors = {average("mean", std::nullopt)};
  const auto first = simulation();
  first->start();
  for (int k = 0; k < 4; ++k) first->advance();
  const Checkpoint checkpoint = kept(first->checkpoint());
  settings.monitors = {average("mean", 0.625)};
  const auto rest = simulation();
  rest->resume(checkpoint, "earlier.h5");
  run_to_end(*rest);
  EXPECT_NEAR(value(*rest, "mean_velocity"), 1 + 7. / 8, 1e-14);
}

TEST_F(FlowRun, an_average_that_a_checkpoint_does_not_have_begins_there_and_says_so) {
  const auto of_velocity = [&](const std::string& name, std::optional<Real> start) {
    MonitorSettings monitor = average(name, start);
    std::get<TimeAverageSettings>(monitor.what).fields = {velocity};
    return monitor;
  };
  settings.monitors = {of_velocity("mean", 0.25)};
  const auto first = simulation();
  first->start();
  for (int k = 0; k < 4; ++k) first->advance();
  const Checkpoint checkpoint = kept(first->checkpoint());
  EXPECT_THAT(simulation()->resume(checkpoint, "earlier.h5"), testing::IsEmpty());

  for (const MonitorSettings& changed :
       {of_velocity("mean", std::nullopt), of_velocity("mean", 0.125), of_velocity("mean", 0.375),
        of_velocity("other", 0.25), average("mean", 0.25)}) {
    settings.monitors = {changed};
    const auto rest = simulation();
    EXPECT_THAT(rest->resume(checkpoint, "earlier.h5"),
                testing::ElementsAre(testing::AllOf(HasSubstr("[monitor." + changed.name + "]"),
                                                    HasSubstr("begins at 0.5 s instead"))));
    run_to_end(*rest);
    EXPECT_NEAR(value(*rest, changed.name + "_velocity"), 1 + 6.5 / 8, 1e-14);
  }
  // Nothing of one that begins later is lost.
  settings.monitors = {of_velocity("mean", 0.625)};
  EXPECT_THAT(simulation()->resume(checkpoint, "earlier.h5"), testing::IsEmpty());
}

TEST_F(FlowRun, resumes_to_the_same_bits) {
  settings.time.courant = 0.1;
  settings.time.step = 0.01;
  // Names that go on as what a checkpoint keeps of an average may be called.
  settings.monitors = {average("all", std::nullopt), average("all.start", 0.25), average("start.all", 0.375),
                       average("late", 0.5)};
  const auto whole = simulation();
  whole->start();
  std::vector<Checkpoint> checkpoints;
  while (!whole->finished()) {
    whole->advance();
    checkpoints.push_back(kept(whole->checkpoint()));
  }
  ASSERT_GT(checkpoints.size(), 10u);
  for (const std::size_t k : {std::size_t{0}, std::size_t{5}, checkpoints.size() - 2}) {
    const auto rest = simulation();
    EXPECT_THAT(rest->resume(checkpoints[k], "earlier.h5"), testing::IsEmpty());
    EXPECT_EQ(rest->checkpoint(), checkpoints[k]);
    run_to_end(*rest);
    EXPECT_EQ(rest->checkpoint(), checkpoints.back()) << k;
  }
}

TEST_F(FlowRun, refuses_what_is_no_checkpoint_of_it) {
  const auto run = simulation();
  run->start();
  Checkpoint checkpoint = run->checkpoint();
  checkpoint.numbers["speed"] = 7;
  EXPECT_THAT(message_of<InputError>([&] { run->resume(checkpoint, "a.h5"); }),
              HasSubstr("a.h5: another flow"));
  checkpoint.texts["model"] = "heat-diffusion";
  EXPECT_THAT(message_of<InputError>([&] { run->resume(checkpoint, "a.h5"); }),
              HasSubstr("a.h5: the model of the checkpoint is heat-diffusion, and that of the case "
                        "classical-fractional-step; give a checkpoint of the case's model"));
}

TEST_F(FlowRun, refuses_a_checkpoint_whose_faces_have_other_numbers) {
  const auto earlier = simulation();
  earlier->start();
  const Checkpoint checkpoint = kept(earlier->checkpoint());
  RawMesh raw = make_box(CellType::Quadrilateral, {2, 2, 1});
  std::ranges::reverse(raw.patch_names);
  for (Index& patch : raw.boundary_patch) patch = static_cast<Index>(raw.patch_names.size()) - 1 - patch;
  const Mesh other(raw);
  FlowSimulation run(settings, std::make_unique<KnownFlow>(other, settings.flow, speed));
  EXPECT_THAT(message_of<InputError>([&] { run.resume(checkpoint, "a.h5"); }),
              AllOf(HasSubstr("a.h5: "), HasSubstr("physical groups in another order")));
}

TEST_F(FlowRun, what_is_wrong_with_the_case_at_a_restart_has_its_place_there) {
  const auto earlier = simulation();
  earlier->start();
  const Checkpoint checkpoint = kept(earlier->checkpoint());
  settings.location = {"case.toml", 1};
  speed = [](Real) -> Real { throw InputErrors(Location{"case.toml", 7}, "no value"); };
  EXPECT_EQ(message_of<InputError>([&] { simulation()->resume(checkpoint, "a.h5"); }),
            "case.toml:7: no value");
  speed = [](Real) -> Real { throw NetFlowError("too much enters", "left"); };
  EXPECT_EQ(message_of<InputError>([&] { simulation()->resume(checkpoint, "a.h5"); }),
            "case.toml:1: too much enters");
}

TEST_F(FlowRun, starts_from_the_fluxes_of_an_earlier_run) {
  const OutputDirectory folder;
  const auto earlier = simulation();
  earlier->start();
  earlier->advance();
  settings.initial_file = write_checkpoint(folder.path(), earlier->checkpoint());
  auto flow = std::make_unique<KnownFlow>(mesh, settings.flow, speed);
  const KnownFlow& started = *flow;
  FlowSimulation run(settings, std::move(flow));
  run.start();
  EXPECT_EQ(started.started_from_, earlier->flow().flux().to_host());
  EXPECT_EQ(run.time(), 0);

  const Mesh other(make_box(CellType::Quadrilateral, {3, 2, 1}));
  FlowSimulation elsewhere(settings, std::make_unique<KnownFlow>(other, settings.flow, speed));
  EXPECT_THAT(message_of<InputError>([&] { elsewhere.start(); }), HasSubstr("on another mesh"));
}

TEST_F(FlowRun, has_blown_up_where_steps_become_too_short_for_time_to_go_on) {
  settings.time.courant = 0.5;
  settings.time.step = 0;
  speed = [](Real time) { return time < 0.5 ? Real(4) : Real(1e20); };
  const auto run = simulation();
  run->start();
  const auto many_steps = [&] {
    for (int step = 0; step < 1000; ++step) run->advance();
  };
  EXPECT_THAT(many_steps, testing::ThrowsMessage<DivergedError>(HasSubstr("the flow has blown up")));
  EXPECT_NEAR(run->time(), 0.5, 0.126);
}

TEST_F(FlowRun, says_before_its_first_step_where_viscosity_does_not_stand_its_steps) {
  for (const Real longest : {0.2, 0.1}) {
    auto flow = std::make_unique<KnownFlow>(mesh, settings.flow, speed);
    flow->longest_viscous_step_ = longest;
    FlowSimulation run(settings, std::move(flow));
    run.start();
    const auto warnings = run.warnings();
    if (longest > settings.time.step) {
      EXPECT_THAT(warnings, testing::IsEmpty());
      continue;
    }
    EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr(
                              "steps of 0.125 s are too long for viscosity, which is explicit in ssp-rk")));
    EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("it stands 0.1 s")));
    run.advance();
    EXPECT_THAT(run.warnings(), testing::IsEmpty());
  }
}

TEST_F(FlowRun, repeats_a_first_step_by_the_courant_number_from_rest_that_was_too_long) {
  settings.time.courant = 0.5;
  settings.time.step = 0;
  settings.time.max_step = 4;
  settings.time.end = 100;
  speed = [](Real time) { return time; };
  const auto run = simulation();
  run->start();
  run->advance();
  // 4 s lead to a Courant number of 16, 32 times what it may be.
  EXPECT_EQ(run->steps(), 1);
  EXPECT_EQ(run->time(), 0.125);
  EXPECT_THAT(run->residuals(), testing::Contains(0.125 * 0.125));
  run->advance();
  EXPECT_NEAR(run->time(), 0.125 * 2.2, 1e-15);
  settings.time.max_step = 0.85;  // leads to 1.45 times of what it may be
  const auto slower = simulation();
  slower->start();
  slower->advance();
  EXPECT_EQ(slower->time(), 0.85);
}

TEST_F(FlowRun, repeats_a_first_step_by_the_courant_number_that_failed_but_not_for_ever) {
  settings.time.courant = 0.5;
  settings.time.step = 0;
  settings.time.max_step = 4;
  settings.time.end = 100;
  speed = [](Real time) { return time; };
  const auto run_with = [&](Real longest) {
    auto flow = std::make_unique<KnownFlow>(mesh, settings.flow, speed);
    flow->longest_possible_ = longest;
    auto run = std::make_unique<FlowSimulation>(settings, std::move(flow));
    run->start();
    return run;
  };
  const auto run = run_with(0.0401);
  run->advance();
  EXPECT_EQ(run->time(), 0.04);
  EXPECT_THAT([&] { run->advance(); }, testing::ThrowsMessage<DivergedError>(HasSubstr("2 failures")))
      << "the second step is told of at once";
  EXPECT_THAT([&] { run_with(0)->advance(); },
              testing::ThrowsMessage<DivergedError>(HasSubstr("4 failures")));
  settings.time.courant = std::nullopt;
  settings.time.step = 4;
  EXPECT_THAT([&] { run_with(1)->advance(); }, testing::ThrowsMessage<DivergedError>(HasSubstr("1 failures")))
      << "a length that was asked for";
}

TEST_F(FlowRun, steps_by_the_courant_number_are_no_longer_than_viscosity_stands) {
  settings.time.courant = 0.5;
  settings.time.step = 0;
  speed = [](Real time) { return time < 0.5 ? Real(1) : Real(100); };
  auto flow = std::make_unique<KnownFlow>(mesh, settings.flow, speed);
  flow->longest_viscous_step_ = 0.0625;
  FlowSimulation run(settings, std::move(flow));
  run.start();
  EXPECT_THAT(run.warnings(), testing::IsEmpty());
  for (int k = 0; k < 8; ++k) run.advance();
  EXPECT_EQ(run.time(), 0.5);
  run.advance();
  EXPECT_EQ(run.time(), 0.505);
}

TEST_F(FlowRun, residuals_have_a_number_per_column) {
  const auto run = simulation();
  run->start();
  run->advance();
  EXPECT_EQ(run->residuals().size(), run->residual_columns().size());
  settings.flow.mean_flow = MeanFlow{{1, 0, 0}, 1};
  const auto held = simulation();
  EXPECT_EQ(held->residual_columns().back().name, "mean_flow_force");
  EXPECT_EQ(held->residuals().size(), held->residual_columns().size());
}

TEST_F(FlowRun, steps_by_the_courant_number_look_ahead_at_what_boundaries_will_give) {
  settings.time.courant = 0.5;
  settings.time.max_step = 0.4;
  settings.time.end = 4;
  speed = [](Real time) { return time < 1.03 ? 0.01 : 8; };  // of the flow, which follows
  const auto longest = [&](const std::function<Real(Real)>& of_boundaries, Real from, Real to) {
    auto flow = std::make_unique<KnownFlow>(mesh, settings.flow, speed);
    flow->speed_of_boundaries_ = of_boundaries;
    FlowSimulation run(settings, std::move(flow));
    run.start();
    Real length = 0;
    while (!run.finished()) {
      const Real before = run.time();
      run.advance();
      if (before < to && run.time() > from) length = std::max(length, run.time() - before);
    }
    return length;
  };
  const auto opens = [](Real time) { return time > 1.0001 ? 8. : 0.; };
  EXPECT_GT(longest([](Real) { return 0; }, 1.0001, 1.03), 0.1);
  EXPECT_LE(longest(opens, 1.0001, 1.03), 0.0625 * (1 + 1e-12));
  EXPECT_GT(longest(opens, 0, 0.9), 0.1);  // as long as it is closed steps are as long as they may
  // Open for a third of a step that nothing else makes shorter.
  EXPECT_LE(longest([](Real time) { return time > 1.0001 && time < 1.05 ? 8. : 0.; }, 1.0001, 1.03),
            0.0625 * (1 + 1e-12));
  // Beyond the end of the run boundaries need not have a value, not even by rounding: 0.1 + 0.1 + 0.1 > 0.3.
  settings.time.step = 0.1;
  settings.time.max_step = 0.1;
  settings.time.end = 0.3;
  Real latest = 0;
  const auto remembered = [&](Real time) {
    latest = std::max(latest, time);
    return Real(0);
  };
  longest(remembered, 0, 0);
  EXPECT_EQ(latest, 0.3);
}

}  // namespace
}  // namespace curlew::test
