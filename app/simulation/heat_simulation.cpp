// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/heat_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/chosen_values.hpp"
#include "kernels/counted.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/cell_gradient.hpp"

namespace curlew {

namespace {

// Names in a checkpoint beside those of heat diffusion itself.
constexpr const char* origin_step_name = "run.origin_step";
constexpr const char* origin_time_name = "run.origin_time";

FunctionPointer function(const Expression& expression) {
  return std::make_shared<Expression>(expression);
}

struct ToBoundary {
  HeatBoundary operator()(const InsulatedSettings&) const { return Insulated{}; }
  HeatBoundary operator()(const FixedTemperatureSettings& s) const {
    return FixedTemperature{function(s.value)};
  }
  HeatBoundary operator()(const HeatFluxSettings& s) const { return HeatFlux{function(s.value)}; }
  HeatBoundary operator()(const ConvectionSettings& s) const {
    return Convection{function(s.coefficient), function(s.ambient)};
  }
};

/// The present state of a heat run on the host.
class HeatSnapshot final : public Snapshot {
 public:
  HeatSnapshot(const Mesh& mesh, const HeatDiffusion& heat) : mesh_(mesh), heat_(heat) {}

  FieldSnapshot field(const std::string& name) override {
    if (temperature_.empty()) temperature_ = temperature().to_host();
    if (name == "temperature") {
      return View<Node, const Real>(temperature_.data(), static_cast<Index>(temperature_.size()));
    }
    if (gradient_.empty()) gradient_ = cell_gradients(mesh_, temperature_);
    if (name == "heat_flux" && heat_flux_.empty()) {
      heat_flux_ = gradient_;
      for (std::size_t c = 0; c < heat_flux_.size(); ++c) heat_flux_[c] *= -heat_.conductivity()[c];
    }
    const std::vector<Vector3>& vectors = name == "gradient" ? gradient_ : heat_flux_;
    return View<Cell, const Vector3>(vectors.data(), static_cast<Index>(vectors.size()));
  }
  FieldSample field_in(const std::string& name, const ChosenCells& cells) override {
    std::vector<Real> at_corners = values_at(temperature(), cells.nodes);
    if (name == "temperature") return NodeSample{std::move(at_corners)};
    std::vector<Vector3> vectors = cell_gradients(mesh_, cells.cells.host(), at_corners);
    if (name == "heat_flux") {
      for (std::size_t k = 0; k < vectors.size(); ++k)
        vectors[k] *= -heat_.conductivity()[at(cells.cells[k])];
    }
    return vectors;
  }
  std::span<const Real> patch_flows() override { return heat_.balance().outflow; }

 private:
  /// With the values of ghosts.
  const PrimalCochain<Node>& temperature() {
    if (!has_ghosts_) exchange_ghosts(mesh_.domain(), heat_.temperature());
    has_ghosts_ = true;
    return heat_.temperature();
  }

  const Mesh& mesh_;
  const HeatDiffusion& heat_;
  bool has_ghosts_ = false;
  std::vector<Real> temperature_;              // [K]
  std::vector<Vector3> gradient_, heat_flux_;  // [K/m], [W/m2]
};

}  // namespace

HeatSettings heat_settings(const HeatCase& settings, const Mesh& mesh) {
  HeatSettings heat;
  for (const std::string& region : mesh.topology().region_names()) {
    const auto material = std::find_if(settings.materials.begin(), settings.materials.end(),
                                       [&](const MaterialSettings& m) { return m.region.name == region; });
    REQUIRE(material != settings.materials.end(), "no material for region '" + region + "'");
    heat.materials.push_back(
        {material->conductivity, material->density * material->heat_capacity, function(material->source)});
  }
  for (const Patch& patch : mesh.topology().patches()) {
    const auto boundary = std::find_if(settings.boundaries.begin(), settings.boundaries.end(),
                                       [&](const BoundarySettings& b) { return b.patch.name == patch.name; });
    REQUIRE(boundary != settings.boundaries.end(), "no boundary condition for patch '" + patch.name + "'");
    heat.boundaries.push_back(std::visit(ToBoundary{}, boundary->condition));
  }
  heat.scheme = settings.scheme;
  heat.solver.relative_tolerance = settings.solver.tolerance;
  heat.solver.max_iterations = settings.solver.max_iterations;
  heat.preconditioning = settings.solver.preconditioner;
  return heat;
}

HeatSimulation::HeatSimulation(const Executor& executor, const Mesh& mesh, HeatCase settings)
    : settings_(std::move(settings)),
      mesh_(mesh),
      heat_(executor, mesh, heat_settings(settings_, mesh)),
      steps_(settings_.time) {}

const std::string& HeatSimulation::model() const {
  static const std::string name = "heat-diffusion";
  return name;
}

std::optional<Real> HeatSimulation::end_time() const {
  return settings_.time.steady ? std::nullopt : std::optional(settings_.time.end);
}

void HeatSimulation::start() {
  heat_.start(settings_.initial_temperature.value_or(Expression()), settings_.time.start);
  if (settings_.time.steady) require_mean(settings_, heat_.has_one_steady_state());
}

std::vector<std::string> HeatSimulation::resume(const Checkpoint& checkpoint, const std::string& path) {
  require_checkpoint_of(model(), mesh_, checkpoint, path);
  try {
    heat_.resume(state_in(checkpoint));
  } catch (const InputErrors&) {  // which has its place in the case
    throw;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  if (settings_.time.steady) return {};
  steps_.resume({checkpoint.integers.at(origin_step_name), checkpoint.numbers.at(origin_time_name)},
                {checkpoint.step, checkpoint.time});
  return {};
}

Checkpoint HeatSimulation::checkpoint() const {
  Checkpoint checkpoint = make_checkpoint(model(), mesh_, heat_.state());
  checkpoint.integers[origin_step_name] = steps_.origin().step;
  checkpoint.numbers[origin_time_name] = steps_.origin().time;
  return checkpoint;
}

bool HeatSimulation::finished() const {
  return settings_.time.steady ? solved_ : heat_.steps() >= steps_.last();
}

void HeatSimulation::advance() {
  if (settings_.time.steady) {
    with_place([&] { report_ = heat_.solve_steady(); },
               [&](const InputError& error) { return place_of(error, settings_); });
    solved_ = true;
  } else {
    const std::int64_t next = heat_.steps() + 1;
    step_ = steps_.length_of(next);
    report_ = heat_.advance_to(steps_.time_of(next), step_);
  }
}

std::vector<double> HeatSimulation::residuals() const {
  const HeatBalance& balance = heat_.balance();
  return {static_cast<double>(heat_.steps()),
          heat_.time(),
          step_,
          static_cast<double>(report_.iterations),
          report_.residual,
          std::accumulate(balance.outflow.begin(), balance.outflow.end(), Real(0)),
          balance.source,
          balance.stored,
          balance.imbalance()};
}

const std::string& HeatSimulation::heat_flow_unit() const {
  const FlowDescription& flow = heat_offer().flow;
  return mesh_.topology().dimension() == 2 ? flow.unit_in_a_plane : flow.unit;
}

std::vector<CsvColumn> HeatSimulation::residual_columns() const {
  return {{"step", "1"},
          {"time", "s"},
          {"dt", "s"},
          {"temperature_iterations", "1"},
          {"temperature_residual", "1"},
          {"heat_outflow", heat_flow_unit()},
          {"heat_source", heat_flow_unit()},
          {"heat_stored", heat_flow_unit()},
          {"heat_imbalance", heat_flow_unit()}};
}

std::vector<ProgressItem> HeatSimulation::progress() const {
  const HeatBalance& balance = heat_.balance();
  return {{"iterations", std::to_string(report_.iterations)},
          {"residual", fmt::format("{:.1e}", report_.residual)},
          {"heat imbalance",
           fmt::format("{:.1e} of {:.3g} {}", balance.imbalance(), balance.throughput(), heat_flow_unit())}};
}

std::unique_ptr<Snapshot> HeatSimulation::snapshot() const {
  return std::make_unique<HeatSnapshot>(mesh_, heat_);
}

std::string HeatSimulation::conclusion() const {
  if (!settings_.time.steady) return "";
  const HeatBalance& balance = heat_.balance();
  return fmt::format("steady state in {}, residual {:.2e}; heat balance {:.3e} {} of {:.6g} {}",
                     counted(report_.iterations, "iteration"), report_.residual, balance.imbalance(),
                     heat_flow_unit(), balance.throughput(), heat_flow_unit());
}

}  // namespace curlew
