// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Channel of 2.5 x 0.41 x 0.41 with a cylinder of diameter 0.1 from wall to wall about (0.5, 0.2), the half below its
// middle: blocks of hexahedra. All lengths in metres.
// Region: "fluid". Patches: "inlet", "outlet", "cylinder", "walls", "middle" (z = 0.205).

DefineConstant[ n = 4 ];  // cells along an eighth of the cylinder

length = 2.5;
height = 0.41;
centre_x = 0.5;
centre_y = 0.2;
radius = 0.05;
block = 0.12;  // half the side of the square about the cylinder that its ring of cells fills

x() = {0, centre_x - block, centre_x + block, length};
y() = {0, centre_y - block, centre_y + block, height};
For j In {0:3}
  For i In {0:3}
    Point(1 + i + 4 * j) = {x(i), y(j), 0};
  EndFor
EndFor
side = radius * Sqrt(0.5);
Point(20) = {centre_x, centre_y, 0};
Point(21) = {centre_x - side, centre_y - side, 0};
Point(22) = {centre_x + side, centre_y - side, 0};
Point(23) = {centre_x + side, centre_y + side, 0};
Point(24) = {centre_x - side, centre_y + side, 0};

For j In {0:3}
  For i In {0:2}
    Line(100 + i + 3 * j) = {1 + i + 4 * j, 2 + i + 4 * j};  // along x
  EndFor
EndFor
For j In {0:2}
  For i In {0:3}
    Line(200 + i + 4 * j) = {1 + i + 4 * j, 5 + i + 4 * j};  // along y
  EndFor
EndFor
Circle(301) = {21, 20, 22};
Circle(302) = {22, 20, 23};
Circle(303) = {23, 20, 24};
Circle(304) = {24, 20, 21};
Line(311) = {6, 21};
Line(312) = {7, 22};
Line(313) = {11, 23};
Line(314) = {10, 24};

For j In {0:3}
  Transfinite Curve {100 + 3 * j} = Round(2.2 * n) + 1 Using Progression 0.94;
  Transfinite Curve {101 + 3 * j} = 2 * n + 1;
  Transfinite Curve {102 + 3 * j} = 5 * n + 1 Using Progression 1 + 0.35 / n;
EndFor
For i In {0:3}
  Transfinite Curve {200 + i} = n + 1;
  Transfinite Curve {204 + i} = 2 * n + 1;
  Transfinite Curve {208 + i} = n + 1;
EndFor
Transfinite Curve {301:304} = 2 * n + 1;
Transfinite Curve {311:314} = Round(1.5 * n) + 1 Using Progression 1 - 0.6 / n;

For j In {0:2}
  For i In {0:2}
    If (i != 1 || j != 1)
      Curve Loop(400 + i + 3 * j) = {100 + i + 3 * j, 201 + i + 4 * j, -(103 + i + 3 * j), -(200 + i + 4 * j)};
      Plane Surface(400 + i + 3 * j) = {400 + i + 3 * j};
      bottom() += {400 + i + 3 * j};
    EndIf
  EndFor
EndFor
Curve Loop(501) = {104, 312, -301, -311};
Curve Loop(502) = {206, 313, -302, -312};
Curve Loop(503) = {-107, 314, -303, -313};
Curve Loop(504) = {-205, 311, -304, -314};
For s In {501:504}
  Plane Surface(s) = {s};
  bottom() += {s};
EndFor
Transfinite Surface {bottom()};
Recombine Surface {bottom()};
Extrude {0, 0, height / 2} { Surface{bottom()}; Layers{Round(1.5 * n)}; Recombine; }

e = 1e-5;
Physical Surface("inlet") = Surface In BoundingBox {-e, -e, -e, e, height + e, height / 2 + e};
Physical Surface("outlet") = Surface In BoundingBox {length - e, -e, -e, length + e, height + e, height / 2 + e};
Physical Surface("middle") =
  Surface In BoundingBox {-e, -e, height / 2 - e, length + e, height + e, height / 2 + e};
Physical Surface("cylinder") =
  Surface In BoundingBox {centre_x - radius - e, centre_y - radius - e, -e, centre_x + radius + e, centre_y + radius + e, height / 2 + e};
walls() = Surface In BoundingBox {-e, -e, -e, length + e, e, height / 2 + e};
walls() += Surface In BoundingBox {-e, height - e, -e, length + e, height + e, height / 2 + e};
walls() += Surface In BoundingBox {-e, -e, -e, length + e, height + e, e};
Physical Surface("walls") = walls();
Physical Volume("fluid") = Volume{:};
