// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The channel of Schaefer and Turek (1996) with a cylinder a little below its middle; lengths in metres. Triangles, finest at
// the cylinder. The other recipes of this folder set `facets` and include this one.
//
//   y
//   |  _______________________________________________  0.41
//   | |                                               |
//   | |    _                                          |
//   | |   |_| diameter 0.1 about (0.2, 0.2)           |
//   | |_______________________________________________| 2.2
//   +-- x
//
// Regions: "fluid". Patches: "inlet", "outlet", "walls" and "cylinder".

SetFactory("OpenCASCADE");

DefineConstant[ facets = 64 ];  // around the cylinder, a multiple of 4: it has nodes in front and behind

length = 2.2;
height = 0.41;
diameter = 0.1;
centre = 0.2;

// Sizes of cells, in all of the domain inversely proportional to `facets`.
unit = Pi * diameter / facets;  // at the cylinder
far_size = 4 * unit;
growth = 25 * unit;             // of size with distance from the cylinder

channel = news;
Rectangle(channel) = {0, 0, 0, length, height};
disc = news;
Disk(disc) = {centre, centre, 0, diameter / 2};
fluid() = BooleanDifference{ Surface{channel}; Delete; }{ Surface{disc}; Delete; };

e = 1e-6;
inlet() = Curve In BoundingBox{-e, -e, -e, e, height + e, e};
outlet() = Curve In BoundingBox{length - e, -e, -e, length + e, height + e, e};
bottom() = Curve In BoundingBox{-e, -e, -e, length + e, e, e};
top() = Curve In BoundingBox{-e, height - e, -e, length + e, height + e, e};
cylinder() = Curve In BoundingBox{centre - diameter, centre - diameter, -e, centre + diameter, centre + diameter, e};

Physical Surface("fluid") = {fluid()};
Physical Curve("inlet") = {inlet()};
Physical Curve("outlet") = {outlet()};
Physical Curve("walls") = {bottom(), top()};
Physical Curve("cylinder") = {cylinder()};

Transfinite Curve{cylinder()} = facets + 1;

// Size grows with distance from the cylinder and from its wake.
Field[1] = MathEval;
Field[1].F = Sprintf("%g + %g * (Sqrt((x - 0.2)^2 + (y - 0.2)^2) - 0.05)", unit, growth);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g * Sqrt((y - 0.2)^2 + 0.01 * (x - 0.2)^2) + 100 * (0.2 - x + Fabs(0.2 - x))", 1.5 * unit, growth);
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.CharacteristicLengthFromPoints = 0;
Mesh.CharacteristicLengthMax = far_size;
Mesh.Algorithm = 6;  // frontal Delaunay
