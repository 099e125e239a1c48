// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/memory.hpp"

namespace curlew {

/// Memory of the host through which values go from a device and to it while host and device go on with other
/// things. On a GPU it is pinned, and copies have a stream of their own.
class Staging {
 public:
  virtual ~Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::byte* data() const { return data_; }
  /// Copies from the device what the launches so far leave there; it may be none.
  virtual void fetch(const void* from, std::size_t bytes) = 0;
  /// Waits until that is here, and the launches before it have ended.
  virtual void wait() = 0;
  /// Copies to the device, for what is launched from now on: what was launched before the last fetch() may
  /// read at `to`, and nothing that was launched since.
  virtual void put(void* to, std::size_t offset, std::size_t bytes) = 0;

 protected:
  explicit Staging(std::byte* data) : data_(data) {}

 private:
  std::byte* data_;
};

/// Throws NotRecordable while launches on the device are being recorded.
std::unique_ptr<Staging> make_staging(MemorySpace device, std::size_t bytes);

}  // namespace curlew
