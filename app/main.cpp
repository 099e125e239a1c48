// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/communicator.hpp"

namespace {

struct Dispatch {
  int operator()(const curlew::Answer& answer) const {
    std::cout << answer.text;
    return curlew::exit_status::done;
  }
  int operator()(const curlew::RunOptions& options) const { return curlew::run_case(options); }
  int operator()(const curlew::CheckOptions& options) const { return curlew::check_case(options); }
  int operator()(const curlew::MeshInfoOptions& options) const { return curlew::mesh_info(options); }
  int operator()(const curlew::MeshConvertOptions& options) const { return curlew::mesh_convert(options); }
  int operator()(const curlew::BenchOptions& options) const { return curlew::bench_mesh(options); }
  int operator()(const curlew::CompareOptions& options) const { return curlew::compare_case(options); }
};

/// An error is one line, whatever it quotes of the input.
std::string on_one_line(const std::string& message) {
  std::string line;
  for (const char c : message) {
    if (std::iscntrl(static_cast<unsigned char>(c)) == 0)
      line += c;
    else
      line += c == '\n' ? "\\n" : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return line;
}

void print(const curlew::Failure& failure, const std::string& who) {
  std::string text;
  for (const std::string& message : failure.messages) text += "error: " + who + on_one_line(message) + '\n';
  std::cerr << text << std::flush;
}

/// Between parallel loops the OpenMP runtime of GCC spins for milliseconds before it sleeps. On a machine
/// whose cores are busy with something else that makes every loop wait for a time slice (measured: 40 times
/// slower). How long it spins can only be said in the environment, before the program starts; hence the
/// second start.
void restart_with_short_spinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "4000", 1);  // some ten microseconds, longer than a loop takes to hand out
  std::error_code unknown;
  // By its own path, of which the process gets its name.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) execv(program.c_str(), argv);  // where that fails the program just goes on
}

/// A file that is opened must not take the place of a standard stream that the caller has closed: it would
/// get what is told there. What stands there instead cannot be written to, or read, either.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  restart_with_short_spinning(argv);
  using namespace curlew;
  std::shared_ptr<const Communicator> ranks = one_rank();
  try {
    ranks = all_ranks();
    Command command;
    together(*ranks, [&] { command = parse_command_line(std::vector<std::string>(argv + 1, argv + argc)); });
    int status = exit_status::done;
    const auto carry_out = [&] {
      status = std::visit(Dispatch{}, command);
      if (status == exit_status::done && !std::cout.flush())
        throw InputError("cannot write to standard output");
    };
    if (std::holds_alternative<RunOptions>(command)) {
      carry_out();
    } else {  // nothing to divide
      together(*ranks, [&] {
        if (ranks->rank() == 0) carry_out();
      });
    }
    return status;
  } catch (const SharedFailure& shared) {
    if (ranks->rank() == 0) print(shared.failure(), "");
    return shared.failure().status;
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    if (ranks->ranks() > 1) {  // the others know nothing of it and must not wait
      ranks->abort(failure.status, [&] {
        print(failure, "rank " + std::to_string(ranks->rank()) + ": ");
        if (failure.record) failure.record();
      });
    }
    print(failure, "");
    return failure.status;
  }
}
