// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mesh/parallel/communicator.hpp"
#include "mesh/parallel/halo.hpp"

namespace curlew {

/// Entity tag: an unknown of any level of multigrid.
struct Unknown;

// Unknowns of a level, divided among ranks as HaloParts has it: each has those that it owns, [interior |
// boundary], and ghosts by owner. All ranks know an unknown by its name, HaloParts::global, which depends on
// the whole mesh alone. Interior ones, boundary ones and the ghosts of one owner are each in the order of
// their names.

/// An unknown of any rank. In the order of ghosts.
struct RemoteUnknown {
  int owner;
  GlobalIndex name;
  friend auto operator<=>(const RemoteUnknown&, const RemoteUnknown&) = default;
};

/// All on one rank alone, their numbers being their names.
inline HaloParts<Unknown> undivided_unknowns(Index unknowns) {
  HaloParts<Unknown> parts;
  parts.interior = parts.owned = parts.all = unknowns;
  parts.total = unknowns;
  return parts;
}

inline GlobalIndex name_of(const HaloParts<Unknown>& unknowns, Index i) {
  return unknowns.global.empty() ? i : unknowns.global[at(i)];
}

/// Sum of what each rank has. By all ranks together.
GlobalIndex total_over(const Communicator& ranks, Index mine);

/// A number without pattern for each number, no two the same: the finalizer of splitmix64 (Steele, Lea &
/// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
constexpr std::uint64_t shuffled(GlobalIndex number) {
  std::uint64_t bits = static_cast<std::uint64_t>(number) + 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Every ghost, in the order of their numbers.
std::vector<RemoteUnknown> ghosts_of(const HaloParts<Unknown>& unknowns);

/// The numbers 0 to size - 1 in the order of their names.
std::vector<Index> in_order_of_names(Index size, std::span<const GlobalIndex> names);

/// Tells owners whose unknowns other ranks have as ghosts. `names`: of those that this rank owns, `interior`
/// of them first; `ghosts`: what it needs of others, in order. By all ranks together.
HaloParts<Unknown> divided_unknowns(const Communicator& ranks, std::vector<GlobalIndex> names, Index interior,
                                    GlobalIndex total, std::span<const RemoteUnknown> ghosts);

/// What `value(i)` is for each ghost on its owner. By all ranks together.
template <class Value>
auto values_of_ghosts(const Communicator& ranks, const HaloParts<Unknown>& unknowns, const Value& value) {
  using T = std::decay_t<decltype(value(Index(0)))>;
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> ghosts(at(unknowns.all - unknowns.owned)), sent(unknowns.sent.size());
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = value(unknowns.sent[k]);
  std::vector<Communicator::Incoming> incoming;
  std::vector<Communicator::Outgoing> outgoing;
  for (const auto& [rank, entities] : unknowns.ghosts) {
    const std::size_t first = at(entities.first() - unknowns.owned);
    incoming.push_back(
        {rank, {std::as_writable_bytes(std::span(ghosts).subspan(first, at(entities.size())))}});
  }
  for (const auto& [rank, entries] : unknowns.sent_to)
    outgoing.push_back(
        {rank, {std::as_bytes(std::span(sent).subspan(at(entries.first()), at(entries.size())))}});
  ranks.start(incoming, outgoing)->finish();
  return ghosts;
}

/// Numbers that a rank gives to the unknowns of a level as it meets them: its own ones first, in the order of
/// their names, then those of others in the order of first sight.
class UnknownNumbers {
 public:
  /// `own`: names, in order.
  UnknownNumbers(int rank, std::vector<GlobalIndex> own) : rank_(rank), own_(std::move(own)) {}
  /// Of an unknown that need not have been seen before.
  Index number(RemoteUnknown unknown);
  RemoteUnknown unknown(Index number) const {
    return number < own() ? RemoteUnknown{rank_, own_[at(number)]} : others_[at(number - own())];
  }
  Index own() const { return static_cast<Index>(own_.size()); }
  Index size() const { return own() + static_cast<Index>(others_.size()); }

 private:
  int rank_;
  std::vector<GlobalIndex> own_;
  std::vector<RemoteUnknown> others_;
  std::unordered_map<GlobalIndex, Index> number_of_other_;
};

/// Puts arrays one after the other into a message.
class Packer {
 public:
  template <class T>
  Packer& operator<<(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t size = values.size();
    append(&size, sizeof size);
    append(values.data(), size * sizeof(T));
    return *this;
  }
  std::vector<std::byte> bytes;

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

/// And takes them out again, in the same order.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  Unpacker& operator>>(std::vector<T>& values) {
    std::size_t size = 0;
    take(&size, sizeof size);
    values.resize(size);
    take(values.data(), size * sizeof(T));
    return *this;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  void take(void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  std::span<const std::byte> bytes_;
};

}  // namespace curlew
