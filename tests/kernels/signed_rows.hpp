// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/incidence.hpp"

namespace curlew::signed_rows {

struct Cell;
struct Face;

inline constexpr Index faces = 1000;

/// Rows of entries with signs.
using SignedRows = std::vector<std::vector<Index>>;

/// Rows of `shortest` to `longest` entries, whose lengths follow no pattern.
inline SignedRows random_rows(Index count, Index shortest, Index longest) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<Index> length(shortest, longest), entry(1, faces - 1), sign(0, 1);
  SignedRows rows(static_cast<std::size_t>(count));
  for (auto& row : rows) {
    row.resize(static_cast<std::size_t>(length(generator)));
    for (Index& face : row) face = sign(generator) == 0 ? entry(generator) : -entry(generator);
  }
  return rows;
}

inline IncidenceTable<Cell, Face> incidence_of(const SignedRows& rows) {
  std::vector<Index> starts{0}, entries;
  for (const auto& row : rows) {
    for (const Index face : row) entries.push_back(incidence_entry::make(std::abs(face), face < 0));
    starts.push_back(static_cast<Index>(entries.size()));
  }
  return IncidenceTable<Cell, Face>(starts, entries);
}

template <class T>
std::vector<T> random_values() {
  std::mt19937 generator(11);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(faces));
  for (T& x : values) x = value(generator);
  return values;
}

/// The sum of a row, entry by entry.
template <class T>
T sum_of(const std::vector<Index>& row, const std::vector<T>& x) {
  T sum = 0;
  for (const Index face : row) {
    const T value = x[static_cast<std::size_t>(std::abs(face))];
    sum = face < 0 ? sum - value : sum + value;
  }
  return sum;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace curlew::signed_rows
