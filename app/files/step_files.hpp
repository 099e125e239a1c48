// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

namespace curlew {

/// The step that a name has between its `start` and its `ending`; nothing where it is no such name.
std::optional<std::int64_t> step_in(std::string_view name, std::string_view start, std::string_view ending);

/// The files in a directory with such names, by step.
std::map<std::int64_t, std::filesystem::path> files_by_step(const std::filesystem::path& directory,
                                                            std::string_view start, std::string_view ending);

}  // namespace curlew
