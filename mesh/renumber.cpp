// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/renumber.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// Breadth-first search over one connected component of a graph.
class BreadthFirst {
 public:
  BreadthFirst(std::span<const Index> starts, std::span<const Index> neighbours)
      : starts_(starts), neighbours_(neighbours), visit_(starts.size() - 1, 0) {}

  Index degree(Index c) const { return starts_[at(c) + 1] - starts_[at(c)]; }

  /// Appends the component of `root` to `order`, level by level; returns the number of levels and leaves the
  /// start of the last level in last_level().
  Index run(Index root, std::vector<Index>& order) {
    ++epoch_;
    std::size_t next = order.size();
    order.push_back(root);
    visit_[at(root)] = epoch_;
    Index levels = 0;
    while (next < order.size()) {
      last_level_ = next;
      const std::size_t level_end = order.size();
      ++levels;
      for (; next < level_end; ++next) {
        const std::size_t first_child = order.size();
        for (Index k = starts_[at(order[next])]; k < starts_[at(order[next]) + 1]; ++k) {
          const Index neighbour = neighbours_[at(k)];
          if (visit_[at(neighbour)] == epoch_) continue;
          visit_[at(neighbour)] = epoch_;
          order.push_back(neighbour);
        }
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first_child), order.end(),
                  [&](Index a, Index b) { return degree(a) != degree(b) ? degree(a) < degree(b) : a < b; });
      }
    }
    return levels;
  }
  std::size_t last_level() const { return last_level_; }

 private:
  std::span<const Index> starts_, neighbours_;
  std::vector<Index> visit_;
  Index epoch_ = 0;
  std::size_t last_level_ = 0;
};

/// Coordinates of one point along the Hilbert curve: axes to transposed index (Skilling 2004,
/// AxestoTranspose).
std::uint64_t hilbert_key(std::array<std::uint32_t, 3> axes, std::size_t dimension, int bits) {
  const std::uint32_t top = std::uint32_t{1} << (bits - 1);
  for (std::uint32_t q = top; q > 1; q >>= 1) {
    const std::uint32_t p = q - 1;
    for (std::size_t i = 0; i < dimension; ++i) {
      if (axes[i] & q) {
        axes[0] ^= p;
      } else {
        const std::uint32_t t = (axes[0] ^ axes[i]) & p;
        axes[0] ^= t;
        axes[i] ^= t;
      }
    }
  }
  for (std::size_t i = 1; i < dimension; ++i) axes[i] ^= axes[i - 1];
  std::uint32_t t = 0;
  for (std::uint32_t q = top; q > 1; q >>= 1) {
    if (axes[dimension - 1] & q) t ^= q - 1;
  }
  for (std::size_t i = 0; i < dimension; ++i) axes[i] ^= t;
  std::uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (std::size_t i = 0; i < dimension; ++i) key = (key << 1) | ((axes[i] >> bit) & 1u);
  }
  return key;
}

}  // namespace

std::vector<Index> reverse_cuthill_mckee(std::span<const Index> starts, std::span<const Index> neighbours) {
  const auto cells = static_cast<Index>(starts.size()) - 1;
  BreadthFirst search(starts, neighbours);
  std::vector<Index> order, trial;
  std::vector<bool> done(at(cells), false);
  order.reserve(at(cells));
  for (Index first = 0; first < cells; ++first) {
    if (done[at(first)]) continue;
    // Two sweeps towards a cell far from all others; more gain nothing measurable on meshes.
    Index root = first;
    for (int sweep = 0; sweep < 2; ++sweep) {
      trial.clear();
      search.run(root, trial);
      root = *std::min_element(trial.begin() + static_cast<std::ptrdiff_t>(search.last_level()), trial.end(),
                               [&](Index a, Index b) { return search.degree(a) < search.degree(b); });
    }
    const std::size_t component = order.size();
    search.run(root, order);
    for (std::size_t k = component; k < order.size(); ++k) done[at(order[k])] = true;
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<Index> hilbert_order(std::span<const Vector3> points, int dimension) {
  constexpr int bits = 21;
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  Vector3 low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
  for (const Vector3& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  // One scale for all directions keeps the curve's steps isotropic in space.
  const Real extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  const Real scale = extent > 0 ? static_cast<Real>((1u << bits) - 1) / extent : 0;
  struct Keyed {
    std::uint64_t key;
    Index cell;
  };
  std::vector<Keyed> keyed(points.size());
  parallel_for(points.size(), [&](std::size_t i) {
    const Vector3 p = scale * (points[i] - low);
    keyed[i] = {hilbert_key({static_cast<std::uint32_t>(p.x), static_cast<std::uint32_t>(p.y),
                             static_cast<std::uint32_t>(p.z)},
                            static_cast<std::size_t>(dimension), bits),
                static_cast<Index>(i)};
  });
  std::sort(keyed.begin(), keyed.end(),
            [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.cell < b.cell; });
  std::vector<Index> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = keyed[i].cell;
  return order;
}

}  // namespace curlew
