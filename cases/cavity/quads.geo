// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Unit square, n x n rectangles, graded to the walls. All lengths in metres.
// Region: "fluid". Patches: "lid" (y = 1), "wall" (the three others).

SetFactory("OpenCASCADE");

DefineConstant[ n = 128 ];        // cells along a side
DefineConstant[ grading = 0.2 ];  // Gmsh's Bump: the smaller, the finer at the walls; 1 is uniform

Rectangle(1) = {0, 0, 0, 1, 1};
Transfinite Curve {1, 2, 3, 4} = n + 1 Using Bump grading;
Transfinite Surface {1};
Recombine Surface {1};

Physical Surface("fluid") = {1};
Physical Curve("lid") = {3};
Physical Curve("wall") = {1, 2, 4};
