// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/field_difference.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/error.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "tests/mesh/periodic_boxes.hpp"

namespace curlew {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

TEST(FieldDifference, is_nothing_between_the_same_bits) {
  const std::vector<Real> values{1, -2, 0, std::nan(""), infinity};
  const FieldDifference difference = difference_from(values, values);
  EXPECT_EQ(difference.ulps, 0u);
  EXPECT_EQ(difference.relative, 0);
  EXPECT_FALSE(difference.first);
}

TEST(FieldDifference, finds_the_largest_and_the_first) {
  const std::vector<Real> wanted{1, 4, -8, 2};
  std::vector<Real> values = wanted;
  values[1] = std::nextafter(4.0, infinity);
  values[2] = std::nextafter(std::nextafter(std::nextafter(-8.0, infinity), infinity), infinity);
  values[3] = std::nextafter(2.0, -infinity);
  const FieldDifference difference = difference_from(wanted, values);
  EXPECT_EQ(difference.ulps, 3u);
  EXPECT_EQ(difference.relative, 3 * std::ldexp(1.0, -50) / 8);  // below 8 doubles lie 2^-50 apart
  EXPECT_EQ(difference.first, 1u);
}

TEST(FieldDifference, counts_through_zero) {
  const Real smallest = std::numeric_limits<Real>::denorm_min();
  const std::vector<Real> wanted{-smallest}, values{smallest};
  EXPECT_EQ(difference_from(wanted, values).ulps, 2u);
}

TEST(FieldDifference, sees_the_sign_of_zero_and_what_is_not_a_number) {
  const std::vector<Real> zero{5, 0}, minus{5, -0.0}, poisoned{5, std::nan("")};
  EXPECT_EQ(difference_from(zero, minus).first, 1u);
  EXPECT_EQ(difference_from(zero, minus).relative, 0);
  EXPECT_EQ(difference_from(zero, poisoned).first, 1u);
  EXPECT_EQ(difference_from(zero, poisoned).relative, infinity);
}

TEST(FieldDifference, is_between_as_many_values) {
  const std::vector<Real> two{1, 2}, three{1, 2, 3};
  EXPECT_THROW(difference_from(two, three), Error);
}

TEST(FieldDifference, names_the_field_and_the_entity) {
  const std::vector<Vector3> positions{{0, 0, 0}, {1, 2, 3}, {4, 5, 6}};
  const ComparedField wanted{"face velocity", "face", {1, 2, 3, 4, 5, 6, 7, 8, 9}, positions};
  EXPECT_EQ(describe_difference(wanted, wanted).find("differs"), std::string::npos);
  ComparedField field = wanted;
  field.numbers[5] = std::nextafter(6.0, 7.0);
  const std::string text = describe_difference(wanted, field);
  EXPECT_NE(text.find(" 1 ulps"), std::string::npos) << text;
  EXPECT_NE(text.find("face velocity differs first at face 1 (1, 2, 3)"), std::string::npos) << text;
}

TEST(FieldDifference, knows_where_the_faces_of_a_periodic_mesh_are) {
  const PeriodicBox box{"", CellType::Quadrilateral, {4, 3, 1}, 1, false};
  const PeriodicMesh joined = make_periodic(Mesh(box.raw()), box.pairs());
  const Mesh& mesh = joined.mesh;
  FlowSettings settings;
  settings.viscosity = 1;
  settings.boundaries.assign(mesh.topology().patches().size(), Wall{});
  ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
  const std::vector<ComparedField> wanted = compared_fields(flow);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    ComparedField field = wanted[k];
    const bool of_faces = field.entity == "face";
    const std::size_t entities =
        at(of_faces ? mesh.topology().faces().size() : mesh.topology().cells().size());
    ASSERT_EQ(field.numbers.size() % entities, 0u) << field.name;
    ++field.numbers.back();
    const Vector3 x = of_faces ? mesh.geometry().face_centroids()[entities - 1]
                               : mesh.geometry().cell_centroids()[entities - 1];
    EXPECT_THAT(describe_difference(wanted[k], field),
                testing::HasSubstr(fmt::format("{} differs first at {} {} ({:.6g}, {:.6g}, {:.6g})",
                                               field.name, field.entity, entities - 1, x.x, x.y, x.z)));
    field.positions = field.positions.first(field.positions.size() - 1);
    EXPECT_THROW(describe_difference(wanted[k], field), Error) << field.name;
  }
}

}  // namespace
}  // namespace curlew
