// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/checkpoint.hpp"
#include "app/csv_writer.hpp"
#include "app/field_series.hpp"
#include "app/heat_case.hpp"
#include "app/monitor_files.hpp"
#include "mesh/mesh.hpp"
#include "physics/heat_diffusion.hpp"

namespace curlew {

/// The present state of a heat run on the host; fields are made when first asked for.
class HeatState final : public Snapshot {
 public:
  /// Both must outlive it.
  HeatState(const Mesh& mesh, const HeatDiffusion& heat);

  FieldSnapshot field(const std::string& name) override;
  std::span<const Real> patch_flows() override { return heat_.balance().outflow; }

 private:
  const std::vector<Vector3>& gradient();

  const Mesh& mesh_;
  const HeatDiffusion& heat_;
  std::vector<Real> temperature_;              // [K]
  std::vector<Vector3> gradient_, heat_flux_;  // [K/m], [W/m2]
};

/// fields/*.hdf and the file that opens them all.
class HeatFieldFiles {
 public:
  HeatFieldFiles(const std::filesystem::path& directory, const HeatCase& settings, const Mesh& mesh,
                 std::optional<Real> restart_time);
  void write(std::int64_t step, Real time, HeatState& state);

 private:
  std::vector<FieldDescription> fields_;
  std::size_t nodes_, cells_;
  FieldSeries series_;
};

/// residuals.csv of a heat run: a row a step, with the heat balance.
class HeatResidualFile {
 public:
  HeatResidualFile(const std::filesystem::path& directory, std::optional<Real> restart_time);
  void write(const HeatDiffusion& heat, Real step, const SolveReport& report);

 private:
  CsvWriter file_;
};

/// The state of a run, and whether a state belongs to this case's mesh.
Checkpoint make_checkpoint(const HeatDiffusion& heat, const Mesh& mesh);
/// Continues from a checkpoint; throws InputError where it was written by another model or on another mesh.
void resume(HeatDiffusion& heat, const Mesh& mesh, const Checkpoint& checkpoint, const std::string& path);

}  // namespace curlew
