// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "physics/space_time_function.hpp"

namespace curlew {

/// A function of place and time given as C++ code.
class AnalyticFunction : public SpaceTimeFunction {
 public:
  explicit AnalyticFunction(std::function<Real(Vector3, Real)> function) : function_(std::move(function)) {}
  void evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const override {
    for (std::size_t i = 0; i < points.size(); ++i) values[i] = function_(points[i], time);
  }
  bool depends_on_time() const override { return true; }
  bool depends_on_space() const override { return true; }

 private:
  std::function<Real(Vector3, Real)> function_;
};

/// A function that does not change in time, and says so.
class SteadyFunction : public AnalyticFunction {
 public:
  using AnalyticFunction::AnalyticFunction;
  bool depends_on_time() const override { return false; }
};

inline std::shared_ptr<const SpaceTimeFunction> analytic(std::function<Real(Vector3, Real)> function) {
  return std::make_shared<AnalyticFunction>(std::move(function));
}
inline std::shared_ptr<const SpaceTimeFunction> constant(Real value) {
  return std::make_shared<SteadyFunction>([value](Vector3, Real) { return value; });
}

}  // namespace curlew
