// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Unit cube, n x n x n hexahedra, or tetrahedra of that size. All lengths in metres.
// Region: "fluid". Patches: "lid" (z = 1), "wall" (the others).

SetFactory("OpenCASCADE");

DefineConstant[ n = 24 ];           // cells along a side
DefineConstant[ tetrahedra = 0 ];   // 1: tetrahedra

Box(1) = {0, 0, 0, 1, 1, 1};
If (tetrahedra)
  Mesh.MeshSizeMin = 1.0 / n;
  Mesh.MeshSizeMax = 1.0 / n;
Else
  Transfinite Curve {1:12} = n + 1;
  Transfinite Surface {1:6};
  Recombine Surface {1:6};
  Transfinite Volume {1};
EndIf

Physical Volume("fluid") = {1};
Physical Surface("lid") = {6};
Physical Surface("wall") = {1:5};
