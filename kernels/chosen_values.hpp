// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"

namespace curlew {

namespace detail {

struct Chosen;  // entity tag: a place in a list of entities

template <class E, class T>
struct ValueOnChosen {
  View<Chosen, const Index> entity;
  View<E, const T> values;
  View<Chosen, T> chosen;
  CURLEW_HOST_DEVICE void operator()(Id<Chosen> k) const { chosen[k] = values[Id<E>(entity[k])]; }
};

template <class E, class T>
struct SetOnChosen {
  View<Chosen, const Index> entity;
  View<Chosen, const T> chosen;
  View<E, T> values;
  CURLEW_HOST_DEVICE void operator()(Id<Chosen> k) const { values[Id<E>(entity[k])] = chosen[k]; }
};

inline View<Chosen, const Index> view_of(const ConstantArray<Index>& entities, MemorySpace space) {
  return View<Chosen, const Index>(entities.data(space), static_cast<Index>(entities.size()));
}

}  // namespace detail

/// The values of a field at a list of its entities, in the order of the list, on the host: nothing else is
/// copied from a device.
template <class E, class T, Cochain kind>
std::vector<T> values_at(const Field<E, T, kind>& field, const ConstantArray<Index>& entities) {
  const Executor& executor = field.executor();
  const auto count = static_cast<Index>(entities.size());
  Buffer<T> chosen(executor.space(), entities.size());
  for_each(executor, Range<detail::Chosen>(0, count),
           detail::ValueOnChosen<E, T>{detail::view_of(entities, executor.space()), field.view(),
                                       View<detail::Chosen, T>(chosen.data(), count)});
  std::vector<T> host(entities.size());
  copy_bytes(host.data(), MemorySpace::Host, chosen.data(), executor.space(), host.size() * sizeof(T));
  return host;
}

/// Sets the values of a field at a list of its entities, which are all different, from one value on the host
/// for each: nothing else is copied to a device.
template <class E, class T, Cochain kind>
void set_values_at(Field<E, T, kind>& field, const ConstantArray<Index>& entities, std::span<const T> host) {
  REQUIRE(host.size() == entities.size(), "field '" + field.name() + "' is to be set at " +
                                              std::to_string(entities.size()) + " entities, got " +
                                              std::to_string(host.size()) + " values");
  const Executor& executor = field.executor();
  const auto count = static_cast<Index>(entities.size());
  Buffer<T> chosen(executor.space(), entities.size());
  copy_bytes(chosen.data(), executor.space(), host.data(), MemorySpace::Host, host.size_bytes());
  for_each(executor, Range<detail::Chosen>(0, count),
           detail::SetOnChosen<E, T>{detail::view_of(entities, executor.space()),
                                     View<detail::Chosen, const T>(chosen.data(), count), field.view()});
}

}  // namespace curlew
