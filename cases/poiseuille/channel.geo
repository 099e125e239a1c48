// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Plane channel, length 2, height 1, triangles. The ends match, so that they may be periodic. All lengths in metres.
// Region: "fluid". Patches: "inlet" (x = 0), "outlet" (x = 2), "walls" (y = 0 and y = 1).

SetFactory("OpenCASCADE");

DefineConstant[ n = 24 ];  // cells across the channel

Rectangle(1) = {0, 0, 0, 2, 1};
Transfinite Curve {2, 4} = n + 1;
Transfinite Curve {1, 3} = 2 * n + 1;
Periodic Curve {2} = {-4} Translate {2, 0, 0};

Physical Surface("fluid") = {1};
Physical Curve("inlet") = {4};
Physical Curve("outlet") = {2};
Physical Curve("walls") = {1, 3};
