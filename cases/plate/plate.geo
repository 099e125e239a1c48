// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Unit square, triangles. All lengths in metres.
// Region: "plate". Patches: "left" (x = 0), "right" (x = 1), "bottom" (y = 0), "top" (y = 1).

mesh_size = 0.03;  // about 2,700 triangles
side = 1;

Point(1) = {0, 0, 0};
Point(2) = {side, 0, 0};
Point(3) = {side, side, 0};
Point(4) = {0, side, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

Physical Surface("plate") = {1};
Physical Curve("left") = {4};
Physical Curve("right") = {2};
Physical Curve("bottom") = {1};
Physical Curve("top") = {3};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
