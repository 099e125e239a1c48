// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/gathered_dual_tree.hpp"

#include <algorithm>
#include <unordered_map>

#include "mesh/homology/harmonic_fluxes.hpp"
#include "mesh/parallel/gather.hpp"
#include "mesh/parallel/gathered_topology.hpp"

namespace curlew {

GatheredDualTree::GatheredDualTree(const Mesh& mesh, const std::vector<bool>& flux_is_given) : mesh_(mesh) {
  if (mesh.domain().communicator().ranks() == 1) {
    tree_.emplace(mesh.topology(), flux_is_given);
    return;
  }
  gathered_ = gathered_topology(mesh);
  const std::vector<std::uint8_t> mine(flux_is_given.begin(), flux_is_given.end());
  const std::vector<std::uint8_t> whole = gathered<Face>(mesh.domain(), std::span<const std::uint8_t>(mine));
  if (gathered_) tree_.emplace(*gathered_, std::vector<bool>(whole.begin(), whole.end()));
}

std::vector<std::vector<SignedId<Face>>> GatheredDualTree::harmonic_fluxes() const {
  const Communicator& ranks = mesh_.domain().communicator();
  if (ranks.ranks() == 1) return curlew::harmonic_fluxes(mesh_.topology(), *tree_);
  // Loops one after the other: the sign of a face is that of its number counted from 1, and 0 ends a loop.
  std::vector<GlobalIndex> message;
  if (tree_) {
    for (const auto& loop : curlew::harmonic_fluxes(*gathered_, *tree_)) {
      for (const auto [f, sign] : loop)
        message.push_back(sign < 0 ? -GlobalIndex{f.value()} - 1 : GlobalIndex{f.value()} + 1);
      message.push_back(0);
    }
  }
  broadcast(ranks, message);
  const Halo<Face>& halo = mesh_.domain().halo<Face>();
  std::unordered_map<GlobalIndex, Id<Face>> local;
  if (!message.empty()) {
    for (const Id<Face> f : halo.all()) local.emplace(halo.global(f), f);
  }
  std::vector<std::vector<SignedId<Face>>> loops;
  std::vector<SignedId<Face>> loop;
  for (const GlobalIndex entry : message) {
    if (entry == 0) {
      loops.push_back(std::move(loop));
      loop.clear();
      continue;
    }
    const auto found = local.find(std::abs(entry) - 1);
    if (found != local.end()) loop.push_back({found->second, entry < 0 ? Real(-1) : Real(1)});
  }
  return loops;
}

void GatheredDualTree::balance(std::span<Real> flux) const {
  if (mesh_.domain().communicator().ranks() == 1) return tree_->balance(flux);
  std::vector<Real> whole = gathered<Face>(mesh_.domain(), std::span<const Real>(flux));
  if (tree_) tree_->balance(whole);
  std::ranges::copy(scattered<Face>(mesh_.domain(), std::span<const Real>(whole)), flux.begin());
}

}  // namespace curlew
