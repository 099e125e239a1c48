// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "mesh/domain.hpp"

namespace curlew {

namespace detail {

template <class E, class T>
struct PackOnSent {
  View<Sent, const Index> entity;
  View<E, const T> values;
  T* place;
  Index first;
  CURLEW_HOST_DEVICE void operator()(Id<Sent> k) const {
    place[k.value() - first] = values[Id<E>(entity[k])];
  }
};

}  // namespace detail

/// Ghost values on their way from their owners: one message per neighbour, whatever the number of fields;
/// they land in the fields' ghosts. Until finish() the ghosts must not be read nor the fields moved; the
/// values that the rank owns may be read and, since they are copied at the start, changed.
class [[nodiscard]] Exchange {
 public:
  /// Starts the exchange of all ghosts of the fields, on entities of any kind. Every rank must do the same.
  /// Ghosts are copies of what other ranks own, and may change in a field that is constant. `domain`: a
  /// Domain, or what has halos of other entities and the communicator as one does.
  template <class AnyDomain, class... Fields>
  static Exchange start(const AnyDomain& domain, const Fields&... fields) {
    Exchange exchange;
    if (domain.communicator().ranks() == 1) return exchange;
    Packing packing(domain.communicator().ranks());
    (packing.count(domain.template halo<typename Fields::Entity>(), sizeof(typename Fields::Value)), ...);
    exchange.buffer_.resize(packing.allocate());
    (exchange.add(domain.template halo<typename Fields::Entity>(), fields, packing), ...);
    exchange.launch(domain.communicator(), packing);
    return exchange;
  }
  void finish();

 private:
  /// Where in the buffer of outgoing messages each neighbour's begins, and what comes in.
  class Packing {
   public:
    explicit Packing(int ranks) : outgoing(at(ranks), 0), next(at(ranks), 0), incoming(at(ranks)) {}
    template <class E>
    void count(const Halo<E>& halo, std::size_t size) {
      for (const auto& to : halo.sent_to()) outgoing[at(to.rank)] += at(to.entries.size()) * size;
    }
    /// Returns the bytes of all messages.
    std::size_t allocate();
    std::vector<std::size_t> outgoing, next;
    std::vector<std::vector<std::span<std::byte>>> incoming;
  };
  /// Ghosts of a field in memory that messages cannot reach: they arrive on the host and are copied.
  struct Staged {
    void* to;
    MemorySpace space;
    std::unique_ptr<std::byte[]> host;
    std::size_t bytes;
  };

  template <class E, class F>
  void add(const Halo<E>& halo, const F& field, Packing& packing) {
    using T = typename F::Value;
    REQUIRE(field.size() == halo.all().size(), "field '" + field.name() + "' has " +
                                                   std::to_string(field.size()) + " values, the rank has " +
                                                   std::to_string(halo.all().size()) + " entities");
    const Executor& executor = field.executor();
    const MemorySpace space = executor.space();
    for (const auto& to : halo.sent_to()) {
      const Index first = to.entries.first();
      const std::size_t bytes = at(to.entries.size()) * sizeof(T);
      std::byte* place = buffer_.data() + packing.next[at(to.rank)];
      packing.next[at(to.rank)] += bytes;
      REQUIRE(reinterpret_cast<std::uintptr_t>(place) % alignof(T) == 0,
              "field '" + field.name() + "' must come before smaller ones in an exchange");
      if (space == MemorySpace::Host) {
        for_each(
            executor, to.entries,
            detail::PackOnSent<E, T>{halo.sent(space), field.view(), reinterpret_cast<T*>(place), first});
      } else {
        Buffer<T> packed(space, at(to.entries.size()));
        for_each(executor, to.entries,
                 detail::PackOnSent<E, T>{halo.sent(space), field.view(), packed.data(), first});
        copy_bytes(place, MemorySpace::Host, packed.data(), space, bytes);
      }
    }
    std::byte* ghosts =
        reinterpret_cast<std::byte*>(const_cast<T*>(field.view().data()) + halo.ghosts().first());
    if (space != MemorySpace::Host) {
      const std::size_t bytes = at(halo.ghosts().size()) * sizeof(T);
      staged_.push_back({ghosts, space, std::make_unique<std::byte[]>(bytes), bytes});
      ghosts = staged_.back().host.get();
    }
    for (const auto& from : halo.ghosts_by_owner()) {
      packing.incoming[at(from.rank)].emplace_back(
          ghosts + at(from.entities.first() - halo.ghosts().first()) * sizeof(T),
          at(from.entities.size()) * sizeof(T));
    }
  }
  void launch(const Communicator& communicator, const Packing& packing);

  std::vector<std::byte> buffer_;
  std::vector<Staged> staged_;
  std::unique_ptr<Communicator::Transfer> transfer_;
};

/// Brings the ghosts of the fields up to date.
template <class AnyDomain, class... Fields>
void exchange_ghosts(const AnyDomain& domain, const Fields&... fields) {
  Exchange::start(domain, fields...).finish();
}

/// Calls `launch(range)` for consecutive parts of `wanted`, a range from the first entity on: for those that
/// need no ghosts (Halo::interior()) while those of the fields are on their way, where the fields' executor
/// overlaps the two, and for the others when they have arrived.
template <class E, class AnyDomain, class Launch, class Field, class... Fields>
void launch_with_ghosts(const AnyDomain& domain, Range<E> wanted, const Launch& launch, const Field& field,
                        const Fields&... fields) {
  const Index interior = field.executor().overlaps() ? domain.template halo<E>().interior().last() : 0;
  Exchange exchange = Exchange::start(domain, field, fields...);
  launch(common(wanted, Range<E>(0, interior)));
  exchange.finish();
  launch(common(wanted, Range<E>(interior, wanted.last())));
}

}  // namespace curlew
