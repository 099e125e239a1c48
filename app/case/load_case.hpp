// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/case/flow_case.hpp"
#include "app/case/heat_case.hpp"
#include "app/simulation/simulation.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// A case of any model.
using AnyCase = std::variant<HeatCase, FlowCase>;

/// A case that fits its mesh.
struct LoadedCase {
  AnyCase settings;
  std::unique_ptr<const Mesh> mesh;  ///< periodic patches joined; on several ranks the rank's part
};

/// Reads a case of whatever model; what is wrong goes to `diagnostics` as in read_heat_case.
AnyCase read_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                  Diagnostics& diagnostics);

/// Reads a case and its mesh; throws InputErrors with everything that is wrong in both and between them.
/// `output`: where results are to go instead of [output] directory, which is not looked at then.
///
/// On several ranks, which call this together, each gets its part of the mesh: from a mesh file that holds
/// the parts for so many ranks each reads its own, unless patches are to be joined; any other mesh is divided
/// by rank 0. Throws SharedFailure.
LoadedCase load_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                     const std::shared_ptr<const Communicator>& ranks = one_rank(),
                     const std::optional<std::filesystem::path>& output = std::nullopt);

/// What a case asks for and will hardly get, a sentence each. By all ranks together.
std::vector<std::string> doubts_about(const LoadedCase& loaded);

/// What MonitorFiles::doubts() says of the case's monitors.
std::vector<std::string> doubts_about_monitors(const LoadedCase& loaded);

/// Throws InputErrors for what the values of the case's expressions show to be wrong at the start, as a run
/// would: one without a value, a net flow into a closed part of the domain, heat that a steady state cannot
/// be rid of. For a case on one rank.
void check_values(const LoadedCase& loaded);

/// The run that a case describes; not started yet. The case must outlive it.
std::unique_ptr<Simulation> make_simulation(const Executor& executor, const LoadedCase& loaded);

/// Executor of the backend "cpu" with the given number of threads (nothing: all cores), or of "cuda"; throws
/// InputError where there is no GPU.
Executor make_executor(const std::string& backend, std::optional<int> threads);
/// The same for one of several ranks: by default the cores of a machine, or its GPUs, are divided among its
/// ranks.
Executor make_executor(const std::string& backend, std::optional<int> threads,
                       const std::shared_ptr<const Communicator>& ranks);

}  // namespace curlew
