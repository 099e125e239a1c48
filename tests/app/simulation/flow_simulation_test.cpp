// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/flow_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew::test {
namespace {

using testing::HasSubstr;

/// A flow that is known: velocity (speed(t), 0, 0), pressure over density x + t, Courant number speed(t) for
/// a step of 1 s.
class KnownFlow final : public IncompressibleFlow {
 public:
  KnownFlow(const Mesh& mesh, FlowSettings settings, std::function<Real(Real)> speed)
      : mesh_(mesh), settings_(std::move(settings)), speed_(std::move(speed)) {}

  FlowStepReport start(const VectorFunction&, Real time) override { return set(time, 0); }
  FlowStepReport start(std::span<const Real> flux, Real time) override {
    started_from_.assign(flux.begin(), flux.end());
    return set(time, 0);
  }
  FlowState state() const override {
    return {time_, steps_, {{"speed", speed_(time_)}}, {{"flux", flux_.to_host()}}, {}};
  }
  void resume(const FlowState& state) override {
    if (state.numbers.at("speed") != speed_(state.time)) throw InputError("another flow");
    set(state.time, state.steps);
  }
  FlowStepReport advance(Real step, Real end) override {
    if (step > longest_possible_) throw DivergedError(std::to_string(++failures_) + " failures");
    FlowStepReport report = set(end, steps_ + 1);
    report.courant = step * speed_(end);
    return report;
  }

  Real time() const override { return time_; }
  std::int64_t steps() const override { return steps_; }
  Real courant_rate() const override { return speed_(time_); }
  Real courant_rate_of_boundaries(Real time) const override { return speed_of_boundaries_(time); }
  Real convection_rate() const override { return speed_(time_); }
  Real longest_viscous_step() const override { return longest_viscous_step_; }
  const Mesh& mesh() const override { return mesh_; }
  const FlowSettings& settings() const override { return settings_; }
  const PrimalCochain<Face>& flux() const override { return flux_; }
  const Field<Face, Vector3>& face_velocity() const override { return velocity_; }
  const DualCochain<Cell>& pressure() const override { return pressure_; }
  Real mean_flow_force() const override { return 0; }
  BoundaryForces boundary_forces() const override { return {}; }
  EnergyBudget energy_budget() const override { return {}; }

  std::vector<Real> started_from_;
  Real longest_viscous_step_ = std::numeric_limits<Real>::infinity(),
       longest_possible_ = std::numeric_limits<Real>::infinity();
  int failures_ = 0;
  std::function<Real(Real)> speed_of_boundaries_ = [](Real) { return 0; };

 private:
  FlowStepReport set(Real time, std::int64_t steps) {
    time_ = time;
    steps_ = steps;
    const Vector3 v{speed_(time), 0, 0};
    velocity_.fill(v);
    std::vector<Real> flux, pressure;
    for (const Vector3 area : mesh_.geometry().face_areas().host()) flux.push_back(dot(v, area));
    for (const Vector3 x : mesh_.geometry().cell_centroids().host()) pressure.push_back(x.x + time);
    flux_.copy_from_host(flux);
    pressure_.copy_from_host(pressure);
    FlowStepReport report;
    report.kinetic_energy = dot(v, v) / 2;
    return report;
  }

  const Mesh& mesh_;
  FlowSettings settings_;
  std::function<Real(Real)> speed_;
  Executor executor_ = Executor::serial();
  Real time_ = 0;
  std::int64_t steps_ = 0;
  PrimalCochain<Face> flux_{executor_, mesh_.topology().faces().size(), "flux", "m3/s"};
  Field<Face, Vector3> velocity_{executor_, mesh_.topology().faces().size(), "velocity", "m/s"};
  DualCochain<Cell> pressure_{executor_, mesh_.topology().cells().size(), "pressure", "m2/s2"};
};

const FieldDescription velocity{"velocity", "m/s", 3}, pressure{"pressure", "Pa", 1};

struct FlowRun : testing::Test {
  FlowRun() {
    settings.name = "known";
    settings.flow.density = 1000;
    settings.time.end = 1;
    settings.time.step = 0.125;
    settings.output.fields = {velocity, pressure};
  }
  std::unique_ptr<FlowSimulation> simulation() const {
    return std::make_unique<FlowSimulation>(settings,
                                            std::make_unique<KnownFlow>(mesh, settings.flow, speed));
  }
  void run_to_end(FlowSimulation& run) const {
    while (!run.finished()) run.advance();
  }
  MonitorSettings average(const std::string& name, std::optional<Real> start) const {
    return {name, {}, {}, TimeAverageSettings{{velocity, pressure}, start}};
  }
  /// Of the first cell.
  static Real value(FlowSimulation& run, const std::string& name) {
    const auto snapshot = run.snapshot();
    const FieldSnapshot field = snapshot->field(name);
    if (const auto* scalars = std::get_if<View<Cell, const Real>>(&field)) return (*scalars)[Id<Cell>(0)];
    return std::get<View<Cell, const Vector3>>(field)[Id<Cell>(0)].x;
  }

  const Mesh mesh{make_box(CellType::Quadrilateral, {2, 2, 1})};
  std::function<Real(Real)> speed = [](Real time) { return 1 + time; };
  FlowCase settings;
};

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

TEST_F(FlowRun, is_steady_when_what_is_watched_no_longer_changes) {
  settings.time.steady = true;
  settings.time.tolerance = 1e-3;
  speed = [](Real time) { return 2 + std::exp(-time); };
  // Change per time and size of v: exp(-t) / 2; twice that for its square.
  for (const auto& [quantity, time] :
       {std::pair("velocity", -std::log(2e-3)), {"kinetic_energy", -std::log(1e-3)}}) {
    settings.time.quantity = quantity;
    const auto run = simulation();
    run->start();
    run_to_end(*run);
    EXPECT_TRUE(run->reached_goal());
    EXPECT_NEAR(run->time(), time + 10 * 0.125, 2 * 0.125) << quantity;
    EXPECT_THAT(run->conclusion(), HasSubstr(std::string("steady after ") + std::to_string(run->steps())));
  }
  settings.time.quantity = "drag.cx";
  const auto watching = simulation();
  EXPECT_EQ(watching->watched().value().name, "drag.cx");
  watching->start();
  for (int k = 0; k < 12; ++k) {
    EXPECT_FALSE(watching->finished());
    watching->advance();
    watching->observe(k == 0 ? ColumnValue{2, 2} : ColumnValue{3, 3});
  }
  EXPECT_TRUE(watching->finished());
}

TEST_F(FlowRun, a_quantity_that_never_changes_does_not_tell_that_the_flow_is_steady) {
  settings.time.steady = true;
  settings.time.tolerance = 1e-3;
  settings.time.quantity = "outflow.right";
  speed = [](Real time) { return 2 + std::exp(-time); };
  const auto run = simulation(), stopped = simulation(), resumed = simulation();
  const auto advance = [](FlowSimulation& simulation) {
    simulation.advance();
    simulation.observe({3, 3});
  };
  run->start();
  while (!run->finished()) advance(*run);
  EXPECT_NEAR(run->time(), -std::log(1e-3) + 10 * 0.125, 2 * 0.125);  // the kinetic energy is
  EXPECT_THAT(run->conclusion(), HasSubstr(": kinetic_energy changes by "));
  stopped->start();
  while (stopped->steps() < run->steps() - 4) advance(*stopped);
  resumed->resume(stopped->checkpoint(), "checkpoint.h5");
  while (!resumed->finished()) advance(*resumed);
  EXPECT_EQ(resumed->steps(), run->steps());
}

TEST_F(FlowRun, warns_where_the_flow_is_slow_rather_than_steady) {
  settings.flow.convection = ConvectionScheme::None;
  settings.time.steady = true;
  const auto warnings_at_end = [&](Real decay_time, Real tolerance, Real of_solves = 1e-8) {
    settings.time.tolerance = tolerance;
    settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = of_solves;
    settings.time.step = decay_time / 200;
    speed = [=](Real time) { return 2 - std::exp(-time / decay_time); };
    const auto run = simulation();
    run->start();
    while (!run->finished()) {
      EXPECT_TRUE(run->warnings().empty());
      run->advance();
    }
    EXPECT_TRUE(run->reached_goal());
    return run->warnings();
  };
  EXPECT_TRUE(warnings_at_end(1, 1e-3).empty());
  EXPECT_TRUE(warnings_at_end(1e5, 1e-8).empty());
  // Ends after a time of 1.75 decay times, with a rate of 0.1 of the size in one.
  const std::vector<std::string> warnings = warnings_at_end(1e5, 1e-6);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings_at_end(1e5, 1e-6, 1e-4).empty()) << "it may be what solves leave";
  EXPECT_THAT(warnings[0], testing::AllOf(HasSubstr("slow rather than steady"),
                                          HasSubstr("velocity would change by another 17 %"),
                                          HasSubstr("a smaller tolerance, 2e-08 1/s")));
}

/// Solves to 1e-8 leave changes of 1e-6 1/s at least in steps of 0.01 s.
TEST_F(FlowRun, warns_once_where_what_its_solves_leave_keeps_it_from_being_steady) {
  settings.flow.convection = ConvectionScheme::None;
  settings.time.steady = true;
  settings.time.step = 0.01;
  settings.time.tolerance = 2e-6;
  settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-8;
  settings.time.max_steps = 250;
  const auto steps_with_warnings = [&](std::function<Real(Real)> of_time) {
    speed = std::move(of_time);
    const auto run = simulation();
    run->start();
    std::vector<std::int64_t> steps;
    while (!run->finished()) {
      run->advance();
      for (const std::string& warning : run->warnings()) {
        EXPECT_THAT(warning, testing::AllOf(HasSubstr("the change of velocity has not fallen"),
                                            HasSubstr("(tolerance 2.00e-06)"),
                                            HasSubstr("where that goes on for 1000 steps the run ends")));
        steps.push_back(run->steps());
      }
    }
    return steps;
  };
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-7 * std::sin(1e4 * time); }),
              testing::ElementsAre(testing::AllOf(testing::Ge(100), testing::Le(140))));
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-5 * std::exp(-time); }), testing::IsEmpty())
      << "it still falls";
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-3 * std::sin(1e4 * time); }),
              testing::IsEmpty())
      << "it is too much for solves";
}

TEST_F(FlowRun, ends_where_it_becomes_no_steadier_after_a_restart_in_the_same_step) {
  settings.flow.convection = ConvectionScheme::None;
  settings.time.steady = true;
  settings.time.step = 0.01;
  settings.time.tolerance = 2e-6;
  settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-8;
  settings.time.max_steps = 2000;
  speed = [](Real time) { return 1 + 1e-7 * std::cos(100 * std::numbers::pi * time); };
  const auto run = simulation(), stopped = simulation(), resumed = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_GE(run->steps(), 1000);
  EXPECT_LE(run->steps(), 1100);
  EXPECT_FALSE(run->reached_goal());
  EXPECT_THAT(run->conclusion(), testing::AllOf(HasSubstr("nor steadier for 1000 of "),
                                                HasSubstr("(tolerance 2.00e-06 for ten steps)"),
                                                HasSubstr("what the solves leave")));
  stopped->start();
  while (stopped->steps() < run->steps() - 3) stopped->advance();
  resumed->resume(stopped->checkpoint(), "checkpoint.h5");
  run_to_end(*resumed);
  EXPECT_EQ(resumed->steps(), run->steps());
  // With a tolerance that it keeps to it goes on, and is found steady.
  settings.time.tolerance = 1e-3;
  const auto looser = simulation();
  looser->resume(run->checkpoint(), "checkpoint.h5");
  EXPECT_FALSE(looser->finished());
  run_to_end(*looser);
  EXPECT_TRUE(looser->reached_goal());
}

TEST_F(FlowRun, ends_where_a_number_beside_larger_ones_is_what_its_solves_leave) {
  settings.flow.convection = ConvectionScheme::None;
  settings.time.steady = true;
  settings.time.step = 0.01;
  settings.time.tolerance = 1e-6;
  settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-8;
  settings.time.max_steps = 1500;
  settings.time.quantity = "lift.fy";
  speed = [](Real) { return 1; };
  // A lift between plus and minus this share of the drag beside it.
  for (const Real share : {1e-9, 1e-3}) {
    const auto run = simulation();
    run->start();
    while (!run->finished()) {
      run->advance();
      run->observe({run->steps() % 2 == 0 ? 5 * share : -5 * share, 5});
    }
    EXPECT_FALSE(run->reached_goal());
    EXPECT_THAT(run->conclusion(), HasSubstr("lift.fy changes by 2.00e+02 of its size, "));
    EXPECT_EQ(run->steps() < 1100, share < 1e-6);
    EXPECT_EQ(
        run->conclusion().find("2.00e-07 of the largest number beside it, per second") != std::string::npos,
        share < 1e-6);
    EXPECT_EQ(run->conclusion().find("what the solves leave") != std::string::npos, share < 1e-6);
  }
}

TEST_F(FlowRun, that_is_not_steady_says_the_same_after_a_restart) {
  settings.time.steady = true;
  settings.time.max_steps = 3;
  const auto run = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_THAT(run->conclusion(), testing::AllOf(HasSubstr("not steady after the 3 steps"),
                                                HasSubstr("steps of half the length let it settle"),
                                                testing::Not(HasSubstr("what the solves leave"))));
  const auto again = simulation();
  again->resume(run->checkpoint(), "checkpoint_3.h5");
  EXPECT_TRUE(again->finished());
  EXPECT_EQ(again->conclusion(), run->conclusion());
}

TEST_F(FlowRun, of_a_fluid_at_rest_is_steady_whatever_rounding_leaves) {
  settings.time.steady = true;
  settings.time.max_steps = 30;
  const auto zero = std::make_shared<const Expression>(0);
  settings.flow.body_force = std::make_shared<const ComponentVector>(
      std::array<FunctionPointer, 3>{zero, std::make_shared<const Expression>(-10), zero});
  for (const char* quantity : {"velocity", "kinetic_energy", "drag.fx"}) {
    settings.time.quantity = quantity;
    for (const Real size : {1e-14, 1e-10}) {
      speed = [=](Real time) { return size * std::sin(1000 * time); };
      const auto run = simulation();
      run->start();
      while (!run->finished()) {
        run->advance();
        if (run->watched()) run->observe({speed(run->time()), std::abs(speed(run->time()))});
      }
      EXPECT_EQ(run->reached_goal(), size < 1e-12) << quantity;
    }
  }
}

TEST_F(FlowRun, says_where_the_tolerance_of_a_steady_run_is_below_that_of_its_solves) {
  settings.time.steady = true;
  settings.time.step = 0.001;
  settings.time.tolerance_location = {"case.toml", 7};
  settings.time.tolerance = 2e-5;
  EXPECT_EQ(doubt_about_steadiness(settings), "");
  settings.time.tolerance = 5e-6;
  EXPECT_THAT(doubt_about_steadiness(settings),
              testing::AllOf(HasSubstr("case.toml:7: "), HasSubstr("changes of 1e-05 of the size per second"),
                             HasSubstr("tolerance of [solver.*]")));
  settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-9;
  EXPECT_EQ(doubt_about_steadiness(settings), "");

  settings.time.max_steps = 20;
  for (const Real change : {1e-5, 1e-2}) {
    speed = [=](Real time) { return std::exp(change * time); };
    const auto run = simulation();
    run->start();
    run_to_end(*run);
    EXPECT_EQ(run->conclusion().find("what the solves leave") != std::string::npos, change < 1e-4);
  }
}

TEST_F(FlowRun, says_so_when_it_does_not_become_steady) {
  settings.time.steady = true;
  settings.time.max_steps = 20;
  const auto run = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_EQ(run->steps(), 20);
  EXPECT_FALSE(run->reached_goal());
  EXPECT_THAT(run->conclusion(), HasSubstr("not steady after the 20 steps of [time] max_steps: velocity"));
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
