// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/run_state.hpp"

#include <fmt/format.h>

namespace curlew::detail {

const std::vector<Real>& array_of(const RunState& state, const std::string& name) {
  const auto found = state.arrays.find(name);
  if (found == state.arrays.end()) refuse(name, "it has none");
  return found->second;
}

Real number_of(const RunState& state, const std::string& name) {
  const auto found = state.numbers.find(name);
  if (found == state.numbers.end()) refuse(name, "it has none");
  return found->second;
}

void refuse(const std::string& name, const std::string& why) {
  throw InputError(fmt::format(
      "the earlier run's {} does not fit: {}; resume on the same mesh with the same model", name, why));
}

}  // namespace curlew::detail
