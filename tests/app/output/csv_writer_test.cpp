// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/csv_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/error.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<CsvColumn> columns = {{"step", "1"}, {"time", "s"}, {"p0_temperature", "K"}};

void write_rows(CsvWriter& writer, int first, int last) {
  for (int step = first; step <= last; ++step) {
    writer.write_row(std::vector<double>{static_cast<double>(step), 0.1 * step, 300 + 1.0 / (1 + step)});
  }
}

TEST(CsvWriter, writes_units_names_and_flushed_rows) {
  const OutputDirectory directory;
  CsvWriter writer(directory / "a.csv", columns);
  writer.write_row(std::vector<double>{12, 0.1 + 0.2, -1e300});
  EXPECT_EQ(read_text(directory / "a.csv"),
            "# units: step [1], time [s], p0_temperature [K]\nstep,time,p0_temperature\n"
            "12,0.30000000000000004,-1e+300\n");
  EXPECT_THAT(message_of<Error>([&] {
                writer.write_row(std::vector<double>{1, 2});
              }),
              HasSubstr("has 3 numbers, got 2"));
}

TEST(CsvWriter, numbers_read_back_to_the_same_bits) {
  const OutputDirectory directory;
  CsvWriter writer(directory / "a.csv", {{"value", "1"}});
  const std::vector<double> values = {1.0 / 3, 5e-324, 1.7976931348623157e308, 0.1, 123456789.0 * 3.7};
  for (const double value : values) writer.write_row(std::span(&value, 1));
  std::string text = read_text(directory / "a.csv");
  text = text.substr(text.find("value\n") + 6);
  const char* at = text.c_str();
  for (const double value : values) {
    char* end = nullptr;
    EXPECT_EQ(std::strtod(at, &end), value);
    at = end;
  }
}

TEST(CsvWriter, a_restarted_run_gives_the_same_file) {
  const OutputDirectory directory;
  {
    CsvWriter whole(directory / "whole.csv", columns);
    write_rows(whole, 0, 20);
    CsvWriter killed(directory / "killed.csv", columns);
    write_rows(killed, 0, 9);
  }
  write_text(directory / "killed.csv",
             read_text(directory / "killed.csv") + "10,1.");  // cut short by the kill
  {
    CsvWriter restarted(directory / "killed.csv", columns, 0.1 * 6);
    write_rows(restarted, 7, 20);
  }
  EXPECT_EQ(read_text(directory / "killed.csv"), read_text(directory / "whole.csv"));
}

TEST(CsvWriter, a_new_run_starts_over_and_a_restart_without_a_file_starts_one) {
  const OutputDirectory directory;
  {
    CsvWriter writer(directory / "a.csv", columns);
    write_rows(writer, 0, 3);
  }
  const std::string head = "# units: step [1], time [s], p0_temperature [K]\nstep,time,p0_temperature\n";
  { const CsvWriter writer(directory / "a.csv", columns); }
  EXPECT_EQ(read_text(directory / "a.csv"), head);
  { const CsvWriter writer(directory / "b.csv", columns, 3.0); }
  EXPECT_EQ(read_text(directory / "b.csv"), head);
}

TEST(CsvWriter, a_head_that_a_power_failure_cut_off_is_written_anew) {
  const OutputDirectory directory;
  { CsvWriter whole(directory / "whole.csv", columns); }
  const std::string head = read_text(directory / "whole.csv");
  for (const std::size_t left : {std::size_t(0), std::size_t(1), head.find('\n'), head.size() - 1}) {
    write_text(directory / "a.csv", head.substr(0, left));
    EXPECT_NO_THROW(require_same_head(directory / "a.csv", columns)) << left;
    {
      CsvWriter continued(directory / "a.csv", columns, 0.45);
      write_rows(continued, 5, 6);
    }
    CsvWriter whole(directory / "whole.csv", columns);
    write_rows(whole, 5, 6);
    EXPECT_EQ(read_text(directory / "a.csv"), read_text(directory / "whole.csv")) << left;
  }
}

TEST(CsvWriter, a_file_with_other_columns_is_not_continued) {
  const OutputDirectory directory;
  { const CsvWriter writer(directory / "a.csv", {{"time", "s"}, {"total", "W"}}); }
  const std::string before = read_text(directory / "a.csv");
  EXPECT_THAT(message_of<InputError>([&] { CsvWriter(directory / "a.csv", columns, 1.0); }),
              AllOf(HasSubstr((directory / "a.csv").string()), HasSubstr("p0_temperature [K]")));
  EXPECT_EQ(read_text(directory / "a.csv"), before);
  // Nor one with the same columns from elsewhere.
  { const CsvWriter writer(directory / "b.csv", columns, std::nullopt, "p0 at (0, 0, 1)"); }
  EXPECT_THAT(read_text(directory / "b.csv"),
              StartsWith("# units: step [1], time [s], p0_temperature [K]; p0 at (0, 0, 1)\nstep,"));
  EXPECT_NO_THROW(require_same_head(directory / "b.csv", columns, "p0 at (0, 0, 1)"));
  EXPECT_THAT(
      message_of<InputError>([&] { require_same_head(directory / "b.csv", columns, "p0 at (0, 1, 0)"); }),
      HasSubstr("b.csv': what it has is not what this run writes, whose file begins with '# units: "
                "step [1], time [s], p0_temperature [K]; p0 at (0, 1, 0)'"));
  // However long it is.
  EXPECT_THROW(require_same_head("/dev/zero", columns), InputError);
}

TEST(CsvWriter, names_with_commas_and_quotes_are_one_cell) {
  const OutputDirectory directory;
  { const CsvWriter writer(directory / "a.csv", {{"time", "s"}, {"a,b", "W"}, {"the \"hot\" side", "W"}}); }
  EXPECT_THAT(read_text(directory / "a.csv"), HasSubstr("\ntime,\"a,b\",\"the \"\"hot\"\" side\"\n"));
}

TEST(CsvWriter, errors_name_path_and_cause) {
  EXPECT_THAT(message_of<Error>([] { CsvWriter("/proc/missing/a.csv", columns); }),
              HasSubstr("cannot write '/proc/missing/a.csv': No such file or directory"));
  EXPECT_THAT(message_of<Error>([] { CsvWriter("/dev/full", columns); }),
              HasSubstr("cannot write '/dev/full': No space left on device"));
  const OutputDirectory directory;
  CsvWriter writer(directory / "a.csv", columns);
  const FullDisk full(1000);
  EXPECT_THAT(message_of<Error>([&] { write_rows(writer, 0, 100); }), HasSubstr("a.csv': File too large"));
}

TEST(CsvWriter, a_table_is_written_at_once) {
  const OutputDirectory directory;
  std::vector<CsvColumn> table = {{"x", "m"}};
  for (const auto& column : field_columns("velocity", "m/s", 3)) table.push_back(column);
  for (const auto& column : field_columns("pressure", "Pa", 1)) table.push_back(column);
  write_csv(directory / "line_7.csv", 0.25, table, std::vector<double>{0, 1, 2, 3, 4, 0.5, 5, 6, 7, 8});
  EXPECT_EQ(
      read_text(directory / "line_7.csv"),
      "# time = 0.25 s; units: x [m], velocity_x [m/s], velocity_y [m/s], velocity_z [m/s], pressure [Pa]\n"
      "x,velocity_x,velocity_y,velocity_z,pressure\n0,1,2,3,4\n0.5,5,6,7,8\n");
  EXPECT_EQ(directory.names(), "line_7.csv");
  EXPECT_THROW(write_csv(directory / "b.csv", 0, table, std::vector<double>(7)), Error);
}

TEST(CsvTable, reads_what_was_written_to_the_bit) {
  const OutputDirectory directory;
  const std::vector<CsvColumn> odd = {{"time", "s"}, {"a,b [x], c", "W/(m K)"}, {"the \"hot\" side", "1"}};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> rows = {
      {0, nan, 5e-324}, {1.0 / 3, -1e300, 0.1}, {2, -std::numeric_limits<double>::infinity(), 12}};
  {
    CsvWriter writer(directory / "a.csv", odd);
    for (const auto& row : rows) writer.write_row(row);
  }
  // A row of another length, and one that a kill cut short.
  write_text(directory / "a.csv", read_text(directory / "a.csv") + "3,4\n5,6,7");
  const CsvTable table = read_csv(directory / "a.csv");
  EXPECT_FALSE(table.time);
  ASSERT_EQ(table.columns.size(), 3u);
  ASSERT_EQ(table.rows(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(table.columns[k].name, odd[k].name);
    EXPECT_EQ(table.columns[k].unit, odd[k].unit);
    for (std::size_t row = 0; row < 3; ++row) {
      if (std::isnan(rows[row][k])) {
        EXPECT_TRUE(std::isnan(table.values[k][row]));
      } else {
        EXPECT_EQ(table.values[k][row], rows[row][k]);
      }
    }
  }
}

TEST(CsvTable, reads_tables_of_one_time) {
  const OutputDirectory directory;
  write_csv(directory / "line_7.csv", 0.25, {{"x", "m"}, {"pressure", "Pa"}},
            std::vector<double>{0, 1, 2, 3});
  const CsvTable table = read_csv(directory / "line_7.csv");
  EXPECT_EQ(table.time, 0.25);
  EXPECT_EQ(table.columns[1].unit, "Pa");
  EXPECT_EQ(table.values[1], (std::vector<double>{1, 3}));
}

TEST(CsvTable, is_not_what_another_program_wrote) {
  const OutputDirectory directory;
  const auto message = [&] { return message_of<InputError>([&] { read_csv(directory / "a.csv"); }); };
  EXPECT_THAT(message(), HasSubstr("a.csv' does not begin with units and names"));  // there is none
  for (const char* text : {"", "time,x\n0,1\n", "# units: time [s]\ntime,x\n0,1\n", "# units: time\ntime\n",
                           "# units: time [s\ntime\n", "# units: time [s]\ntime"}) {
    write_text(directory / "a.csv", text);
    EXPECT_THAT(message(), HasSubstr("a.csv' does not begin with units and names")) << text;
  }
}

}  // namespace
}  // namespace curlew::test
