// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/field_picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mesh/box.hpp"
#include "tests/app/output/nan.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew::test {
namespace {

/// Values at the nodes of a mesh, by place.
template <class Function>
std::vector<Real> at_nodes(const Mesh& mesh, const Function& function) {
  std::vector<Real> values;
  for (const Vector3 x : mesh.geometry().node_positions().host()) values.push_back(function(x));
  return values;
}

View<Node, const Real> nodes(const std::vector<Real>& values) {
  return {values.data(), static_cast<Index>(values.size())};
}
template <class T>
View<Cell, const T> cells(const std::vector<T>& values) {
  return {values.data(), static_cast<Index>(values.size())};
}

/// Calls `visit(position, column, row)` for each pixel, with the point of the picture's plane through the
/// origin that its middle shows.
template <class Visit>
void visit_pixels(const Viewpoint& view, const Visit& visit) {
  for (int row = 0; row < view.height; ++row) {
    for (int column = 0; column < view.width; ++column) {
      visit((view.left + (column + 0.5) / view.pixels_per_metre) * view.right +
                (view.top - (row + 0.5) / view.pixels_per_metre) * view.up,
            column, row);
    }
  }
}

class EveryCellType : public testing::TestWithParam<ShelfMesh> {};
INSTANTIATE_TEST_SUITE_P(Shelf, EveryCellType, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST_P(EveryCellType, shows_linear_fields_exactly) {
  const Mesh mesh(GetParam().raw);
  const bool plane = mesh.topology().dimension() == 2;
  const auto views = viewpoints(mesh);
  ASSERT_EQ(views.size(), plane ? 1u : 2u);
  for (const Viewpoint& view : views) {
    // On a surface, whose depth a pixel does not tell, one that does not vary with depth.
    const auto field = [&](Vector3 x) {
      return 2 + 3 * dot(x, view.right) - 0.6 * dot(x, view.up) + (view.cut ? 0.9 * dot(x, view.toward) : 0);
    };
    const std::vector<Real> values = at_nodes(mesh, field);
    const ValueImage image = draw(ShownField(mesh, nodes(values)), view);
    const Vector3 in_plane =
        view.cut ? view.cut->offset *
                       Vector3{std::abs(view.toward.x), std::abs(view.toward.y), std::abs(view.toward.z)}
                 : Vector3{};
    int seen = 0;
    visit_pixels(view, [&](Vector3 x, int column, int row) {
      if (!image.covered(column, row)) return;
      ++seen;
      EXPECT_NEAR(image.value(column, row), field(x + in_plane), 1e-11) << column << " " << row;
    });
    EXPECT_GT(seen, 1000);
  }
}

TEST_P(EveryCellType, a_section_has_the_area_within_its_outline_and_linear_values) {
  const Mesh mesh(GetParam().raw);
  const Topology& topology = mesh.topology();
  if (topology.dimension() == 2) return;  // there is nothing to cut
  const auto positions = mesh.geometry().node_positions(MemorySpace::Host);
  const auto linear = [](Vector3 x) { return 1 - x.x + 2 * x.y + 0.5 * x.z; };
  const std::vector<Real> values = at_nodes(mesh, linear);
  const ShownField field(mesh, nodes(values));
  for (const int axis : {0, 1, 2}) {
    for (const Real offset : {0.31, 0.5, 0.83}) {
      Real area = 0;
      for (const Id<Cell> c : topology.cells()) {
        visit_cut(field, c, {axis, offset}, [&](const std::array<ShownPoint, 3>& x) {
          area += norm(cross(x[1].position - x[0].position, x[2].position - x[0].position)) / 2;
          for (const ShownPoint& point : x) EXPECT_NEAR(point.value, linear(point.position), 1e-13);
        });
      }
      // Half of the integral of r x dr along the outline, in which boundary faces' triangles meet the plane.
      const Vector3 normal{axis == 0 ? 1. : 0., axis == 1 ? 1. : 0., axis == 2 ? 1. : 0.};
      Real outline = 0;
      const auto add = [&](const std::array<Vector3, 3>& corners) {
        std::vector<Vector3> ends;
        for (std::size_t k = 0; k < 3; ++k) {
          const Vector3 a = corners[k], b = corners[(k + 1) % 3];
          const Real height_a = dot(normal, a) - offset, height_b = dot(normal, b) - offset;
          if ((height_a >= 0) != (height_b >= 0))
            ends.push_back(a + height_a / (height_a - height_b) * (b - a));
        }
        if (ends.size() != 2) return;
        const Vector3 outward = cross(corners[1] - corners[0], corners[2] - corners[0]);
        const Real turn = dot(cross(outward, ends[1] - ends[0]), normal) > 0 ? -1 : 1;
        outline += turn * dot(cross(ends[0], ends[1]), normal) / 2;
      };
      for (const Id<Face> f : topology.boundary_faces()) {
        const auto row = topology.nodes_of_face()[f];
        if (row.size() == 3) {
          add({positions[row[0].id], positions[row[1].id], positions[row[2].id]});
        } else {
          visit_fan(row, positions, [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
            add({apex, a, b});
          });
        }
      }
      EXPECT_NEAR(area, std::abs(outline), 1e-12) << axis << " " << offset;
    }
  }
}

TEST_P(EveryCellType, shows_in_each_pixel_the_cell_that_is_there) {
  const Mesh mesh(GetParam().raw);
  std::vector<Real> numbers;
  for (const Id<Cell> c : mesh.topology().cells()) numbers.push_back(c.value());
  const PointLocator locator(mesh);
  const Viewpoint view = viewpoints(mesh).front();
  const ValueImage image = draw(ShownField(mesh, cells(numbers)), view);
  const Vector3 in_plane = view.cut
                               ? view.cut->offset * Vector3{std::abs(view.toward.x), std::abs(view.toward.y),
                                                            std::abs(view.toward.z)}
                               : Vector3{};
  int seen = 0, others = 0;
  visit_pixels(view, [&](Vector3 x, int column, int row) {
    if ((column + row) % 17 != 0) return;
    const auto place = locator.locate(x + in_plane);
    EXPECT_EQ(place.has_value(), image.covered(column, row)) << column << " " << row;
    if (!place || !image.covered(column, row)) return;
    ++seen;
    // On a side that cells share each of them is right.
    const Real value = image.value(column, row);
    EXPECT_EQ(value, std::floor(value));
    if (value != numbers[at(place->cell.value())]) ++others;
  });
  EXPECT_GT(seen, 100);
  // A section through the nodes of blocks lies between cells, of which one is shown throughout.
  if (!view.cut) {
    EXPECT_LT(others, seen / 20);
  }
}

TEST(Viewpoints, are_along_the_shortest_extent_and_from_above) {
  const auto views_of = [](Vector3 size) {
    return viewpoints(Mesh(make_box(CellType::Hexahedron, {2, 2, 2}, size)));
  };
  struct Expected {
    Vector3 size;
    int axis;
    Real offset;
    int width, height;
  };
  for (const auto& [size, axis, offset, width, height] :
       {Expected{{4, 2, 1}, 2, 0.5, 640, 320}, Expected{{4, 1, 2}, 1, 0.5, 640, 320},
        Expected{{1, 4, 8}, 0, 0.5, 240, 480}, Expected{{2, 2, 2}, 2, 1, 480, 480}}) {
    const auto views = views_of(size);
    ASSERT_EQ(views.size(), 2u);
    ASSERT_TRUE(views[0].cut);
    EXPECT_EQ(views[0].cut->axis, axis);
    EXPECT_DOUBLE_EQ(views[0].cut->offset, offset);
    EXPECT_EQ(views[0].width, width);
    EXPECT_EQ(views[0].height, height);
    EXPECT_THAT(views[0].caption, testing::HasSubstr(std::string("section at ") + "xyz"[axis] + " = "));
    EXPECT_FALSE(views[1].cut);
    EXPECT_THAT(views[1].caption, testing::StartsWith("surface"));
    for (const Viewpoint& view : views) {
      EXPECT_NEAR(norm(cross(view.right, view.up) - view.toward), 0, 1e-15);
      EXPECT_NEAR(norm(view.toward), 1, 1e-15);
      if (axis != 2 || !view.cut) {
        EXPECT_GT(view.up.z, 0);
      }
    }
  }
}

TEST(Surface, hides_what_is_behind_and_is_lit) {
  const Mesh mesh(make_box(CellType::Hexahedron, {3, 3, 3}));
  // On each of the three sides that are seen one value.
  std::vector<Real> values;
  for (const Vector3 x : mesh.geometry().cell_centroids().host()) values.push_back(x.z > 0.7 ? 2 : 1);
  const auto view = viewpoints(mesh)[1];
  const ValueImage image = draw(ShownField(mesh, cells(values)), view);
  const auto seen = [&](Vector3 x) {
    const Corner corner = view.corner({x, 0});
    const int column = static_cast<int>(corner.x), row = static_cast<int>(corner.y);
    return std::pair(image.value(column, row), image.light(column, row));
  };
  const auto top = seen({0.5, 0.5, 1}), front = seen({0.5, 0, 0.3}), right = seen({1, 0.5, 0.3});
  EXPECT_EQ(top.first, 2);
  EXPECT_EQ(front.first, 1);
  EXPECT_EQ(right.first, 1);
  EXPECT_GT(top.second, front.second);
  EXPECT_GT(front.second, right.second);
  EXPECT_GT(right.second, 0.4);
  EXPECT_LE(top.second, 1);
  EXPECT_FALSE(image.covered(0, 0));
}

TEST(Pictures, of_vectors_show_magnitudes) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {2, 1, 1}));
  const std::vector<Vector3> values{{3, 4, 0}, {0, 0, -1}};
  const ShownField field(mesh, cells(values));
  const auto range = field.range();
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low, 1);
  EXPECT_EQ(range->high, 5);
  const FieldPictures pictures = take_pictures(mesh, {"velocity", "m/s", 3}, cells(values));
  EXPECT_EQ(pictures.field.name, "velocity");
  ASSERT_EQ(pictures.pictures.size(), 1u);
  EXPECT_EQ(pictures.pictures[0].png.substr(1, 3), "PNG");
}

TEST(Pictures, are_taken_whatever_the_numbers) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {2, 2, 2}));
  const auto count = at(mesh.topology().nodes().size());
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  for (const Real value : {nan, infinity, -infinity}) {
    const std::vector<Real> values(count, value);
    const auto pictures = take_pictures(mesh, {"temperature", "K", 1}, nodes(values));
    EXPECT_FALSE(pictures.range);
    EXPECT_EQ(pictures.pictures.size(), 2u);
    const auto view = viewpoints(mesh)[0];
    const ValueImage image = draw(ShownField(mesh, nodes(values)), view);
    EXPECT_TRUE(image.covered(10, 10));
    EXPECT_TRUE(std::isnan(image.value(10, 10)));
  }
  std::vector<Real> values(count, 1e308);
  values[0] = -1e308;
  values[1] = nan;
  EXPECT_EQ(take_pictures(mesh, {"temperature", "K", 1}, nodes(values)).range->high, 1e308);
}

}  // namespace
}  // namespace curlew::test
