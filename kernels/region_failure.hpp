// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <atomic>
#include <exception>

namespace curlew {

/// Carries an exception out of a parallel region, which would end the program if one left it.
class RegionFailure {
 public:
  /// Does what may throw; nothing after a failure, of whichever thread.
  template <class Action>
  void unless_failed(const Action& action) noexcept {
    if (has_failed_) return;
    try {
      action();
    } catch (...) {
      if (!has_failed_.exchange(true)) thrown_ = std::current_exception();
    }
  }
  /// To be called after the region.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::atomic<bool> has_failed_ = false;
  std::exception_ptr thrown_;
};

}  // namespace curlew
