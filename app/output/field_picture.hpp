// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/case/case_settings.hpp"
#include "app/output/image.hpp"
#include "mesh/mesh.hpp"
#include "physics/monitors.hpp"

namespace curlew {

/// A point of a mesh with the value that a field has there.
struct ShownPoint {
  Vector3 position;  ///< [m]
  Real value = 0;
};

/// A field as pictures show it: a number per node or cell, of a vector its magnitude. The values must outlive
/// it.
class ShownField {
 public:
  /// The mesh must outlive it and have positions of nodes.
  ShownField(const Mesh& mesh, const FieldSnapshot& values);

  const Mesh& mesh() const { return mesh_; }
  /// A node as a corner of a cell, whose value it has where values are in cells.
  ShownPoint point(Id<Cell> c, Id<Node> n) const;
  /// The smallest and largest finite value; nothing where there is none. By all ranks together.
  std::optional<ValueRange> range() const;

 private:
  Real in_cell(Id<Cell> c) const;

  const Mesh& mesh_;
  View<Node, const Vector3> positions_;
  FieldSnapshot values_;
};

/// The plane x = offset, y = offset or z = offset.
struct AxisPlane {
  int axis = 2;     ///< 0: x, 1: y, 2: z
  Real offset = 0;  ///< [m]
};

using VisitTriangle = std::function<void(const std::array<ShownPoint, 3>&)>;

/// The triangles that a plane cuts out of a cell (three dimensions only). The cell is the body within its
/// faces' fans (mesh/geometry.hpp), divided into the tetrahedra between these and the mean of its nodes, over
/// which values at nodes are linear; means of nodes have the mean of their values.
void visit_cut(const ShownField& field, Id<Cell> c, const AxisPlane& plane, const VisitTriangle& visit);

/// A way to look at a mesh, from infinitely far away.
struct Viewpoint {
  std::string caption;           ///< what is to be seen, and from where
  std::optional<AxisPlane> cut;  ///< the section shown; nothing: the mesh in the plane, or its surface
  Vector3 right, up, toward;     ///< directions in the picture, and to the viewer; of length 1
  Real left = 0, top = 0;        ///< coordinates of the upper left corner along `right` and `up` [m]
  Real pixels_per_metre = 1;
  int width = 1, height = 1;  ///< [pixels]

  Corner corner(const ShownPoint& point) const;
};

/// How a mesh is shown: in two dimensions as it lies, in three by a section through the middle of its
/// bounding box, normal to the shortest extent of that, and by its surface from an oblique direction. By all
/// ranks together.
std::vector<Viewpoint> viewpoints(const Mesh& mesh);

/// By all ranks together, each of which draws its own cells; all get the image of the whole mesh.
ValueImage draw(const ShownField& field, const Viewpoint& viewpoint);

/// A field seen in one way.
struct FieldPicture {
  Viewpoint viewpoint;
  std::string png;  ///< a file; empty on ranks that do not write
};

/// A field seen in all ways, in the same colours.
struct FieldPictures {
  FieldDescription field;
  std::optional<ValueRange> range;  ///< nothing where no value is finite
  std::vector<FieldPicture> pictures;
};

/// By all ranks together.
FieldPictures take_pictures(const Mesh& mesh, const FieldDescription& field, const FieldSnapshot& values);

}  // namespace curlew
