// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/executor.hpp"
#include "kernels/filled_incidence.hpp"
#include "kernels/sliced_incidence.hpp"

namespace curlew {

class SumInParts;

/// Sums over the rows of an incidence table with its signs. Rows are read from layouts of their own, kept
/// beside the table: by processors but for parts of it that have no row of more than two entries, by GPUs
/// where rows have several lengths (docs/kernels.md).
template <class From, class To>
class SignedSums {
 public:
  SignedSums(const Executor& executor, IncidenceTable<From, To> table)
      : executor_(executor), table_(std::move(table)) {
    table_.visit_parts(MemorySpace::Host, [&]<class Rows>(Range<From> part, const Rows& rows) {
      if (executor.space() != MemorySpace::Host) {
        if constexpr (of_several_lengths<Rows>) filled_.emplace_back(table_, part);
        return;
      }
      Index longest = 0;
      for (const Id<From> i : part) longest = std::max(longest, rows[i].size());
      if (longest > 2) sliced_.emplace_back(table_, part);
    });
  }

  const IncidenceTable<From, To>& table() const { return table_; }

  /// Runs `body(i, sum_j s_ij x_j)` for each i in `wanted`, a kernel that is given the sum. What it returns,
  /// if it does, is added to `sum`, null for nothing. Defined in operators/signed_sum_kernels.hpp.
  template <class T, class Body>
  void visit(Range<From> wanted, View<To, const T> x, const Body& body, SumInParts* sum = nullptr) const;

 private:
  template <class Rows>
  static constexpr bool of_several_lengths = std::is_same_v<Rows, Incidence<From, To>>;

  Executor executor_;
  IncidenceTable<From, To> table_;
  std::vector<SlicedIncidence<From, To>> sliced_;      // parts of the table
  std::vector<FilledIncidenceRows<From, To>> filled_;  // likewise
};

}  // namespace curlew
