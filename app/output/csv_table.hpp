// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curlew {

/// A column of a CSV file; `unit` as written in brackets ("m/s"; "1" for a pure number).
struct CsvColumn {
  std::string name;
  std::string unit;
};

/// Reads a whole line, without its end; false where there is none. A last line that a kill cut short is none.
bool read_whole_line(std::istream& file, std::string& line);

/// The numbers of a row; not-a-number for what is none.
std::vector<double> numbers_in(std::string_view row);

/// What a CSV file of a run holds.
struct CsvTable {
  std::optional<double> time;  ///< of the whole table [s]; nothing where rows have their own
  std::vector<CsvColumn> columns;
  std::vector<std::vector<double>> values;  ///< column by column

  std::size_t rows() const { return values.empty() ? 0 : values.front().size(); }
};

/// Reads a file of CsvWriter or write_csv(). Throws InputError, naming the path, where it is none.
CsvTable read_csv(const std::filesystem::path& path);

}  // namespace curlew
