// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "app/heat_case.hpp"
#include "app/read_mesh.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// A case that fits its mesh.
struct LoadedCase {
  HeatCase settings;
  std::unique_ptr<const Mesh> mesh;
};

/// Reads a case and its mesh; throws InputErrors with everything that is wrong in both and between them.
LoadedCase load_case(const std::filesystem::path& path, std::span<const std::string> overrides);

/// The model that a case describes, on one backend; not started yet.
HeatSettings heat_settings(const HeatCase& settings, const Mesh& mesh);

/// Steps that lead from start to end; the last may be shorter.
std::int64_t step_count(const TimeSettings& time);
/// The time that step `step` (from 1) leads to [s].
Real time_of_step(const TimeSettings& time, std::int64_t step);

/// Executor of the backend "cpu" with the given number of threads (nothing: all cores).
Executor make_executor(const std::string& backend, std::optional<int> threads);

}  // namespace curlew
