// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/csv_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "app/files/atomic_file.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

/// As CSV has it (RFC 4180): in quotes where a comma or a quote would be taken for CSV's own.
std::string cell(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted(1, '"');
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

std::string names_line(const std::vector<CsvColumn>& columns) {
  std::string line;
  for (const CsvColumn& column : columns) {
    if (!line.empty()) line += ',';
    line += cell(column.name);
  }
  return line + "\n";
}

std::string units_of(const std::vector<CsvColumn>& columns) {
  std::string text;
  for (const CsvColumn& column : columns) {
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", column.name, column.unit);
  }
  return text;
}

std::string first_line(const std::vector<CsvColumn>& columns, const std::string& source) {
  return fmt::format("# units: {}{}{}", units_of(columns), source.empty() ? "" : "; ", source);
}

std::string head(const std::vector<CsvColumn>& columns, const std::string& source) {
  return first_line(columns, source) + '\n' + names_line(columns);
}

void append_row(std::string& text, std::span<const double> row) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    fmt::format_to(std::back_inserter(text), "{}{}", k == 0 ? "" : ",", row[k]);
  }
  text += '\n';
}

/// What is kept of a CSV file at a restart.
struct KeptRows {
  std::string text;
  std::vector<double> last;  // the numbers of the last one
};

/// The rows with time <= restart_time of those that `file` is before.
KeptRows kept_rows(std::istream& file, std::size_t time_column, double restart_time) {
  KeptRows kept;
  for (std::string row; read_whole_line(file, row);) {
    std::vector<double> numbers = numbers_in(row);
    if (numbers.size() <= time_column || !(numbers[time_column] <= restart_time)) continue;
    kept.text += row + '\n';
    kept.last = std::move(numbers);
  }
  return kept;
}

/// What cannot even be looked at, such as a link to itself, cannot be written either, and that is told.
bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

enum class Found { Nothing, Ours, Others };

/// What a restart finds. Where a power failure has left but a part of a head, that is nothing.
Found found_at(const std::filesystem::path& path, const std::string& head) {
  if (!is_there(path)) return Found::Nothing;
  std::ifstream file(path);
  if (!file) return Found::Others;
  std::string start(head.size(), '\0');
  file.read(start.data(), std::ssize(start));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start == head) return Found::Ours;
  return head.starts_with(start) ? Found::Nothing : Found::Others;
}

}  // namespace

void require_same_head(const std::filesystem::path& path, const std::vector<CsvColumn>& columns,
                       const std::string& source) {
  if (found_at(path, head(columns, source)) != Found::Others) return;
  throw InputError(
      fmt::format("cannot continue '{}': what it has is not what this run writes, whose file begins with "
                  "'{}'; rename or remove the file or choose another output directory",
                  path.string(), first_line(columns, source)));
}

CsvWriter::CsvWriter(const std::filesystem::path& path, std::vector<CsvColumn> columns,
                     std::optional<double> restart_time, const std::string& source)
    : path_(path), columns_(std::move(columns)) {
  if (restart_time) require_same_head(path_, columns_, source);
  const std::string start = head(columns_, source);
  const bool continues = restart_time && found_at(path_, start) == Found::Ours;
  if (continues) {
    const auto time = std::ranges::find(columns_, "time", &CsvColumn::name);
    REQUIRE(time != columns_.end(), fmt::format("'{}' has no column 'time' to restart by", path_.string()));
    std::ifstream file(path_);
    file.seekg(static_cast<std::streamoff>(start.size()));
    KeptRows rows = kept_rows(file, static_cast<std::size_t>(time - columns_.begin()), *restart_time);
    write_file_atomically(path_, start + rows.text);
    last_row_ = std::move(rows.last);
  }
  file_.reset(std::fopen(path_.c_str(), continues ? "abe" : "wbe"));
  if (file_ == nullptr) fail();
  if (!continues) write(start);
}

void CsvWriter::write_row(std::span<const double> row) {
  REQUIRE(row.size() == columns_.size(),
          fmt::format("a row of '{}' has {} numbers, got {}", path_.string(), columns_.size(), row.size()));
  std::string line;
  append_row(line, row);
  write(line);
}

void CsvWriter::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0)
    fail();
}

void CsvWriter::sync() {
  if (::fsync(::fileno(file_.get())) != 0 && errno != EINVAL) fail();  // what is no file has no disk
}

void CsvWriter::fail() const {
  throw FileError(fmt::format("cannot write '{}': {}", path_.string(), std::strerror(errno)));
}

void write_csv(const std::filesystem::path& path, double time, const std::vector<CsvColumn>& columns,
               std::span<const double> values) {
  REQUIRE(!columns.empty() && values.size() % columns.size() == 0,
          fmt::format("'{}': {} values do not make rows of {} columns", path.string(), values.size(),
                      columns.size()));
  std::string text =
      fmt::format("# time = {} s; units: {}\n{}", time, units_of(columns), names_line(columns));
  for (; !values.empty(); values = values.subspan(columns.size()))
    append_row(text, values.first(columns.size()));
  write_file_atomically(path, text);
}

std::vector<CsvColumn> field_columns(const std::string& name, const std::string& unit, int components) {
  if (components == 1) return {{name, unit}};
  return {{name + "_x", unit}, {name + "_y", unit}, {name + "_z", unit}};
}

}  // namespace curlew
