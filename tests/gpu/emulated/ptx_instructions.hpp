// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// PTX's instructions as functions, by their names there; of results that do not fit the lower bits.
namespace curlew::emulated {

/// A register or an operand as another kind of number: the same bits, or the lower ones; extended by the sign
/// of what has one.
template <class T, class From>
T as(From value) {
  if constexpr (std::is_floating_point_v<T> != std::is_floating_point_v<From>) {
    static_assert(sizeof(T) == sizeof(From));
    return std::bit_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}
template <class Register, class T>
void put(Register& to, T value) {
  to = as<Register>(value);
}

/// In what integers are added and multiplied, for a result that is defined when it does not fit.
template <class T, bool = std::is_floating_point_v<T>>
struct Arithmetic {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct Arithmetic<T, true> {
  using type = T;
};
template <class T>
using ArithmeticOf = typename Arithmetic<T>::type;

template <class T>
T add_(T a, T b) {
  return static_cast<T>(static_cast<ArithmeticOf<T>>(a) + static_cast<ArithmeticOf<T>>(b));
}
template <class T>
T sub_(T a, T b) {
  return static_cast<T>(static_cast<ArithmeticOf<T>>(a) - static_cast<ArithmeticOf<T>>(b));
}
template <class T>
T mul_lo_(T a, T b) {
  return static_cast<T>(static_cast<ArithmeticOf<T>>(a) * static_cast<ArithmeticOf<T>>(b));
}
template <class T>
auto mul_wide_(T a, T b) {
  static_assert(sizeof(T) == 4);
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  return static_cast<Wide>(a) * static_cast<Wide>(b);
}
template <class T>
T mul_hi_(T a, T b) {
  static_assert(sizeof(T) == 4);
  return static_cast<T>(mul_wide_(a, b) >> 32);
}
template <class T>
T mad_lo_(T a, T b, T c) {
  return add_(mul_lo_(a, b), c);
}
template <class T>
T add_rn_(T a, T b) {
  return a + b;
}
template <class T>
T sub_rn_(T a, T b) {
  return a - b;
}
template <class T>
T mul_rn_(T a, T b) {
  return a * b;
}
template <class T>
T div_rn_(T a, T b) {
  return a / b;
}
template <class T>
T rcp_rn_(T a) {
  return 1 / a;
}
template <class T>
T sqrt_rn_(T a) {
  return std::sqrt(a);
}
template <class T>
T fma_rn_(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
T div_(T a, T b) {
  return static_cast<T>(a / b);
}
template <class T>
T rem_(T a, T b) {
  return static_cast<T>(a % b);
}
template <class T>
T neg_(T a) {
  if constexpr (std::is_floating_point_v<T>) return -a;
  return sub_(T{0}, a);
}
template <class T>
T abs_(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(a);
  return a < 0 ? neg_(a) : a;
}
template <class T>
T min_(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
  return a < b ? a : b;
}
template <class T>
T max_(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
  return a < b ? b : a;
}
template <class T>
T and_(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T or_(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T xor_(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
T not_(T a) {
  if constexpr (std::is_same_v<T, bool>) return !a;
  return static_cast<T>(~a);
}
template <class T>
T shl_(T a, std::uint32_t by) {
  return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<ArithmeticOf<T>>(a) << by);
}
template <class T>
T shr_(T a, std::uint32_t by) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  if (by >= width) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> by);
}
template <class T>
std::uint32_t clz_(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}
/// The lower `count` bits of `value` in place of those of `whole` from `first` on.
template <class T>
T bfi_(T value, T whole, std::uint32_t first, std::uint32_t count) {
  const T mask = shl_(not_(shl_(not_(T{0}), count)), first);
  return static_cast<T>((shl_(value, first) & mask) | (whole & not_(mask)));
}
/// An address where there is one memory.
template <class T>
T cvta_(T address) {
  return address;
}
template <class T>
T cvta_to_global_(T address) {
  return address;
}

/// Between kinds of numbers: to the nearest, or from a fraction to the integer next to it towards zero that
/// there is.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(Limits::min())) return Limits::min();
    if (value >= std::ldexp(From{1}, Limits::digits)) return Limits::max();
  }
  return static_cast<To>(value);
}

// Comparisons; those with a u hold where one of the two is not a number, too.
template <class T>
bool eq_(T a, T b) {
  return a == b;
}
template <class T>
bool ne_(T a, T b) {
  return a < b || a > b;
}
template <class T>
bool lt_(T a, T b) {
  return a < b;
}
template <class T>
bool le_(T a, T b) {
  return a <= b;
}
template <class T>
bool gt_(T a, T b) {
  return a > b;
}
template <class T>
bool ge_(T a, T b) {
  return a >= b;
}
template <class T>
bool equ_(T a, T b) {
  return !ne_(a, b);
}
template <class T>
bool neu_(T a, T b) {
  return !(a == b);
}
template <class T>
bool ltu_(T a, T b) {
  return !(a >= b);
}
template <class T>
bool leu_(T a, T b) {
  return !(a > b);
}
template <class T>
bool gtu_(T a, T b) {
  return !(a <= b);
}
template <class T>
bool geu_(T a, T b) {
  return !(a < b);
}

}  // namespace curlew::emulated
