// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>

#include "app/diagnostics.hpp"
#include "kernels/error.hpp"
#include "kernels/executor.hpp"
#include "mesh/parallel/communicator.hpp"

namespace curlew {

namespace {

/// What is built in, and why what is not there is not.
std::string version_text() {
  std::string text = "curlew " CURLEW_VERSION "\nbackends: cpu (serial, OpenMP), debug device";
#if defined(CURLEW_CUDA)
  text += ", cuda";
  if (const std::string problem = cuda_problem(); !problem.empty()) text += "\ncuda: " + problem;
#else
  text += "; CUDA is not built in";
#endif
  text += built_with_mpi() ? "\nMPI is built in" : "\nMPI is not built in";
  return text;
}

const std::vector<std::string> backends = {"cpu", "cuda"};

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// In place of CLI11's own checks, which print the whole range of the type.

std::string positive(const std::string& text) {
  const auto value = number_in<double>(text);
  if (value && *value > 0 && std::isfinite(*value)) return "";
  return fmt::format("expected a positive number, not {}", text);
}

std::string not_empty(const std::string& text) {
  return text.empty() ? "expected a name, not an empty one" : "";
}

template <class Count>
std::string positive_integer(const std::string& text) {
  const auto value = number_in<Count>(text);
  if (value && *value > 0) return "";
  return fmt::format("expected a positive integer, not {}", text);
}

void add_case(CLI::App& command, std::filesystem::path& case_file, std::vector<std::string>& overrides) {
  command.add_option("CASE", case_file, "Case file (TOML)")->required();
  command
      .add_option("--set", overrides,
                  "table.key=value: overrides the case file; repeatable, the value as in TOML")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void add_mesh(CLI::App& command, MeshSettings& mesh, const char* name) {
  command
      .add_option(name, mesh.file,
                  "Mesh or geometry: .msh, .geo, .step and others that Gmsh reads, or Curlew's own .h5")
      ->required();
  command.add_option("--scale", mesh.scale, "Length multiplier")->check(positive)->capture_default_str();
  command.add_option("--size", mesh.size, "Target size of cells of a geometry meshed on the fly [m]")
      ->check(positive);
  mesh.location = {"command line", 0};
}

void add_order(CLI::App& command, MeshSettings& mesh) {
  const std::vector<std::string> orders(cell_order_names.begin(), cell_order_names.end());
  command
      .add_option_function<std::string>(
          "--order",
          [&mesh](const std::string& chosen) {
            const auto order = std::find(cell_order_names.begin(), cell_order_names.end(), chosen);
            mesh.order = static_cast<CellOrder>(order - cell_order_names.begin());
          },
          "Numbering of cells")
      ->check(CLI::IsMember(orders))
      ->default_str("rcm")
      ->type_name("TEXT");
}

template <class Count>
void add_count(CLI::App& command, const char* name, std::optional<Count>& count, const char* description) {
  command.add_option(name, count, description)->check(positive_integer<Count>)->type_name("N");
}

/// OpenMP ends the program where it cannot start a thread: a slip of the finger is told before.
std::string thread_count(const std::string& text) {
  if (number_in<int>(text).value_or(0) > most_threads)
    return fmt::format("expected at most {}, not {}", most_threads, text);
  return positive_integer<int>(text);
}

void add_threads(CLI::App& command, std::optional<int>& threads) {
  command
      .add_option("--threads", threads, fmt::format("Threads, at most {} (default: all cores)", most_threads))
      ->check(thread_count)
      ->type_name("N");
}

/// What follows "--" are files, whatever they are called.
std::vector<std::string> without_double_dash(std::vector<std::string> arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return arguments;
  for (std::string& file : std::span(arguments.erase(dashes), arguments.end())) {
    if (file.starts_with('-')) file.insert(0, "./");
  }
  return arguments;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The message for arguments that CLI11 could not use: a wrong subcommand or option is named with the nearest
/// valid one, where CLI11 would complain of what is missing because of it.
std::string explained(const CLI::App& app, const std::vector<std::string>& arguments,
                      const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string called = "curlew";
  for (const std::string& argument : arguments) {
    const auto names = subcommand_names(*command);
    if (!argument.starts_with("-") && !names.empty()) {
      if (std::find(names.begin(), names.end(), argument) == names.end()) {
        return fmt::format("{} has no subcommand \"{}\"{}", called, argument,
                           suggestion(argument, names, "subcommands"));
      }
      command = command->get_subcommand(argument);
      called += " " + argument;
    } else if (argument.starts_with("--") && argument.size() > 2) {
      const std::string name = argument.substr(0, argument.find('='));
      const auto valid = option_names(*command);
      if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
        return fmt::format("{} has no option {}{}", called, name, suggestion(name, valid, "options"));
      }
    }
  }
  const auto names = subcommand_names(*command);
  if (!names.empty()) return fmt::format("{} needs a subcommand: {}", called, join(names));
  return fmt::format("{}: {}; see {} --help", called, error.what(), called);
}

void require_backend(const std::string& name) {
  if (std::ranges::find(backends, name) == backends.end())
    throw InputError(
        fmt::format("there is no backend \"{}\"{}", name, suggestion(name, backends, "backends")));
  if (name != "cuda") return;
  if (const std::string problem = cuda_problem(); !problem.empty())
    throw InputError("--backend cuda: " + problem);
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& given) {
  const std::vector<std::string> arguments = without_double_dash(given);
  CLI::App app("Heat and incompressible flow on unstructured meshes by discrete calculus.", "curlew");
  // Asked for when it is wanted: to know of GPUs, CUDA has to start.
  app.set_version_flag("--version", std::function<std::string()>(version_text));
  app.require_subcommand(1);
  app.get_formatter()->label("Needs", "only with");

  RunOptions run;
  CLI::App* run_command = app.add_subcommand("run", "Validate a case, then run it");
  add_case(*run_command, run.case_file, run.overrides);
  run_command->add_option("--backend", run.backend, "cpu or cuda")->capture_default_str();
  add_threads(*run_command, run.threads);
  run_command->add_option("--output", run.output, "Output directory, instead of that of the case")
      ->check(not_empty)
      ->type_name("DIR");
  run_command
      ->add_option("--restart", run.restart,
                   "Go on from this checkpoint, or the last one without damage in this directory")
      ->check(not_empty)
      ->type_name("FILE|DIR");
  add_count(*run_command, "--steps", run.steps, "Stop after this many steps");
  run_command->add_flag_callback(
      "--no-overlap", [&run] { run.overlap = false; },
      "On several ranks, wait for neighbours' values before any work that needs some");
  run_command->add_flag("--quiet", run.quiet, "No progress on standard error");

  CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "Report everything wrong with a case and its mesh");
  add_case(*check_command, check.case_file, check.overrides);

  CLI::App* mesh_command = app.add_subcommand("mesh", "Look at a mesh, or convert it");
  mesh_command->require_subcommand(1);
  MeshInfoOptions info;
  CLI::App* info_command =
      mesh_command->add_subcommand("info", "Counts, quality, topology, operator identities");
  add_mesh(*info_command, info.mesh, "MESH");
  add_order(*info_command, info.mesh);
  info_command->add_flag("--json", info.json, "JSON instead of text");
  MeshConvertOptions convert;
  CLI::App* convert_command =
      mesh_command->add_subcommand("convert", "Write a mesh as Curlew's own HDF5 mesh file or VTKHDF");
  add_mesh(*convert_command, convert.mesh, "IN");
  add_order(*convert_command, convert.mesh);
  convert_command->add_option("OUT", convert.output, "File to write")->required();
  add_count(*convert_command, "--partition", convert.parts, "Divide the mesh for runs on this many ranks");
  convert_command->get_option("--order")->needs("--partition");  // parts are of a mesh with numbers

  BenchOptions bench;
  CLI::App* bench_command =
      app.add_subcommand("bench", "Time every operator on each backend but the debug device");
  add_mesh(*bench_command, bench.mesh, "MESH");
  add_order(*bench_command, bench.mesh);
  bench_command->add_option("--backend", bench.backend, "Time cpu or cuda alone");
  add_threads(*bench_command, bench.threads);
  bench_command->add_flag("--json", bench.json, "JSON instead of text");

  CompareOptions compare;
  CLI::App* compare_command = app.add_subcommand("compare", "Run a case on every backend, side by side");
  add_case(*compare_command, compare.case_file, compare.overrides);
  add_threads(*compare_command, compare.threads);
  add_count(*compare_command, "--steps", compare.steps, "Stop after this many steps");

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return Answer{app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Answer{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw InputError(explained(app, arguments, error));
  }

  if (run_command->parsed()) {
    require_backend(run.backend);
    return run;
  }
  if (check_command->parsed()) return check;
  if (info_command->parsed()) return info;
  if (convert_command->parsed()) return convert;
  if (bench_command->parsed()) {
    if (bench.backend) require_backend(*bench.backend);
    return bench;
  }
  return compare;
}

}  // namespace curlew
