// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/heat_output.hpp"

#include <fmt/format.h>

#include <numeric>

#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"
#include "operators/cell_gradient.hpp"

namespace curlew {

namespace {

VtkhdfWriter make_writer(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  std::vector<std::int64_t> start{0};
  std::vector<Index> nodes;
  for (const Id<Cell> c : topology.cells()) {
    if (topology.cell_type(c) == CellType::Polyhedron) {
      for (const auto [f, sign] : topology.faces_of_cell()[c]) {
        const auto face = topology.nodes_of_face()[f];
        nodes.push_back(face.size());
        for (const auto [n, unsigned_entry] : face) nodes.push_back(n.value());
      }
    } else {
      for (const auto [n, sign] : topology.nodes_of_cell()[c]) nodes.push_back(n.value());
    }
    start.push_back(static_cast<std::int64_t>(nodes.size()));
  }
  return VtkhdfWriter({mesh.geometry().node_positions().host(), topology.cell_types(), start, nodes});
}

/// A number that tells meshes apart: the sum of all node coordinates, in their order.
Real fingerprint(const Mesh& mesh) {
  Real sum = 0, factor = 1;
  for (const Vector3 x : mesh.geometry().node_positions().host()) {
    sum += factor * (x.x + 2 * x.y + 3 * x.z);
    factor = factor > 1e3 ? 1 : factor + 1;
  }
  return sum;
}

}  // namespace

HeatState::HeatState(const Mesh& mesh, const HeatDiffusion& heat) : mesh_(mesh), heat_(heat) {}

FieldSnapshot HeatState::field(const std::string& name) {
  if (temperature_.empty()) temperature_ = heat_.temperature().to_host();
  if (name == "temperature") {
    return View<Node, const Real>(temperature_.data(), static_cast<Index>(temperature_.size()));
  }
  const std::vector<Vector3>& vectors = name == "gradient" ? gradient() : heat_flux_;
  if (name == "heat_flux" && heat_flux_.empty()) {
    heat_flux_ = gradient();
    for (std::size_t c = 0; c < heat_flux_.size(); ++c) heat_flux_[c] *= -heat_.conductivity()[c];
  }
  return View<Cell, const Vector3>(vectors.data(), static_cast<Index>(vectors.size()));
}

const std::vector<Vector3>& HeatState::gradient() {
  if (gradient_.empty()) gradient_ = cell_gradients(mesh_, temperature_);
  return gradient_;
}

HeatFieldFiles::HeatFieldFiles(const std::filesystem::path& directory, const HeatCase& settings,
                               const Mesh& mesh, std::optional<Real> restart_time)
    : fields_(settings.output.fields),
      nodes_(at(mesh.topology().nodes().size())),
      cells_(at(mesh.topology().cells().size())),
      series_(directory, settings.name, make_writer(mesh), restart_time) {}

void HeatFieldFiles::write(std::int64_t step, Real time, HeatState& state) {
  std::vector<FieldView> cells, nodes;
  for (const FieldDescription& field : fields_) {
    const FieldSnapshot values = state.field(field.name);
    if (const auto* scalars = std::get_if<View<Node, const Real>>(&values)) {
      nodes.emplace_back(field.name, std::span<const double>(scalars->data(), nodes_));
    } else {
      cells.emplace_back(
          field.name, std::span<const Vector3>(std::get<View<Cell, const Vector3>>(values).data(), cells_));
    }
  }
  series_.write(step, time, cells, nodes);
}

HeatResidualFile::HeatResidualFile(const std::filesystem::path& directory, std::optional<Real> restart_time)
    : file_(directory / "residuals.csv",
            {{"step", "1"},
             {"time", "s"},
             {"dt", "s"},
             {"temperature_iterations", "1"},
             {"temperature_residual", "1"},
             {"heat_outflow", "W"},
             {"heat_source", "W"},
             {"heat_stored", "W"},
             {"heat_imbalance", "W"}},
            restart_time) {}

void HeatResidualFile::write(const HeatDiffusion& heat, Real step, const SolveReport& report) {
  const HeatBalance& balance = heat.balance();
  const std::vector<double> row{static_cast<double>(heat.steps()),
                                heat.time(),
                                step,
                                static_cast<double>(report.iterations),
                                report.residual,
                                std::accumulate(balance.outflow.begin(), balance.outflow.end(), Real(0)),
                                balance.source,
                                balance.stored,
                                balance.imbalance()};
  file_.write_row(row);
}

Checkpoint make_checkpoint(const HeatDiffusion& heat, const Mesh& mesh) {
  Checkpoint checkpoint;
  checkpoint.step = heat.steps();
  checkpoint.time = heat.time();
  checkpoint.texts["model"] = "heat-diffusion";
  checkpoint.integers["nodes"] = mesh.topology().nodes().size();
  checkpoint.numbers["mesh_fingerprint"] = fingerprint(mesh);
  checkpoint.arrays["temperature"] = heat.temperature().to_host();
  return checkpoint;
}

void resume(HeatDiffusion& heat, const Mesh& mesh, const Checkpoint& checkpoint, const std::string& path) {
  const auto model = checkpoint.texts.find("model");
  if (model == checkpoint.texts.end() || model->second != "heat-diffusion") {
    throw InputError(
        fmt::format("{}: the checkpoint is not of a heat-diffusion run; restart from one that is", path));
  }
  const auto temperature = checkpoint.arrays.find("temperature");
  const auto mark = checkpoint.numbers.find("mesh_fingerprint");
  if (temperature == checkpoint.arrays.end() || mark == checkpoint.numbers.end() ||
      mark->second != fingerprint(mesh) || temperature->second.size() != at(mesh.topology().nodes().size())) {
    throw InputError(
        fmt::format("{}: the checkpoint was written on another mesh, or with another [mesh] order; restart "
                    "with the mesh it was written on",
                    path));
  }
  heat.resume(temperature->second, checkpoint.time, checkpoint.step);
}

}  // namespace curlew
