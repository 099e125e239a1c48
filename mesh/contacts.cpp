// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/contacts.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"
#include "mesh/disjoint_sets.hpp"
#include "mesh/point_location.hpp"

namespace curlew {

namespace {

/// Cells that have faces on the boundary, each once.
std::vector<Id<Cell>> boundary_cells(const Topology& topology) {
  std::vector<Id<Cell>> cells;
  for (const Id<Face> f : topology.boundary_faces()) cells.push_back(topology.cells_of_face()[f][0].id);
  std::ranges::sort(cells, {}, [](Id<Cell> c) { return c.value(); });
  const auto rest = std::ranges::unique(cells);
  cells.erase(rest.begin(), rest.end());
  return cells;
}

/// A point so far outside of a boundary face. It starts from the surface that PointLocator takes a face for:
/// the fan's first triangle, since the centroid of a warped face is not on it. And out of the middle, where
/// edges of finer faces that lie opposite may meet, and the cell behind has no face on the boundary.
Vector3 point_outside(const Mesh& mesh, Id<Face> f, Real distance) {
  const auto positions = mesh.geometry().node_positions(MemorySpace::Host);
  const auto nodes = mesh.topology().nodes_of_face()[f];
  const Vector3 a = positions[nodes[0].id], b = positions[nodes[1].id];
  Vector3 point = 0.53 * a + 0.47 * b, normal = mesh.geometry().face_areas()[at(f.value())];
  if (mesh.topology().dimension() == 3) {
    Vector3 apex{};
    for (const auto [n, sign] : nodes) apex += positions[n] / static_cast<Real>(nodes.size());
    point = 0.37 * a + 0.34 * b + 0.29 * apex;
    normal = cross(a - apex, b - apex);
  }
  return point + (distance / norm(normal)) * normal;
}

}  // namespace

std::vector<Id<Face>> faces_in_contact(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const PointLocator locator(mesh, boundary_cells(topology));
  // The locator finds a cell beside points that are by a few times less outside of it.
  const Real least = 4e-9 * norm(locator.high() - locator.low());
  std::vector<char> touches(at(topology.boundary_faces().size()));
  parallel_for(touches.size(), [&](std::size_t i) {
    const Id<Face> f(topology.boundary_faces().first() + static_cast<Index>(i));
    const Id<Cell> own = topology.cells_of_face()[f][0].id;
    const Real height =
        mesh.geometry().cell_volumes()[at(own.value())] / norm(mesh.geometry().face_areas()[at(f.value())]);
    const auto found = locator.locate(point_outside(mesh, f, std::max(1e-4 * height, least)));
    touches[i] = found && found->cell != own;
  });
  std::vector<Id<Face>> faces;
  for (const Id<Face> f : topology.boundary_faces())
    if (touches[at(f.value() - topology.boundary_faces().first())] != 0) faces.push_back(f);
  return faces;
}

std::vector<Id<Cell>> overlapping_cells(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  DisjointSets bodies = connected_by(topology.cells_of_face(), topology.cells());
  if (bodies.sets() < 2) return {};
  std::vector<Index> body;
  for (const Id<Cell> c : topology.cells()) body.push_back(bodies.root(c.value()));
  const PointLocator locator(mesh);
  const std::vector<Id<Cell>> tested = boundary_cells(topology);
  std::vector<char> overlaps(tested.size());
  parallel_for(tested.size(), [&](std::size_t k) {
    const std::size_t cell = at(tested[k].value());
    const auto is_of_another = [&](Id<Cell> other) { return body[at(other.value())] != body[cell]; };
    overlaps[k] = locator.locate(mesh.geometry().cell_centroids()[cell], is_of_another).has_value();
  });
  std::vector<Id<Cell>> found;
  for (std::size_t k = 0; k < tested.size(); ++k)
    if (overlaps[k] != 0) found.push_back(tested[k]);
  return found;
}

}  // namespace curlew
