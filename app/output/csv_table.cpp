// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include "kernels/error.hpp"

namespace curlew {

namespace {

/// The cells of a line of names, which may be in quotes (RFC 4180).
std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"') {
      const bool doubled = quoted && k + 1 < line.size() && line[k + 1] == '"';
      if (doubled) {
        names.back() += line[++k];
      } else {
        quoted = !quoted;
      }
    } else if (line[k] == ',' && !quoted) {
      names.emplace_back();
    } else {
      names.back() += line[k];
    }
  }
  return names;
}

/// The columns of "NAME [UNIT], NAME [UNIT]", whose names are known and may have commas and brackets
/// themselves; empty where it is not that.
std::vector<CsvColumn> columns_in(std::string_view units, const std::vector<std::string>& names) {
  std::vector<CsvColumn> columns;
  for (const std::string& name : names) {
    const std::string start = fmt::format("{}{} [", columns.empty() ? "" : ", ", name);
    const std::size_t end = units.find(']', std::min(start.size(), units.size()));
    if (!units.starts_with(start) || end == std::string_view::npos) return {};
    columns.push_back({name, std::string(units.substr(start.size(), end - start.size()))});
    units.remove_prefix(end + 1);
  }
  return columns;
}

double parsed_number(std::string_view text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

bool read_whole_line(std::istream& file, std::string& line) {
  return std::getline(file, line) && !file.eof();
}

std::vector<double> numbers_in(std::string_view row) {
  std::vector<double> numbers;
  for (std::size_t end; (end = row.find(',')) != std::string_view::npos; row.remove_prefix(end + 1))
    numbers.push_back(parsed_number(row.substr(0, end)));
  numbers.push_back(parsed_number(row));
  return numbers;
}

CsvTable read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string units, names;
  CsvTable table;
  if (read_whole_line(file, units) && read_whole_line(file, names)) {
    constexpr std::string_view time = "# time = ", mark = "units: ";
    if (units.starts_with(time)) table.time = parsed_number(std::string_view(units).substr(time.size()));
    if (const std::size_t start = units.find(mark); start != std::string::npos)
      table.columns = columns_in(std::string_view(units).substr(start + mark.size()), names_in(names));
  }
  if (table.columns.empty())
    throw InputError(fmt::format("'{}' does not begin with units and names of columns", path.string()));
  table.values.resize(table.columns.size());
  for (std::string line; read_whole_line(file, line);) {
    const std::vector<double> row = numbers_in(line);
    if (row.size() != table.columns.size()) continue;
    for (std::size_t k = 0; k < row.size(); ++k) table.values[k].push_back(row[k]);
  }
  return table;
}

}  // namespace curlew
