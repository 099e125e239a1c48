// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/monitor_files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/diagnostics.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew {
namespace {

using test::message_of;
using test::OutputDirectory;
using test::read_text;
using test::write_text;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

/// T = 300 + x + 2 y + offset on the unit cube of one region, with made-up cell vectors and patch flows.
class CubeSnapshot : public Snapshot {
 public:
  explicit CubeSnapshot(const Mesh& mesh, Real offset = 0) {
    for (const Vector3 x : mesh.geometry().node_positions().host())
      temperature_.push_back(300 + x.x + 2 * x.y + offset);
    const std::size_t cells = at(mesh.topology().cells().size());
    gradient_.assign(cells, {1, 2, 0});
    heat_flux_.assign(cells, {-3, 0, 4});
    for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p)
      patch_flows_.push_back(10 + static_cast<Real>(p));
  }
  FieldSnapshot field(const std::string& name) override {
    ++asked;
    if (name == "temperature")
      return View<Node, const Real>(temperature_.data(), static_cast<Index>(temperature_.size()));
    const auto& values = name == "gradient" ? gradient_ : heat_flux_;
    return View<Cell, const Vector3>(values.data(), static_cast<Index>(values.size()));
  }
  std::span<const Real> patch_flows() override { return patch_flows_; }

  int asked = 0;

 private:
  std::vector<Real> temperature_;
  std::vector<Vector3> gradient_, heat_flux_;
  std::vector<Real> patch_flows_;
};

using What = decltype(MonitorSettings::what);

MonitorSettings monitor(const std::string& name, What what, ScheduleSettings schedule = {}) {
  return {name, {"case.toml", 7}, schedule, std::move(what)};
}

const FieldDescription temperature{"temperature", "K", 1}, gradient{"gradient", "K/m", 3},
    heat_flux{"heat_flux", "W/m2", 3};
const FlowDescription heat_flow{"temperature", "W", "W/m"};

/// The file after its first line.
std::string rows(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  return text.substr(text.find('\n') + 1);
}

class MonitorFilesOnCube : public ::testing::Test {
 protected:
  void write_one(const What& what) {
    const std::vector<MonitorSettings> settings{monitor("m", what)};
    MonitorFiles files(mesh_, settings, 0, directory_.path());
    files.open();
    files.write({0, 0, 0}, false, snapshot_);
    last_values_ = files.last_values();
  }

  const Mesh mesh_{make_box(CellType::Hexahedron, {2, 2, 2})};
  CubeSnapshot snapshot_{mesh_};
  const OutputDirectory directory_;
  std::map<std::string, std::map<std::string, double>> last_values_;
};

TEST_F(MonitorFilesOnCube, probe) {
  write_one(ProbeSettings{{{.25, .25, .25}, {1, 1, 1}}, {temperature, heat_flux}});
  EXPECT_EQ(read_text(directory_ / "m.csv"),
            "# units: time [s], p0_temperature [K], p0_heat_flux_x [W/m2], p0_heat_flux_y [W/m2], "
            "p0_heat_flux_z [W/m2], p1_temperature [K], p1_heat_flux_x [W/m2], p1_heat_flux_y [W/m2], "
            "p1_heat_flux_z [W/m2]; p0 at (0.25, 0.25, 0.25), p1 at (1, 1, 1)\n"
            "time,p0_temperature,p0_heat_flux_x,p0_heat_flux_y,p0_heat_flux_z,p1_temperature,"
            "p1_heat_flux_x,p1_heat_flux_y,p1_heat_flux_z\n"
            "0,300.75,-3,0,4,303,-3,0,4\n");
  EXPECT_EQ(last_values_.at("m").at("p1_temperature"), 303);
}

TEST_F(MonitorFilesOnCube, extrema) {
  write_one(ExtremaSettings{{temperature, heat_flux}});
  const std::string text = rows(directory_ / "m.csv");
  EXPECT_THAT(text, StartsWith("time,temperature_min,temperature_min_x,temperature_min_y,temperature_min_z,"
                               "temperature_max,temperature_max_x,temperature_max_y,temperature_max_z,"
                               "heat_flux_x_min,heat_flux_x_min_x,"));
  EXPECT_THAT(text, HasSubstr("heat_flux_magnitude_max,heat_flux_magnitude_max_x,heat_flux_magnitude_max_y,"
                              "heat_flux_magnitude_max_z\n"));
  const auto& last = last_values_.at("m");
  EXPECT_EQ(last.size(), 1u + 8 + 4 * 8);
  EXPECT_EQ(last.at("temperature_min"), 300);
  EXPECT_EQ(last.at("temperature_max"), 303);
  EXPECT_EQ(last.at("temperature_max_y"), 1);
  EXPECT_EQ(last.at("heat_flux_magnitude_max"), 5);
  EXPECT_EQ(last.at("heat_flux_x_min"), -3);
}

TEST_F(MonitorFilesOnCube, average) {
  write_one(AverageSettings{{temperature, gradient}, NamedReference{"box", {}}});
  EXPECT_THAT(read_text(directory_ / "m.csv"), HasSubstr("gradient_z [K/m]; in \"box\"\n"));
  EXPECT_THAT(rows(directory_ / "m.csv"),
              StartsWith("time,temperature,gradient_x,gradient_y,gradient_z\n0,"));
  EXPECT_NEAR(last_values_.at("m").at("temperature"), 301.5, 1e-12);
  EXPECT_NEAR(last_values_.at("m").at("gradient_y"), 2, 1e-14);
}

TEST_F(MonitorFilesOnCube, flux) {
  const std::vector<Patch>& patches = mesh_.topology().patches();
  write_one(FluxSettings{{{patches[3].name, {}}, {patches[0].name, {}}}, heat_flow});
  EXPECT_EQ(read_text(directory_ / "m.csv"),
            "# units: time [s], " + patches[3].name + " [W], " + patches[0].name + " [W], total [W]\ntime," +
                patches[3].name + "," + patches[0].name + ",total\n0,13,10,23\n");
}

TEST_F(MonitorFilesOnCube, lines_have_a_file_at_every_output_time) {
  const std::vector<MonitorSettings> settings{
      monitor("cut", LineSettings{{0, .5, .5}, {2, .5, .5}, 3, {temperature, gradient}})};
  MonitorFiles files(mesh_, settings, 0, directory_.path());
  files.open();
  for (int step = 0; step <= 4; ++step) files.write({step, .5 * step, .5 * (step - 1)}, step == 3, snapshot_);
  EXPECT_EQ(directory_.names(), "cut_3.csv");
  EXPECT_THAT(read_text(directory_ / "cut_3.csv"), StartsWith("# time = 1.5 s; units: x [m],"));
  EXPECT_EQ(rows(directory_ / "cut_3.csv"),
            "x,y,z,temperature,gradient_x,gradient_y,gradient_z\n"
            "0,0.5,0.5,301,1,2,0\n1,0.5,0.5,302,1,2,0\n2,0.5,0.5,nan,nan,nan,nan\n");
  EXPECT_TRUE(files.last_values().empty());
}

TEST_F(MonitorFilesOnCube, schedules) {
  const ProbeSettings corner{{{1, 1, 1}}, {temperature}};
  const std::vector<MonitorSettings> settings{monitor("steps", corner, {{}, 4}),
                                              monitor("seconds", corner, {0.25, {}}), monitor("all", corner)};
  MonitorFiles files(mesh_, settings, 0, directory_.path());
  files.open();
  for (int step = 0; step <= 10; ++step)
    files.write({step, .1 * step, .1 * (step - 1)}, false, snapshot_, step == 10);
  EXPECT_EQ(snapshot_.asked, 4 + 5 + 11);
  EXPECT_EQ(rows(directory_ / "steps.csv"), "time,p0_temperature\n0,303\n0.4,303\n0.8,303\n1,303\n");
  EXPECT_EQ(rows(directory_ / "seconds.csv"),
            "time,p0_temperature\n0,303\n0.30000000000000004,303\n0.5,303\n0.8,303\n1,303\n");
  EXPECT_THAT(files.last_values().at("steps"), ElementsAre(Pair("p0_temperature", 303), Pair("time", 1)));
}

TEST(Schedule, intervals_count_from_the_start_and_bear_round_off) {
  int due = 0;
  Real time = 5, previous = 5;
  for (int step = 0; step <= 1000; ++step) {
    due += is_due({0.1, {}}, 5, {step, time, previous}, false) ? 1 : 0;
    previous = time;
    time += 0.01;  // which does not add up to multiples of 0.1
  }
  EXPECT_EQ(due, 101);
  // Steps longer than the interval: each is due.
  EXPECT_TRUE(is_due({0.1, {}}, 0, {3, 3.0, 2.0}, false));
  EXPECT_FALSE(is_due({}, 0, {3, 3.0, 2.0}, false));
  EXPECT_TRUE(is_due({}, 0, {3, 3.0, 2.0}, true));
}

TEST(Schedule, intervals_bear_the_round_off_of_a_late_time) {
  for (const Real start : {1e6, 1e7, 1e8, -1e8}) {
    for (int step = 1; step <= 100; ++step) {
      const Moment moment{step, start + 0.01 * step, start + 0.01 * (step - 1)};
      EXPECT_EQ(is_due({0.1, {}}, start, moment, false), step % 10 == 0) << start << " " << step;
    }
  }
}

TEST_F(MonitorFilesOnCube, a_restarted_run_leaves_the_same_file) {
  const std::vector<MonitorSettings> settings{
      monitor("m", ProbeSettings{{{.3, .3, .3}}, {temperature}}, {.2, {}})};
  const auto run = [&](const std::filesystem::path& directory, int from, int to,
                       std::optional<Moment> restart) {
    MonitorFiles files(mesh_, settings, 0, directory);
    files.open(restart);
    for (int step = from; step <= to; ++step) {
      CubeSnapshot snapshot(mesh_, std::sin(step));
      files.write({step, .1 * step, .1 * (step - 1)}, false, snapshot);
    }
  };
  const OutputDirectory whole;
  run(whole.path(), 0, 10, {});
  run(directory_.path(), 0, 7, {});                          // killed after step 7,
  run(directory_.path(), 6, 10, Moment{5, .1 * 5, .1 * 4});  // restarted from a checkpoint at step 5
  EXPECT_EQ(read_text(directory_ / "m.csv"), read_text(whole / "m.csv"));

  // A run that goes on from there knows the last row before it writes one.
  MonitorFiles files(mesh_, settings, 0, directory_.path());
  files.open(Moment{5, .1 * 5, .1 * 4});
  const auto& last = files.last_values().at("m");
  EXPECT_EQ(last.size(), 2u);
  EXPECT_TRUE(read_text(directory_ / "m.csv")
                  .ends_with(fmt::format("\n{},{}\n", last.at("time"), last.at("p0_temperature"))));
  EXPECT_NEAR(last.at("time"), 0.4, 1e-12);
}

TEST_F(MonitorFilesOnCube, lines_that_a_run_replaces_are_removed_and_nothing_else) {
  const std::vector<MonitorSettings> settings{
      monitor("cut", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}})};
  for (const char* name : {"cut_3.csv", "cut_4.csv", "cut_004.csv", "cut_-4.csv", "cut_4_csv", "cut_x.csv",
                           "cut.csv", "cutter_4.csv", "cut_4.csv.old"}) {
    write_text(directory_ / name, "");
  }
  const std::string others = "cut.csv cut_-4.csv cut_004.csv cut_4.csv.old cut_4_csv cut_x.csv cutter_4.csv";
  MonitorFiles(mesh_, settings, 0, directory_.path()).open(Moment{3, .3, .2});
  EXPECT_FALSE(std::filesystem::exists(directory_ / "cut_4.csv"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "cut_3.csv"));
  MonitorFiles(mesh_, settings, 0, directory_.path()).open();
  EXPECT_EQ(directory_.names(), others);
}

TEST_F(MonitorFilesOnCube, at_an_end_that_is_there_already_rows_are_not_written_twice) {
  const ProbeSettings corner{{{1, 1, 1}}, {temperature}};
  const std::vector<MonitorSettings> settings{
      monitor("all", corner), monitor("seldom", corner, {{}, 4}),
      monitor("cut", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}})};
  const Moment end{5, .5, .4};
  {
    MonitorFiles files(mesh_, settings, 0, directory_.path());
    files.open();
    for (int step = 0; step <= 5; ++step) files.write({step, .1 * step, .1 * (step - 1)}, false, snapshot_);
  }
  for (int again = 0; again < 2; ++again) {
    MonitorFiles files(mesh_, settings, 0, directory_.path());
    files.open(end);
    files.write_missing(end, true, snapshot_, true);
    EXPECT_TRUE(read_text(directory_ / "all.csv").ends_with("\n0.4,303\n0.5,303\n"));
    EXPECT_EQ(rows(directory_ / "seldom.csv"), "time,p0_temperature\n0,303\n0.4,303\n0.5,303\n");
    EXPECT_EQ(directory_.names(), "all.csv cut_5.csv seldom.csv");
  }
}

TEST_F(MonitorFilesOnCube, the_files_that_are_there_are_told_of_lines_the_last) {
  const std::vector<MonitorSettings> settings{
      monitor("cut", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}}),
      monitor("mean", AverageSettings{{temperature}, {}}),
      monitor("never", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}}, {std::nullopt, 100})};
  MonitorFiles files(mesh_, settings, 0, directory_.path());
  files.open();
  for (const int step : {9, 10}) files.write({step, .5 * step, .5 * (step - 1)}, true, snapshot_);
  const auto told = files.files();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].name, "cut");
  EXPECT_EQ(told[0].path, directory_ / "cut_10.csv");
  EXPECT_TRUE(told[0].is_line);
  EXPECT_EQ(told[1].name, "mean");
  EXPECT_EQ(told[1].path, directory_ / "mean.csv");
  EXPECT_FALSE(told[1].is_line);
}

TEST_F(MonitorFilesOnCube, there_is_doubt_about_lines_that_leave_the_mesh) {
  const std::vector<MonitorSettings> settings{
      monitor("inside", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}}),
      monitor("cut", LineSettings{{.25, .5, .5}, {2.25, .5, .5}, 5, {temperature}})};
  EXPECT_THAT(
      MonitorFiles(mesh_, settings, 0, directory_.path()).doubts(),
      ElementsAre("case.toml:7: monitor 'cut': 3 of its 5 points are not in the mesh, the first of them "
                  "at (1.25, 0.5, 0.5); there its values are not-a-number"));
}

TEST_F(MonitorFilesOnCube, files_of_monitors_that_it_does_not_have_are_told) {
  const std::vector<MonitorSettings> settings{
      monitor("cut", LineSettings{{0, .5, .5}, {1, .5, .5}, 3, {temperature}}),
      monitor("mean", AverageSettings{{temperature}, {}})};
  MonitorFiles files(mesh_, settings, 0, directory_.path());
  files.open();
  for (const int step : {0, 1}) files.write({step, .5 * step, 0}, true, snapshot_);
  for (const char* name : {"of a user.csv", "empty.csv"}) write_text(directory_ / name, "");
  write_text(directory_ / "residuals.csv", "# units: step [1], time [s]\nstep,time\n");
  EXPECT_THAT(files.files_of_others(), ElementsAre());
  const MonitorFiles later(mesh_, {}, 0, directory_.path());
  EXPECT_THAT(later.files_of_others(), ElementsAre("cut_0.csv", "cut_1.csv", "mean.csv"));
}

TEST_F(MonitorFilesOnCube, all_that_is_wrong_is_reported_before_a_file_is_touched) {
  const std::vector<MonitorSettings> settings{
      monitor("fine", AverageSettings{{temperature}, {}}),
      monitor("sensor", ProbeSettings{{{.5, .5, 7}}, {temperature}}),
      monitor("mean", AverageSettings{{temperature}, NamedReference{"bxo", {}}}),
      monitor("loss", FluxSettings{{{"lefd", {}}}, heat_flow})};
  const std::string message =
      message_of<InputErrors>([&] { MonitorFiles(mesh_, settings, 0, directory_.path()); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("case.toml:7: monitor 'sensor': point 0 at (0.5, 0.5, 7)"),
                    HasSubstr("monitor 'mean': the mesh has no region 'bxo'"),
                    HasSubstr("monitor 'loss': the mesh has no patch \"lefd\"; did you mean \"left\"?")));
  EXPECT_EQ(directory_.names(), "");
}

}  // namespace
}  // namespace curlew
