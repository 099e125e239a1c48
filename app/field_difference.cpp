// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/field_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/error.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

std::uint64_t ulps_between(Real a, Real b) {
  const auto ordered = [](Real x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
  };
  const std::int64_t i = ordered(a), j = ordered(b);
  return i > j ? static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(j)
               : static_cast<std::uint64_t>(j) - static_cast<std::uint64_t>(i);
}

}  // namespace

FieldDifference difference_from(std::span<const Real> wanted, std::span<const Real> values) {
  REQUIRE(wanted.size() == values.size(),
          "expected " + std::to_string(wanted.size()) + " values, got " + std::to_string(values.size()));
  FieldDifference difference;
  Real largest = 0, distance = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const Real a = wanted[k], b = values[k];
    largest = std::max(largest, std::abs(a));
    if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b)) continue;
    if (!difference.first) difference.first = k;
    difference.ulps = std::max(difference.ulps, ulps_between(a, b));
    distance =
        std::max(distance, std::isnan(a - b) ? std::numeric_limits<Real>::infinity() : std::abs(a - b));
  }
  difference.relative = largest > 0 ? distance / largest : distance;
  return difference;
}

std::string describe_difference(const ComparedField& wanted, const ComparedField& field) {
  const FieldDifference difference = difference_from(wanted.numbers, field.numbers);
  std::string text = fmt::format("  {:<20} {:>10} ulps {:>12.2e} relative\n", field.name, difference.ulps,
                                 difference.relative);
  if (!difference.first) return text;
  REQUIRE(!field.positions.empty() && field.numbers.size() % field.positions.size() == 0,
          "a field has as many numbers on each of its entities, which have one position each");
  const std::size_t entity = *difference.first * field.positions.size() / field.numbers.size();
  return text + fmt::format("  {} differs first at {} {} {}\n", field.name, field.entity, entity,
                            where(field.positions[entity]));
}

std::vector<ComparedField> compared_fields(const IncompressibleFlow& flow) {
  const Geometry& geometry = flow.mesh().geometry();
  // As the cells behind them see periodic faces, too.
  const auto faces = geometry.face_centroids().host().first(at(flow.flux().size()));
  return {{"flux", "face", numbers_of(flow.flux()), faces},
          {"face velocity", "face", numbers_of(flow.face_velocity()), faces},
          {"pressure", "cell", numbers_of(flow.pressure()), geometry.cell_centroids().host()}};
}

}  // namespace curlew
