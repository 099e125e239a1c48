// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/launch_sequence.hpp"

#include <vector>

#if defined(CURLEW_CUDA)
#include "kernels/cuda.hpp"
#endif
#include "kernels/recording.hpp"

namespace curlew {

namespace {

class DebugDeviceRecording final : public LaunchSequence::Recording {
 public:
  void record(const LaunchSequence::Launches& launches) override {
    launches_.clear();
    detail::recorded_launches = &launches_;
    try {
      launches();
    } catch (...) {
      detail::recorded_launches = nullptr;
      throw;
    }
    detail::recorded_launches = nullptr;
  }
  void repeat() override {
    for (const auto& launch : launches_) launch();
  }

 private:
  std::vector<std::function<void()>> launches_;
};

#if defined(CURLEW_CUDA)
class CudaRecording final : public LaunchSequence::Recording {
 public:
  void record(const LaunchSequence::Launches& launches) override { graph_.record(launches); }
  void repeat() override { graph_.launch(); }

 private:
  cuda::Graph graph_;
};
#endif

std::unique_ptr<LaunchSequence::Recording> recording_on(const Executor& executor) {
  if (!executor.is_alone()) return nullptr;
  if (executor.space() == MemorySpace::DebugDevice) return std::make_unique<DebugDeviceRecording>();
#if defined(CURLEW_CUDA)
  if (executor.space() == MemorySpace::Cuda) return std::make_unique<CudaRecording>();
#endif
  return nullptr;
}

}  // namespace

LaunchSequence::LaunchSequence(const Executor& executor) : recording_(recording_on(executor)) {}

void LaunchSequence::run(const Launches& launches) {
  const int run = runs_++;
  if (recording_ != nullptr && run == 1) {
    try {
      recording_->record(launches);
      repeats_ = true;
    } catch (const NotRecordable&) {
      repeats_ = false;
    }
  }
  if (run == 0) repeats_ = false;
  if (repeats_) {
    recording_->repeat();
  } else {
    launches();
  }
}

}  // namespace curlew
