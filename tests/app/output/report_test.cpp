// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/files/atomic_file.hpp"
#include "app/output/csv_writer.hpp"
#include "mesh/box.hpp"
#include "tests/app/output/nan.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Reports : public testing::Test {
 protected:
  Reports() {
    report_.summary.case_name = "a<b & \"c\"";
    report_.summary.model = "heat-diffusion";
    report_.summary.backend = "cpu";
    report_.summary.cells = 1234567;
    report_.summary.steps = 20;
    report_.summary.time = 0.5;
    report_.summary.seconds_per_step = 0.25;
    report_.summary.iterations = {{"temperature", 12.25}};
    report_.summary.peak_memory_bytes = 3 << 20;
    report_.summary.version = "9.8.7";
    report_.times = {1, 5, 2, 10};
  }

  std::string written() {
    write_report(directory_ / "report.html", report_);
    return read_text(directory_ / "report.html");
  }

  /// A table of so many rows, from `first` on, continued where that is not 0.
  void write_series(const std::string& name, const std::vector<CsvColumn>& columns, int first, int last) {
    const auto restart = first > 0 ? std::optional(0.1 * (first - 1) + 0.01) : std::nullopt;
    CsvWriter writer(directory_ / name, columns, restart);
    for (int row = first; row < last; ++row) {
      std::vector<double> numbers{0.1 * row};
      while (numbers.size() < columns.size()) numbers.push_back(row + 0.5);
      writer.write_row(numbers);
    }
  }

  /// The numbers of points of the curves of a page.
  static std::vector<long> points_of_curves(const std::string& page) {
    std::vector<long> counts;
    const std::string start = "class=\"curve\" d=\"";
    for (std::size_t place = 0; (place = page.find(start, place)) != std::string::npos;) {
      place += start.size();
      const std::string path = page.substr(place, page.find('"', place) - place);
      // The first M is where the legend's line begins.
      counts.push_back(std::ranges::count(path, 'M') - 1 + std::ranges::count(path, 'L'));
    }
    return counts;
  }

  Report report_;
  const OutputDirectory directory_;
};

TEST_F(Reports, tell_of_the_run_and_where_its_time_went) {
  report_.summary.status = RunStatus::Failed;
  report_.summary.reason = "rank 1: the source is < 0";
  report_.summary.ranks = 2;
  report_.summary.threads = 3;
  report_.case_file = "[case]\nname = \"<&>\"\n";
  report_.overrides = {"time.end=1", "a.b=\"<\""};
  const std::string page = written();
  for (const char* text : {
           "<title>a&lt;b &amp; &quot;c&quot; – Curlew</title>",
           "<span class=\"failed\">failed</span>",
           "<p>rank 1: the source is &lt; 0</p>",
           "heat-diffusion, backend cpu, 2 ranks × 3 threads, Curlew 9.8.7",
           "<th>cells</th><td>1,234,567</td>",
           "<th>time reached</th><td>0.5 s</td>",
           "<th>mean iterations, temperature</th><td>12.2</td>",
           "<th>peak memory of the largest rank</th><td>3.0 MiB</td>",
           "<th>bytes a cell, at most</th><td>5</td>",
           "<th>stepping</th><td>5 s</td><td>50.0 %</td>",
           "<th>everything else</th><td>2 s</td><td>20.0 %</td>",
           "<th>total</th><td>10 s</td><td>100.0 %</td>",
           "<th>a step</th><td>0.25 s</td>",
           "<th>cell-steps per second</th><td>4.94e+06</td>",
           "[case]\nname = &quot;&lt;&amp;&gt;&quot;\n",
           "time.end=1\na.b=&quot;&lt;&quot;",
           "There are no pictures.",
       })
    EXPECT_THAT(page, HasSubstr(text));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("divergence")), Not(HasSubstr("<h2>Monitors</h2>")),
                          Not(HasSubstr("<h2>Steps</h2>"))));
  EXPECT_EQ(directory_.names(), "report.html");
}

TEST_F(Reports, have_the_pictures_of_fields) {
  const Mesh mesh(make_box(CellType::Hexahedron, {2, 2, 2}));
  const std::vector<Real> values(at(mesh.topology().cells().size()), 300), none(values.size(), nan);
  const auto cells = [](const std::vector<Real>& v) {
    return View<Cell, const Real>(v.data(), static_cast<Index>(v.size()));
  };
  report_.pictures = {take_pictures(mesh, {"pressure", "Pa", 1}, cells(values)),
                      take_pictures(mesh, {"bad", "1", 1}, cells(none))};
  report_.not_shown = {"vorticity", "divergence"};
  const std::string page = written();
  for (const char* text :
       {"<h3>pressure [Pa]</h3>", "section at z = 0.5 m", "surface, 1 m × 1 m × 1 m", "min 300", "max 300",
        "<h3>bad</h3>", "No value is a number.", "Not shown: vorticity, divergence."})
    EXPECT_THAT(page, HasSubstr(text));
  std::size_t images = 0;
  for (std::size_t place = 0;
       (place = page.find("data:image/png;base64,iVBORw0KGgo", place)) != std::string::npos; ++place)
    ++images;
  EXPECT_EQ(images, 4u);
}

TEST_F(Reports, plot_all_rows_of_a_table_that_a_restart_has_continued) {
  const std::vector<CsvColumn> columns{{"time", "s"},
                                       {"solve_iterations", "1"},
                                       {"solve_residual", "1"},
                                       {"divergence_max", "1"},
                                       {"heat_source", "W"}};
  write_series("residuals.csv", columns, 0, 12);
  write_series("residuals.csv", columns, 7, 30);
  report_.residuals = directory_ / "residuals.csv";
  const std::string page = written();
  EXPECT_THAT(points_of_curves(page), testing::ElementsAre(30, 30, 30, 30));
  for (const char* text : {">Iterations per solve<", ">Residuals and divergence, relative<", ">heat_source<",
                           ">[W]<", ">time [s]<"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST_F(Reports, plot_monitors_unit_by_unit_and_name_what_they_leave_out) {
  std::vector<CsvColumn> columns{{"time", "s"}};
  for (int k = 0; k < 10; ++k) columns.push_back({fmt::format("p{}_temperature", k), "K"});
  columns.push_back({"p<0>", "Pa"});
  write_series("probe.csv", columns, 0, 5);
  write_series("steady.csv", {{"time", "s"}, {"total", "W"}}, 0, 1);
  write_series("empty.csv", {{"time", "s"}, {"none", "W"}}, 0, 0);
  write_csv(directory_ / "line_4.csv", 0.25, {{"x", "m"}, {"y", "m"}, {"z", "m"}, {"speed", "m/s"}},
            std::vector<double>{1, 1, 0, 5, 4, 5, 0, nan, 7, 9, 0, 6});
  report_.monitors = {{"probe", directory_ / "probe.csv", false},
                      {"steady", directory_ / "steady.csv", false},
                      {"empty", directory_ / "empty.csv", false},
                      {"gone", directory_ / "gone.csv", false},
                      {"line", directory_ / "line_4.csv", true}};
  const std::string page = written();
  EXPECT_THAT(points_of_curves(page), testing::ElementsAre(5, 5, 5, 5, 5, 5, 5, 5, 5, 2));
  for (const char* text :
       {"<caption>Last values of probe</caption>", "<th>p9_temperature</th><td>4.5</td><td>K</td>",
        "<th>p&lt;0&gt;</th><td>4.5</td><td>Pa</td>", "Left out: p8_temperature, p9_temperature.",
        "<th>total</th><td>0.5</td><td>W</td>", "<h3>line at 0.25 s</h3>", ">distance from the start [m]<",
        "gone.csv' does not begin with"})
    EXPECT_THAT(page, HasSubstr(text));
  EXPECT_THAT(page, Not(HasSubstr("<h3>steady</h3>")));
  // From the first point to the last one it is 10 m.
  EXPECT_THAT(page, HasSubstr(">10</text>"));
}

TEST_F(Reports, that_cannot_be_written_name_path_and_cause_and_keep_the_old_one) {
  write_text(directory_ / "report.html", "old");
  const FullDisk full(50);
  EXPECT_THAT(message_of<FileError>([&] { write_report(directory_ / "report.html", report_); }),
              HasSubstr("cannot write '" + (directory_ / "report.html").string() + "': File too large"));
  EXPECT_EQ(read_text(directory_ / "report.html"), "old");
}

}  // namespace
}  // namespace curlew::test
