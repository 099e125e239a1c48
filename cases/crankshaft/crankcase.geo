// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// What the crankshaft of crankshaft.geo turns in: a cylindrical crankcase about the shaft's axis, filled with fluid.
// The shaft goes through both ends of the case, nose and flange outside. Lengths in metres.
//
// Regions: "fluid". Patches: "shaft" (wetted part) and "case" (ends and mantle).

Include "crankshaft.geo";
Delete Physicals;

// Mesh size: the default gives about 30,600 tetrahedra.
mesh_size = 0.0115;

case_radius = 0.095;                         // counterweights and pins reach to 0.078
case_start = nose_length + main_length / 2;  // in the middle of the first and the last main journal
case_end = x_rear - flange_thickness - main_length / 2;

bounds = newv;
Cylinder(bounds) = {case_start, 0, 0, case_end - case_start, 0, 0, case_radius};
fluid() = BooleanDifference{ Volume{bounds}; Delete; }{ Volume{shaft()}; Delete; };

// The case by the boxes that hold its surfaces; the mantle is the only one that reaches its radius.
all() = Boundary{ Volume{fluid()}; };
front() = Surface In BoundingBox{case_start - e, -r, -r, case_start + e, r, r};
rear() = Surface In BoundingBox{case_end - e, -r, -r, case_end + e, r, r};
a = 0.08;
inner() = Surface In BoundingBox{case_start - e, -a, -a, case_end + e, a, a};
housing() = Abs(all());
housing() -= {inner()};
housing() += {front(), rear()};
shaft_wall() = Abs(all());
shaft_wall() -= {housing()};

Physical Volume("fluid") = {fluid()};
Physical Surface("case") = {housing()};
Physical Surface("shaft") = {shaft_wall()};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
