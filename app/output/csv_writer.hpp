// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/output/csv_table.hpp"

namespace curlew {

/// Throws InputError if the file is there with other columns, units or `source`: a restart cannot continue it
/// then.
void require_same_head(const std::filesystem::path& path, const std::vector<CsvColumn>& columns,
                       const std::string& source = {});

/// A table that grows by a row now and then: `# units: time [s], …; SOURCE`, the names, then rows of numbers
/// in the shortest form that reads back to the same bits. SOURCE is where the values come from as far as the
/// names do not say it; it may be empty. Every row is flushed.
class CsvWriter {
 public:
  /// Starts a new file, or at a restart at `restart_time` [s] continues the one there from its rows with
  /// time <= restart_time (a column `time` is required then). Throws FileError naming the path and the cause,
  /// and as require_same_head() does.
  CsvWriter(const std::filesystem::path& path, std::vector<CsvColumn> columns,
            std::optional<double> restart_time = std::nullopt, const std::string& source = {});

  /// Appends one number per column. Throws FileError naming the path and the cause.
  void write_row(std::span<const double> row);

  /// Returns once all rows are on the disk. Throws as above.
  void sync();

  /// The last of the rows that it continues; empty where there is none.
  const std::vector<double>& last_row() const { return last_row_; }

 private:
  void write(const std::string& text);
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::vector<CsvColumn> columns_;
  std::vector<double> last_row_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Writes a whole table at once (a line monitor at one time): `values` row by row, one number per column;
/// `time` [s] goes into the first line. Throws FileError naming the path and the cause.
void write_csv(const std::filesystem::path& path, double time, const std::vector<CsvColumn>& columns,
               std::span<const double> values);

/// The columns of a field in a CSV file: `name`, or `name_x`, `name_y`, `name_z` for a vector.
std::vector<CsvColumn> field_columns(const std::string& name, const std::string& unit, int components);

}  // namespace curlew
