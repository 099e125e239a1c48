// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Plane wall as a strip in two dimensions, x from 0 to its thickness; nothing varies along y. All lengths in metres.
// Region: "wall". Patches: "left" (x = 0), "right" (x = thickness), "sides" (y = 0 and y = height).

mesh_size = 0.01;  // about 2,400 triangles
thickness = 1;
height = 0.1;

Point(1) = {0, 0, 0};
Point(2) = {thickness, 0, 0};
Point(3) = {thickness, height, 0};
Point(4) = {0, height, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

Physical Surface("wall") = {1};
Physical Curve("left") = {4};
Physical Curve("right") = {2};
Physical Curve("sides") = {1, 3};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
