// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/table_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/diagnostics.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TableTest : public testing::Test {
 protected:
  Table read(const std::string& text) {
    write_text(path_, text);
    return read_table(path_);
  }

  /// Where the table is wrong and why.
  Diagnostic problem(const std::string& text) {
    try {
      read(text);
    } catch (const InputErrors& errors) {
      EXPECT_EQ(errors.diagnostics().size(), 1u);
      return errors.diagnostics().front();
    }
    return {};
  }

  OutputDirectory directory_;
  std::filesystem::path path_ = directory_ / "profile.csv";
};

TEST_F(TableTest, ReadsColumnsByName) {
  const Table table = read("# a pump\r\n t , flow_rate\r\n\r\n0,1\r\n 0.5 , +2e-1 \r\n1,-3");
  EXPECT_EQ(table.abscissa, Abscissa::Time);
  EXPECT_THAT(table.names, ElementsAre("flow_rate"));
  EXPECT_THAT(table.abscissae, ElementsAre(0, 0.5, 1));
  ASSERT_EQ(table.columns.size(), 1u);
  EXPECT_THAT(table.columns[0], ElementsAre(1, 0.2, -3));
}

TEST_F(TableTest, InterpolatesInTimeAndStaysConstantBeyondTheEnds) {
  const auto table = std::make_shared<const Table>(read("t,a,b\n1,10,0\n2,20,1\n4,0,1\n"));
  const TableFunction a(table, 0), b(table, 1);
  EXPECT_TRUE(a.depends_on_time());
  EXPECT_FALSE(a.depends_on_space());
  const std::vector<Vector3> points(2, Vector3{7, 8, 9});
  std::vector<Real> values(2);
  const std::vector<std::array<Real, 3>> expected = {{-5, 10, 0}, {1, 10, 0}, {1.25, 12.5, 0.25},
                                                     {2, 20, 1},  {3, 10, 1}, {3.5, 5, 1},
                                                     {4, 0, 1},   {1e9, 0, 1}};
  for (const auto& [time, of_a, of_b] : expected) {
    a.evaluate(points, time, values);
    EXPECT_THAT(values, ElementsAre(of_a, of_a)) << time;
    b.evaluate(points, time, values);
    EXPECT_THAT(values, ElementsAre(of_b, of_b)) << time;
  }
}

TEST_F(TableTest, InterpolatesAlongTheNamedAxisOnly) {
  const std::vector<Vector3> points = {{0.25, 0.5, 0.75}};
  std::vector<Real> values(1);
  for (const auto& [axis, expected] : {std::pair("x", 2.5), std::pair("y", 5.0), std::pair("z", 7.5)}) {
    const auto table = std::make_shared<const Table>(read(std::string(axis) + ",v\n0,0\n1,10\n"));
    const TableFunction function(table, 0);
    EXPECT_FALSE(function.depends_on_time());
    EXPECT_TRUE(function.depends_on_space());
    function.evaluate(points, 0.1, values);
    EXPECT_EQ(values[0], expected) << axis;
  }
}

TEST_F(TableTest, MayBeginWithAByteOrderMark) {
  EXPECT_THAT(read("\xEF\xBB\xBFt,v\n0,1\n").names, ElementsAre("v"));
}

TEST_F(TableTest, OneRowIsAConstant) {
  const TableFunction function(std::make_shared<const Table>(read("y,v\n3,4\n")), 0);
  std::vector<Real> values(2);
  function.evaluate(std::vector<Vector3>{{0, -1, 0}, {0, 5, 0}}, 0, values);
  EXPECT_THAT(values, ElementsAre(4, 4));
}

TEST_F(TableTest, SaysWhatIsWrongAndOnWhichLine) {
  struct Example {
    std::string text;
    int line;
    std::string fragment;
  };
  for (const auto& [text, line, fragment] : {
           Example{"", 1, "ends without a header"},
           {"# only a comment\n", 1, "ends without a header"},
           {"t,v\n\n", 2, "ends without a row of numbers"},
           {"r,v\n0,0\n", 1, "must be named x, y, z (position, m) or t (time, s), not \"r\""},
           {"0,0\n1,1\n", 1, "not \"0\""},
           {"t,v\n0,1\n1\n", 3, "expected 2 numbers separated by commas, as the header says, found 1"},
           {"t,v\n0,1\n1,2,3\n", 3, "found 3 (decimals take a point)"},
           {"t;v\n0;1\n", 1, "not \"t;v\""},
           {"t,v\n0,one\n", 2, "\"one\" is no finite number"},
           {"t,v\n0,1 m\n", 2, "\"1 m\" is no finite number"},
           {"t,v\n0,+-1\n", 2, "\"+-1\" is no finite number"},
           {"t,v\n0,\n", 2, "\"\" is no finite number"},
           {"t,v\n0,nan\n", 2, "\"nan\" is no finite number"},
           {"t,v\n0,1e999\n", 2, "\"1e999\" is no finite number"},
           {"# units\nt,v\n0,1\n2,1\n1,1\n", 5, "t = 1 does not come after t = 2; sort the rows by t"},
           {"y,v\n0,1\n0,1\n", 3, "y = 0 does not come after y = 0"},
       }) {
    const Diagnostic found = problem(text);
    EXPECT_EQ(found.location.file, path_.string()) << text;
    EXPECT_EQ(found.location.line, line) << text;
    EXPECT_THAT(found.message, HasSubstr(fragment)) << text;
  }
}

TEST_F(TableTest, NamesAFileThatCannotBeRead) {
  EXPECT_THAT(message_of<InputErrors>([&] { read_table(path_); }),
              HasSubstr("profile.csv: cannot read the table"));
  EXPECT_THAT(message_of<InputErrors>([&] { read_table(directory_.path()); }),
              HasSubstr("this is a directory"));
  EXPECT_THAT(message_of<InputErrors>([&] { read_table("/dev/zero"); }), HasSubstr("this is a device"));
}

}  // namespace
}  // namespace curlew::test
