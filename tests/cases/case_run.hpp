// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/output_directory.hpp"

namespace curlew::test {

/// Columns of a CSV file by name; every column has as many values as the file has rows.
using Table = std::map<std::string, std::vector<double>>;

/// Reads a CSV file: lines of comments that start with #, a line of names, lines of numbers.
Table read_table(const std::filesystem::path& path);

/// One run of a shipped case by the built program; its output is gone with it.
class CaseRun {
 public:
  /// Runs `cases/<name>.toml` with `--set` for each of `changes`, to its end or for `steps` only; throws what
  /// the program said where it fails.
  explicit CaseRun(const std::string& name, const std::vector<std::string>& changes = {}, int threads = 1,
                   std::optional<int> steps = {});

  /// A CSV file of the output: `read("sides")` reads sides.csv.
  Table read(const std::string& name) const;
  /// The value of `column` in the row of `time` [s]; throws where no row has that time to 1e-9.
  double at_time(const std::string& name, double time, const std::string& column) const;
  /// The value of `column` in the last row.
  double last(const std::string& name, const std::string& column) const;
  nlohmann::json summary() const;
  /// A data set of a field file, flat; `dataset` such as "/VTKHDF/Points".
  std::vector<double> read_field(const std::string& file, const std::string& dataset) const;

 private:
  OutputDirectory output_;
};

}  // namespace curlew::test
