// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "app/output/field_series.hpp"
#include "app/output/monitor_files.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// What writes fields on a mesh, by all its ranks together.
VtkhdfWriter make_writer(const Mesh& mesh);

/// Whether a field can be made of what a run that failed has left; some want sound values. By all ranks
/// together.
bool is_sound(const FieldDescription& field, Snapshot& snapshot, const Communicator& ranks);

/// The files of fields of a run, fields/*.hdf, and the file that opens them all. On several ranks all calls
/// are made by all ranks together, and all write their share of what a run on one rank writes.
class FieldFiles {
 public:
  /// As FieldSeries does. The mesh must outlive it.
  FieldFiles(const std::filesystem::path& directory, const std::string& name, const Mesh& mesh,
             std::optional<Real> restart_time);

  /// As FieldSeries does, and the file of an earlier run that diverged.
  void remove_replaced();

  /// The fields of a snapshot at `time` [s] and, of a mesh with several regions, the number of each cell's.
  void write(std::int64_t step, Real time, std::span<const FieldDescription> fields, Snapshot& snapshot);

  /// The fields of the moment when a run diverged, as fields/NAME_diverged.hdf, out of the series; those that
  /// cannot be made of what is left are left out. Returns the file.
  std::filesystem::path write_diverged(Real time, std::span<const FieldDescription> fields,
                                       Snapshot& snapshot);

 private:
  std::string name_of_diverged() const { return name_ + "_diverged"; }

  std::string name_;
  const Mesh& mesh_;
  FieldSeries series_;
};

}  // namespace curlew
