// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/case/load_case.hpp"
#include "app/files/mesh_file.hpp"
#include "kernels/memory_use.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew::test {
namespace {

// Everything that a run can be asked to write, so that all of it comes from where the fields live.

constexpr const char* heat_case = R"([mesh]
file = "box.h5"
[model]
type = "heat-diffusion"
[time]
end = 0.3
step = 0.1
[initial]
temperature = "sin(3*x) + y"
[material.box]
conductivity = 2.5
density = 1
heat_capacity = 1
source = "x"
[boundary.left]
type = "temperature"
value = "y + t"
[boundary.right]
type = "convection"
coefficient = 4
ambient = 5
[boundary.bottom]
type = "heat-flux"
value = 3
[boundary.top]
type = "insulated"
[output]
every = 1
checkpoint = 0.1
[monitor.probe]
type = "probe"
points = [[0.3, 0.4, 0]]
fields = ["temperature"]
[monitor.average]
type = "average"
fields = ["temperature"]
[monitor.extrema]
type = "extrema"
fields = ["temperature"]
[monitor.flux]
type = "flux"
patches = ["left", "right"]
field = "temperature"
)";

constexpr const char* flow_case = R"([mesh]
file = "box.h5"
[fluid]
kinematic_viscosity = 0.01
body_force = ["y", "0", "0"]
[time]
end = 0.06
step = 0.02
[initial]
velocity = ["0", "0", "0"]
[boundary.left]
type = "inlet"
velocity = ["y", "0", "0"]
[boundary.right]
type = "outlet"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "symmetry"
[output]
every = 1
fields = ["velocity", "pressure", "vorticity", "q_criterion", "divergence", "streamfunction", "wall_shear_stress"]
checkpoint = 0.02
[monitor.probe]
type = "probe"
points = [[0.3, 0.4, 0]]
fields = ["velocity", "pressure"]
[monitor.line]
type = "line"
from = [0, 0.5, 0]
to = [1, 0.5, 0]
points = 7
fields = ["velocity", "pressure"]
[monitor.average]
type = "average"
fields = ["velocity", "pressure"]
[monitor.extrema]
type = "extrema"
fields = ["velocity"]
[monitor.flux]
type = "flux"
patches = ["left", "right"]
[monitor.forces]
type = "forces"
patches = ["bottom"]
[monitor.energy]
type = "energy"
[monitor.mean]
type = "time-average"
fields = ["velocity", "pressure"]
)";

/// All tables that the run of a case leaves, by their names.
std::map<std::string, std::string> tables_of(const Executor& executor, const LoadedCase& loaded) {
  const OutputDirectory out;
  RunOptions options;
  options.output = out.path();
  options.quiet = true;
  EXPECT_EQ(run_simulation(options, *make_simulation(executor, loaded), 1), 0);
  std::map<std::string, std::string> tables;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path())) {
    if (entry.path().extension() == ".csv") tables[entry.path().filename()] = read_text(entry.path());
  }
  return tables;
}

TEST(Run, writes_the_same_tables_on_every_backend) {
  for (const std::string model : {"heat-diffusion", "classical-fractional-step", "exact-fractional-step"}) {
    const OutputDirectory folder;
    write_mesh_file(folder / "box.h5", make_box(CellType::Quadrilateral, {9, 8, 1}));
    write_text(folder / "case.toml", model == "heat-diffusion"
                                         ? heat_case
                                         : flow_case + fmt::format("[model]\ntype = \"{}\"\n", model));
    const LoadedCase loaded = load_case(folder / "case.toml", {});
    const auto expected = tables_of(Executor::serial(), loaded);
    EXPECT_GE(expected.size(), 5u) << model;
    for (const Executor& executor : backends_beside_serial())
      EXPECT_EQ(tables_of(executor, loaded), expected) << model << " " << executor.name();
  }
}

TEST(Run, copies_from_a_device_what_probes_need_however_large_the_mesh_is) {
  const std::vector<std::string> of_heat{"temperature", "gradient", "heat_flux"},
      of_flow{"velocity",   "pressure",      "vorticity",    "q_criterion",
              "divergence", "mean_velocity", "mean_pressure"};
  for (const auto& [model, fields] :
       {std::pair("heat-diffusion", of_heat), {"classical-fractional-step", of_flow}}) {
    std::map<std::string, std::size_t> copied;  // by field, of the coarser mesh [bytes]
    for (const Index cells : {9, 27}) {
      const OutputDirectory folder;
      write_mesh_file(folder / "box.h5", make_box(CellType::Quadrilateral, {cells, cells, 1}));
      write_text(folder / "case.toml", model == std::string("heat-diffusion")
                                           ? heat_case
                                           : flow_case + fmt::format("[model]\ntype = \"{}\"\n", model));
      const LoadedCase loaded = load_case(folder / "case.toml", {});
      const auto run = make_simulation(Executor::debug_device(), loaded);
      run->start();
      run->advance();
      const auto snapshot = run->snapshot();
      const PointSampler sampler =
          PointSampler::at_points(PointLocator(run->mesh()), "p", {{0.5, 0.5, 0}, {0.3, 0.4, 0}});
      for (const std::string& field : fields) {
        snapshot->field_in(field, sampler.cells());  // has sent what it needs
        const std::size_t before = debug_device_copies().to_host;
        snapshot->field_in(field, sampler.cells());
        const std::size_t bytes = debug_device_copies().to_host - before;
        EXPECT_GT(bytes, 0u) << field;
        EXPECT_EQ(copied.emplace(field, bytes).first->second, bytes) << field;
      }
    }
  }
}

}  // namespace
}  // namespace curlew::test
