// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/platform.hpp"
#include "kernels/vector3.hpp"
#include "mesh/raw_mesh.hpp"

namespace curlew {

/// A mesh to write, laid out as in RawMesh.
struct MeshView {
  std::span<const Vector3> nodes;
  std::span<const CellType> cell_types;
  std::span<const std::int64_t> cell_start;
  std::span<const Index> cell_nodes;
};

/// Values to write, one scalar or vector per cell or node.
struct FieldView {
  FieldView(std::string field_name, std::span<const double> scalars)
      : name(std::move(field_name)), components(1), values(scalars) {}
  FieldView(std::string field_name, std::span<const Vector3> vectors)
      : name(std::move(field_name)),
        components(3),
        values(reinterpret_cast<const double*>(vectors.data()), 3 * vectors.size()) {}

  std::string name;
  int components;
  std::span<const double> values;
};
static_assert(sizeof(Vector3) == 3 * sizeof(double));

/// Writes fields on one mesh as VTKHDF 1.0 unstructured grids, which VTK 9.1 and ParaView 5.11 open.
///
/// That version knows no polyhedron: a polyhedron is written as tetrahedra between its mean point, the mean
/// point of each face and each edge of that face. The tetrahedra repeat the cell's values; an added node has
/// the mean of the values at the nodes it is the mean of.
class VtkhdfWriter {
 public:
  /// Copies what it needs of the mesh. Throws Error on a malformed mesh.
  explicit VtkhdfWriter(MeshView mesh);

  /// Writes one file; `time` [s] is its field datum TimeValue. Throws FileError naming the path and the
  /// cause, or the field whose size is not that of the mesh.
  void write(const std::filesystem::path& path, double time, std::span<const FieldView> cell_fields,
             std::span<const FieldView> node_fields) const;

 private:
  void require_nodes(std::span<const Index> nodes, std::size_t cell) const;
  void add_cell(CellType type, std::span<const Index> nodes, std::size_t cell);
  void add_polyhedron(std::span<const Index> faces, std::size_t cell);
  void add_tetrahedron(std::array<std::int64_t, 4> nodes);
  std::int64_t add_mean(std::span<const Index> nodes);
  // The field on what is written; `store` holds it where that is more than the mesh itself.
  std::span<const double> on_cells(const FieldView& field, std::vector<double>& store) const;
  std::span<const double> on_nodes(const FieldView& field, std::vector<double>& store) const;

  std::size_t mesh_cells_, mesh_nodes_;
  std::vector<Vector3> points_;             // the mesh's nodes, then the added ones [m]
  std::vector<std::uint8_t> types_;         // VTK cell types
  std::vector<std::int64_t> offsets_;       // written cells + 1
  std::vector<std::int64_t> connectivity_;  // nodes of each written cell in VTK's order
  std::vector<Index> cell_of_;              // mesh cell of each written cell; empty without polyhedra
  std::vector<std::size_t> mean_start_{0};  // added nodes + 1 offsets into mean_nodes_
  std::vector<Index> mean_nodes_;           // the mesh nodes each added node is the mean of
};

}  // namespace curlew
