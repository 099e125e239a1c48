// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>
#include <vector>

#include "mesh/topology.hpp"

namespace curlew {

/// A flag per face, true on the boundary but where it is open.
template <class IsOpen>
std::vector<bool> given_but(const Topology& topology, const IsOpen& is_open) {
  std::vector<bool> flux_is_given(at(topology.faces().size()), false);
  for (const Id<Face> f : topology.boundary_faces()) flux_is_given[at(f.value())] = !is_open(f);
  return flux_is_given;
}

struct Opening {
  std::string name;
  std::vector<bool> flux_is_given;
};

/// A boundary that is closed, open in one, two and many places, and open all round.
inline std::vector<Opening> openings(const Topology& topology) {
  const Index first = topology.boundary_faces().first(), count = topology.boundary_faces().size();
  const auto give = [&](const auto& is_open) {
    return given_but(topology, [&](Id<Face> f) { return is_open(f.value() - first); });
  };
  return {{"closed", give([](Index) { return false; })},
          {"first_fifth", give([=](Index k) { return 5 * k < count; })},
          {"first_and_last", give([=](Index k) { return k == 0 || k == count - 1; })},
          {"every_fourth", give([](Index k) { return k % 4 == 0; })},
          {"open", give([](Index) { return true; })}};
}

}  // namespace curlew
