// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cassert>
#include <type_traits>

#include "kernels/id.hpp"

namespace curlew {

/// Non-owning values on an entity, indexable by `Id<E>` alone. A plain pointer in release builds, so that
/// kernels stay small; bounds are checked in debug builds.
template <class E, class T>
class View {
 public:
  View() = default;
  CURLEW_HOST_DEVICE View(T* data, [[maybe_unused]] Index size)
      : data_(data)
#ifndef NDEBUG
        ,
        size_(size)
#endif
  {
  }
  /// Values that may be read as well as written convert to values that may only be read.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  CURLEW_HOST_DEVICE View(View<E, U> other) : data_(other.data_) {
#ifndef NDEBUG
    size_ = other.size_;
#endif
  }

  CURLEW_HOST_DEVICE T& operator[](Id<E> i) const {
#ifndef NDEBUG
    assert(i.value() >= 0 && i.value() < size_);
#endif
    return data_[i.value()];
  }
  T* data() const {
    return data_;
  }

 private:
  template <class, class>
  friend class View;

  T* data_ = nullptr;
#ifndef NDEBUG
  Index size_ = 0;
#endif
};

}  // namespace curlew
