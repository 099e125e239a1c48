// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/gmsh_session.hpp"

#include <fmt/format.h>
#include <gmsh.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "kernels/error.hpp"

namespace curlew {

void fail_to_import(const std::filesystem::path& file, std::string_view message) {
  throw InputError(fmt::format("{}: {}", file.string(), message));
}

namespace {

/// Says what ended the process while it exists: the statement Exit in a script, or in a file that a script
/// includes, makes Gmsh call std::exit.
class ExitWatch {
 public:
  explicit ExitWatch(const std::filesystem::path& file) {
    static const int registered = std::atexit([] {
      if (watched.empty()) return;
      std::cerr << fmt::format(
          "error: {}: a statement Exit, in this file or in one that it includes, ends the whole program. Use "
          "Abort, or remove it\n",
          watched);
      std::_Exit(2);
    });
    REQUIRE(registered == 0, "no function can be registered for the exit of the program");
    watched = file.string();
  }
  ~ExitWatch() { watched.clear(); }
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  static inline std::string watched;
};

/// Ends the process with a sentence about the file where Gmsh crashes while it exists: readers of some
/// formats trust what a file says.
class CrashWatch {
 public:
  CrashWatch(const std::filesystem::path& file, std::string_view remedy) {
    sentence = fmt::format("error: {}: Gmsh crashes over it. {}\n", file.string(), remedy);
    struct sigaction action = {};
    action.sa_handler = [](int) {
      // Nothing that takes memory or locks.
      [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, sentence.data(), sentence.size());
      _exit(2);
    };
    for (std::size_t k = 0; k < signals.size(); ++k) sigaction(signals[k], &action, &before_[k]);
  }
  ~CrashWatch() {
    for (std::size_t k = 0; k < signals.size(); ++k) sigaction(signals[k], &before_[k], nullptr);
  }
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;

 private:
  static constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
  static inline std::string sentence;
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace

// In memory: there may be no directory that can be written to.
StandardOutputCapture::StandardOutputCapture()
    : sink_(memfd_create("standard output", MFD_CLOEXEC)), saved_(dup(STDOUT_FILENO)) {
  std::fflush(stdout);
  std::cout.flush();
  if (sink_ < 0 || saved_ < 0) {
    const int cause = errno;
    if (sink_ >= 0) close(sink_);
    if (saved_ >= 0) close(saved_);
    throw Error(fmt::format("standard output could not be set aside: {}", std::strerror(cause)));
  }
  dup2(sink_, STDOUT_FILENO);
}

StandardOutputCapture::~StandardOutputCapture() {
  std::fflush(stdout);
  std::cout.flush();
  dup2(saved_, STDOUT_FILENO);
  close(saved_);
  close(sink_);
}

std::string StandardOutputCapture::text() const {
  std::fflush(stdout);
  std::cout.flush();
  std::array<char, 1000> start{};
  const auto length = pread(sink_, start.data(), start.size(), 0);
  std::string plain;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max<ssize_t>(length, 0)); ++i) {
    if (start[i] == '\033') {
      while (i < start.size() && start[i] != 'm') ++i;
    } else if (start[i] != '\n') {
      plain += start[i];
    } else if (!plain.empty() && plain.back() != ' ') {
      plain += ' ';
    }
  }
  return plain.substr(0, plain.find_last_not_of(' ') + 1);
}

GmshSession::GmshSession() : threads_(omp_get_max_threads()) {
  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  gmsh::option::setNumber("General.Verbosity", 2);   // errors and warnings
  gmsh::option::setNumber("General.NumThreads", 1);  // parallel meshing differs from run to run
  gmsh::logger::start();
}

GmshSession::~GmshSession() {
  gmsh::logger::stop();
  gmsh::finalize();
  omp_set_num_threads(threads_);
}

std::vector<std::string> GmshSession::messages(std::string_view kind) const {
  std::vector<std::string> log, found;
  gmsh::logger::get(log);
  const std::string prefix = fmt::format("{}: ", kind);
  for (const std::string& line : log) {
    if (!line.starts_with(prefix)) continue;
    std::string text = line.substr(prefix.size());
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
    if (found.size() == 5) break;
  }
  return found;
}

void GmshSession::run(const std::filesystem::path& file, std::string_view remedy,
                      const std::function<void()>& work) const {
  const ExitWatch exit_watch(file);
  const CrashWatch crash_watch(file, remedy);
  std::string thrown;
  try {
    work();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (const std::string& error) {
    thrown = error;
  }
  std::vector<std::string> errors = messages("Error");
  if (errors.empty() && !thrown.empty()) errors.push_back(thrown);
  if (errors.empty()) return;
  std::string report = errors.front();
  for (std::size_t e = 1; e < errors.size(); ++e) report += "; " + errors[e];
  if (const std::string said = printed(); !said.empty()) report += " (" + said + ")";
  fail_to_import(file, fmt::format("Gmsh reports: {}. {}", report, remedy));
}

}  // namespace curlew
