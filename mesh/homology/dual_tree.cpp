// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/dual_tree.hpp"

#include <string>

namespace curlew {

DualTree::DualTree(const Topology& topology, const std::vector<bool>& flux_is_given)
    : topology_(topology),
      flux_is_given_(flux_is_given),
      in_tree_(flux_is_given.size(), false),
      step_of_cell_(at(topology.cells().size()), -1),
      depth_(at(topology.cells().size()), -1) {
  REQUIRE(flux_is_given.size() == at(topology.faces().size()),
          "a dual tree needs a flag for each of the " + std::to_string(topology.faces().size()) +
              " faces; it got " + std::to_string(flux_is_given.size()));
  for (const Id<Face> f : topology.interior_faces()) {
    REQUIRE(is_free(f), "the flux of a boundary face may be given; face " + std::to_string(f.value()) +
                            " is an interior one");
  }
  const auto cells_of_face = topology.cells_of_face().view(MemorySpace::Host);
  const auto faces_of_cell = topology.faces_of_cell().view(MemorySpace::Host);
  steps_.reserve(at(topology.cells().size()));
  const auto enter = [&](Id<Face> f, Index depth) {
    for (const auto [c, sign] : cells_of_face[f]) {
      if (depth_[at(c.value())] >= 0) continue;
      depth_[at(c.value())] = depth;
      step_of_cell_[at(c.value())] = static_cast<Index>(steps_.size());
      in_tree_[at(f.value())] = true;
      steps_.push_back({c, {f, sign}});
    }
  };
  const auto enter_neighbours = [&](Id<Cell> c) {
    // A boundary face has no cell but this one.
    for (const auto [f, sign] : faces_of_cell[c]) enter(f, depth_[at(c.value())] + 1);
  };
  std::size_t next = 0;
  const auto walk = [&] {
    for (; next < steps_.size(); ++next) enter_neighbours(steps_[next].cell);
  };
  for (const Id<Face> f : topology.boundary_faces()) {
    if (is_free(f)) enter(f, 1);
  }
  walk();
  for (const Id<Cell> c : topology.cells()) {
    if (depth_[at(c.value())] >= 0) continue;
    depth_[at(c.value())] = 0;
    closed_roots_.push_back(c);
    enter_neighbours(c);
    walk();
  }
}

void DualTree::balance(std::span<Real> flux) const {
  REQUIRE(flux.size() == in_tree_.size(), "fluxes to balance must be one per face: expected " +
                                              std::to_string(in_tree_.size()) + ", got " +
                                              std::to_string(flux.size()));
  const auto faces_of_cell = topology_.faces_of_cell().view(MemorySpace::Host);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    Real outflow = 0;
    for (const auto [f, sign] : faces_of_cell[step->cell]) {
      if (f != step->face.id) outflow += sign * flux[at(f.value())];
    }
    flux[at(step->face.id.value())] = -step->face.sign * outflow;
  }
}

std::vector<SignedId<Face>> DualTree::cycle(Id<Face> f) const {
  REQUIRE(is_free(f) && !contains(f),
          "a cycle of the dual tree goes through a free face outside of it; face " +
              std::to_string(f.value()) + " is none");
  constexpr Index outside = -1;
  const auto cells_of_face = topology_.cells_of_face().view(MemorySpace::Host);
  const auto depth = [&](Index c) { return c == outside ? 0 : depth_[at(c)]; };
  std::vector<SignedId<Face>> cycle{{f, 1}};
  // One step towards the root, with a flux out of the cell or into it.
  const auto climb = [&](Index c, Real direction) -> Index {
    const SignedId<Face> face = steps_[at(step_of_cell_[at(c)])].face;
    cycle.push_back({face.id, direction * face.sign});
    const auto cells = cells_of_face[face.id];
    if (cells.size() == 1) return outside;
    return cells[face.sign > 0 ? 1 : 0].id.value();
  };
  const auto cells = cells_of_face[f];
  Index from = cells[0].id.value(), to = cells.size() == 1 ? outside : cells[1].id.value();
  while (from != to) {
    if (depth(from) > depth(to)) {
      from = climb(from, -1);
    } else {
      to = climb(to, 1);
    }
  }
  return cycle;
}

}  // namespace curlew
