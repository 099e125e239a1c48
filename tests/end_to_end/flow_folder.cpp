// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/end_to_end/flow_folder.hpp"

namespace curlew::test {

namespace {

// A cavity whose lid starts and then moves to and fro, in steps of varying length, with all that is written.
constexpr const char* cavity = R"TOML([case]
name = "cavity"
[mesh]
file = "box.h5"
[model]
type = "classical-fractional-step"
scheme = "sbdf2"
[fluid]
kinematic_viscosity = 0.01
density = 2
[time]
end = 1
courant = 0.15
step = 0.01
[initial]
velocity = [0, 0, 0]
[boundary.top]
type = "wall"
velocity = ["cos(2*t)", 0, 0]
[boundary.left]
type = "wall"
[boundary.right]
type = "wall"
[boundary.bottom]
type = "wall"
[output]
interval = 0.4
checkpoint = 0.25
fields = ["velocity", "pressure", "vorticity", "q_criterion", "divergence", "wall_shear_stress", "y_plus", "streamfunction"]
[monitor.drag]
type = "forces"
patches = ["top"]
velocity = 1
area = 1
[monitor.balance]
type = "energy"
[monitor.centre]
type = "probe"
points = [[0.5, 0.5, 0]]
fields = ["velocity", "pressure", "streamfunction"]
[monitor.cut]
type = "line"
from = [0.5, 0, 0]
to = [0.5, 1, 0]
points = 5
fields = ["velocity"]
[monitor.through]
type = "flux"
patches = ["left", "top"]
[monitor.mean]
type = "time-average"
fields = ["velocity", "pressure", "vorticity"]
start = 0.3
)TOML";

}  // namespace

FlowFolder::FlowFolder(CellType type) : CaseFolder(type, 8) {
  write_text(*this / "case.toml", cavity);
}

}  // namespace curlew::test
