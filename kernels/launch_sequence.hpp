// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "kernels/executor.hpp"

namespace curlew {

/// Launches that are made again and again, such as those of an iteration. A GPU gets them once, as a CUDA
/// graph, and repeats them at one word of the host, which otherwise would spend more time on small kernels
/// than they take; the debug device likewise makes a list of them. On the host, and among several ranks,
/// whose messages pass through it, they are simply made.
class LaunchSequence {
 public:
  using Launches = std::function<void()>;
  /// Launches in the keeping of a device.
  class Recording {
   public:
    virtual ~Recording() = default;
    /// Notes down what `launches` would launch, in place of what was noted down before. Throws NotRecordable
    /// where it asks for more than launches.
    virtual void record(const Launches& launches) = 0;
    virtual void repeat() = 0;
  };

  explicit LaunchSequence(Executor executor) : executor_(std::move(executor)) {}

  /// From here on the launches may be other ones. `kind`: what those of one kind have in common, mostly other
  /// arguments to the same kernels; each has a recording of its own, which is quickly changed.
  void restart(const void* kind = nullptr);
  /// Makes the launches that `launches` asks for, the same each time since `restart`. The first ones of a
  /// kind are made one by one, so that what memory they need is there and sent; all others are recorded,
  /// since that takes the host less time than to make them (docs/trials.md). Where something among them
  /// cannot be recorded, they go on one by one.
  void run(const Launches& launches);
  static constexpr int runs_before_recording = 1;
  /// Whether the last run repeated what was recorded.
  bool repeats() const { return repeats_; }

 private:
  std::unique_ptr<Recording> make_recording() const;

  Executor executor_;
  std::map<const void*, std::unique_ptr<Recording>> recordings_;  // null where launches are simply made
  const void* kind_ = nullptr;
  int runs_ = 0;
  bool repeats_ = false;
};

}  // namespace curlew
