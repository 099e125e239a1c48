// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mesh/import/raw_mesh.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {

/// What a finished program leaves behind.
struct Outcome {
  int status = 0;  ///< exit status; minus the signal's number where a signal ended it
  std::string out, error;
};

/// The built curlew as a process of its own, running in `folder`; standard output and error go to files. With
/// `ranks` it is mpirun that runs it on so many.
class Program {
 public:
  Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments, int ranks = 0);
  /// Kills what still runs.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  /// The processes that mpirun started.
  std::vector<pid_t> rank_processes() const;
  /// Waits until `condition` holds; false where the program ends, or a minute passes, before.
  bool wait_until(const std::function<bool()>& condition);
  Outcome wait();

 private:
  bool ended();

  const OutputDirectory streams_;
  const bool launched_;  // by mpirun
  pid_t process_ = -1;
  int status_ = 0;
};

/// Runs curlew in `folder` to its end.
Outcome run_curlew(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                   int ranks = 0);

/// A folder with the case "case.toml", whose model, boundary values and source all vary in time, on the mesh
/// "box.h5": 20 steps of 0.05 s, every kind of monitor, results in "out".
class CaseFolder : public OutputDirectory {
 public:
  explicit CaseFolder(CellType type = CellType::Triangle, Index blocks = 8);

  /// curlew run case.toml --quiet …
  Outcome run(std::vector<std::string> arguments, int ranks = 0) const;
  /// Runs to `directory` on so many ranks (0: without mpirun), expecting success in silence.
  void run_to(const std::string& directory, int ranks, std::vector<std::string> arguments = {}) const;
  /// Replaces the first `from` in case.toml, which must be there.
  void edit(const std::string& from, const std::string& to) const;
};

/// The case with Jacobi's preconditioner.
class JacobiCase : public CaseFolder {
 public:
  explicit JacobiCase(CellType type = CellType::Triangle, Index blocks = 8);
};

/// The case that runs for minutes and writes no checkpoint of its own accord.
class LongCase : public JacobiCase {
 public:
  LongCase();

  /// Holds once so many more steps are done than when it was made.
  std::function<bool()> after_steps(int rows) const;
};

/// The lines of a program's standard error that are curlew's own errors.
std::vector<std::string> error_lines(const Outcome& outcome);

/// Line of the first `text` in a file, from 1.
int line_of(const std::filesystem::path& file, const std::string& text);

/// Every file below `directory` but summary.json and report.html (which tell times) and its bytes, by
/// relative path.
std::map<std::string, std::string> contents(const std::filesystem::path& directory);

/// Expects that two runs left the same files, byte by byte, contents() of both.
void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b);

/// How many lines a file has; 0 where there is none.
int line_count(const std::filesystem::path& file);

}  // namespace curlew::test
