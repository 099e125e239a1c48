// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "app/case/load_case.hpp"
#include "app/commands.hpp"
#include "kernels/counted.hpp"

namespace curlew {

int check_case(const CheckOptions& options) {
  const LoadedCase loaded = load_case(options.case_file, options.overrides);
  check_values(loaded);
  const Topology& topology = loaded.mesh->topology();
  for (const std::string& note : loaded.mesh->notes()) std::cout << "note: " << note << '\n';
  for (const std::string& doubt : doubts_about(loaded)) std::cout << "note: " << doubt << '\n';
  for (const std::string& doubt : doubts_about_monitors(loaded)) std::cout << "note: " << doubt << '\n';
  std::cout << fmt::format("{}: the case is sound ({}, {}, {}, {})\n", options.case_file.string(),
                           counted(topology.cells().size(), "cell"), counted(topology.nodes().size(), "node"),
                           counted(std::ssize(topology.region_names()), "region"),
                           counted(std::ssize(topology.patches()), "patch", "es"));
  return 0;
}

}  // namespace curlew
