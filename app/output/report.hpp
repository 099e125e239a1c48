// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/output/field_picture.hpp"
#include "app/output/monitor_files.hpp"
#include "app/output/summary.hpp"

namespace curlew {

/// Where the wall time of a run went [s].
struct RunTimes {
  double set_up = 0;    ///< from the program's start to the first step: mesh, operators, initial state
  double stepping = 0;  ///< of all steps
  double output = 0;    ///< fields, monitors and checkpoints
  double total = 0;     ///< from the program's start on
};

/// What report.html tells of a run.
struct Report {
  Summary summary;
  RunTimes times;
  std::vector<FieldPictures> pictures;
  std::vector<std::string> not_shown;              ///< fields that there are no pictures of
  std::optional<std::filesystem::path> residuals;  ///< the table of all steps; nothing: none was written
  std::vector<MonitorFile> monitors;               ///< those that have written something
  std::string case_file;                           ///< its text
  std::vector<std::string> overrides;              ///< of the command line
};

/// Writes report.html atomically: one page that needs nothing but itself, and is XML too. The tables of the
/// run are read back, so that it has those of runs that this one went on from. One that cannot be read is
/// told of in the page. Throws FileError naming the path and the cause.
void write_report(const std::filesystem::path& path, const Report& report);

}  // namespace curlew
