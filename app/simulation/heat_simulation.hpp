// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/case/heat_case.hpp"
#include "app/simulation/simulation.hpp"
#include "app/simulation/step_control.hpp"
#include "physics/heat/heat_diffusion.hpp"

namespace curlew {

/// The model that a case describes, for one mesh that it was checked against.
HeatSettings heat_settings(const HeatCase& settings, const Mesh& mesh);

/// A run of heat diffusion.
class HeatSimulation final : public Simulation {
 public:
  /// The mesh must outlive it. Throws as HeatDiffusion does.
  HeatSimulation(const Executor& executor, const Mesh& mesh, HeatCase settings);

  const std::string& model() const override;
  const Mesh& mesh() const override { return mesh_; }
  const Mesh& computed_mesh() const override { return mesh_; }
  const CaseSettings& settings() const override { return settings_; }
  Real start_time() const override { return settings_.time.start; }
  std::optional<Real> end_time() const override;
  std::optional<Real> wall_limit() const override { return settings_.time.wall_limit; }
  bool one_result() const override { return settings_.time.steady; }

  void start() override;
  std::vector<std::string> resume(const Checkpoint& checkpoint, const std::string& path) override;
  Checkpoint checkpoint() const override;

  Real time() const override { return heat_.time(); }
  std::int64_t steps() const override { return heat_.steps(); }
  bool finished() const override;
  bool reached_goal() const override { return true; }
  void advance() override;
  bool sound_before_divergence() const override { return true; }
  std::optional<NamedReference> watched() const override { return std::nullopt; }
  void observe(const ColumnValue&) override {}

  std::map<std::string, SolveReport> solves() const override { return {{"temperature", report_}}; }
  std::optional<Real> divergence() const override { return std::nullopt; }
  std::vector<double> residuals() const override;
  std::vector<ProgressItem> progress() const override;

  std::vector<CsvColumn> residual_columns() const override;
  std::vector<FieldDescription> output_fields() const override { return settings_.output.fields; }
  std::unique_ptr<Snapshot> snapshot() const override;
  std::string conclusion() const override;

  const HeatDiffusion& heat() const { return heat_; }

 private:
  const std::string& heat_flow_unit() const;

  HeatCase settings_;
  const Mesh& mesh_;
  HeatDiffusion heat_;
  EvenSteps steps_;
  SolveReport report_;   // of the last step
  Real step_ = 0;        // its length [s]
  bool solved_ = false;  // the steady state
};

}  // namespace curlew
