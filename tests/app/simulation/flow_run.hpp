// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/simulation/flow_simulation.hpp"
#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew::test {

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

}  // namespace curlew::test
