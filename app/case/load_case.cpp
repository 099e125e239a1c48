// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/load_case.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/case/flow_doubts.hpp"
#include "app/command_line.hpp"
#include "app/failure.hpp"
#include "app/files/checked_hdf5.hpp"
#include "app/files/mesh_file.hpp"
#include "app/files/read_mesh.hpp"
#include "app/files/step_files.hpp"
#include "app/output/monitor_files.hpp"
#include "app/simulation/flow_simulation.hpp"
#include "app/simulation/heat_simulation.hpp"
#include "kernels/error.hpp"
#include "mesh/import/periodic.hpp"
#include "mesh/node_graph.hpp"
#include "mesh/parallel/partition.hpp"
#include "physics/flow/averages.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "physics/flow/flow_boundary.hpp"
#include "physics/heat/heat_load.hpp"
#include "physics/heat/tied_parts.hpp"

namespace curlew {

namespace {

std::vector<std::string> patch_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const Patch& patch : mesh.topology().patches()) names.push_back(patch.name);
  return names;
}

void check(const HeatCase& settings, const Mesh& mesh, Diagnostics& diagnostics) {
  check_names_against_mesh(settings, patch_names(mesh), mesh.topology().region_names(), diagnostics);
}

void check(const FlowCase& settings, const Mesh& mesh, Diagnostics& diagnostics) {
  check_against_mesh(settings, mesh.topology().dimension(), patch_names(mesh), mesh.topology().region_names(),
                     diagnostics);
}

std::optional<NamedReference> watched(const HeatCase&) {
  return std::nullopt;
}

std::optional<NamedReference> watched(const FlowCase& settings) {
  return watched_column(settings.time);
}

void check_directory(const OutputSettings& output, Diagnostics& diagnostics) {
  std::error_code ignored;
  if (std::filesystem::exists(output.directory, ignored) &&
      !std::filesystem::is_directory(output.directory, ignored)) {
    diagnostics.error(output.directory_location,
                      fmt::format("the output directory {} exists and is not a directory; name another one",
                                  output.directory.string()));
  }
}

/// Tables that the run reads are not to be replaced by what it writes.
void check_tables(const CaseSettings& settings, Diagnostics& diagnostics) {
  const OutputSettings& output = settings.output;
  for (const std::filesystem::path& table : settings.tables) {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::absolute(table).parent_path();
    if (!std::filesystem::equivalent(folder, output.directory, ignored)) continue;
    const std::string name = table.filename().string();
    const auto refuse = [&](const Location& location, const std::string& writer) {
      diagnostics.error(location, fmt::format("{} writes {}, which is a table that the case reads; give "
                                              "another [output] directory or rename one of them",
                                              writer, table.string()));
    };
    if (name == "residuals.csv") refuse(output.directory_location, "the run");
    for (const MonitorSettings& monitor : settings.monitors) {
      const bool in_pieces = std::holds_alternative<LineSettings>(monitor.what);  // NAME_<step>.csv
      if (in_pieces ? step_in(name, monitor.name + "_", ".csv").has_value() : name == monitor.name + ".csv")
        refuse(monitor.location, fmt::format("monitor \"{}\"", monitor.name));
    }
  }
}

void check_place_of_initial_file(const HeatCase&, Diagnostics&) {}

void check_place_of_initial_file(const FlowCase& settings, Diagnostics& diagnostics) {
  std::error_code ignored;
  if (settings.initial_file &&
      std::filesystem::equivalent(
          std::filesystem::weakly_canonical(*settings.initial_file, ignored).parent_path(),
          settings.output.directory, ignored)) {
    diagnostics.error(
        settings.initial_file_location,
        fmt::format("{} is in the output directory, whose checkpoints the run replaces; move it "
                    "elsewhere, or give another --output",
                    settings.initial_file->string()));
  }
}

void check_initial_file(const HeatCase&, const Mesh&, Diagnostics&) {}

void check_initial_file(const FlowCase& settings, const Mesh& mesh, Diagnostics& diagnostics) {
  const bool is_prepared = mesh.topology().is_periodic() == !periodic_pairs(settings).empty();
  if (!settings.initial_file || !is_prepared) return;
  try {
    require_checkpoint_of(flow_method_names[at(int(settings.method))], mesh,
                          read_checkpoint(*settings.initial_file), settings.initial_file->string());
  } catch (const InputError& error) {
    diagnostics.error(settings.initial_file_location, error.what());
  }
}

/// Monitors in which nothing was found wrong so far.
std::vector<MonitorSettings> sound_monitors(const CaseSettings& settings, const Mesh& mesh) {
  const std::vector<std::string> patches = patch_names(mesh), &regions = mesh.topology().region_names();
  std::vector<MonitorSettings> sound;
  for (const MonitorSettings& monitor : settings.monitors) {
    Diagnostics told;
    MeshNames(patches, regions, told).check_monitors({&monitor, 1});
    if (monitor.sound && told.empty()) sound.push_back(monitor);
  }
  return sound;
}

/// What takes the whole mesh to find out: points outside the mesh, a column that no monitor writes. What was
/// found before is not told again.
template <class Settings>
void check_on_mesh(const Settings& settings, const Mesh& mesh, Diagnostics& diagnostics) {
  std::vector<MonitorSettings> monitors = sound_monitors(settings, mesh);
  const auto find_errors = [&](std::span<const MonitorSettings> some, const NamedReference* required) {
    try {
      const MonitorFiles files(mesh, some, settings.time.start, settings.output.directory);
      if (required) files.require(*required);
    } catch (const InputErrors& errors) {
      diagnostics.add(errors);
    }
  };
  const auto column = watched(settings);
  // The one that is watched alone, so that what is wrong with others does not hide its columns.
  const auto others = std::ranges::stable_partition(monitors, [&](const MonitorSettings& monitor) {
    return column && column->name.starts_with(monitor.name + ".");
  });
  if (others.begin() != monitors.begin()) find_errors({monitors.begin(), others.begin()}, &*column);
  find_errors(others, nullptr);
}

/// The mesh that the model runs on.
Mesh prepared(const HeatCase&, Mesh mesh, Diagnostics&) {
  return mesh;
}

/// With the periodic patches joined.
Mesh prepared(const FlowCase& settings, Mesh mesh, Diagnostics& diagnostics) {
  auto named = periodic_pairs(settings);
  if (named.empty() || !diagnostics.empty()) return mesh;
  // The numbers of faces follow from the order of the pairs, and what belongs to them is in checkpoints: it
  // is the mesh's, however the case names them.
  const std::vector<std::string> patches = patch_names(mesh);
  const auto before = [&](const NamedReference& a, const NamedReference& b) {
    return std::ranges::find(patches, a.name) < std::ranges::find(patches, b.name);
  };
  const auto lower = [&](const std::array<NamedReference, 2>& pair) {
    return std::min(pair[0], pair[1], before);
  };
  std::ranges::sort(named, before, lower);
  std::vector<PeriodicPair> pairs;
  for (const auto& pair : named) pairs.push_back({lower(pair).name, std::max(pair[0], pair[1], before).name});
  try {
    return make_periodic(mesh, pairs).mesh;
  } catch (const InputError& error) {
    // Of the first pair that is wrong by itself, else of them together.
    Location location = named.front()[0].location;
    std::string message = error.what();
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      try {
        make_periodic(mesh, std::span(pairs).subspan(k, 1));
      } catch (const InputError& own) {
        location = named[k][0].location;
        message = own.what();
        break;
      }
    }
    diagnostics.error(location, message);
    return mesh;
  }
}

/// Whether a file is for the reader of flows. What is wrong with its model is for the readers to report.
bool is_flow(const std::string& text, const std::string& name, std::span<const std::string> overrides) {
  Diagnostics unheard;
  const CaseFile file(text, name, overrides, unheard);
  try {
    return std::ranges::count(flow_method_names, read_model_type(file.root(), unheard)) > 0;
  } catch (const InputErrors&) {
    return false;
  }
}

}  // namespace

AnyCase read_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                  Diagnostics& diagnostics) {
  const std::string text = read_case_text(path), name = path.string();
  const CaseFile file(text, name, overrides, diagnostics);
  const Location location{name, 1};
  if (is_flow(text, name, overrides)) return read_flow_case(file, location, path.parent_path(), diagnostics);
  return read_heat_case(file, location, path.parent_path(), diagnostics);
}

namespace {

bool is_periodic(const HeatCase&) {
  return false;
}

bool is_periodic(const FlowCase& settings) {
  return !periodic_pairs(settings).empty();
}

/// Whether the mesh file holds what each rank needs, to the bit what dividing the mesh would give. It knows
/// nothing of patches that the case joins.
template <class Settings>
bool has_parts_for(const Settings& settings, const Communicator& ranks) {
  const MeshSettings& mesh = settings.mesh;
  return !is_periodic(settings) && mesh.file.extension() == ".h5" && mesh.scale == 1 && mesh.size == 0 &&
         has_parts(mesh.file, ranks.ranks(), mesh.order);
}

/// The part of this rank of the mesh that rank 0 has read.
std::unique_ptr<const Mesh> divided(std::unique_ptr<const Mesh> whole,
                                    const std::shared_ptr<const Communicator>& ranks) {
  std::optional<Partition> partition;
  std::vector<std::string> notes;
  together(*ranks, [&] {
    if (!whole) return;
    partition = make_partition(whole->topology(), ranks->ranks());
    notes = whole->notes();
    notes.push_back(description(assess(whole->topology(), *partition)));
  });
  MeshPart part = distribute(whole.get(), partition ? &*partition : nullptr, *ranks);
  whole.reset();
  return std::make_unique<const Mesh>(make_mesh(std::move(part), ranks, std::move(notes)));
}

}  // namespace

namespace {

void require_one_case(const Communicator& ranks, const std::filesystem::path& path,
                      std::span<const std::string> overrides,
                      const std::optional<std::filesystem::path>& output) {
  if (ranks.ranks() == 1) return;  // a case may come through a pipe, which is read once
  std::string text;
  together(ranks, [&] { text = read_case_text(path); });
  for (const std::string& override : overrides) text += '\n' + override;
  if (output) text += '\n' + output->string();
  require_same(
      ranks, text,
      fmt::format("{}, --set or --output is not what it is on rank 0; all ranks have to run one case",
                  path.string()));
}

/// The bytes that say how long one of Curlew's own files is, and the checksum of all that follows.
std::string head_of(const std::filesystem::path& file) {
  std::string head(checked_user_block, '\0');
  std::ifstream(file).read(head.data(), std::ssize(head));
  return head;
}

}  // namespace

LoadedCase load_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                     const std::shared_ptr<const Communicator>& ranks,
                     const std::optional<std::filesystem::path>& output) {
  require_one_case(*ranks, path, overrides, output);
  LoadedCase loaded;
  bool in_parts = false;
  together(*ranks, [&] {
    Diagnostics diagnostics;
    loaded.settings = read_case(path, overrides, diagnostics);
    const auto load = [&](auto& settings) {
      if (output) {
        settings.output.directory = *output;
        settings.output.directory_location = {"command line", 0};
      }
      check_directory(settings.output, diagnostics);
      check_tables(settings, diagnostics);
      if (settings.mesh.file.empty()) return;
      try {
        in_parts = ranks->ranks() > 1 && has_parts_for(settings, *ranks);
        if (!in_parts && ranks->rank() > 0) return;
        Mesh mesh = in_parts ? make_mesh(read_mesh_part(settings.mesh.file, ranks->rank()), ranks)
                             : read_mesh(settings.mesh);
        check(settings, mesh, diagnostics);
        check_place_of_initial_file(settings, diagnostics);
        if (!in_parts) check_on_mesh(settings, mesh, diagnostics);
        const std::vector<std::string> notes = mesh.notes();
        loaded.mesh = std::make_unique<const Mesh>(prepared(settings, std::move(mesh), diagnostics));
        if (!diagnostics.empty()) {  // they may say why a patch or region is missing
          for (const std::string& note : notes) std::cerr << "note: " + note + '\n' << std::flush;
        }
        if (!in_parts) check_initial_file(settings, *loaded.mesh, diagnostics);
      } catch (const InputErrors& errors) {
        diagnostics.add(errors);
      } catch (const InputError& error) {
        diagnostics.error(settings.mesh.location, error.what());
      }
    };
    std::visit(load, loaded.settings);
    diagnostics.throw_if_any();
  });
  const bool on_any = ranks->maximum(in_parts ? 1 : 0) > 0;
  together(*ranks, [&] {
    if (in_parts == on_any) return;
    throw InputErrors(
        std::visit([](const auto& settings) { return settings.mesh.location; }, loaded.settings),
        "the mesh file holds parts for as many ranks on some nodes and not on others: all have to "
        "see the same file");
  });
  if (in_parts) {
    const std::filesystem::path& file = std::visit(
        [](const auto& settings) -> const auto& { return settings.mesh.file; }, loaded.settings);
    require_same(*ranks, head_of(file),
                 fmt::format("{}: the mesh file is not that of rank 0; all ranks have to see the same file",
                             file.string()));
  }
  if (ranks->ranks() > 1 && !in_parts) loaded.mesh = divided(std::move(loaded.mesh), ranks);
  return loaded;
}

std::vector<std::string> doubts_about(const LoadedCase& loaded) {
  const auto* flow = std::get_if<FlowCase>(&loaded.settings);
  if (flow == nullptr) return {};
  std::vector<std::string> doubts = doubts_about_symmetry(*flow, *loaded.mesh);
  std::ranges::move(doubts_about_walls(*flow, *loaded.mesh), std::back_inserter(doubts));
  if (std::string doubt = doubt_about_steadiness(*flow); !doubt.empty()) doubts.push_back(std::move(doubt));
  return doubts;
}

std::vector<std::string> doubts_about_monitors(const LoadedCase& loaded) {
  const auto doubts = [&](const auto& settings) {
    return MonitorFiles(loaded.mesh->unfolded(), settings.monitors, settings.time.start,
                        settings.output.directory)
        .doubts();
  };
  return std::visit(doubts, loaded.settings);
}

namespace {

void check_values(const HeatCase& settings, const Mesh& mesh) {
  require_cells_to_conduct(mesh);
  const HeatSettings heat = heat_settings(settings, mesh);
  if (settings.initial_temperature) {
    std::vector<Real> initial(at(mesh.topology().nodes().size()));
    settings.initial_temperature->evaluate(mesh.geometry().node_positions().host(), settings.time.start,
                                           initial);
  }
  HeatLoad load(Executor::serial(), mesh, heat);
  load.update(settings.time.start);
  if (!settings.time.steady) return;
  const NodeGraph graph(mesh.topology());
  const FloatingParts floating(mesh.domain(), graph, tied_nodes(load));
  floating.require_balance(mesh, load);
  require_mean(settings, floating.count() == 0);
}

void check_values(const FlowCase& settings, const Mesh& mesh) {
  require_star_shaped_cells(mesh);
  if (settings.initial_velocity)
    average_on_faces(mesh, mesh.topology().faces(), *settings.initial_velocity, settings.time.start);
  if (settings.flow.body_force) average_on_cells(mesh, *settings.flow.body_force, settings.time.start);
  FlowBoundaries boundaries(Executor::serial(), mesh, flow_settings(settings, mesh));
  const FlowTimeSettings& time = settings.time;
  boundaries.update(time.start);
  // At the first step's end, too; where the Courant number sets it, that is not known.
  const Real end = time.start + time.step;
  boundaries.update(time.steady ? end : std::min(end, time.end));
}

}  // namespace

void check_values(const LoadedCase& loaded) {
  const auto check = [&](const auto& settings) {
    with_place([&] { check_values(settings, *loaded.mesh); },
               [&](const InputError& error) { return place_of(error, settings); });
  };
  std::visit(check, loaded.settings);
}

std::unique_ptr<Simulation> make_simulation(const Executor& executor, const LoadedCase& loaded) {
  if (const auto* heat = std::get_if<HeatCase>(&loaded.settings)) {
    return std::make_unique<HeatSimulation>(executor, *loaded.mesh, *heat);
  }
  const auto& flow = std::get<FlowCase>(loaded.settings);
  const Mesh& mesh = *loaded.mesh;
  std::unique_ptr<IncompressibleFlow> method;
  if (flow.method == FlowMethod::ExactFractionalStep) {
    method = std::make_unique<ExactFractionalStep>(executor, mesh, flow_settings(flow, mesh));
  } else {
    method = std::make_unique<ClassicalFractionalStep>(executor, mesh, flow_settings(flow, mesh));
  }
  return std::make_unique<FlowSimulation>(flow, std::move(method));
}

Executor make_executor(const std::string& backend, std::optional<int> threads) {
  if (backend == "cuda") return Executor::cuda();
  REQUIRE(backend == "cpu", "there is no backend '" + backend + "'");
  const int wanted = threads.value_or(omp_get_max_threads());
  if (wanted > most_threads) {  // OpenMP ends the program where it cannot start one
    throw InputError(
        fmt::format("OMP_NUM_THREADS asks for {} threads; expected at most {}", wanted, most_threads));
  }
  omp_set_num_threads(wanted);
  return Executor::openmp(wanted);
}

Executor make_executor(const std::string& backend, std::optional<int> threads,
                       const std::shared_ptr<const Communicator>& ranks) {
  if (ranks->ranks() == 1) return make_executor(backend, threads);
  if (backend == "cuda") {
    // A launcher may show each rank a GPU of its own, or all of them.
    return Executor::cuda(ranks->place().rank % std::max(1, cuda_device_count())).among(ranks);
  }
  if (!threads) threads = std::getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : ranks->place().cores;
  return make_executor(backend, threads).among(ranks);
}

}  // namespace curlew
