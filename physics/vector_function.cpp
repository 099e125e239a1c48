// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/vector_function.hpp"

#include <algorithm>
#include <vector>

#include "kernels/error.hpp"

namespace curlew {

void ComponentVector::evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const {
  std::vector<Real> component(points.size());
  constexpr std::array<Real Vector3::*, 3> members{&Vector3::x, &Vector3::y, &Vector3::z};
  for (std::size_t k = 0; k < 3; ++k) {
    components_[k]->evaluate(points, time, component);
    for (std::size_t i = 0; i < points.size(); ++i) values[i].*members[k] = component[i];
  }
}

bool ComponentVector::depends_on_time() const {
  return std::ranges::any_of(components_, [](const FunctionPointer& f) { return f->depends_on_time(); });
}

bool ComponentVector::depends_on_space() const {
  return std::ranges::any_of(components_, [](const FunctionPointer& f) { return f->depends_on_space(); });
}

Vector3 RigidRotation::angular_velocity(Real time) const {
  const Real length = norm(axis);
  REQUIRE(length > 0, "the axis of a rotation must have a direction");
  Real value = 0;
  rate->evaluate(std::span(&origin, 1), time, std::span(&value, 1));
  return (value / length) * axis;
}

void RotationVelocity::evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const {
  const Vector3 angular_velocity = rotation_.angular_velocity(time);
  for (std::size_t i = 0; i < points.size(); ++i)
    values[i] = cross(angular_velocity, points[i] - rotation_.origin);
}

bool RotationVelocity::depends_on_time() const {
  return rotation_.rate->depends_on_time();
}

}  // namespace curlew
