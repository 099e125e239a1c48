// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/load_case.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"

namespace curlew {

namespace {

FunctionPointer function(const Expression& expression) {
  return std::make_shared<Expression>(expression);
}

struct ToBoundary {
  HeatBoundary operator()(const InsulatedSettings&) const { return Insulated{}; }
  HeatBoundary operator()(const FixedTemperatureSettings& s) const {
    return FixedTemperature{function(s.value)};
  }
  HeatBoundary operator()(const HeatFluxSettings& s) const { return HeatFlux{function(s.value)}; }
  HeatBoundary operator()(const ConvectionSettings& s) const {
    return Convection{function(s.coefficient), function(s.ambient)};
  }
};

std::vector<std::string> patch_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const Patch& patch : mesh.topology().patches()) names.push_back(patch.name);
  return names;
}

}  // namespace

LoadedCase load_case(const std::filesystem::path& path, std::span<const std::string> overrides) {
  Diagnostics diagnostics;
  LoadedCase loaded{read_heat_case(path, overrides, diagnostics), nullptr};
  if (!loaded.settings.mesh.file.empty()) {
    try {
      loaded.mesh = std::make_unique<const Mesh>(read_mesh(loaded.settings.mesh));
      check_names_against_mesh(loaded.settings, patch_names(*loaded.mesh),
                               loaded.mesh->topology().region_names(), diagnostics);
    } catch (const InputErrors& errors) {
      diagnostics.add(errors);
    } catch (const InputError& error) {
      diagnostics.error(loaded.settings.mesh.location, error.what());
    }
  }
  diagnostics.throw_if_any();
  return loaded;
}

HeatSettings heat_settings(const HeatCase& settings, const Mesh& mesh) {
  HeatSettings heat;
  for (const std::string& region : mesh.topology().region_names()) {
    const auto material = std::find_if(settings.materials.begin(), settings.materials.end(),
                                       [&](const MaterialSettings& m) { return m.region.name == region; });
    REQUIRE(material != settings.materials.end(), "no material for region '" + region + "'");
    heat.materials.push_back(
        {material->conductivity, material->density * material->heat_capacity, function(material->source)});
  }
  for (const Patch& patch : mesh.topology().patches()) {
    const auto boundary = std::find_if(settings.boundaries.begin(), settings.boundaries.end(),
                                       [&](const BoundarySettings& b) { return b.patch.name == patch.name; });
    REQUIRE(boundary != settings.boundaries.end(), "no boundary condition for patch '" + patch.name + "'");
    heat.boundaries.push_back(std::visit(ToBoundary{}, boundary->condition));
  }
  heat.scheme = settings.scheme;
  heat.solver.relative_tolerance = settings.solver.tolerance;
  heat.solver.max_iterations = static_cast<int>(settings.solver.max_iterations);
  heat.jacobi = settings.solver.preconditioner == PreconditionerChoice::Jacobi;
  return heat;
}

std::int64_t step_count(const TimeSettings& time) {
  // A last step shorter than a millionth of the others would be round-off of the quotient.
  return static_cast<std::int64_t>(std::ceil((time.end - time.start) / time.step - 1e-6));
}

Real time_of_step(const TimeSettings& time, std::int64_t step) {
  return step == step_count(time) ? time.end : time.start + static_cast<Real>(step) * time.step;
}

Executor make_executor(const std::string& backend, std::optional<int> threads) {
  REQUIRE(backend == "cpu", "backend '" + backend + "' is not built in");
  if (threads) omp_set_num_threads(*threads);
  return Executor::openmp(threads.value_or(omp_get_max_threads()));
}

}  // namespace curlew
