// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/step_files.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace curlew {

std::optional<std::int64_t> step_in(std::string_view name, std::string_view start, std::string_view ending) {
  if (name.size() < start.size() + ending.size() || !name.starts_with(start) || !name.ends_with(ending))
    return std::nullopt;
  name = name.substr(start.size(), name.size() - start.size() - ending.size());
  std::int64_t step = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool whole = failure == std::errc() && end == name.data() + name.size();
  return whole && step >= 0 ? std::optional(step) : std::nullopt;
}

std::map<std::int64_t, std::filesystem::path> files_by_step(const std::filesystem::path& directory,
                                                            std::string_view start, std::string_view ending) {
  std::map<std::int64_t, std::filesystem::path> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const std::string name = entry.path().filename().string();
    const auto step = step_in(name, start, ending);
    // 007 is no number that a run has written.
    if (!step || name.size() != start.size() + std::to_string(*step).size() + ending.size()) continue;
    std::error_code gone;
    if (entry.is_regular_file(gone)) files[*step] = entry.path();
  }
  return files;
}

}  // namespace curlew
