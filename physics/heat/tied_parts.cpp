// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/tied_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"
#include "mesh/parallel/exchange.hpp"

namespace curlew {

std::vector<std::uint8_t> tied_nodes(const HeatLoad& load) {
  std::vector<std::uint8_t> tied = load.held_on_host();
  for (std::size_t n = 0; n < tied.size(); ++n) tied[n] = tied[n] || load.convection_on_host()[n] > 0;
  return tied;
}

std::vector<Index> floating_parts(const NodeGraph& graph, const std::vector<std::uint8_t>& tied) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  std::vector<Index> part(tied.size(), -2), queue;
  Index parts = 0;
  for (std::size_t root = 0; root < tied.size(); ++root) {
    if (part[root] != -2) continue;
    bool has_tied_node = false;
    queue.assign(1, static_cast<Index>(root));
    part[root] = parts;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      has_tied_node = has_tied_node || tied[at(queue[next])];
      for (const auto [m, sign] : neighbours_of[Id<Node>(queue[next])]) {
        if (part[at(m.value())] != -2) continue;
        part[at(m.value())] = parts;
        queue.push_back(m.value());
      }
    }
    if (has_tied_node) {
      for (const Index n : queue) part[at(n)] = -1;
    } else {
      ++parts;
    }
  }
  return part;
}

void require_balance(const Mesh& mesh, const std::vector<Index>& parts, const HeatLoad& load) {
  const std::vector<Real> load_of_node = load.at_nodes().to_host();
  const Index count = parts.empty() ? 0 : 1 + *std::ranges::max_element(parts);
  std::vector<Real> total(at(count), 0), size(at(count), 0);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (parts[n] < 0) continue;
    total[at(parts[n])] += load_of_node[n];
    size[at(parts[n])] += std::abs(load_of_node[n]);
  }
  for (std::size_t part = 0; part < total.size(); ++part) {
    if (std::abs(total[part]) <= 1e-10 * size[part]) continue;
    throw InputError(
        fmt::format("there is no steady state: {:.6g} {} {} a part of the domain that has no patch of type "
                    "temperature or convection to balance it; add one, or run in time",
                    std::abs(total[part]), mesh.topology().dimension() == 2 ? "W/m" : "W",
                    total[part] > 0 ? "enter" : "leave"));
  }
}

void require_tied(const Domain& domain, const NodeGraph& graph, const std::vector<std::uint8_t>& tied) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  Field<Node> reached(Executor::serial(), domain.extent<Node>(), "tied", "1");
  const View<Node, Real> flag = reached.view();
  for (const Id<Node> n : reached.owned()) flag[n] = tied[at(n.value())] ? 1 : 0;
  std::vector<Id<Node>> queue;
  for (bool changed = true; changed;) {  // from neighbour to neighbour on a rank, then to other ranks
    exchange_ghosts(domain, reached);
    queue.clear();
    for (const Id<Node> n : reached.range()) {
      if (flag[n] > 0) queue.push_back(n);
    }
    const std::size_t before = queue.size();
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const auto [m, sign] : neighbours_of[queue[next]]) {
        if (flag[m] > 0) continue;
        flag[m] = 1;
        queue.push_back(m);
      }
    }
    changed = domain.communicator().maximum(queue.size() > before ? 1 : 0) > 0;
  }
  Real free = 0;
  for (const Id<Node> n : reached.owned()) free = std::max(free, 1 - flag[n]);
  if (domain.communicator().maximum(free) > 0) {
    throw InputError(
        "a steady state where a part of the domain has no patch of type temperature or convection can be "
        "found on one rank only; run it without mpirun");
  }
}

}  // namespace curlew
