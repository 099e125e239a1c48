// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/output/vtkhdf_writer.hpp"

namespace curlew {

/// The field files of a run, `fields/NAME_<step>.hdf`, and `NAME.hdf.series`, which ParaView opens as one
/// data set with all times. On several ranks all calls are made by all ranks of the writer together.
class FieldSeries {
 public:
  /// `directory` is the run's output directory; `fields/` is created in it. A restart at `restart_time` [s]
  /// keeps the entries up to and including that time; a new run starts an empty series. Throws InputError
  /// where the series to keep them of cannot be read.
  FieldSeries(const std::filesystem::path& directory, std::string name, VtkhdfWriter writer,
              std::optional<double> restart_time = std::nullopt);

  /// Removes the files of the entries that are not kept, which this run replaces.
  void remove_replaced();

  /// Writes the fields at `time` [s] and then the series file, in place of those that a restart keeps of that
  /// time. Throws FileError naming the path and the cause.
  void write(std::int64_t step, double time, std::span<const FieldView> cell_fields,
             std::span<const FieldView> node_fields);

  /// Removes fields/NAME.hdf, if there is one that write_apart() left.
  void remove_apart(const std::string& name) const;
  /// Writes fields/NAME.hdf, which the series does not list, and returns its path.
  std::filesystem::path write_apart(const std::string& name, double time,
                                    std::span<const FieldView> cell_fields,
                                    std::span<const FieldView> node_fields) const;

  /// The file that opens the whole run.
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Entry {
    std::string file;  // relative to the series file
    double time;       // [s]
  };

  std::string file_of(std::int64_t step) const;
  std::filesystem::path path_apart(const std::string& name) const;
  void write_series();

  std::filesystem::path directory_, path_;
  std::string name_;
  VtkhdfWriter writer_;
  std::vector<Entry> entries_, replaced_;  // on rank 0
};

}  // namespace curlew
