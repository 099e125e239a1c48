// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/end_to_end/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "app/files/mesh_file.hpp"
#include "mesh/box.hpp"

namespace curlew::test {

namespace {

constexpr const char* case_text = R"case([case]
name = "box"

[mesh]
file = "box.h5"

[model]
type = "heat-diffusion"
scheme = "crank-nicolson"

[time]
end = 1.0
step = 0.05

[initial]
temperature = "300 + 10*x*y"

[material.box]
conductivity = 0.7
density = 2.0
heat_capacity = 1.5
source = "5*sin(9*t)*x"

[boundary.left]
type = "temperature"
value = "300 + 20*sin(7*t) + y"

[boundary.right]
type = "convection"
coefficient = "2 + cos(3*t)"
ambient = "290 + 5*t"

[boundary.bottom]
type = "heat-flux"
value = "10*t*x"

[boundary.top]
type = "insulated"

[output]
directory = "out"
interval = 0.2
fields = ["temperature", "gradient", "heat_flux"]
checkpoint = 0.25

[monitor.centre]
type = "probe"
points = [[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]
fields = ["temperature", "heat_flux"]

[monitor.mean]
type = "average"
fields = ["temperature"]
region = "box"

[monitor.range]
type = "extrema"
fields = ["temperature"]
every = 3

[monitor.sides]
type = "flux"
patches = ["left", "right", "bottom"]
field = "temperature"
interval = 0.1

[monitor.middle]
type = "line"
from = [0.0, 0.5, 0.0]
to = [1.0, 0.5, 0.0]
points = 5
fields = ["temperature"]
)case";

constexpr const char* solid_boundaries = R"(
[boundary.back]
type = "insulated"

[boundary.front]
type = "insulated"
)";

}  // namespace

Program::Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments, int ranks)
    : launched_(ranks > 0) {
  std::vector<std::string> words;
  if (launched_) words = {CURLEW_MPIEXEC, "-n", std::to_string(ranks)};
  words.emplace_back(CURLEW_PROGRAM);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string out = streams_ / "out", error = streams_ / "error";
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ == 0) {
    const auto redirect = [](const std::string& path, int stream) {
      return ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), stream) == stream;
    };
    // What the program sets itself where it is not set, at the price of a second start.
    ::setenv("GOMP_SPINCOUNT", "4000", 0);
    if (launched_) {
      // More ranks than cores, and as root where the tests run as root.
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
      ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
      ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
      ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
      ::setenv("OMP_NUM_THREADS", "1", 1);
    }
    if (::chdir(folder.c_str()) == 0 && redirect(out, STDOUT_FILENO) && redirect(error, STDERR_FILENO)) {
      ::execv(argv[0], argv.data());
    }
    ::_exit(127);
  }
}

Program::~Program() {
  if (ended()) return;
  ::kill(process_, launched_ ? SIGTERM : SIGKILL);  // mpirun ends the ranks
  wait();
}

void Program::send(int signal) const {
  // Once it has ended there is no process to tell: -1 would be all there are.
  if (process_ > 0) ::kill(process_, signal);
}

std::vector<pid_t> Program::rank_processes() const {
  std::vector<pid_t> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    // PID (NAME) STATE PARENT
    const std::string status = read_text(entry.path() / "stat");
    const auto name_end = status.rfind(')');
    if (name_end == std::string::npos || status.find("(curlew)") == std::string::npos) continue;
    if (std::stoi(status.substr(name_end + 4)) == process_) processes.push_back(std::stoi(status));
  }
  return processes;
}

bool Program::ended() {
  if (process_ > 0 && ::waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
  return process_ < 0;
}

bool Program::wait_until(const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  for (const auto limit = Clock::now() + std::chrono::minutes(1); Clock::now() < limit;) {
    if (condition()) return true;
    if (ended()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

Outcome Program::wait() {
  if (process_ > 0) ::waitpid(process_, &status_, 0);
  process_ = -1;
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_), read_text(streams_ / "out"),
          read_text(streams_ / "error")};
}

Outcome run_curlew(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                   int ranks) {
  return Program(folder, arguments, ranks).wait();
}

CaseFolder::CaseFolder(CellType type, Index blocks) {
  write_mesh_file(*this / "box.h5", make_box(type, {blocks, blocks, blocks}));
  const bool plane = type == CellType::Triangle || type == CellType::Quadrilateral;
  write_text(*this / "case.toml", std::string(case_text) + (plane ? "" : solid_boundaries));
}

Outcome CaseFolder::run(std::vector<std::string> arguments, int ranks) const {
  arguments.insert(arguments.begin(), {"run", "case.toml", "--quiet"});
  return run_curlew(path(), arguments, ranks);
}

void CaseFolder::edit(const std::string& from, const std::string& to) const {
  std::string text = read_text(*this / "case.toml");
  text.replace(text.find(from), from.size(), to);
  write_text(*this / "case.toml", text);
}

JacobiCase::JacobiCase(CellType type, Index blocks) : CaseFolder(type, blocks) {
  edit("[boundary.left]", "[solver.temperature]\npreconditioner = \"jacobi\"\n\n[boundary.left]");
}

void CaseFolder::run_to(const std::string& directory, int ranks, std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--output", directory});
  const Outcome outcome = run(arguments, ranks);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
}

LongCase::LongCase() {
  edit("step = 0.05", "step = 1e-6");
  edit("interval = 0.2", "every = 1000000");
  edit("checkpoint = 0.25\n", "");
  edit("interval = 0.1\n", "");
}

std::function<bool()> LongCase::after_steps(int rows) const {
  const auto done = [file = *this / "out/residuals.csv"] { return line_count(file); };
  return [done, limit = done() + rows] { return done() >= limit; };
}

std::vector<std::string> error_lines(const Outcome& outcome) {
  std::vector<std::string> errors;
  std::istringstream lines(outcome.error);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("error: ")) errors.push_back(line);
  }
  return errors;
}

int line_of(const std::filesystem::path& file, const std::string& text) {
  const std::string all = read_text(file);
  const auto place = all.find(text);
  if (place == std::string::npos) throw std::runtime_error(fmt::format("no '{}' in {}", text, file.string()));
  return 1 +
         static_cast<int>(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

std::map<std::string, std::string> contents(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const auto name = entry.path().filename();
    if (!entry.is_regular_file() || name == "summary.json" || name == "report.html") continue;
    files[std::filesystem::relative(entry.path(), directory)] = read_text(entry.path());
  }
  return files;
}

void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto in_a = contents(a), in_b = contents(b);
  for (const auto& [name, bytes] : in_a) {
    const auto other = in_b.find(name);
    EXPECT_NE(other, in_b.end()) << name << " is missing";
    if (other == in_b.end()) continue;
    EXPECT_TRUE(other->second == bytes) << name << " differs";
  }
  EXPECT_EQ(in_a.size(), in_b.size());
}

int line_count(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace curlew::test
