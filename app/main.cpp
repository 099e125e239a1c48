// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "app/atomic_file.hpp"
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/diagnostics.hpp"
#include "kernels/error.hpp"

namespace {

enum ExitStatus { done = 0, internal_error = 1, bad_input = 2, diverged = 3 };

struct Dispatch {
  int operator()(const curlew::Answer& answer) const {
    std::cout << answer.text;
    return done;
  }
  int operator()(const curlew::RunOptions& options) const { return curlew::run_case(options); }
  int operator()(const curlew::CheckOptions& options) const { return curlew::check_case(options); }
  int operator()(const curlew::MeshInfoOptions& options) const { return curlew::mesh_info(options); }
  int operator()(const curlew::MeshConvertOptions& options) const { return curlew::mesh_convert(options); }
  int operator()(const curlew::BenchOptions& options) const { return curlew::bench_mesh(options); }
  int operator()(const curlew::CompareOptions& options) const { return curlew::compare_case(options); }
};

void print_error(const std::string& message) {
  std::cerr << "error: " << message << '\n';
}

/// Between parallel loops the OpenMP runtime of GCC spins for milliseconds before it sleeps. On a machine
/// whose cores are busy with something else that makes every loop wait for a time slice (measured: 40 times
/// slower). How long it spins can only be said in the environment, before the program starts; hence the
/// second start.
void restart_with_short_spinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "4000", 1);  // some ten microseconds, longer than a loop takes to hand out
  execv("/proc/self/exe", argv);        // where that fails the program just goes on
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_short_spinning(argv);
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const int status = std::visit(Dispatch{}, curlew::parse_command_line(arguments));
    if (status == done && !std::cout.flush()) throw curlew::InputError("cannot write to standard output");
    return status;
  } catch (const curlew::InputErrors& errors) {
    for (const curlew::Diagnostic& diagnostic : errors.diagnostics()) print_error(diagnostic.text());
    return bad_input;
  } catch (const curlew::InputError& error) {
    print_error(error.what());
    return bad_input;
  } catch (const curlew::FileError& error) {
    print_error(error.what());
    return bad_input;  // a command line or case that asks for files where none can be written
  } catch (const curlew::DivergedError& error) {
    print_error(error.what());
    return diverged;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return internal_error;
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what() + "; this is a bug, please report it");
    return internal_error;
  }
}
