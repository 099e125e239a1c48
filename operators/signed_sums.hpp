// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/executor.hpp"
#include "kernels/sliced_incidence.hpp"

namespace curlew {

namespace detail {
class SumInParts;
}

/// Sums over the rows of an incidence table with its signs. Processors read rows from a layout of their own,
/// kept beside the table, but for parts of it that have no row of more than two entries
/// (docs/kernels.md).
template <class From, class To>
class SignedSums {
 public:
  SignedSums(const Executor& executor, IncidenceTable<From, To> table)
      : executor_(executor), table_(std::move(table)) {
    if (executor.space() != MemorySpace::Host) return;
    table_.visit_parts(MemorySpace::Host, [&](Range<From> part, const auto& rows) {
      Index longest = 0;
      for (const Id<From> i : part) longest = std::max(longest, rows[i].size());
      if (longest > 2) sliced_.emplace_back(table_, part);
    });
  }

  const IncidenceTable<From, To>& table() const { return table_; }

  /// Runs `body(i, sum_j s_ij x_j)` for each i in `wanted`, a kernel that is given the sum. What it returns,
  /// if it does, is added to `sum`, null for nothing. Defined in operators/signed_sum_kernels.hpp.
  template <class T, class Body>
  void visit(Range<From> wanted, View<To, const T> x, const Body& body,
             detail::SumInParts* sum = nullptr) const;

 private:
  Executor executor_;
  IncidenceTable<From, To> table_;
  std::vector<SlicedIncidence<From, To>> sliced_;  // parts of the table
};

}  // namespace curlew
