// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/exchange.hpp"

namespace curlew {

std::size_t Exchange::Packing::allocate() {
  std::size_t bytes = 0;
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    next[r] = bytes;
    // The next message begins where values of any kind may.
    bytes +=
        (outgoing[r] + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
  }
  return bytes;
}

void Exchange::launch(const Communicator& communicator, const Packing& packing) {
  std::vector<Communicator::Incoming> incoming;
  std::vector<Communicator::Outgoing> outgoing;
  for (std::size_t r = 0; r < packing.outgoing.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (!packing.incoming[r].empty()) incoming.push_back({rank, packing.incoming[r]});
    const std::size_t bytes = packing.outgoing[r];
    if (bytes > 0) outgoing.push_back({rank, std::span(buffer_).subspan(packing.next[r] - bytes, bytes)});
  }
  transfer_ = communicator.start(incoming, outgoing);
}

void Exchange::finish() {
  if (transfer_) transfer_->finish();
  transfer_.reset();
  for (const Staged& staged : staged_) {
    copy_bytes(staged.to, staged.space, staged.host.get(), MemorySpace::Host, staged.bytes);
  }
  staged_.clear();
}

}  // namespace curlew
