// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Slab of two materials that share the nodes of their interface, in two dimensions. All lengths in metres.
// Regions: "conductor" (x < interface), "insulator" (x > interface).
// Patches: "hot" (x = 0), "cold" (x = thickness), "sides" (y = 0 and y = height).

mesh_size = 0.02;  // about 2,900 triangles
thickness = 1;
interface = 0.5;
height = 0.5;

Point(1) = {0, 0, 0};
Point(2) = {interface, 0, 0};
Point(3) = {thickness, 0, 0};
Point(4) = {thickness, height, 0};
Point(5) = {interface, height, 0};
Point(6) = {0, height, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6};
Plane Surface(1) = {1};
Curve Loop(2) = {2, 3, 4, -7};
Plane Surface(2) = {2};

Physical Surface("conductor") = {1};
Physical Surface("insulator") = {2};
Physical Curve("hot") = {6};
Physical Curve("cold") = {3};
Physical Curve("sides") = {1, 2, 4, 5};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
