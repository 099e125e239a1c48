// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/divided_unknowns.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/error.hpp"

namespace curlew {

GlobalIndex total_over(const Communicator& ranks, Index mine) {
  const BinnedSum sum = binned_sum(1, [&](Index) { return static_cast<Real>(mine); });
  return static_cast<GlobalIndex>(ranks.sum(sum).value());
}

std::vector<RemoteUnknown> ghosts_of(const HaloParts<Unknown>& unknowns) {
  std::vector<RemoteUnknown> ghosts;
  for (const auto& [rank, entities] : unknowns.ghosts) {
    for (const Id<Unknown> i : entities) ghosts.push_back({rank, unknowns.global[at(i.value())]});
  }
  return ghosts;
}

std::vector<Index> in_order_of_names(Index size, std::span<const GlobalIndex> names) {
  std::vector<Index> order(at(size));
  std::iota(order.begin(), order.end(), 0);
  if (!names.empty() && !std::ranges::is_sorted(names.first(at(size))))
    std::ranges::sort(order, {}, [&](Index i) { return names[at(i)]; });
  return order;
}

HaloParts<Unknown> divided_unknowns(const Communicator& ranks, std::vector<GlobalIndex> names, Index interior,
                                    GlobalIndex total, std::span<const RemoteUnknown> ghosts) {
  HaloParts<Unknown> parts;
  parts.interior = interior;
  parts.owned = static_cast<Index>(names.size());
  parts.all = parts.owned + static_cast<Index>(ghosts.size());
  parts.total = total;
  parts.global = std::move(names);
  const std::size_t owned = parts.global.size();

  std::vector<Communicator::Letter> wishes;
  for (std::size_t k = 0; k < ghosts.size();) {
    const int owner = ghosts[k].owner;
    const auto first = static_cast<Index>(owned + k);
    std::vector<GlobalIndex> wanted;
    for (; k < ghosts.size() && ghosts[k].owner == owner; ++k) wanted.push_back(ghosts[k].name);
    parts.ghosts.push_back({owner, Range<Unknown>(first, static_cast<Index>(owned + k))});
    parts.global.insert(parts.global.end(), wanted.begin(), wanted.end());
    Packer packer;
    packer << wanted;
    wishes.push_back({owner, std::move(packer.bytes)});
  }
  const std::span<const GlobalIndex> own = std::span(parts.global).first(owned);
  for (const Communicator::Letter& letter : ranks.deliver(std::move(wishes))) {
    std::vector<GlobalIndex> wanted;
    Unpacker(letter.bytes) >> wanted;
    const auto first = static_cast<Index>(parts.sent.size());
    for (const GlobalIndex name : wanted) {
      std::size_t begin = 0;
      for (const auto part : {own.first(at(interior)), own.subspan(at(interior))}) {
        const auto place = std::ranges::lower_bound(part, name);
        if (place != part.end() && *place == name)
          parts.sent.push_back(static_cast<Index>(begin + at(place - part.begin())));
        begin += part.size();
      }
    }
    parts.sent_to.push_back({letter.rank, Range<Sent>(first, static_cast<Index>(parts.sent.size()))});
    REQUIRE(parts.sent.size() - at(first) == wanted.size(),
            "rank " + std::to_string(letter.rank) + " wants unknowns that this one does not own");
  }
  return parts;
}

Index UnknownNumbers::number(RemoteUnknown unknown) {
  if (unknown.owner == rank_)
    return static_cast<Index>(std::ranges::lower_bound(own_, unknown.name) - own_.begin());
  const auto [place, is_new] = number_of_other_.try_emplace(unknown.name, size());
  if (is_new) others_.push_back(unknown);
  return place->second;
}

}  // namespace curlew
