// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_state.hpp"

#include <fmt/format.h>

namespace curlew {

namespace {

std::string name_of_loop(const std::string& name, std::size_t loop) {
  return fmt::format("{}.loop_{}", name, loop + 1);
}

}  // namespace

void store_change(const Domain& domain, std::function<FaceVectors<float>()> change, const std::string& name,
                  FlowState& state) {
  state.singles[name] = StateArray<float>(slab_size<Face>(domain, 3), [&domain, change = std::move(change)] {
    std::vector<float> numbers;
    for (const Vector4<float>& v : change().to_host()) numbers.insert(numbers.end(), {v.x, v.y, v.z});
    return in_slabs<Face>(domain, std::move(numbers), 3);
  });
}

void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    FaceVectors<float>& x) {
  const std::vector<float> numbers = detail::restored_singles<Face>(domain, state, name, 3);
  std::vector<Vector4<float>> values(at(x.size()));
  for (std::size_t f = 0; f < values.size(); ++f)
    values[f] = {numbers[3 * f], numbers[3 * f + 1], numbers[3 * f + 2], 0};
  x.copy_from_host(values);
}

void store_change(const Domain& domain, std::function<StreamVectors<float>()> change, const std::string& name,
                  FlowState& state) {
  const std::vector<Real> loops = change().loop.to_host();
  state.singles[name + ".stream"] = StateArray<float>(slab_size<Edge>(domain), [&domain, change] {
    return in_slabs<Edge>(domain, change().stream.to_host());
  });
  const std::function velocity = [change]() -> FaceVectors<float> { return std::move(change().velocity); };
  store_change(domain, velocity, name + ".velocity", state);
  for (std::size_t l = 0; l < loops.size(); ++l) state.numbers[name_of_loop(name, l)] = loops[l];
}

void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    StreamVectors<float>& x) {
  x.stream.copy_from_host(detail::restored_singles<Edge>(domain, state, name + ".stream", 1));
  restore_change(domain, state, name + ".velocity", x.velocity);
  std::vector<Real> loops(at(x.loop.size()));
  for (std::size_t l = 0; l < loops.size(); ++l) {  // those that the earlier run did not have stay 0
    const auto found = state.numbers.find(name_of_loop(name, l));
    if (found != state.numbers.end()) loops[l] = found->second;
  }
  x.loop.copy_from_host(loops);
}

}  // namespace curlew
