// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/averages.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// Entities are done in portions, so that the points of a large mesh need not be held at once.
constexpr Index portion = 8192;

/// Points of several entities with the weights of each.
struct Quadrature {
  std::vector<Vector3> points;
  std::vector<Vector3> areas;     // on faces: the area vector of a point's share
  std::vector<Real> volumes;      // in cells: the volume of a point's share
  std::vector<std::size_t> ends;  // one per entity

  void clear() {
    points.clear();
    areas.clear();
    volumes.clear();
    ends.clear();
  }
};

/// Places in [0, 1] and weights of the three points of Gauss.
const std::array<std::pair<Real, Real>, 3> gauss_rule = [] {
  const Real offset = std::sqrt(Real(3) / 5) / 2;
  return std::array<std::pair<Real, Real>, 3>{
      {{0.5 - offset, 5. / 18}, {0.5, 8. / 18}, {0.5 + offset, 5. / 18}}};
}();

void add_side(Quadrature& q, Vector3 a, Vector3 b, Vector3 area) {
  for (const auto& [place, weight] : gauss_rule) {
    q.points.push_back((1 - place) * a + place * b);
    q.areas.push_back(weight * area);
  }
}

void add_triangle(Quadrature& q, Vector3 a, Vector3 b, Vector3 c) {
  const Vector3 area = 0.5 * cross(b - a, c - a);
  const auto add = [&](Real wa, Real wb, Real wc, Real weight) {
    q.points.push_back(wa * a + wb * b + wc * c);
    q.areas.push_back(weight * area);
  };
  const Real root = std::sqrt(Real(15));
  add(1. / 3, 1. / 3, 1. / 3, 9. / 40);
  for (const Real sign : {-1., 1.}) {
    const Real near = (6 + sign * root) / 21, weight = (155 + sign * root) / 1200;
    add(near, near, 1 - 2 * near, weight);
    add(near, 1 - 2 * near, near, weight);
    add(1 - 2 * near, near, near, weight);
  }
}

/// Whether four nodes, in their order around, are the corners of a parallelogram, but for what changes an
/// integral by less than any quadrature.
template <class Row>
bool is_parallelogram(const Row& nodes, View<Node, const Vector3> x) {
  if (nodes.size() != 4) return false;
  const Vector3 a = x[nodes[0].id], b = x[nodes[1].id], c = x[nodes[2].id], d = x[nodes[3].id];
  return norm((b - a) - (c - d)) <= 1e-12 * (norm(c - a) + norm(d - b));
}

/// Three points times three.
void add_parallelogram(Quadrature& q, Vector3 a, Vector3 b, Vector3 c, Vector3 d, Vector3 area) {
  for (const auto& [s, weight_s] : gauss_rule) {
    for (const auto& [t, weight_t] : gauss_rule) {
      q.points.push_back((1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * d + s * c));
      q.areas.push_back(weight_s * weight_t * area);
    }
  }
}

void add_face(Quadrature& q, const Mesh& mesh, Id<Face> f) {
  const auto nodes = mesh.topology().nodes_of_face()[f];
  const auto x = mesh.geometry().node_positions(MemorySpace::Host);
  if (mesh.topology().dimension() == 2) {
    add_side(q, x[nodes[0].id], x[nodes[1].id], mesh.geometry().face_areas()[at(f.value())]);
  } else if (nodes.size() == 3) {
    add_triangle(q, x[nodes[0].id], x[nodes[1].id], x[nodes[2].id]);
  } else if (is_parallelogram(nodes, x)) {
    add_parallelogram(q, x[nodes[0].id], x[nodes[1].id], x[nodes[2].id], x[nodes[3].id],
                      mesh.geometry().face_areas()[at(f.value())]);
  } else {
    visit_fan(nodes, x,
              [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) { add_triangle(q, apex, a, b); });
  }
  q.ends.push_back(q.points.size());
}

/// Three points of a triangle or four of a tetrahedron, second order.
template <std::size_t n>
void add_simplex(Quadrature& q, const std::array<Vector3, n>& corners, Real volume) {
  const Real near = n == 3 ? Real(2) / 3 : (5 + 3 * std::sqrt(Real(5))) / 20;
  const Real far = (1 - near) / static_cast<Real>(n - 1);
  for (std::size_t k = 0; k < n; ++k) {
    Vector3 x{};
    for (std::size_t j = 0; j < n; ++j) x += (j == k ? near : far) * corners[j];
    q.points.push_back(x);
    q.volumes.push_back(volume / static_cast<Real>(n));
  }
}

/// Whether opposite sides of a quadrilateral, of each face of a hexahedron, are parallel and of one length.
bool is_parallelepiped(const Mesh& mesh, Id<Cell> c) {
  const Topology& topology = mesh.topology();
  const auto x = mesh.geometry().node_positions(MemorySpace::Host);
  if (topology.cell_type(c) == CellType::Quadrilateral)
    return is_parallelogram(topology.nodes_of_cell()[c], x);
  if (topology.cell_type(c) != CellType::Hexahedron) return false;
  const auto faces = topology.faces_of_cell()[c];
  for (Index k = 0; k < faces.size(); ++k) {
    if (!is_parallelogram(topology.nodes_of_face()[faces[k].id], x)) return false;
  }
  return true;
}

/// The points of Gauss, two in each direction.
template <class Row>
void add_parallelepiped(Quadrature& q, const Row& nodes, View<Node, const Vector3> x, Vector3 centre,
                        Real volume) {
  const Real near = 1 / std::sqrt(Real(3));
  for (const auto [n, sign] : nodes) {
    q.points.push_back(centre + near * (x[n] - centre));
    q.volumes.push_back(volume / static_cast<Real>(nodes.size()));
  }
}

void add_cell(Quadrature& q, const Mesh& mesh, Id<Cell> c) {
  const Topology& topology = mesh.topology();
  const auto x = mesh.geometry().node_positions(MemorySpace::Host);
  const auto nodes = topology.nodes_of_cell()[c];
  const Vector3 centre = mesh.geometry().cell_centroids()[at(c.value())];
  const Real volume = mesh.geometry().cell_volumes()[at(c.value())];
  if (topology.cell_type(c) == CellType::Triangle) {
    add_simplex<3>(q, {x[nodes[0].id], x[nodes[1].id], x[nodes[2].id]}, volume);
  } else if (topology.cell_type(c) == CellType::Tetrahedron) {
    add_simplex<4>(q, {x[nodes[0].id], x[nodes[1].id], x[nodes[2].id], x[nodes[3].id]}, volume);
  } else if (is_parallelepiped(mesh, c)) {
    add_parallelepiped(q, nodes, x, centre, volume);
  } else {
    for (const auto [f, sign] : topology.faces_of_cell()[c]) {
      const Real outward = sign;
      if (topology.dimension() == 2) {
        const auto side = topology.nodes_of_face()[f];
        const Vector3 a = x[side[0].id], b = x[side[1].id];
        add_simplex<3>(q, {centre, a, b}, outward * cross(a - centre, b - centre).z / 2);
      } else {
        visit_fan(topology.nodes_of_face()[f], x,
                  [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
                    add_simplex<4>(q, {centre, apex, a, b},
                                   outward * dot(cross(a - apex, b - apex), apex - centre) / 6);
                  });
      }
    }
  }
  q.ends.push_back(q.points.size());
}

}  // namespace

FaceAverages average_on_faces(const Mesh& mesh, Range<Face> range, const VectorFunction& function,
                              Real time) {
  FaceAverages averages;
  Quadrature q;
  std::vector<Vector3> values;
  for (Index first = range.first(); first < range.last(); first += portion) {
    q.clear();
    for (const Id<Face> f : Range<Face>(first, std::min(first + portion, range.last())))
      add_face(q, mesh.unfolded(), mesh.unfolded_face(f));
    values.resize(q.points.size());
    function.evaluate(q.points, time, values);
    std::size_t k = 0;
    for (const std::size_t end : q.ends) {
      Real flux = 0, area = 0;
      Vector3 mean{};
      for (; k < end; ++k) {
        flux += dot(values[k], q.areas[k]);
        mean += norm(q.areas[k]) * values[k];
        area += norm(q.areas[k]);
      }
      averages.flux.push_back(flux);
      averages.mean.push_back(mean / area);
    }
  }
  return averages;
}

std::vector<Vector3> average_on_cells(const Mesh& mesh, const VectorFunction& function, Real time) {
  const Range<Cell> cells = mesh.topology().cells();
  std::vector<Vector3> means;
  if (!function.depends_on_space()) {
    Vector3 value;
    const Vector3 anywhere{};
    function.evaluate(std::span(&anywhere, 1), time, std::span(&value, 1));
    means.assign(at(cells.size()), value);
    return means;
  }
  Quadrature q;
  std::vector<Vector3> values;
  for (Index first = 0; first < cells.last(); first += portion) {
    q.clear();
    for (const Id<Cell> c : Range<Cell>(first, std::min(first + portion, cells.last())))
      add_cell(q, mesh.unfolded(), c);
    values.resize(q.points.size());
    function.evaluate(q.points, time, values);
    std::size_t k = 0;
    for (const std::size_t end : q.ends) {
      Vector3 mean{};
      Real volume = 0;
      for (; k < end; ++k) {
        mean += q.volumes[k] * values[k];
        volume += q.volumes[k];
      }
      means.push_back(mean / volume);
    }
  }
  return means;
}

}  // namespace curlew
