// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/error.hpp"

namespace curlew {

/// A rank's slab (mesh/parallel/slabs.hpp) of one array of a state: numbers at hand, or made whenever they
/// are asked for, so that of a large state no more than an array at a time is in memory twice.
template <class T>
class StateArray {
 public:
  StateArray() : StateArray(std::vector<T>()) {}
  StateArray(std::vector<T> values)
      : size_(values.size()), make_([kept = std::move(values)] { return kept; }) {}
  /// `make()` gives `size` numbers, the same ones each time, by all ranks together.
  StateArray(std::size_t size, std::function<std::vector<T>()> make) : size_(size), make_(std::move(make)) {}

  std::size_t size() const { return size_; }
  /// By all ranks together.
  std::vector<T> values() const {
    std::vector<T> values = make_();
    REQUIRE(values.size() == size_, "an array of a state has another size than it is said to have");
    return values;
  }
  friend bool operator==(const StateArray& a, const StateArray& b) {
    return a.size_ == b.size_ && a.values() == b.values();
  }

 private:
  std::size_t size_;
  std::function<std::vector<T>()> make_;
};

}  // namespace curlew
