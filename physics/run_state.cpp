// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/run_state.hpp"

#include <fmt/format.h>

namespace curlew::detail {

namespace {

template <class Value>
const Value& found_in(const std::map<std::string, Value>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) refuse(name, "it has none");
  return found->second;
}

}  // namespace

std::vector<Real> array_of(const RunState& state, const std::string& name) {
  return found_in(state.arrays, name).values();
}

std::vector<float> singles_of(const RunState& state, const std::string& name) {
  return found_in(state.singles, name).values();
}

Real number_of(const RunState& state, const std::string& name) {
  return found_in(state.numbers, name);
}

void refuse(const std::string& name, const std::string& why) {
  throw InputError(fmt::format(
      "the earlier run's {} does not fit: {}; resume on the same mesh with the same model", name, why));
}

}  // namespace curlew::detail
