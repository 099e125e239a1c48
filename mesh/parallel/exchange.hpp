// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/staging.hpp"
#include "mesh/domain.hpp"

namespace curlew {

namespace detail {

template <class E, class T>
struct PackOnSent {
  View<Sent, const Index> entity;
  View<E, const T> values;
  T* packed;
  CURLEW_HOST_DEVICE void operator()(Id<Sent> k) const { packed[k.value()] = values[Id<E>(entity[k])]; }
};

template <std::size_t... sizes>
constexpr bool fall = std::ranges::is_sorted(std::array{sizes...}, std::greater{});

}  // namespace detail

/// Ghost values on their way from their owners: one message per neighbour, whatever the number of fields;
/// they land in the fields' ghosts. Until finish() the ghosts must not be read nor the fields moved; the
/// values that the rank owns may be read and, since they are copied at the start, changed. What is launched
/// on a device in between runs while messages are on their way.
class [[nodiscard]] Exchange {
 public:
  /// Starts the exchange of all ghosts of the fields, on entities of any kind and in one memory. Every rank
  /// must do the same. Ghosts are copies of what other ranks own, and may change in a field that is constant.
  /// Fields of values of which addresses need larger multiples come first. `domain`: a Domain, or what has
  /// halos of other entities and the communicator as one does.
  template <class AnyDomain, class Field, class... Fields>
  static Exchange start(const AnyDomain& domain, const Field& field, const Fields&... fields) {
    // They are packed side by side without gaps, which nothing would write before they are copied.
    static_assert(detail::fall<alignof(typename Field::Value), alignof(typename Fields::Value)...>);
    Exchange exchange(domain.communicator(), field.executor().space());
    if (domain.communicator().ranks() == 1) return exchange;
    exchange.count(domain.template halo<typename Field::Entity>(), field);
    (exchange.count(domain.template halo<typename Fields::Entity>(), fields), ...);
    exchange.allocate();
    exchange.add(domain.template halo<typename Field::Entity>(), field);
    (exchange.add(domain.template halo<typename Fields::Entity>(), fields), ...);
    exchange.start();
    return exchange;
  }
  void finish();

 private:
  Exchange(const Communicator& communicator, MemorySpace space)
      : communicator_(&communicator), space_(space) {}

  template <class E, class F>
  void count(const Halo<E>& halo, const F& field) {
    using T = typename F::Value;
    REQUIRE(field.size() == halo.all().size(), "field '" + field.name() + "' has " +
                                                   std::to_string(field.size()) + " values, the rank has " +
                                                   std::to_string(halo.all().size()) + " entities");
    REQUIRE(field.executor().space() == space_, "the fields of an exchange must be in one memory");
    sent_bytes_ += at(halo.sent_entries().size()) * sizeof(T);
    ghost_bytes_ += at(halo.ghosts().size()) * sizeof(T);
  }
  void allocate();

  template <class E, class F>
  void add(const Halo<E>& halo, const F& field) {
    using T = typename F::Value;
    std::byte* const packed = packed_.data() + sent_bytes_;
    for_each(field.executor(), halo.sent_entries(),
             detail::PackOnSent<E, T>{halo.sent(space_), field.view(), reinterpret_cast<T*>(packed)});
    const std::byte* const leaves = to_send_ + sent_bytes_;
    for (const auto& [rank, entries] : halo.sent_to())
      places_of(outgoing_, rank)
          .emplace_back(leaves + at(entries.first()) * sizeof(T), at(entries.size()) * sizeof(T));
    sent_bytes_ += at(halo.sent_entries().size()) * sizeof(T);

    auto* const ghosts =
        reinterpret_cast<std::byte*>(const_cast<T*>(field.view().data()) + halo.ghosts().first());
    const std::size_t bytes = at(halo.ghosts().size()) * sizeof(T);
    std::byte* arrives = ghosts;
    if (received_) {
      arrives = received_->data() + ghost_bytes_;
      arrivals_.push_back({ghosts, ghost_bytes_, bytes});
    }
    for (const auto& [rank, entities] : halo.ghosts_by_owner()) {
      places_of(incoming_, rank)
          .emplace_back(arrives + at(entities.first() - halo.ghosts().first()) * sizeof(T),
                        at(entities.size()) * sizeof(T));
    }
    ghost_bytes_ += bytes;
  }
  /// Of the message to or from a rank.
  template <class Message>
  static auto& places_of(std::vector<Message>& messages, int rank) {
    const auto found =
        std::ranges::find_if(messages, [&](const Message& message) { return message.rank == rank; });
    return (found != messages.end() ? *found : messages.emplace_back(Message{rank, {}})).places;
  }
  void start();

  /// Ghosts that arrived on the host: where they belong, and where they are.
  struct Arrival {
    void* to;
    std::size_t offset, bytes;
  };

  const Communicator* communicator_;
  MemorySpace space_;
  std::size_t sent_bytes_ = 0, ghost_bytes_ = 0;  // of all fields; of those before one that is added
  Buffer<std::byte> packed_;                      // values to be sent, field by field
  std::unique_ptr<Staging> sent_,
      received_;                        // of a device; the latter where messages do not reach its memory
  const std::byte* to_send_ = nullptr;  // where messages find what is in packed_
  std::vector<Communicator::Outgoing> outgoing_;
  std::vector<Communicator::Incoming> incoming_;
  std::vector<Arrival> arrivals_;
  std::vector<std::unique_ptr<Communicator::Transfer>> transfers_;
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
