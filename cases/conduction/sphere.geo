// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// One octant of a sphere of radius 1 m, centred at the origin. All lengths in metres.
// Region: "solid". Patches: "symmetry" (x = 0, y = 0, z = 0), "surface" (the sphere's own).

SetFactory("OpenCASCADE");

mesh_size = 0.08;  // about 5,000 tetrahedra
radius = 1;

Sphere(1) = {0, 0, 0, radius};
Box(2) = {0, 0, 0, 2 * radius, 2 * radius, 2 * radius};
octant() = BooleanIntersection{ Volume{1}; Delete; }{ Volume{2}; Delete; };

e = 1e-4 * radius;
r = 2 * radius;  // beyond everything
symmetry() = Surface In BoundingBox{-e, -e, -e, e, r, r};
symmetry() += Surface In BoundingBox{-e, -e, -e, r, e, r};
symmetry() += Surface In BoundingBox{-e, -e, -e, r, r, e};
surface() = Surface{:};
surface() -= {symmetry()};

Physical Volume("solid") = {octant()};
Physical Surface("symmetry") = {symmetry()};
Physical Surface("surface") = {surface()};

Mesh.CharacteristicLengthMin = mesh_size;
Mesh.CharacteristicLengthMax = mesh_size;
