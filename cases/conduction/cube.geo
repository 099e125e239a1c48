// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// One octant of a cube whose half-width is 1 m, centred at the origin. All lengths in metres.
// Region: "solid". Patches: "symmetry" (x = 0, y = 0, z = 0), "surface" (the cube's own faces).

SetFactory("OpenCASCADE");

mesh_size = 0.1;  // about 5,000 tetrahedra
half_width = 1;

Box(1) = {0, 0, 0, half_width, half_width, half_width};

e = 1e-4 * half_width;
r = 2 * half_width;  // beyond everything
symmetry() = Surface In BoundingBox{-e, -e, -e, e, r, r};
symmetry() += Surface In BoundingBox{-e, -e, -e, r, e, r};
symmetry() += Surface In BoundingBox{-e, -e, -e, r, r, e};
surface() = Surface{:};
surface() -= {symmetry()};

Physical Volume("solid") = {1};
Physical Surface("symmetry") = {symmetry()};
Physical Surface("surface") = {surface()};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
