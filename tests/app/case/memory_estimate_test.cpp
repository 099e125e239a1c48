// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/memory_estimate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"
#include "app/files/mesh_file.hpp"
#include "kernels/memory_use.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::HasSubstr;

constexpr const char* case_of_heat = R"([mesh]
file = "box.h5"
[model]
type = "heat-diffusion"
[time]
end = 1.0
step = 0.1
[initial]
temperature = "x"
[material.box]
conductivity = 2.5
density = 1
heat_capacity = 1
)";

constexpr const char* case_of_flow = R"([mesh]
file = "box.h5"
[fluid]
kinematic_viscosity = 0.01
[time]
end = 1.0
step = 0.01
[initial]
velocity = ["y", "0", "0"]
)";

struct MemoryEstimate : testing::Test {
  LoadedCase load(const std::string& model, CellType type, bool periodic = false,
                  const std::vector<std::string>& overrides = {}, Real length = 1) {
    const RawMesh raw = make_box(
        type, type == CellType::Triangle ? std::array{20, 20, 1} : std::array{7, 7, 7}, {length, 1, 1});
    write_mesh_file(folder / "box.h5", raw);
    std::string text = model == "heat-diffusion" ? case_of_heat : case_of_flow;
    if (model != "heat-diffusion") text += "[model]\ntype = \"" + model + "\"\n";
    for (const std::string& patch : raw.patch_names) {
      if (periodic && patch == "left") text += "[boundary.left]\ntype = \"periodic\"\npartner = \"right\"\n";
      if (periodic && (patch == "left" || patch == "right")) continue;
      // Nodes of a given temperature take no part in multigrid: few, as in a large mesh.
      const std::string heat = patch == "left" ? "temperature\"\nvalue = 1" : "insulated\"";
      text += fmt::format("[boundary.{}]\ntype = \"{}\n", patch, model == "heat-diffusion" ? heat : "wall\"");
    }
    write_text(folder / "case.toml", text);
    return load_case(folder / "case.toml", overrides);
  }

  /// Of a run, after enough steps for all guesses to be there, and its fields.
  void expect_estimated(const LoadedCase& loaded, const std::string& name) {
    const std::size_t before = device_memory(device.space()).used;
    const auto simulation = make_simulation(device, loaded);
    simulation->start();
    for (int step = 0; step < 5; ++step) simulation->advance();
    const auto snapshot = simulation->snapshot();
    for (const FieldDescription& field : simulation->output_fields()) snapshot->field(field.name);
    const double used = static_cast<double>(device_memory(device.space()).used - before);
    const double estimate = static_cast<double>(device_bytes(loaded, device.space()));
    EXPECT_GE(estimate, used) << name;
    EXPECT_LE(estimate, 1.2 * used) << name;
  }

  const OutputDirectory folder;
  const Executor device = Executor::debug_device();
};

TEST_F(MemoryEstimate, is_what_a_run_takes_on_a_device) {
  for (const auto& [model, periodic] :
       {std::pair("heat-diffusion", false), std::pair("classical-fractional-step", false),
        std::pair("exact-fractional-step", false), std::pair("exact-fractional-step", true)}) {
    for (const CellType type : {CellType::Triangle, CellType::Hexahedron, CellType::Tetrahedron}) {
      expect_estimated(load(model, type, periodic), fmt::format("{} {}", model, static_cast<int>(type)));
    }
  }
}

TEST_F(MemoryEstimate, knows_of_what_only_some_runs_need) {
  const std::vector<std::string> explicit_scheme = {"model.scheme=ssp-rk3", "time.step=0.0001"},
                                 held_flow = {"fluid.mean_flow.direction=[1, 0, 0]",
                                              "fluid.mean_flow.velocity=0.5"};
  const std::string classical = "classical-fractional-step";
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    expect_estimated(load(classical, type, false, explicit_scheme),
                     fmt::format("explicit {}", static_cast<int>(type)));
    expect_estimated(load(classical, type, true, held_flow), fmt::format("held {}", static_cast<int>(type)));
  }
  expect_estimated(load(classical, CellType::Hexahedron, false, {}, 3), "flat");
}

TEST_F(MemoryEstimate, knows_of_what_there_is_where_viscosity_reaches_far) {
  const std::vector<std::string> viscous = {"fluid.kinematic_viscosity=100"};
  for (const auto& [model, periodic] :
       {std::pair("classical-fractional-step", false), std::pair("classical-fractional-step", true),
        std::pair("exact-fractional-step", false)}) {
    for (const CellType type : {CellType::Triangle, CellType::Hexahedron, CellType::Tetrahedron}) {
      const LoadedCase loaded = load(model, type, periodic, viscous);
      EXPECT_GT(device_bytes(loaded, device.space()),
                device_bytes(load(model, type, periodic), device.space()));
      expect_estimated(loaded, fmt::format("{} {} {}", model, static_cast<int>(type), periodic));
    }
  }
}

TEST_F(MemoryEstimate, stops_a_run_that_would_not_fit_before_it_starts) {
  const LoadedCase loaded = load("exact-fractional-step", CellType::Hexahedron);
  require_device_memory(device, loaded);
  require_device_memory(Executor::serial(), loaded);
  const std::size_t all = device_memory(device.space()).used + device_memory(device.space()).free;
  set_debug_device_memory(device_bytes(loaded, device.space()) / 2);
  try {
    require_device_memory(device, loaded);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(fmt::format("{:.0f} bytes per cell",
                                      static_cast<double>(device_bytes(loaded, device.space())) / 343)));
    EXPECT_THAT(error.what(), HasSubstr("this one has 343"));
  }
  try {
    make_simulation(device, loaded);
    ADD_FAILURE() << "no error";
  } catch (const Error&) {
    const Failure failure = failure_of(std::current_exception());
    EXPECT_EQ(failure.status, exit_status::internal_error);
    EXPECT_THAT(failure.messages, testing::ElementsAre(testing::AllOf(HasSubstr("could not be allocated"),
                                                                      testing::Not(HasSubstr("bug")))));
  }
  set_debug_device_memory(all);
}

}  // namespace
}  // namespace curlew::test
