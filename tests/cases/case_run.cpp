// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/cases/case_run.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace curlew::test {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

CaseRun::CaseRun(const std::string& name, const std::vector<std::string>& changes, int threads,
                 std::optional<int> steps) {
  std::string command =
      fmt::format("'{}' run '{}/{}.toml' --quiet --threads {} --output '{}'", CURLEW_PROGRAM,
                  CURLEW_CASES_DIRECTORY, name, threads, output_.path().string());
  for (const std::string& change : changes) command += fmt::format(" --set '{}'", change);
  if (steps) command += fmt::format(" --steps {}", *steps);
  const std::filesystem::path messages = output_ / "messages.txt";
  const int status = std::system(fmt::format("{} >'{}' 2>&1", command, messages.string()).c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("{}\nended with {}:\n{}", command, status, read_text(messages)));
  }
  EXPECT_EQ(summary().at("status"), steps ? "stopped" : "done");
}

Table read_table(const std::filesystem::path& path) {
  std::istringstream lines(read_text(path));
  std::string line;
  while (std::getline(lines, line) && line.starts_with('#')) {
  }
  const std::vector<std::string> names = split(line);
  Table table;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = split(line);
    EXPECT_EQ(cells.size(), names.size()) << line;
    for (std::size_t k = 0; k < names.size(); ++k) table[names[k]].push_back(std::stod(cells.at(k)));
  }
  EXPECT_FALSE(table.empty()) << path << " has no rows";
  return table;
}

Table CaseRun::read(const std::string& name) const {
  return read_table(output_ / (name + ".csv"));
}

double CaseRun::at_time(const std::string& name, double time, const std::string& column) const {
  const Table table = read(name);
  const std::vector<double>& times = table.at("time");
  for (std::size_t row = 0; row < times.size(); ++row) {
    if (std::abs(times[row] - time) <= 1e-9) return table.at(column)[row];
  }
  throw std::runtime_error(fmt::format("{}.csv has no row at {} s", name, time));
}

double CaseRun::last(const std::string& name, const std::string& column) const {
  return read(name).at(column).back();
}

nlohmann::json CaseRun::summary() const {
  return nlohmann::json::parse(read_text(output_ / "summary.json"));
}

std::vector<double> CaseRun::read_field(const std::string& file, const std::string& dataset) const {
  const hid_t handle = H5Fopen((output_ / ("fields/" + file)).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(handle, dataset.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  const herr_t status = H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(handle);
  if (status < 0) throw std::runtime_error(file + " does not give " + dataset);
  return values;
}

}  // namespace curlew::test
