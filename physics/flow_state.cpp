// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow_state.hpp"

#include <fmt/format.h>

namespace curlew {

namespace {

std::string name_of_loop(const std::string& name, std::size_t loop) {
  return fmt::format("{}.loop_{}", name, loop + 1);
}

}  // namespace

void store_change(const Domain& domain, const FaceVectors<float>& x, const std::string& name,
                  FlowState& state) {
  std::vector<float> numbers;
  numbers.reserve(3 * at(x.size()));
  for (const Vector4<float>& v : x.to_host()) numbers.insert(numbers.end(), {v.x, v.y, v.z});
  state.singles[name] = in_slabs<Face>(domain, std::span<const float>(numbers), 3);
}

void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    FaceVectors<float>& x) {
  const std::vector<float> numbers = detail::restored_singles<Face>(domain, state, name, 3);
  std::vector<Vector4<float>> values(at(x.size()));
  for (std::size_t f = 0; f < values.size(); ++f)
    values[f] = {numbers[3 * f], numbers[3 * f + 1], numbers[3 * f + 2], 0};
  x.copy_from_host(values);
}

void store_change(const Domain& domain, const StreamVectors<float>& x, const std::string& name,
                  FlowState& state) {
  state.singles[name + ".stream"] = in_slabs<Edge>(domain, std::span<const float>(x.stream.to_host()));
  store_change(domain, x.velocity, name + ".velocity", state);
  const std::vector<Real> loops = x.loop.to_host();
  for (std::size_t l = 0; l < loops.size(); ++l) state.numbers[name_of_loop(name, l)] = loops[l];
}

void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    StreamVectors<float>& x) {
  x.stream.copy_from_host(detail::restored_singles<Edge>(domain, state, name + ".stream", 1));
  restore_change(domain, state, name + ".velocity", x.velocity);
  std::vector<Real> loops(at(x.loop.size()));
  for (std::size_t l = 0; l < loops.size(); ++l) loops[l] = detail::number_of(state, name_of_loop(name, l));
  x.loop.copy_from_host(loops);
}

}  // namespace curlew
