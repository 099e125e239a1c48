// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/exchange.hpp"

#include <algorithm>
#include <utility>

namespace curlew {

namespace {

/// Each place of the messages as a message of its own: what lies in several places of a GPU's memory Open MPI
/// copies through the host piece by piece.
template <class Message>
std::vector<Message> place_by_place(const std::vector<Message>& messages) {
  std::vector<Message> parts;
  for (const Message& message : messages) {
    for (const auto place : message.places) parts.push_back({message.rank, {place}});
  }
  return parts;
}

}  // namespace

void Exchange::allocate() {
  packed_ = Buffer<std::byte>(space_, sent_bytes_);
  // The last to read this memory may have been another rank of this machine. Written from end to end, its
  // cache lines come back faster than value by value in packing: an exchange takes 0.7 of the time.
  if (space_ == MemorySpace::Host) std::fill_n(packed_.data(), sent_bytes_, std::byte{});
  to_send_ = packed_.data();
  if (!communicator_->reaches(space_)) {
    received_ = make_staging(space_, ghost_bytes_);
    sent_ = make_staging(space_, sent_bytes_);
    to_send_ = sent_->data();
  } else if (space_ != MemorySpace::Host) {
    sent_ = make_staging(space_, 0);
  }
  sent_bytes_ = ghost_bytes_ = 0;
}

void Exchange::start() {
  if (!sent_) {
    transfers_.push_back(communicator_->start(incoming_, outgoing_));
    return;
  }
  // The host goes on before the values are packed, and may launch what needs no ghosts.
  sent_->fetch(packed_.data(), received_ ? sent_bytes_ : 0);
  if (received_) transfers_.push_back(communicator_->start(std::exchange(incoming_, {}), {}));
}

void Exchange::finish() {
  if (sent_) {
    sent_->wait();
    transfers_.push_back(received_
                             ? communicator_->start({}, outgoing_)
                             : communicator_->start(place_by_place(incoming_), place_by_place(outgoing_)));
  }
  for (const auto& transfer : transfers_) transfer->finish();
  for (const Arrival& arrival : arrivals_) received_->put(arrival.to, arrival.offset, arrival.bytes);
  transfers_.clear();
  arrivals_.clear();
  sent_.reset();
}

}  // namespace curlew
