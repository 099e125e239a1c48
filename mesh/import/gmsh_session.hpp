// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace curlew {

/// Throws InputError: the file, then what is wrong and what would be right.
[[noreturn]] void fail_to_import(const std::filesystem::path& file, std::string_view message);

/// Takes what is written to the process's standard output: the geometry kernel below Gmsh prints there, past
/// Gmsh's own settings, and standard output belongs to Curlew's results.
class StandardOutputCapture {
 public:
  StandardOutputCapture();
  ~StandardOutputCapture();
  StandardOutputCapture(const StandardOutputCapture&) = delete;
  StandardOutputCapture& operator=(const StandardOutputCapture&) = delete;

  /// The first lines written so far, without terminal colours, on one line.
  std::string text() const;

 private:
  int sink_, saved_;  // file descriptors
};

/// The Gmsh library between initialisation and finalisation: silent, deaf to the user's own Gmsh settings,
/// its messages collected. Gmsh is one per process, so is this.
class GmshSession {
 public:
  GmshSession();
  ~GmshSession();
  GmshSession(const GmshSession&) = delete;
  GmshSession& operator=(const GmshSession&) = delete;

  /// Gmsh's own messages of one kind, "Error" or "Warning", each once and at most five.
  std::vector<std::string> messages(std::string_view kind) const;
  /// What the libraries below Gmsh had to say.
  std::string printed() const { return output_.text(); }
  /// Runs one stage of Gmsh's work and turns its errors, thrown or logged, into an InputError. A crash in it
  /// ends the process with the exit status of one and the like sentence.
  void run(const std::filesystem::path& file, std::string_view remedy,
           const std::function<void()>& work) const;

 private:
  StandardOutputCapture output_;
  int threads_;  // Gmsh sets the number of threads of the whole process
};

}  // namespace curlew
