// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace curlew {

/// A number to show beside step and time, ready to print: {"Courant", "0.43"}.
struct ProgressItem {
  std::string label;
  std::string value;
};

/// Tells how far a run is: one updating line on a terminal, a plain line now and then elsewhere.
class Progress {
 public:
  enum class Mode { Terminal, Lines, Quiet };

  /// `end_time` [s] gives the time left; none where the end is not known beforehand. `clock` counts wall
  /// seconds (tests bring their own).
  Progress(std::ostream& out, Mode mode, std::optional<double> end_time,
           std::function<double()> clock = wall_seconds);

  /// Ends an updating line, so that what is told next has a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Mode for standard error.
  static Mode mode_of_standard_error(bool quiet);
  /// Since the program began [s].
  static double wall_seconds();

  /// From now and from `time` [s] on the steps are taken whose pace tells the time left.
  void begin_steps(double time);
  /// Reports that `step` has been done and `time` [s] reached. Cheap: most calls print nothing.
  void step(std::int64_t step, double time, std::span<const ProgressItem> items);
  /// Prints a line of its own, without tearing the updating line. Not in Quiet mode.
  void note(std::string_view sentence);
  /// The same as a warning, in every mode.
  void warning(std::string_view sentence);
  /// Prints the last step's line, if it is not there yet, and `sentence`.
  void finish(std::string_view sentence);

 private:
  void print_line();
  void print_beside_line(std::string_view sentence);

  std::ostream& out_;
  Mode mode_;
  double start_time_ = 0;  // of the steps
  std::optional<double> end_time_;
  std::function<double()> clock_;
  double start_;            // clock when the steps began
  double next_print_;       // clock from which the next line is due
  double interval_;         // wall seconds from one line to the next
  std::int64_t steps_ = 0;  // done since the start
  std::string line_;        // of the last step
  bool printed_ = true;     // whether line_ is on the screen
  bool line_open_ = false;  // whether the terminal's cursor stands behind an updating line
};

/// Wall time for people: "12.3 s", "4 min 05 s", "3 h 07 min".
std::string format_duration(double seconds);

}  // namespace curlew
