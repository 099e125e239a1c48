// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace curlew {

namespace {

constexpr double terminal_interval = 0.1;    // wall seconds
constexpr double first_line_interval = 2.0;  // wall seconds; doubles with every line up to
constexpr double last_line_interval = 60.0;

/// When the program was loaded: MPI's start, which comes before the command is known, is of a run's time.
const std::chrono::steady_clock::time_point program_began = std::chrono::steady_clock::now();

/// Cuts a line to the terminal's width: a wrapped line could not be overwritten.
std::string fit_to_terminal(const std::string& line) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - 1u);
}

}  // namespace

Progress::Progress(std::ostream& out, Mode mode, std::optional<double> end_time,
                   std::function<double()> clock)
    : out_(out),
      mode_(mode),
      end_time_(end_time),
      clock_(std::move(clock)),
      start_(clock_()),
      next_print_(start_),
      interval_(mode == Mode::Terminal ? terminal_interval : first_line_interval) {}

Progress::~Progress() {
  if (line_open_) out_ << std::endl;
}

Progress::Mode Progress::mode_of_standard_error(bool quiet) {
  if (quiet) return Mode::Quiet;
  return ::isatty(STDERR_FILENO) == 1 ? Mode::Terminal : Mode::Lines;
}

double Progress::wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_began).count();
}

void Progress::begin_steps(double time) {
  start_time_ = time;
  start_ = next_print_ = clock_();
}

void Progress::step(std::int64_t step, double time, std::span<const ProgressItem> items) {
  if (mode_ == Mode::Quiet) return;
  ++steps_;
  const double now = clock_();
  const double elapsed = now - start_;
  line_ = fmt::format("step {}  time {:.6g} s", step, time);
  for (const ProgressItem& item : items) line_ += fmt::format("  {} {}", item.label, item.value);
  line_ += fmt::format("  {:.3g} s/step", elapsed / static_cast<double>(steps_));
  if (end_time_ && time > start_time_ && time < *end_time_) {
    const double left = elapsed * (*end_time_ - time) / (time - start_time_);
    line_ += fmt::format("  {} left", format_duration(left));
  }
  printed_ = false;
  if (now < next_print_) return;
  print_line();
  next_print_ = now + interval_;
  if (mode_ == Mode::Lines) interval_ = std::min(2 * interval_, last_line_interval);
}

void Progress::note(std::string_view sentence) {
  if (mode_ != Mode::Quiet) print_beside_line(sentence);
}

void Progress::warning(std::string_view sentence) {
  print_beside_line(fmt::format("warning: {}", sentence));
}

void Progress::print_beside_line(std::string_view sentence) {
  if (line_open_) out_ << "\r\x1b[K";
  line_open_ = false;
  out_ << sentence << std::endl;
}

void Progress::finish(std::string_view sentence) {
  if (mode_ == Mode::Quiet) return;
  if (!printed_) print_line();
  if (line_open_) out_ << '\n';
  line_open_ = false;
  out_ << sentence << std::endl;
}

void Progress::print_line() {
  if (mode_ == Mode::Terminal) {
    out_ << '\r' << fit_to_terminal(line_) << "\x1b[K" << std::flush;
    line_open_ = true;
  } else {
    out_ << line_ << std::endl;
  }
  printed_ = true;
}

std::string format_duration(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const auto minutes = (whole + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace curlew
