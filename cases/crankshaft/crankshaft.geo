// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Crankshaft of an inline four-cylinder engine: five main journals, four throws at 0, 180, 180 and 0 degrees, eight
// webs with counterweights, a nose at the front and a flange at the rear, one solid. All lengths in metres. The shaft
// turns about the x axis, from the front (x = 0) to the rear; the outer throws point along +y.
//
//          web  pin  web                                              flange
//          ___________          y                                      __
//         |  |     |  |         |                                     |  |
//   ______|  |_____|  |__       +-- x                               __|  |
//  |nose |main|   |   |main ...                                 main     |
//
// Regions: "steel". Patches: "nose_end", "flange_end", "main_journals", "crank_pins" and "webs" (the rest).

SetFactory("OpenCASCADE");

// Mesh size: the default gives about 181,000 tetrahedra, none worse than 0.2 in Gmsh's quality measure gamma.
mesh_size = 0.00425;

// Journals and pins.
main_diameter = 0.055;
main_length = 0.028;
pin_diameter = 0.048;
pin_length = 0.026;
throw = 0.043;              // from the shaft's axis to the pin's: half the stroke

// Webs: an arm from the shaft to the pin, rounded about the pin, and a counterweight on the other side.
web_thickness = 0.020;
arm_width = 0.064;
arm_radius = 0.035;         // of the round end about the pin
counterweight_radius = 0.075;
counterweight_width = 0.110;
counterweight_top = 0.012;  // height of its upper edge above the shaft's axis, towards the pin

// Ends.
nose_diameter = 0.036;
nose_length = 0.060;
flange_diameter = 0.090;
flange_thickness = 0.020;

throws = 4;
direction[] = {1, -1, -1, 1};  // of each throw, along y

Macro Web  // one web from `x`, its throw towards `side`
  arm = newv;
  Box(arm) = {x, -arm_width / 4, -arm_width / 2, web_thickness, throw + arm_width / 4, arm_width};
  round_end = newv;
  Cylinder(round_end) = {x, throw, 0, web_thickness, 0, 0, arm_radius};
  disc = newv;
  Cylinder(disc) = {x, 0, 0, web_thickness, 0, 0, counterweight_radius};
  slab = newv;
  Box(slab) = {x, -2 * counterweight_radius, -counterweight_width / 2,
               web_thickness, 2 * counterweight_radius + counterweight_top, counterweight_width};
  counterweight() = BooleanIntersection{ Volume{disc}; Delete; }{ Volume{slab}; Delete; };
  If(side < 0)
    Rotate{{1, 0, 0}, {0, 0, 0}, Pi}{ Volume{arm, round_end, counterweight()}; }
  EndIf
  parts() += {arm, round_end, counterweight()};
Return

// The parts from front to rear; where the journals and pins start is kept for naming their surfaces.
nose = newv;
Cylinder(nose) = {0, 0, 0, nose_length, 0, 0, nose_diameter / 2};
parts() = {};
main_start() = {};
pin_start() = {};
x = nose_length;
For k In {0 : throws}
  main_start() += {x};
  journal = newv;
  Cylinder(journal) = {x, 0, 0, main_length, 0, 0, main_diameter / 2};
  parts() += {journal};
  x += main_length;
  If(k < throws)
    side = direction[k];
    Call Web;
    x += web_thickness;
    pin_start() += {x};
    pin = newv;
    Cylinder(pin) = {x, side * throw, 0, pin_length, 0, 0, pin_diameter / 2};
    parts() += {pin};
    x += pin_length;
    Call Web;
    x += web_thickness;
  EndIf
EndFor
flange = newv;
Cylinder(flange) = {x, 0, 0, flange_thickness, 0, 0, flange_diameter / 2};
parts() += {flange};
x_rear = x + flange_thickness;

shaft() = BooleanUnion{ Volume{nose}; Delete; }{ Volume{parts()}; Delete; };

// Surfaces by the boxes that hold them.
e = 1e-4;
r = 1;  // beyond everything
nose_end() = Surface In BoundingBox{-e, -r, -r, e, r, r};
flange_end() = Surface In BoundingBox{x_rear - e, -r, -r, x_rear + e, r, r};

main_journals() = {};
For k In {0 : throws}
  a = main_diameter / 2 + e;
  main_journals() += Surface In BoundingBox{main_start(k) - e, -a, -a, main_start(k) + main_length + e, a, a};
EndFor
// The shoulder between nose and first journal is no bearing surface.
main_journals() -= Surface In BoundingBox{nose_length - e, -r, -r, nose_length + e, r, r};

crank_pins() = {};
For k In {0 : throws - 1}
  a = pin_diameter / 2 + e;
  y = direction[k] * throw;
  crank_pins() += Surface In BoundingBox{pin_start(k) - e, y - a, -a, pin_start(k) + pin_length + e, y + a, a};
EndFor

webs() = Surface{:};
webs() -= {nose_end(), flange_end(), main_journals(), crank_pins()};

Physical Volume("steel") = {shaft()};
Physical Surface("nose_end") = {nose_end()};
Physical Surface("flange_end") = {flange_end()};
Physical Surface("main_journals") = {main_journals()};
Physical Surface("crank_pins") = {crank_pins()};
Physical Surface("webs") = {webs()};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
