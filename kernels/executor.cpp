// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/executor.hpp"

#if defined(CURLEW_CUDA)
#include "kernels/cuda.hpp"
#endif
#include "kernels/error.hpp"

namespace curlew {

std::string cuda_problem() {
#if defined(CURLEW_CUDA)
  return cuda::problem();
#else
  return "this curlew was built without CUDA (no working nvcc of CUDA 12 or newer was found); use --backend "
         "cpu";
#endif
}

int cuda_device_count() {
#if defined(CURLEW_CUDA)
  return cuda::device_count();
#else
  return 0;
#endif
}

Executor Executor::cuda([[maybe_unused]] int device) {
#if defined(CURLEW_CUDA)
  cuda::select(device);
  return Executor(Cuda{});
#else
  throw InputError(cuda_problem());
#endif
}

std::string Executor::name() const {
  struct Names {
    std::string operator()(const Serial&) const { return "serial"; }
    std::string operator()(const OpenMP&) const { return "openmp"; }
    std::string operator()(const DebugDevice&) const { return "debug-device"; }
#if defined(CURLEW_CUDA)
    std::string operator()(const Cuda&) const {
      return "cuda";
    }
#endif
  };
  return std::visit(Names{}, backend_);
}

void Executor::synchronise() const {
  require_no_recording(space(), "waiting for a device");
#if defined(CURLEW_CUDA)
  if (std::holds_alternative<Cuda>(backend_)) cuda::synchronise();
#endif
}

Real* Executor::reduction_scratch(std::size_t size) const {
  if (scratch_->size() < size) *scratch_ = Buffer<Real>(space(), size);
  return scratch_->data();
}

}  // namespace curlew
