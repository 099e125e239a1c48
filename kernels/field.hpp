// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/executor.hpp"
#include "kernels/vector3.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// What the values on an entity mean: values at points (or means), or integrals over the mesh's entities
/// (primal) or over the entities of its dual. A face flux (primal) and a circulation along a dual edge (dual)
/// both live on faces and must not be added; they have different types.
enum class Cochain { No, Primal, Dual };

/// How many entities a field has values on, and how many of them, the first ones, its rank owns: all, but
/// where a mesh is divided among ranks.
struct Extent {
  Extent(Index size) : all(size), owned(size) {}
  Extent(Index size, Index owned_size) : all(size), owned(owned_size) {}
  Index all, owned;
};

/// Whether every rank has all entities of this kind, none of them a ghost, though one alone owns them.
template <class E>
inline constexpr bool on_every_rank = false;

/// Sets all values. Fields of a new type of value need an instantiation: kernels/fill.cpp has those of the
/// common ones, kernels/fill.hpp the definition.
template <class T>
void fill_values(const Executor& executor, T* values, Index size, T value);

/// Values on all entities of type `E`, in the memory of one executor, zero when made.
template <class E, class T = Real, Cochain kind = Cochain::No>
class Field {
 public:
  using Entity = E;
  using Value = T;
  static constexpr Cochain cochain = kind;

  Field(const Executor& executor, Extent extent, std::string name, std::string unit)
      : executor_(executor),
        name_(std::move(name)),
        unit_(std::move(unit)),
        values_(executor.space(), static_cast<std::size_t>(extent.all)),
        owned_(extent.owned) {
    fill(T{});
  }

  const std::string& name() const { return name_; }
  const std::string& unit() const { return unit_; }
  const Executor& executor() const { return executor_; }
  Index size() const { return static_cast<Index>(values_.size()); }
  Range<E> range() const { return Range<E>(0, size()); }
  /// What reductions go over.
  Range<E> owned() const { return Range<E>(0, owned_); }
  Extent extent() const { return {size(), owned_}; }

  View<E, T> view() { return View<E, T>(values_.data(), size()); }
  View<E, const T> view() const { return View<E, const T>(values_.data(), size()); }

  void fill(T value) { fill_values(executor_, values_.data(), size(), value); }
  void copy_from_host(std::span<const T> host) {
    REQUIRE(host.size() == values_.size(), "field '" + name_ + "' has " + std::to_string(size()) +
                                               " values, got " + std::to_string(host.size()));
    copy_bytes(values_.data(), values_.space(), host.data(), MemorySpace::Host, host.size_bytes());
  }
  void copy_to_host(std::span<T> host) const {
    REQUIRE(host.size() == values_.size(), "field '" + name_ + "' has " + std::to_string(size()) +
                                               " values, room for " + std::to_string(host.size()));
    copy_bytes(host.data(), MemorySpace::Host, values_.data(), values_.space(), host.size_bytes());
  }
  std::vector<T> to_host() const { return to_host(range()); }
  /// Of these entities alone, which are among the field's.
  std::vector<T> to_host(Range<E> range) const {
    REQUIRE(range.first() >= 0 && range.last() <= size(),
            "field '" + name_ + "' has " + std::to_string(size()) + " values, asked for those up to " +
                std::to_string(range.last()));
    std::vector<T> host(static_cast<std::size_t>(range.size()));
    copy_bytes(host.data(), MemorySpace::Host, values_.data() + range.first(), values_.space(),
               host.size() * sizeof(T));
    return host;
  }

 private:
  Executor executor_;
  std::string name_, unit_;
  Buffer<T> values_;
  Index owned_;
};

/// A field of the same size in the same memory, zero.
template <class E, class T, Cochain kind>
Field<E, T, kind> alike(const Field<E, T, kind>& field) {
  return Field<E, T, kind>(field.executor(), field.extent(), field.name(), field.unit());
}

/// A field of another kind on the same entities, zero.
template <class F, class E, class T, Cochain kind>
F zero_like(const Field<E, T, kind>& field) {
  return F(field.executor(), field.extent(), field.name(), field.unit());
}
template <class E, class T, Cochain kind>
void set_to_zero(Field<E, T, kind>& field) {
  field.fill(T{});
}
/// Calls `visit(field of x, field of y)`: for what vectors are made of, here one field.
template <class E, class T, class U, Cochain a, Cochain b, class Visit>
void visit_fields(const Field<E, T, a>& x, Field<E, U, b>& y, const Visit& visit) {
  visit(x, y);
}

/// Integrals over the mesh's own entities: a face flux, the integral of a vector along an edge, net outflow
/// of a cell.
template <class E>
using PrimalCochain = Field<E, Real, Cochain::Primal>;
/// Integrals over the dual of an entity: the difference along the dual edge of a face, the net outflow of the
/// dual volume of a node, the value at a cell's point.
template <class E>
using DualCochain = Field<E, Real, Cochain::Dual>;

}  // namespace curlew
