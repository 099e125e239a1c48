// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Ring between circles of radius 1 and 2 about the origin, triangles. All lengths in metres.
// Region: "fluid". Patches: "inner" (r = 1), "outer" (r = 2).

SetFactory("OpenCASCADE");

DefineConstant[ n = 16 ];  // cells across the gap

Disk(1) = {0, 0, 0, 2};
Disk(2) = {0, 0, 0, 1};
BooleanDifference(3) = { Surface{1}; Delete; }{ Surface{2}; Delete; };

Physical Surface("fluid") = {3};
Physical Curve("outer") = {1};
Physical Curve("inner") = {2};

Mesh.CharacteristicLengthMin = 1 / n;
Mesh.CharacteristicLengthMax = 1 / n;
