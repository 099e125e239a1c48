// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/heat_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace curlew {
namespace {

const FieldDescription temperature{"temperature", "K", 1}, gradient{"gradient", "K/m", 3},
    heat_flux{"heat_flux", "W/m2", 3};

const std::string minimal = R"([model]
type = "heat-diffusion"
[mesh]
file = "slab.msh"
[time]
end = 1
step = 0.1
[initial]
temperature = "300 + x"
[material.solid]
conductivity = 45
density = 7800
heat_capacity = 500
)";

HeatCase read(const std::string& text, std::vector<std::string> overrides = {}) {
  Diagnostics diagnostics;
  const CaseFile file(text, "cases/slab.toml", overrides, diagnostics);
  HeatCase heat_case = read_heat_case(file, {"cases/slab.toml", 1}, CURLEW_ERRORS_DIRECTORY, diagnostics);
  diagnostics.throw_if_any();
  return heat_case;
}

TEST(HeatCase, HasDefaults) {
  const HeatCase heat_case = read(minimal);
  const std::filesystem::path folder = CURLEW_ERRORS_DIRECTORY;
  EXPECT_EQ(heat_case.name, "slab");
  EXPECT_EQ(heat_case.mesh.file, folder / "slab.msh");
  EXPECT_EQ(heat_case.mesh.scale, 1);
  EXPECT_EQ(heat_case.mesh.size, 0);
  EXPECT_EQ(heat_case.mesh.order, CellOrder::ReverseCuthillMcKee);
  EXPECT_EQ(heat_case.scheme, HeatScheme::CrankNicolson);
  EXPECT_FALSE(heat_case.time.steady);
  EXPECT_EQ(heat_case.time.start, 0);
  EXPECT_TRUE(heat_case.initial_temperature->depends_on_space());
  EXPECT_EQ(heat_case.materials.at(0).source.constant(), 0);
  EXPECT_EQ(heat_case.solver.tolerance, 1e-10);
  EXPECT_EQ(heat_case.solver.max_iterations, 10000);
  EXPECT_EQ(heat_case.solver.preconditioner, Preconditioning::Multigrid);
  EXPECT_EQ(heat_case.output.directory, folder / "out");
  EXPECT_FALSE(heat_case.output.schedule.interval || heat_case.output.schedule.every);
  EXPECT_THAT(heat_case.output.fields, testing::ElementsAre(temperature));
  EXPECT_FALSE(heat_case.output.checkpoint);
}

TEST(HeatCase, ReadsEveryKey) {
  const HeatCase heat_case = read(R"TOML([case]
name = "everything"
[model]
type = "heat-diffusion"
scheme = "backward-euler"
[mesh]
file = "slab.msh"
scale = 0.001
size = 0.02
order = "hilbert"
[time]
start = 1
end = 2
step = 0.5
[initial]
temperature = 20
[material.solid]
conductivity = 45
density = 7800
heat_capacity = 500
source = "x*t"
[boundary.left]
type = "temperature"
value = "sin(t)"
[boundary.right]
type = "heat-flux"
value = -1e3
[boundary.top]
type = "convection"
coefficient = 10
ambient = "20 + z"
[boundary.bottom]
type = "insulated"
[solver.temperature]
tolerance = 1e-6
max_iterations = 50
preconditioner = "none"
[output]
directory = "results"
every = 7
fields = ["heat_flux", "temperature"]
checkpoint = 5
[monitor.a]
type = "probe"
points = [[0, 0, 0], [1, 2, 3]]
interval = 0.25
[monitor.b]
type = "line"
from = [0, 0, 0]
to = [1, 0, 0]
points = 11
fields = ["gradient"]
[monitor.c]
type = "extrema"
[monitor.d]
type = "average"
region = "solid"
[monitor.e]
type = "flux"
field = "temperature"
patches = ["left", "top"]
every = 2
)TOML");
  EXPECT_EQ(heat_case.name, "everything");
  EXPECT_EQ(heat_case.scheme, HeatScheme::BackwardEuler);
  EXPECT_EQ(heat_case.mesh.scale, 0.001);
  EXPECT_EQ(heat_case.mesh.size, 0.02);
  EXPECT_EQ(heat_case.mesh.order, CellOrder::Hilbert);
  EXPECT_EQ(heat_case.mesh.location.line, 7);
  EXPECT_EQ(heat_case.time.start, 1);
  EXPECT_EQ(heat_case.time.end, 2);
  EXPECT_EQ(heat_case.time.step, 0.5);
  EXPECT_EQ(heat_case.initial_temperature->constant(), 20);
  const MaterialSettings& material = heat_case.materials.at(0);
  EXPECT_EQ(material.region.name, "solid");
  EXPECT_EQ(material.region.location.line, 17);
  EXPECT_EQ(material.conductivity, 45);
  EXPECT_EQ(material.density, 7800);
  EXPECT_EQ(material.heat_capacity, 500);
  EXPECT_TRUE(material.source.depends_on_time() && material.source.depends_on_space());

  ASSERT_EQ(heat_case.boundaries.size(), 4u);
  EXPECT_EQ(heat_case.boundaries[0].patch.name, "left");
  EXPECT_TRUE(std::get<FixedTemperatureSettings>(heat_case.boundaries[0].condition).value.depends_on_time());
  EXPECT_EQ(std::get<HeatFluxSettings>(heat_case.boundaries[1].condition).value.constant(), -1000);
  const auto& convection = std::get<ConvectionSettings>(heat_case.boundaries[2].condition);
  EXPECT_EQ(convection.coefficient.constant(), 10);
  EXPECT_TRUE(convection.ambient.depends_on_space());
  EXPECT_TRUE(std::holds_alternative<InsulatedSettings>(heat_case.boundaries[3].condition));

  EXPECT_EQ(heat_case.solver.tolerance, 1e-6);
  EXPECT_EQ(heat_case.solver.max_iterations, 50);
  EXPECT_EQ(heat_case.solver.preconditioner, Preconditioning::None);
  EXPECT_EQ(heat_case.output.directory, std::filesystem::path(CURLEW_ERRORS_DIRECTORY) / "results");
  EXPECT_EQ(heat_case.output.schedule.every, 7);
  EXPECT_THAT(heat_case.output.fields, testing::ElementsAre(heat_flux, temperature));
  EXPECT_EQ(heat_case.output.checkpoint, 5.0);

  ASSERT_EQ(heat_case.monitors.size(), 5u);
  EXPECT_EQ(heat_case.monitors[0].schedule.interval, 0.25);
  EXPECT_EQ(std::get<ProbeSettings>(heat_case.monitors[0].what).points.at(1), (Vector3{1, 2, 3}));
  const auto& line = std::get<LineSettings>(heat_case.monitors[1].what);
  EXPECT_EQ(line.to, (Vector3{1, 0, 0}));
  EXPECT_EQ(line.count, 11);
  EXPECT_THAT(line.fields, testing::ElementsAre(gradient));
  EXPECT_TRUE(std::holds_alternative<ExtremaSettings>(heat_case.monitors[2].what));
  EXPECT_EQ(std::get<AverageSettings>(heat_case.monitors[3].what).region->name, "solid");
  EXPECT_EQ(std::get<FluxSettings>(heat_case.monitors[4].what).patches.at(1).name, "top");
  EXPECT_EQ(heat_case.monitors[4].schedule.every, 2);
}

TEST(HeatCase, SteadyNeedsConductivityAlone) {
  const HeatCase heat_case = read(R"([model]
type = "heat-diffusion"
[mesh]
file = "slab.msh"
[time]
steady = true
[material.solid]
conductivity = 45
)");
  EXPECT_TRUE(heat_case.time.steady);
  EXPECT_EQ(heat_case.materials.at(0).density, 0);
}

TEST(HeatCase, IsNamedAsItsFileButForWhatDoesNotFitInNamesOfFiles) {
  const auto named_as = [](const std::string& path) {
    Diagnostics diagnostics;
    const CaseFile file(minimal, path, {}, diagnostics);
    const HeatCase heat_case = read_heat_case(file, {path, 1}, CURLEW_ERRORS_DIRECTORY, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    return heat_case.name;
  };
  EXPECT_EQ(named_as("my/slab of \xE9.toml"), "slab_of__");
  EXPECT_EQ(named_as(".hidden.toml"), "_hidden");
  EXPECT_EQ(named_as(std::string(200, 'x') + ".toml"), std::string(100, 'x'));
}

TEST(HeatCase, OverridesWin) {
  const HeatCase heat_case =
      read(minimal, {"mesh.order=none", "material.solid.source=2*x", "boundary.left.type=insulated"});
  EXPECT_EQ(heat_case.mesh.order, CellOrder::AsRead);
  EXPECT_TRUE(heat_case.materials.at(0).source.depends_on_space());
  EXPECT_EQ(heat_case.boundaries.at(0).patch.location.file, "command line");
}

}  // namespace
}  // namespace curlew
