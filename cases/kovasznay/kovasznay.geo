// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Rectangle from (-0.5, -0.5) to (1, 0.5), triangles or quadrilaterals. All lengths in metres.
// Region: "fluid". Patch: "boundary".

SetFactory("OpenCASCADE");

DefineConstant[ n = 32 ];        // cells per metre
DefineConstant[ triangles = 1 ]; // 0: squares

Rectangle(1) = {-0.5, -0.5, 0, 1.5, 1};
Transfinite Curve {1, 3} = 1.5 * n + 1;
Transfinite Curve {2, 4} = n + 1;
If (!triangles)
  Transfinite Surface {1};
  Recombine Surface {1};
EndIf

Physical Surface("fluid") = {1};
Physical Curve("boundary") = {1, 2, 3, 4};
