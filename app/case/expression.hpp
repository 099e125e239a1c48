// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/diagnostics.hpp"
#include "physics/space_time_function.hpp"

namespace curlew {

/// What an expression is to depend on.
enum class Variables { PlaceAndTime, Time };
/// Their names: x, y, z, t.
std::vector<std::string> names_of(Variables variables);

/// A number, or an expression of x, y, z [m] and t [s] as a user writes it.
///
/// Known: + - * / ^ ( ), comparisons, && ||, `condition ? a : b`; the constants pi and e; the functions sin
/// cos tan asin acos atan atan2 sinh cosh tanh exp log (natural) log10 sqrt abs pow erf erfc, and min, max of
/// any number of arguments. Angles in radians; decimal points whatever the locale.
class Expression final : public SpaceTimeFunction {
 public:
  /// A constant.
  Expression(Real value = 0) : constant_(value) {}

  /// Reads `text`. Throws InputErrors at `location` when it is no expression, or a constant that is not
  /// finite. `variables`: those that messages offer; all are known.
  explicit Expression(const std::string& text, Location location = {},
                      Variables variables = Variables::PlaceAndTime);

  /// Throws InputErrors naming the expression, the point and the time where the value is not finite.
  void evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const override;

  bool depends_on_time() const override { return depends_on_time_; }
  bool depends_on_space() const override { return depends_on_space_; }
  [[noreturn]] void refuse(const std::string& why) const override;
  bool is_constant() const { return !depends_on_time_ && !depends_on_space_; }

  /// The value of a constant; meaningless for others.
  Real constant() const { return constant_; }

 private:
  struct Program;  // keeps muparser out of this header

  std::shared_ptr<Program> program_;  // none for constants; shared by copies
  Real constant_ = 0;
  bool depends_on_time_ = false;
  bool depends_on_space_ = false;
};

}  // namespace curlew
