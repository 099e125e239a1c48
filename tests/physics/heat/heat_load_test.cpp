// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_load.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mesh/box.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/physics/heat/heat_setup.hpp"

namespace curlew {
namespace {

/// A box of prisms of four materials, one beside the other.
RawMesh four_materials() {
  RawMesh raw = make_box(CellType::Prism, {8, 3, 3});
  raw.region_names = {"first", "second", "third", "fourth"};
  for (std::size_t c = 0; c < raw.cell_region.size(); ++c) {
    const Real x = raw.nodes[at(raw.cell_nodes[at(static_cast<Index>(raw.cell_start[c]))])].x;
    raw.cell_region[c] = std::min(static_cast<Index>(4 * x), 3);
  }
  return raw;
}

/// A function that is the same everywhere, and says so.
class UniformFunction : public AnalyticFunction {
 public:
  using AnalyticFunction::AnalyticFunction;
  bool depends_on_space() const override { return false; }
};

/// Of a material, at a place and a time [W/m3].
Real source_of(Index region, Vector3 x, Real t) {
  const Real of_region[] = {5, 2 + x.y, std::sin(t), x.z * std::cos(t)};
  return of_region[region];
}

TEST(HeatLoad, has_the_sources_of_each_time_whether_they_change_in_time_or_space_or_neither) {
  const Mesh mesh(four_materials());
  HeatSettings settings = settings_for(mesh, material(1, 1), Insulated{});
  ASSERT_EQ(settings.materials.size(), 4u);
  settings.materials[0].source = constant(5);
  settings.materials[1].source =
      std::make_shared<SteadyFunction>([](Vector3 x, Real t) { return source_of(1, x, t); });
  settings.materials[2].source =
      std::make_shared<UniformFunction>([](Vector3 x, Real t) { return source_of(2, x, t); });
  settings.materials[3].source = analytic([](Vector3 x, Real t) { return source_of(3, x, t); });
  set_boundary(settings, mesh, "left", HeatFlux{analytic([](Vector3, Real t) { return t; })});
  for (const Executor& executor : all_backends()) {
    SCOPED_TRACE(executor.name());
    HeatLoad load(executor, mesh, settings);
    for (const Real time : {0.3, 0.7, 0.0}) {
      load.update(time);
      std::vector<Real> expected(at(mesh.topology().nodes().size()), 0);
      Real released = 0;
      for (const Id<Cell> c : mesh.topology().cells()) {
        const Real source = source_of(mesh.topology().region_of_cell()[at(c.value())],
                                      mesh.geometry().cell_centroids()[at(c.value())], time);
        released += source * mesh.geometry().cell_volumes()[at(c.value())];
        visit_corner_volumes(mesh.topology(), mesh.geometry(), c,
                             [&](Id<Node> n, Real volume) { expected[at(n.value())] += source * volume; });
      }
      for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) {
        if (mesh.topology().patches()[p].name != "left") continue;
        for (const Id<Face> f : mesh.topology().faces_of_patch(p))
          visit_face_shares(mesh, f, [&](Id<Node> n, Real area) { expected[at(n.value())] += time * area; });
      }
      const std::vector<Real> at_nodes = load.at_nodes().to_host();
      for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_NEAR(at_nodes[n], expected[n], 1e-15) << n;
      EXPECT_NEAR(load.source(), released, 1e-13);
    }
  }
}

}  // namespace
}  // namespace curlew
