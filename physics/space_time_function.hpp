// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/error.hpp"
#include "kernels/platform.hpp"
#include "kernels/vector3.hpp"

namespace curlew {

/// A given scalar function of place and time: a boundary value, a source, an initial field.
/// The quantity and unit of its values are stated where it is used.
class SpaceTimeFunction {
 public:
  SpaceTimeFunction() = default;
  virtual ~SpaceTimeFunction() = default;

  /// Writes the value at points[i] [m] and `time` [s] to values[i]; both spans have the same size.
  /// Throws InputError where a value is not finite. Safe to call from several threads.
  virtual void evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const = 0;

  /// Whether the value can change with time: if not, one evaluation serves the whole run.
  virtual bool depends_on_time() const = 0;

  /// Whether the value can change with place.
  virtual bool depends_on_space() const = 0;

  /// Throws InputError for values that cannot be used, saying where the function is given if it knows that.
  [[noreturn]] virtual void refuse(const std::string& why) const { throw InputError(why); }

 protected:
  SpaceTimeFunction(const SpaceTimeFunction&) = default;
  SpaceTimeFunction& operator=(const SpaceTimeFunction&) = default;
};

using FunctionPointer = std::shared_ptr<const SpaceTimeFunction>;

}  // namespace curlew
