// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// A quarter of a straight duct of square section, side 1 and axis x; prisms of triangles or, by default, hexahedra. The ends
// match, so that they may be periodic. All lengths in metres.
// Region: "fluid". Patches: "inlet" (x = 0), "outlet" (x = 0.125), "walls" (y = 0 and z = 0),
// "symmetry" (y = 0.5 and z = 0.5).

SetFactory("OpenCASCADE");

DefineConstant[ n = 16 ];          // cells along half a side, a multiple of 4
DefineConstant[ hexahedra = 1 ];   // 0: prisms

Point(1) = {0, 0, 0};
Point(2) = {0, 0.5, 0};
Point(3) = {0, 0.5, 0.5};
Point(4) = {0, 0, 0.5};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1, 2, 3, 4} = n + 1;
If (hexahedra)
  Transfinite Surface {1};
  Recombine Surface {1};
EndIf
out() = Extrude {0.125, 0, 0} { Surface{1}; Layers{n / 4}; Recombine; };

Physical Volume("fluid") = {out(1)};
Physical Surface("inlet") = {1};
Physical Surface("outlet") = {out(0)};
Physical Surface("walls") = {out(2), out(5)};
Physical Surface("symmetry") = {out(3), out(4)};
