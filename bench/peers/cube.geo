// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The unit cube with a lid at y = 1: hexahedra = 1: 1 / h a side; else unstructured tetrahedra of size h.
DefineConstant[ h = 0.1, hexahedra = 1 ];

Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 1, 0, h};
Point(4) = {0, 1, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1 : 4};
Plane Surface(1) = {1};
If (hexahedra)
  Transfinite Curve{1 : 4} = Round(1 / h) + 1;
  Transfinite Surface{1};
  Recombine Surface{1};
  box() = Extrude {0, 0, 1} { Surface{1}; Layers{Round(1 / h)}; Recombine; };
Else
  box() = Extrude {0, 0, 1} { Surface{1}; };
EndIf
Physical Volume("box") = {box(1)};
Physical Surface("lid") = {box(4)};
Physical Surface("walls") = {1, box(0), box(2), box(3), box(5)};
