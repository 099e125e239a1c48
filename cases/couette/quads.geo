// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Ring between circles of radius 1 and 2 about the origin, quadrilaterals along circles and rays. All lengths in metres.
// Region: "fluid". Patches: "inner" (r = 1), "outer" (r = 2).

DefineConstant[ n = 16 ];  // cells across the gap; around it there are 8 n

Point(1) = {0, 0, 0};
For k In {0:3}
  Point(10 + k) = {Cos(k * Pi / 2), Sin(k * Pi / 2), 0};
  Point(20 + k) = {2 * Cos(k * Pi / 2), 2 * Sin(k * Pi / 2), 0};
EndFor
For k In {0:3}
  next = (k + 1) % 4;
  Circle(10 + k) = {10 + k, 1, 10 + next};
  Circle(20 + k) = {20 + k, 1, 20 + next};
  Line(30 + k) = {10 + k, 20 + k};
EndFor
For k In {0:3}
  Curve Loop(k + 1) = {30 + k, 20 + k, -(30 + (k + 1) % 4), -(10 + k)};
  Plane Surface(k + 1) = {k + 1};
EndFor
Transfinite Curve {10:13, 20:23} = 2 * n + 1;
Transfinite Curve {30:33} = n + 1;
Transfinite Surface {1:4};
Recombine Surface {1:4};

Physical Surface("fluid") = {1:4};
Physical Curve("inner") = {10:13};
Physical Curve("outer") = {20:23};
