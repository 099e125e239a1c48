// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/sum_in_parts.hpp"

#include <algorithm>
#include <utility>

#include "kernels/reduction.hpp"

namespace curlew {

SumInParts::SumInParts(const Executor& executor) : executor_(executor), sum_(executor.space(), 1) {}

void SumInParts::finish(BinnedSum* result) {
  finish(detail::KeepSum{result});
}

Real SumInParts::value() {
  finish(sum_.data());
  BinnedSum sum;
  copy_bytes(&sum, MemorySpace::Host, sum_.data(), sum_.space(), sizeof sum);
  return sum.value();
}

View<detail::Chunk, BinnedSum> SumInParts::places(Index chunks) {
  const Index first = std::exchange(count_, count_ + chunks);
  const std::size_t size =
      at(std::max(count_, detail::chunks_below_the_last(count_, reduction_shape::sums_in_a_chunk)));
  if (parts_.size() < size) {
    Buffer<BinnedSum> larger(executor_.space(), size);
    if (first > 0)
      copy_bytes(larger.data(), larger.space(), parts_.data(), parts_.space(), at(first) * sizeof(BinnedSum));
    parts_ = std::move(larger);
  }
  return {parts_.data() + first, chunks};
}

}  // namespace curlew
