// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/disjoint_sets.hpp"

#include <gmock/gmock.h>

#include "mesh/topology.hpp"

namespace curlew {
namespace {

TEST(DisjointSets, of_a_table_are_what_its_rows_connect) {
  std::vector<Index> entries;
  for (const Index n : {3, 1, 4, 2, 5, 5, 7}) entries.push_back(incidence_entry::make(n, false));
  // 3-1, a row of none, 4-2-5 and 5-7; nothing has 0 or 6.
  const IncidenceTable<Cell, Node> nodes_of_cell({0, 2, 2, 5, 7}, entries);
  DisjointSets sets = connected_by(nodes_of_cell, Range<Node>(0, 8));
  EXPECT_EQ(sets.sets(), 4);
  std::vector<Index> roots;
  for (Index n = 0; n < 8; ++n) roots.push_back(sets.root(n));
  EXPECT_THAT(roots, testing::ElementsAre(0, 1, 2, 1, 2, 2, 6, 2));
}

}  // namespace
}  // namespace curlew
