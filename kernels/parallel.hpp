// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace curlew {

/// Runs `body(i)` for i in [0, count) on all cores, for set-up work on the host; the bodies must not depend
/// on each other.
template <class Body>
void parallel_for(std::size_t count, const Body& body) {
#pragma omp parallel for schedule(static) if (count > 4096)
  for (std::size_t i = 0; i < count; ++i) body(i);
}

/// Runs `body(first, last)` for pieces of [0, count) of `length` each, the last one shorter, on all cores.
template <class Body>
void parallel_for_pieces(std::size_t count, std::size_t length, const Body& body) {
#pragma omp parallel for schedule(dynamic) if (count > length)
  for (std::size_t first = 0; first < count; first += length) body(first, std::min(first + length, count));
}

/// Keeps the lowest value that any thread reports, so that what is reported does not depend on their timing.
template <class T>
void record_lowest(std::atomic<T>& lowest, T value) {
  T current = lowest;
  while (value < current && !lowest.compare_exchange_weak(current, value)) {
  }
}

}  // namespace curlew
