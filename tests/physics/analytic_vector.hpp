// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "physics/vector_function.hpp"

namespace curlew {

/// A vector function of place and time given as C++ code.
class AnalyticVector : public VectorFunction {
 public:
  AnalyticVector(std::function<Vector3(Vector3, Real)> function, bool depends_on_time)
      : function_(std::move(function)), depends_on_time_(depends_on_time) {}
  void evaluate(std::span<const Vector3> points, Real time, std::span<Vector3> values) const override {
    for (std::size_t i = 0; i < points.size(); ++i) values[i] = function_(points[i], time);
  }
  bool depends_on_time() const override { return depends_on_time_; }
  bool depends_on_space() const override { return true; }

 private:
  std::function<Vector3(Vector3, Real)> function_;
  bool depends_on_time_;
};

inline VectorFunctionPointer steady_vector(std::function<Vector3(Vector3)> function) {
  return std::make_shared<AnalyticVector>(
      [function = std::move(function)](Vector3 x, Real) { return function(x); }, false);
}
inline VectorFunctionPointer analytic_vector(std::function<Vector3(Vector3, Real)> function) {
  return std::make_shared<AnalyticVector>(std::move(function), true);
}

}  // namespace curlew
