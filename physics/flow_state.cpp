// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow_state.hpp"

#include <fmt/format.h>

namespace curlew {

namespace {

std::string name_of_loop(const std::string& name, std::size_t loop) {
  return fmt::format("{}.loop_{}", name, loop + 1);
}

}  // namespace

void store(const Domain& domain, const FaceVectors<float>& x, const std::string& name, FlowState& state) {
  FaceVelocity wide(Executor::serial(), x.extent(), x.name(), x.unit());
  std::vector<Vector3> values;
  for (const Vector4<float> value : x.to_host()) values.push_back(widened(value));
  wide.copy_from_host(values);
  store(domain, wide, name, state);
}

void restore(const Domain& domain, const FlowState& state, const std::string& name, FaceVectors<float>& x) {
  FaceVelocity wide(Executor::serial(), x.extent(), x.name(), x.unit());
  restore(domain, state, name, wide);
  std::vector<Vector4<float>> values;
  for (const Vector3 value : wide.to_host()) values.push_back(rounded<float>(value));
  x.copy_from_host(values);
}

void store(const Domain& domain, const StreamVectors<float>& x, const std::string& name, FlowState& state) {
  const std::vector<float> stream = x.stream.to_host();
  PrimalCochain<Edge> wide(Executor::serial(), x.stream.extent(), x.stream.name(), x.stream.unit());
  wide.copy_from_host(std::vector<Real>(stream.begin(), stream.end()));
  store(domain, wide, name + ".stream", state);
  store(domain, x.velocity, name + ".velocity", state);
  const std::vector<Real> loops = x.loop.to_host();
  for (std::size_t l = 0; l < loops.size(); ++l) state.numbers[name_of_loop(name, l)] = loops[l];
}

void restore(const Domain& domain, const FlowState& state, const std::string& name, StreamVectors<float>& x) {
  PrimalCochain<Edge> wide(Executor::serial(), x.stream.extent(), x.stream.name(), x.stream.unit());
  restore(domain, state, name + ".stream", wide);
  std::vector<float> stream;
  for (const Real value : wide.to_host()) stream.push_back(static_cast<float>(value));
  x.stream.copy_from_host(stream);
  restore(domain, state, name + ".velocity", x.velocity);
  std::vector<Real> loops(at(x.loop.size()));
  for (std::size_t l = 0; l < loops.size(); ++l) loops[l] = detail::number_of(state, name_of_loop(name, l));
  x.loop.copy_from_host(loops);
}

}  // namespace curlew
