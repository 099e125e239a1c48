// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/table_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "app/diagnostics.hpp"

namespace curlew {

namespace {

/// In the order of Abscissa.
const std::array<std::string, 4> abscissa_names = {"x", "y", "z", "t"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t comma; (comma = line.find(',')) != std::string_view::npos; line.remove_prefix(comma + 1)) {
    cells.emplace_back(trimmed(line.substr(0, comma)));
  }
  cells.emplace_back(trimmed(line));
  return cells;
}

std::optional<Real> number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Real value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

void read_header(const std::vector<std::string>& cells, const Location& location, Table& table) {
  const auto abscissa = std::ranges::find(abscissa_names, cells.front());
  if (abscissa == abscissa_names.end()) {
    throw InputErrors(location, fmt::format("the first column of a table must be named x, y, z (position, m) "
                                            "or t (time, s), not {}",
                                            in_quotes(cells.front())));
  }
  table.abscissa = static_cast<Abscissa>(abscissa - abscissa_names.begin());
  table.names.assign(cells.begin() + 1, cells.end());
  table.columns.resize(table.names.size());
}

void read_row(const std::vector<std::string>& cells, const Location& location, Table& table) {
  if (cells.size() != table.names.size() + 1) {
    throw InputErrors(location,
                      fmt::format("expected {} numbers separated by commas, as the header says, found {} "
                                  "(decimals take a point)",
                                  table.names.size() + 1, cells.size()));
  }
  std::vector<Real> values;
  for (const std::string& cell : cells) {
    const auto value = number_in(cell);
    if (!value) throw InputErrors(location, fmt::format("{} is no finite number", in_quotes(cell)));
    values.push_back(*value);
  }
  if (!table.abscissae.empty() && values.front() <= table.abscissae.back()) {
    throw InputErrors(location, fmt::format("{0} = {1} does not come after {0} = {2}; sort the rows by {0} "
                                            "and keep one of each",
                                            abscissa_names[static_cast<std::size_t>(table.abscissa)],
                                            values.front(), table.abscissae.back()));
  }
  table.abscissae.push_back(values.front());
  for (std::size_t k = 0; k < table.columns.size(); ++k) table.columns[k].push_back(values[k + 1]);
}

}  // namespace

Table read_table(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputErrors({path.string(), 0}, "this is a directory; expected a table (CSV)");
  }
  if (std::filesystem::is_character_file(path, ignored)) {  // which may have no end
    throw InputErrors({path.string(), 0}, "this is a device; expected a table (CSV)");
  }
  std::ifstream stream(path);
  if (!stream) throw InputErrors({path.string(), 0}, "cannot read the table; check its name and permissions");
  Table table;
  Location location{path.string(), 0};
  bool header = true;
  for (std::string line; std::getline(stream, line);) {
    ++location.line;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // with which spreadsheets begin UTF-8
    if (location.line == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    if (header) {
      read_header(split(text), location, table);
      header = false;
    } else {
      read_row(split(text), location, table);
    }
  }
  if (table.abscissae.empty()) {
    throw InputErrors({path.string(), std::max(location.line, 1)},
                      fmt::format("the table ends without {}; expected a line of names, such as t,flow_rate, "
                                  "and then lines of numbers",
                                  header ? "a header" : "a row of numbers"));
  }
  return table;
}

Real TableFunction::value(Real abscissa) const {
  const std::vector<Real>& x = table_->abscissae;
  const std::vector<Real>& y = table_->columns[column_];
  const auto after = static_cast<std::size_t>(std::ranges::upper_bound(x, abscissa) - x.begin());
  if (after == 0) return y.front();
  if (after == x.size()) return y.back();
  return std::lerp(y[after - 1], y[after], (abscissa - x[after - 1]) / (x[after] - x[after - 1]));
}

void TableFunction::evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const {
  switch (table_->abscissa) {
    case Abscissa::X:
      std::ranges::transform(points, values.begin(), [&](const Vector3& p) { return value(p.x); });
      break;
    case Abscissa::Y:
      std::ranges::transform(points, values.begin(), [&](const Vector3& p) { return value(p.y); });
      break;
    case Abscissa::Z:
      std::ranges::transform(points, values.begin(), [&](const Vector3& p) { return value(p.z); });
      break;
    case Abscissa::Time:
      std::ranges::fill(values, value(time));
      break;
  }
}

}  // namespace curlew
