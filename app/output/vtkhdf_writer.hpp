// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/platform.hpp"
#include "kernels/vector3.hpp"
#include "mesh/import/raw_mesh.hpp"
#include "mesh/parallel/slabs.hpp"

namespace curlew {

/// A mesh to write, laid out as in RawMesh; on several ranks the slabs of its nodes and cells that this rank
/// has (mesh/parallel/slabs.hpp), with the numbers that nodes have in the whole mesh.
struct MeshView {
  std::span<const Vector3> nodes;
  std::span<const CellType> cell_types;
  std::span<const std::int64_t> cell_start;
  std::span<const Index> cell_nodes;
};

/// Values to write, one scalar or vector per cell or node of the slab.
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
///
/// On several ranks all calls are made by all ranks together, and each writes what is in its slabs.
class VtkhdfWriter {
 public:
  /// Copies what it needs of the mesh. Throws Error on a malformed mesh. The ranks must outlive it.
  explicit VtkhdfWriter(MeshView mesh, const Communicator& ranks = *one_rank());

  /// Writes one file; `time` [s] is its field datum TimeValue. Throws FileError naming the path and the
  /// cause, on several ranks SharedFailure, or Error naming the field whose size is not that of the mesh.
  void write(const std::filesystem::path& path, double time, std::span<const FieldView> cell_fields,
             std::span<const FieldView> node_fields) const;

  const Communicator& ranks() const { return *ranks_; }

 private:
  class Polyhedra;

  void add_cell(CellType type, std::span<const Index> nodes, std::size_t cell);
  // The field on the cells that are written; `store` holds it where these are more than the mesh's.
  std::span<const double> on_cells(const FieldView& field, std::vector<double>& store) const;
  // The field at the nodes that are added.
  std::vector<double> on_added(const FieldView& field) const;

  const Communicator* ranks_;
  Slabs node_slabs_;
  std::size_t mesh_cells_;                  // of the slab
  std::vector<Vector3> points_;             // the slab's nodes [m]
  std::vector<Vector3> added_;              // nodes that are added to its cells [m]
  bool any_added_ = false;                  // on any rank
  std::vector<std::uint8_t> types_;         // VTK cell types
  std::vector<std::int64_t> ends_;          // of the written cells in the connectivity of all ranks
  std::vector<std::int64_t> connectivity_;  // nodes of each written cell in VTK's order
  std::vector<Index> cell_of_;              // the slab's cell of each written cell; empty without polyhedra
  std::vector<GlobalIndex> needed_;         // the mesh nodes that added nodes are means of
  std::vector<std::size_t> mean_start_{0};  // added nodes + 1 offsets into mean_nodes_
  std::vector<std::size_t> mean_nodes_;     // in needed_, those that each added node is the mean of
};

}  // namespace curlew
