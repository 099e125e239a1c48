// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <utility>
#include <vector>

#include "operators/symmetric_matrix.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// Rows whose columns have names, on their way between ranks.
struct RowsInTransit {
  std::vector<Index> lengths;
  std::vector<RemoteUnknown> columns;
  std::vector<Real> values;

  /// `unknown(column)`: the RemoteUnknown of a number.
  template <class UnknownOf>
  void add(const SparseRows& rows, Index i, const UnknownOf& unknown) {
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      columns.push_back(unknown(rows.columns[at(k)]));
      values.push_back(rows.values[at(k)]);
    }
    lengths.push_back(rows.starts[at(i) + 1] - rows.starts[at(i)]);
  }
  /// `number(unknown)`: the number of a RemoteUnknown.
  template <class NumberOf>
  void append_to(SparseRows& rows, const NumberOf& number) const {
    for (const RemoteUnknown& column : columns) rows.columns.push_back(number(column));
    rows.values.insert(rows.values.end(), values.begin(), values.end());
    for (const Index length : lengths) rows.starts.push_back(rows.starts.back() + length);
  }
  friend Packer& operator<<(Packer& packer, const RowsInTransit& rows) {
    return packer << rows.lengths << rows.columns << rows.values;
  }
  friend Unpacker& operator>>(Unpacker& unpacker, RowsInTransit& rows) {
    return unpacker >> rows.lengths >> rows.columns >> rows.values;
  }
};

/// Appends the rows of ghosts to those of the unknowns that this rank owns. By all ranks together.
template <class UnknownOf, class NumberOf>
void append_ghost_rows(const Communicator& ranks, const HaloParts<Unknown>& unknowns, SparseRows& rows,
                       const UnknownOf& unknown, const NumberOf& number) {
  std::vector<Communicator::Letter> letters;
  for (const auto& [rank, entries] : unknowns.sent_to) {
    RowsInTransit sent;
    for (const Id<Sent> k : entries) sent.add(rows, unknowns.sent[at(k.value())], unknown);
    Packer packer;
    packer << sent;
    letters.push_back({rank, std::move(packer.bytes)});
  }
  for (const Communicator::Letter& letter : ranks.deliver(std::move(letters))) {
    RowsInTransit received;
    Unpacker unpacker(letter.bytes);
    unpacker >> received;
    received.append_to(rows, number);
  }
}

}  // namespace curlew
