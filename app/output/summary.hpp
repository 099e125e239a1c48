// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace curlew {

/// How a run ended.
enum class RunStatus { Done, Stopped, Failed, Diverged };

/// "done", "stopped", "failed" or "diverged".
const char* name_of(RunStatus status);

/// What summary.json holds, under the same names unless said otherwise.
struct Summary {
  RunStatus status = RunStatus::Done;
  std::string reason;     ///< what was told of it; there only if not empty
  std::string case_name;  ///< "case"
  std::string model;
  std::string backend;
  int ranks = 1;
  int threads = 1;
  std::int64_t cells = 0, faces = 0, edges = 0, nodes = 0;
  std::int64_t steps = 0;
  double time = 0;                           ///< reached [s]
  double wall_seconds = 0;                   ///< since the program began
  double seconds_per_step = 0;               ///< wall time of the stepping alone (StepTimer)
  std::map<std::string, double> iterations;  ///< mean per solve, by the solve's name
  std::optional<double> max_divergence;      ///< null where there is no velocity
  std::int64_t peak_memory_bytes = 0;        ///< of the process, on several ranks of the largest
  std::string version;
  std::map<std::string, std::map<std::string, double>> monitors;  ///< last values by monitor and column
};

/// Writes summary.json atomically. Numbers that JSON does not know
/// (not-a-number, infinite) become null. Throws Error naming the path and the cause.
void write_summary(const std::filesystem::path& path, const Summary& summary);

/// The most memory this process has held resident so far [bytes].
std::int64_t peak_memory_bytes();

}  // namespace curlew
