// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/summary.hpp"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "app/files/atomic_file.hpp"

namespace curlew {

const char* name_of(RunStatus status) {
  switch (status) {
    case RunStatus::Done:
      return "done";
    case RunStatus::Stopped:
      return "stopped";
    case RunStatus::Failed:
      return "failed";
    case RunStatus::Diverged:
      break;
  }
  return "diverged";
}

void write_summary(const std::filesystem::path& path, const Summary& summary) {
  nlohmann::ordered_json json = {{"status", name_of(summary.status)},
                                 {"reason", summary.reason},
                                 {"case", summary.case_name},
                                 {"model", summary.model},
                                 {"backend", summary.backend},
                                 {"ranks", summary.ranks},
                                 {"threads", summary.threads},
                                 {"cells", summary.cells},
                                 {"faces", summary.faces},
                                 {"edges", summary.edges},
                                 {"nodes", summary.nodes},
                                 {"steps", summary.steps},
                                 {"time", summary.time},
                                 {"wall_seconds", summary.wall_seconds},
                                 {"seconds_per_step", summary.seconds_per_step},
                                 {"iterations", summary.iterations},
                                 {"max_divergence", nullptr},
                                 {"peak_memory_bytes", summary.peak_memory_bytes},
                                 {"version", summary.version},
                                 {"monitors", summary.monitors}};
  if (summary.reason.empty()) json.erase("reason");
  if (summary.max_divergence) json["max_divergence"] = *summary.max_divergence;
  // A reason may quote names of files, which need not be UTF-8.
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  write_file_atomically(path, text + "\n");
}

std::int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

}  // namespace curlew
