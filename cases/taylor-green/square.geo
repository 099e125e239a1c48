// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Square of side 2 pi, triangles or quadrilaterals; opposite sides match, so that they may be periodic. All lengths in metres.
// Region: "fluid". Patches: "left", "right" (x), "bottom", "top" (y).

SetFactory("OpenCASCADE");

DefineConstant[ n = 32 ];        // cells along a side
DefineConstant[ triangles = 1 ]; // 0: n x n squares

side = 2 * Pi;
Rectangle(1) = {0, 0, 0, side, side};
Transfinite Curve {1, 2, 3, 4} = n + 1;
Periodic Curve {2} = {-4} Translate {side, 0, 0};
Periodic Curve {3} = {-1} Translate {0, side, 0};
If (!triangles)
  Transfinite Surface {1};
  Recombine Surface {1};
EndIf

Physical Surface("fluid") = {1};
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
