// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/executor.hpp"

namespace curlew {

std::string Executor::name() const {
  struct Names {
    std::string operator()(const Serial&) const { return "serial"; }
    std::string operator()(const OpenMP&) const { return "openmp"; }
    std::string operator()(const DebugDevice&) const { return "debug-device"; }
  };
  return std::visit(Names{}, backend_);
}

Real* Executor::reduction_scratch(std::size_t size) const {
  if (scratch_->size() < size) *scratch_ = Buffer<Real>(space(), size);
  return scratch_->data();
}

}  // namespace curlew
