// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"

namespace curlew {

namespace detail {

struct Filled;  // entity tag: one value of an array

template <class T>
struct FillOnEntity {
  T value;
  View<Filled, T> values;
  CURLEW_HOST_DEVICE void operator()(Id<Filled> i) const { values[i] = value; }
};

}  // namespace detail

template <class T>
void fill_values(const Executor& executor, T* values, Index size, T value) {
  for_each(executor, Range<detail::Filled>(0, size),
           detail::FillOnEntity<T>{value, View<detail::Filled, T>(values, size)});
}

}  // namespace curlew
