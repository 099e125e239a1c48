// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/field_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "app/failure.hpp"
#include "app/files/atomic_file.hpp"
#include "app/files/step_files.hpp"
#include "kernels/error.hpp"

namespace curlew {

FieldSeries::FieldSeries(const std::filesystem::path& directory, std::string name, VtkhdfWriter writer,
                         std::optional<double> restart_time)
    : directory_(directory),
      // ParaView 5.11 knows VTKHDF by the extension .hdf alone, and its series by .hdf.series.
      path_(directory / (name + ".hdf.series")),
      name_(std::move(name)),
      writer_(std::move(writer)) {
  if (writer_.ranks().rank() > 0) return;
  make_directory(directory_ / "fields");
  std::error_code ignored;  // what cannot be looked at, such as a link to itself, is no series
  if (!std::filesystem::is_regular_file(path_, ignored)) return;
  try {
    const auto series = nlohmann::json::parse(std::ifstream(path_));
    for (const auto& file : series.at("files")) {
      Entry entry{file.at("name"), file.at("time")};
      const bool kept = restart_time && entry.time <= *restart_time;
      (kept ? entries_ : replaced_).push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception&) {
    if (!restart_time) return;
    throw InputError(
        fmt::format("cannot continue the series '{}': it is not the list of files and times that a run "
                    "writes; remove it to start a new one",
                    path_.string()));
  }
}

std::string FieldSeries::file_of(std::int64_t step) const {
  return fmt::format("fields/{}_{:06}.hdf", name_, step);
}

void FieldSeries::remove_replaced() {
  if (replaced_.empty()) return;
  write_series();  // before the files, so that at no time it names one that is not there
  for (const Entry& entry : replaced_) {
    // Nothing but what a run has written, whatever the series names.
    const auto step = step_in(entry.file, "fields/" + name_ + "_", ".hdf");
    std::error_code ignored;  // it is in the way of nobody
    if (step && entry.file == file_of(*step)) std::filesystem::remove(directory_ / entry.file, ignored);
  }
  replaced_.clear();
}

void FieldSeries::write(std::int64_t step, double time, std::span<const FieldView> cell_fields,
                        std::span<const FieldView> node_fields) {
  const std::string file = file_of(step);
  writer_.write(directory_ / file, time, cell_fields, node_fields);
  together(writer_.ranks(), [&] {
    if (writer_.ranks().rank() > 0) return;
    std::erase_if(entries_, [&](const Entry& entry) { return entry.time == time; });
    entries_.push_back({file, time});
    write_series();
  });
}

void FieldSeries::write_series() {
  nlohmann::ordered_json series = {{"file-series-version", "1.0"},
                                   {"files", nlohmann::ordered_json::array()}};
  for (const Entry& entry : entries_) series["files"].push_back({{"name", entry.file}, {"time", entry.time}});
  write_file_atomically(path_, series.dump(2) + "\n");
}

std::filesystem::path FieldSeries::path_apart(const std::string& name) const {
  return directory_ / fmt::format("fields/{}.hdf", name);
}

void FieldSeries::remove_apart(const std::string& name) const {
  std::error_code ignored;  // it is in the way of nobody
  std::filesystem::remove(path_apart(name), ignored);
}

std::filesystem::path FieldSeries::write_apart(const std::string& name, double time,
                                               std::span<const FieldView> cell_fields,
                                               std::span<const FieldView> node_fields) const {
  const std::filesystem::path path = path_apart(name);
  writer_.write(path, time, cell_fields, node_fields);
  return path;
}

}  // namespace curlew
