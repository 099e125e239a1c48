// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "app/case/load_case.hpp"
#include "app/commands.hpp"
#include "kernels/counted.hpp"
#include "mesh/bounding_box.hpp"

namespace curlew {

int check_case(const CheckOptions& options) {
  const LoadedCase loaded = load_case(options.case_file, options.overrides);
  const Topology& topology = loaded.mesh->topology();
  // First, as they may tell why values are wrong.
  for (const std::string& note : loaded.mesh->notes()) std::cout << "note: " << note << '\n' << std::flush;
  check_values(loaded);
  for (const std::string& doubt : doubts_about(loaded)) std::cout << "note: " << doubt << '\n';
  for (const std::string& doubt : doubts_about_monitors(loaded)) std::cout << "note: " << doubt << '\n';
  const BoundingBox box = bounding_box(loaded.mesh->unfolded());
  const Vector3 extent = box.high - box.low;
  std::string size = fmt::format("{:.4g} x {:.4g}", extent.x, extent.y);
  if (topology.dimension() == 3) size += fmt::format(" x {:.4g}", extent.z);
  std::cout << fmt::format("{}: the case is sound ({}, {}, {}, {}, {} m)\n", options.case_file.string(),
                           counted(topology.cells().size(), "cell"), counted(topology.nodes().size(), "node"),
                           counted(std::ssize(topology.region_names()), "region"),
                           counted(std::ssize(topology.patches()), "patch", "es"), size);
  return 0;
}

}  // namespace curlew
