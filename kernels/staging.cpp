// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/staging.hpp"

#if defined(CURLEW_CUDA)
#include "kernels/cuda.hpp"
#endif

namespace curlew {

namespace {

/// For a device that copies at once.
class PlainStaging final : public Staging {
 public:
  PlainStaging(MemorySpace device, Buffer<std::byte> memory)
      : Staging(memory.data()), device_(device), memory_(std::move(memory)) {}
  void fetch(const void* from, std::size_t bytes) override {
    copy_bytes(data(), MemorySpace::Host, from, device_, bytes);
  }
  void wait() override {}
  void put(void* to, std::size_t offset, std::size_t bytes) override {
    copy_bytes(to, device_, data() + offset, MemorySpace::Host, bytes);
  }

 private:
  MemorySpace device_;
  Buffer<std::byte> memory_;
};

}  // namespace

std::unique_ptr<Staging> make_staging(MemorySpace device, std::size_t bytes) {
  require_no_recording(device, "a copy between host and device");
#if defined(CURLEW_CUDA)
  if (device == MemorySpace::Cuda) return cuda::make_staging(bytes);
#endif
  return std::make_unique<PlainStaging>(device, Buffer<std::byte>(MemorySpace::Host, bytes));
}

}  // namespace curlew
