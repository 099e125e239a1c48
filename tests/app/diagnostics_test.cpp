// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/diagnostics.hpp"

namespace curlew {
namespace {

using testing::HasSubstr;

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("end", "end"), 0u);
  EXPECT_EQ(edit_distance("end", "edn"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> keys = {"tolerance", "max_iterations", "preconditioner"};
  EXPECT_EQ(nearest_name("tolerence", keys), "tolerance");
  EXPECT_EQ(nearest_name("max-iterations", keys), "max_iterations");
  EXPECT_EQ(nearest_name("TOLERANCE", keys), "tolerance");
  EXPECT_EQ(nearest_name("precond", keys), "preconditioner");
  EXPECT_EQ(nearest_name("viscosity", keys), std::nullopt);
  EXPECT_EQ(nearest_name("", keys), std::nullopt);
}

TEST(NearestName, IsSilentWhenSeveralAreAbbreviated) {
  const std::vector<std::string> keys = {"conductivity", "conductance"};
  EXPECT_EQ(nearest_name("conduct", keys), std::nullopt);
}

TEST(NearestName, TakesOneLetterInTheOtherCaseOnly) {
  const std::vector<std::string> names = {"x", "y", "t"};
  EXPECT_EQ(nearest_name("X", names), "x");
  EXPECT_EQ(nearest_name("q", names), std::nullopt);
}

TEST(Diagnostics, SortsByLineAndKeepsTheCommandLineFirst) {
  Diagnostics diagnostics;
  diagnostics.error({"a.toml", 12}, "third");
  diagnostics.error({"a.toml", 3}, "first");
  diagnostics.error({"a.toml", 3}, "second");
  diagnostics.error({"command line", 0}, "before all");
  try {
    diagnostics.throw_if_any();
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "command line: before all\na.toml:3: first\na.toml:3: second\na.toml:12: third");
  }
}

TEST(Diagnostics, AddsWhatWasThrownElsewhere) {
  Diagnostics diagnostics;
  EXPECT_NO_THROW(diagnostics.throw_if_any());
  diagnostics.add(InputErrors({"b.toml", 2}, "bad"));
  EXPECT_FALSE(diagnostics.empty());
  EXPECT_THAT(diagnostics.sorted().front().text(), HasSubstr("b.toml:2: bad"));
}

}  // namespace
}  // namespace curlew
