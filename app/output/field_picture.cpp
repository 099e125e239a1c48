// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/field_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mesh/bounding_box.hpp"

namespace curlew {

namespace {

constexpr Real most_width = 640, most_height = 480;  // [pixels]

Real component(Vector3 x, int axis) {
  return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

/// The mean of the points that `visit_points(visit)` tells; where all have the same value it has exactly
/// that.
template <class VisitPoints>
ShownPoint mean(const VisitPoints& visit_points) {
  std::optional<ShownPoint> first;
  ShownPoint sum;  // of differences to the first
  Real count = 0;
  visit_points([&](const ShownPoint& point) {
    if (!first) first = point;
    sum.position += point.position - first->position;
    sum.value += point.value - first->value;
    ++count;
  });
  return {first->position + sum.position / count, first->value + sum.value / count};
}

/// The corners of a cell or a face of it.
template <class Row>
auto points_of(const ShownField& field, Id<Cell> c, const Row& nodes) {
  return [&field, c, nodes](const auto& visit) {
    for (const auto [n, sign] : nodes) visit(field.point(c, n));
  };
}

/// A row of nodes, which surround a polygon, as triangles: one, or those between its mean and its sides.
template <class Row, class Visit>
void visit_triangles(const ShownField& field, Id<Cell> c, const Row& nodes, const Visit& visit) {
  if (nodes.size() == 3) {
    visit(std::array{field.point(c, nodes[0].id), field.point(c, nodes[1].id), field.point(c, nodes[2].id)});
    return;
  }
  const ShownPoint apex = mean(points_of(field, c, nodes));
  for (Index k = 0; k < nodes.size(); ++k) {
    const Index next = k + 1 < nodes.size() ? k + 1 : 0;
    visit(std::array{apex, field.point(c, nodes[k].id), field.point(c, nodes[next].id)});
  }
}

void cut_tetrahedron(const std::array<ShownPoint, 4>& corners, const AxisPlane& plane,
                     const VisitTriangle& visit) {
  std::array<const ShownPoint*, 4> above{}, below{};
  std::size_t count_above = 0, count_below = 0;
  const auto height = [&](const ShownPoint* x) { return component(x->position, plane.axis) - plane.offset; };
  for (const ShownPoint& corner : corners)
    (height(&corner) >= 0 ? above[count_above++] : below[count_below++]) = &corner;
  if (count_above == 0 || count_below == 0) return;
  // Always from above to below, so that neighbours find the same point on a common edge.
  const auto crossing = [&](std::size_t a, std::size_t b) {
    const ShownPoint &from = *above[a], &to = *below[b];
    const Real share = height(&from) / (height(&from) - height(&to));
    return ShownPoint{from.position + share * (to.position - from.position),
                      from.value + share * (to.value - from.value)};
  };
  if (count_above == 1) {
    visit({crossing(0, 0), crossing(0, 1), crossing(0, 2)});
  } else if (count_below == 1) {
    visit({crossing(0, 0), crossing(1, 0), crossing(2, 0)});
  } else {
    const ShownPoint start = crossing(0, 0), across = crossing(1, 1);
    visit({start, crossing(0, 1), across});
    visit({start, across, crossing(1, 0)});
  }
}

}  // namespace

ShownField::ShownField(const Mesh& mesh, const FieldSnapshot& values)
    : mesh_(mesh), positions_(mesh.geometry().node_positions(MemorySpace::Host)), values_(values) {}

Real ShownField::in_cell(Id<Cell> c) const {
  if (const auto* scalars = std::get_if<View<Cell, const Real>>(&values_)) return (*scalars)[c];
  return norm(std::get<View<Cell, const Vector3>>(values_)[c]);
}

ShownPoint ShownField::point(Id<Cell> c, Id<Node> n) const {
  if (const auto* at_nodes = std::get_if<View<Node, const Real>>(&values_))
    return {positions_[n], (*at_nodes)[n]};
  return {positions_[n], in_cell(c)};
}

std::optional<ValueRange> ShownField::range() const {
  constexpr Real nothing = -std::numeric_limits<Real>::infinity();
  std::array<Real, 2> reach{nothing, nothing};  // down, up
  const auto add = [&](Real value) {
    if (std::isfinite(value)) reach = {std::max(reach[0], -value), std::max(reach[1], value)};
  };
  const Domain& domain = mesh_.domain();
  if (const auto* at_nodes = std::get_if<View<Node, const Real>>(&values_)) {
    for (const Id<Node> n : domain.halo<Node>().owned()) add((*at_nodes)[n]);
  } else {
    for (const Id<Cell> c : domain.halo<Cell>().owned()) add(in_cell(c));
  }
  domain.communicator().maxima(reach);
  if (reach[1] == nothing) return std::nullopt;
  return ValueRange{-reach[0], reach[1]};
}

void visit_cut(const ShownField& field, Id<Cell> c, const AxisPlane& plane, const VisitTriangle& visit) {
  const Topology& topology = field.mesh().topology();
  const auto positions = field.mesh().geometry().node_positions(MemorySpace::Host);
  const auto nodes = topology.nodes_of_cell()[c];
  bool any_above = false, any_below = false;
  for (const auto [n, sign] : nodes)
    (component(positions[n], plane.axis) >= plane.offset ? any_above : any_below) = true;
  if (!any_above || !any_below) return;
  if (is_simplex(topology.cell_type(c))) {
    cut_tetrahedron({field.point(c, nodes[0].id), field.point(c, nodes[1].id), field.point(c, nodes[2].id),
                     field.point(c, nodes[3].id)},
                    plane, visit);
    return;
  }
  const ShownPoint centre = mean(points_of(field, c, nodes));
  for (const auto [f, sign] : topology.faces_of_cell()[c]) {
    visit_triangles(field, c, topology.nodes_of_face()[f], [&](const std::array<ShownPoint, 3>& triangle) {
      cut_tetrahedron({triangle[0], triangle[1], triangle[2], centre}, plane, visit);
    });
  }
}

Corner Viewpoint::corner(const ShownPoint& point) const {
  // All of a section lies in one depth, whatever the last bits of the points in it.
  const Real depth = cut ? 0 : dot(point.position, toward);
  return {(dot(point.position, right) - left) * pixels_per_metre,
          (top - dot(point.position, up)) * pixels_per_metre, depth, point.value};
}

namespace {

/// Puts a box into the picture, as large as it may be.
void fit(Viewpoint& viewpoint, const BoundingBox& box) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  Real right_end = -infinity, bottom = infinity;
  viewpoint.left = infinity;
  viewpoint.top = -infinity;
  for (int k = 0; k < 8; ++k) {
    const Vector3 x{(k & 1) != 0 ? box.high.x : box.low.x, (k & 2) != 0 ? box.high.y : box.low.y,
                    (k & 4) != 0 ? box.high.z : box.low.z};
    const Real across = dot(x, viewpoint.right), upward = dot(x, viewpoint.up);
    viewpoint.left = std::min(viewpoint.left, across);
    right_end = std::max(right_end, across);
    bottom = std::min(bottom, upward);
    viewpoint.top = std::max(viewpoint.top, upward);
  }
  const Real width = right_end - viewpoint.left, height = viewpoint.top - bottom;
  viewpoint.pixels_per_metre = std::min(most_width / width, most_height / height);
  const auto pixels = [&](Real length) {
    return std::max(1, static_cast<int>(std::lround(length * viewpoint.pixels_per_metre)));
  };
  viewpoint.width = pixels(width);
  viewpoint.height = pixels(height);
}

}  // namespace

std::vector<Viewpoint> viewpoints(const Mesh& mesh) {
  const BoundingBox box = bounding_box(mesh);
  const Vector3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1}, size = box.high - box.low;
  const auto seen = [&](std::string caption, std::optional<AxisPlane> cut, Vector3 right, Vector3 up) {
    Viewpoint viewpoint{std::move(caption), cut, right, up, cross(right, up)};
    fit(viewpoint, box);
    return viewpoint;
  };
  if (mesh.topology().dimension() == 2)
    return {seen(fmt::format("{:.4g} m × {:.4g} m", size.x, size.y), std::nullopt, x, y)};
  int axis = 2;
  for (const int other : {1, 0}) {
    if (component(size, other) < component(size, axis)) axis = other;
  }
  const Vector3 right = axis == 0 ? y : x, up = axis == 2 ? y : z;
  const AxisPlane middle{axis, component(box.low, axis) + component(size, axis) / 2};
  const std::string section = fmt::format("section at {} = {:.4g} m, {:.4g} m × {:.4g} m", "xyz"[axis],
                                          middle.offset, dot(size, right), dot(size, up));
  // From the front, the right and above, with z upwards.
  constexpr Vector3 toward{0.45, -0.75, 0.5};
  const Vector3 across = cross(z, toward) / norm(cross(z, toward));
  const Vector3 upward = cross(toward, across) / norm(toward);
  return {seen(section, middle, right, up),
          seen(fmt::format("surface, {:.4g} m × {:.4g} m × {:.4g} m", size.x, size.y, size.z), std::nullopt,
               across, upward)};
}

namespace {

class FieldDrawing {
 public:
  FieldDrawing(const ShownField& field, const Viewpoint& viewpoint)
      : field_(field), viewpoint_(viewpoint), image_(viewpoint.width, viewpoint.height) {}

  ValueImage operator()() {
    const Mesh& mesh = field_.mesh();
    if (mesh.topology().dimension() == 2) {
      draw_plane();
    } else if (viewpoint_.cut) {
      draw_section();
    } else {
      draw_surface();
    }
    image_.merge(mesh.domain().communicator());
    return std::move(image_);
  }

 private:
  void draw(const std::array<ShownPoint, 3>& x, Real light = 1) {
    image_.draw({viewpoint_.corner(x[0]), viewpoint_.corner(x[1]), viewpoint_.corner(x[2])}, light);
  }

  void draw_plane() {
    const auto nodes = field_.mesh().topology().nodes_of_cell().view(MemorySpace::Host);
    for (const Id<Cell> c : field_.mesh().domain().halo<Cell>().owned())
      visit_triangles(field_, c, nodes[c], [&](const std::array<ShownPoint, 3>& x) { draw(x); });
  }

  void draw_section() {
    for (const Id<Cell> c : field_.mesh().domain().halo<Cell>().owned()) {
      visit_cut(field_, c, *viewpoint_.cut, [&](const std::array<ShownPoint, 3>& x) { draw(x); });
    }
  }

  void draw_surface() {
    const Topology& topology = field_.mesh().topology();
    for (const Id<Face> f : topology.boundary_faces()) {
      const Id<Cell> c = topology.cells_of_face()[f][0].id;
      visit_triangles(field_, c, topology.nodes_of_face()[f], [&](const std::array<ShownPoint, 3>& x) {
        draw(x, light_on(cross(x[1].position - x[0].position, x[2].position - x[0].position)));
      });
    }
  }

  /// Some everywhere, and the rest from above the viewer's left shoulder.
  Real light_on(Vector3 normal) const {
    constexpr Real everywhere = 0.6;
    const Vector3 lamp = viewpoint_.toward + 0.5 * viewpoint_.up - 0.3 * viewpoint_.right;
    const Real size = norm(normal) * norm(lamp);
    return size > 0 ? everywhere + (1 - everywhere) * std::max<Real>(0, dot(normal, lamp) / size) : 1;
  }

  const ShownField& field_;
  const Viewpoint& viewpoint_;
  ValueImage image_;
};

}  // namespace

ValueImage draw(const ShownField& field, const Viewpoint& viewpoint) {
  return FieldDrawing(field, viewpoint)();
}

FieldPictures take_pictures(const Mesh& mesh, const FieldDescription& field, const FieldSnapshot& values) {
  const ShownField shown(mesh, values);
  FieldPictures result{field, shown.range(), {}};
  for (Viewpoint& viewpoint : viewpoints(mesh)) {
    const ValueImage image = draw(shown, viewpoint);
    std::string file;
    if (mesh.domain().communicator().rank() == 0)
      file = png(image.width(), image.height(), coloured(image, result.range.value_or(ValueRange{})));
    result.pictures.push_back({std::move(viewpoint), std::move(file)});
  }
  return result;
}

}  // namespace curlew
