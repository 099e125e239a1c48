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

}  // namespace

std::unique_ptr<LaunchSequence::Recording> LaunchSequence::make_recording() const {
  if (!executor_.is_alone()) return nullptr;
  if (executor_.space() == MemorySpace::DebugDevice) return std::make_unique<DebugDeviceRecording>();
#if defined(CURLEW_CUDA)
  if (executor_.space() == MemorySpace::Cuda) return std::make_unique<CudaRecording>();
#endif
  return nullptr;
}

void LaunchSequence::restart(const void* kind) {
  kind_ = kind;
  runs_ = 0;
}

void LaunchSequence::run(const Launches& launches) {
  const int run = runs_++;
  if (run == 0) repeats_ = false;
  std::unique_ptr<Recording>& recording = recordings_[kind_];
  if (!repeats_ && (run == runs_before_recording || (run == 0 && recording != nullptr))) {
    if (recording == nullptr) recording = make_recording();
    if (recording != nullptr) {
      try {
        recording->record(launches);
        repeats_ = true;
      } catch (const NotRecordable&) {
        repeats_ = false;
      }
    }
  }
  if (repeats_) {
    recording->repeat();
  } else {
    launches();
  }
}

}  // namespace curlew
