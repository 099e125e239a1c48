// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "kernels/vector3.hpp"
#include "physics/space_time_function.hpp"

namespace curlew {

/// A given vector function of place and time: a velocity, a body force. The quantity and unit of its values
/// are stated where it is used.
class VectorFunction {
 public:
  VectorFunction() = default;
  virtual ~VectorFunction() = default;

  /// Writes the value at points[i] [m] and `time` [s] to values[i]; both spans have the same size. Throws
  /// InputError where a value is not finite.
  virtual void evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const = 0;

  /// Whether the value can change with time: if not, one evaluation serves the whole run.
  virtual bool depends_on_time() const = 0;

  /// Whether the value can change with place.
  virtual bool depends_on_space() const = 0;

 protected:
  VectorFunction(const VectorFunction&) = default;
  VectorFunction& operator=(const VectorFunction&) = default;
};

using VectorFunctionPointer = std::shared_ptr<const VectorFunction>;

/// A vector given by its Cartesian components.
class ComponentVector final : public VectorFunction {
 public:
  explicit ComponentVector(std::array<FunctionPointer, 3> components) : components_(std::move(components)) {}
  void evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const override;
  bool depends_on_time() const override;
  bool depends_on_space() const override;

 private:
  std::array<FunctionPointer, 3> components_;
};

/// A rigid rotation about an axis.
struct RigidRotation {
  Vector3 origin;        ///< a point on the axis [m]
  Vector3 axis;          ///< direction; any length but zero
  FunctionPointer rate;  ///< angular velocity by the right-hand rule [rad/s]; depends on time at most

  /// Angular velocity vector at `time` [s] [rad/s].
  Vector3 angular_velocity(Real time) const;
};

/// The velocity of a body that rotates, omega x (x - origin) [m/s].
class RotationVelocity final : public VectorFunction {
 public:
  explicit RotationVelocity(RigidRotation rotation) : rotation_(std::move(rotation)) {}
  void evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const override;
  bool depends_on_time() const override;
  bool depends_on_space() const override { return true; }

 private:
  RigidRotation rotation_;
};

}  // namespace curlew
