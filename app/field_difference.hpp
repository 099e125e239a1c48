// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/flow/incompressible_flow.hpp"

namespace curlew {

/// How values differ from those that they should have.
struct FieldDifference {
  std::uint64_t ulps = 0;            ///< largest: how many doubles lie between two values
  Real relative = 0;                 ///< largest, over the largest magnitude of the values wanted
  std::optional<std::size_t> first;  ///< number of the first value with other bits
};

/// Of as many values as are wanted; signs of zero and what is not a number are compared by their bits.
FieldDifference difference_from(std::span<const Real> wanted, std::span<const Real> values);

/// A field of a run and where its entities are.
struct ComparedField {
  std::string name, entity;
  std::vector<Real> numbers;           // as many on each entity as it has components
  std::span<const Vector3> positions;  // of the entities [m]
};

/// How a field differs from the wanted one, in one line, and in a second where first, if it does.
std::string describe_difference(const ComparedField& wanted, const ComparedField& field);

/// The numbers in a field, component by component.
template <class F>
std::vector<Real> numbers_of(const F& field) {
  const auto values = field.to_host();
  std::vector<Real> numbers(values.size() * (sizeof(typename F::Value) / sizeof(Real)));
  static_assert(sizeof(typename F::Value) % sizeof(Real) == 0);
  std::memcpy(numbers.data(), values.data(), numbers.size() * sizeof(Real));
  return numbers;
}

/// The unknowns of a flow, which must outlive them.
std::vector<ComparedField> compared_fields(const IncompressibleFlow& flow);

}  // namespace curlew
