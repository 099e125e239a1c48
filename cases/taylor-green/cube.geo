// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Cube of side 2 pi, n x n x n cubes; opposite sides match, so that they may be periodic. All lengths in metres.
// Region: "fluid". Patches: "left", "right" (x), "front", "back" (y), "bottom", "top" (z).

DefineConstant[ n = 64 ];  // cells along a side

side = 2 * Pi;
Point(1) = {0, 0, 0};
edge() = Extrude {side, 0, 0} { Point{1}; Layers{n}; };
base() = Extrude {0, side, 0} { Curve{edge(1)}; Layers{n}; Recombine; };
cube() = Extrude {0, 0, side} { Surface{base(1)}; Layers{n}; Recombine; };

e = 1e-4;
l() = Surface In BoundingBox{-e, -e, -e, e, side + e, side + e};
r() = Surface In BoundingBox{side - e, -e, -e, side + e, side + e, side + e};
f() = Surface In BoundingBox{-e, -e, -e, side + e, e, side + e};
k() = Surface In BoundingBox{-e, side - e, -e, side + e, side + e, side + e};
b() = Surface In BoundingBox{-e, -e, -e, side + e, side + e, e};
t() = Surface In BoundingBox{-e, -e, side - e, side + e, side + e, side + e};

Physical Volume("fluid") = {cube(1)};
Physical Surface("left") = {l()};
Physical Surface("right") = {r()};
Physical Surface("front") = {f()};
Physical Surface("back") = {k()};
Physical Surface("bottom") = {b()};
Physical Surface("top") = {t()};
