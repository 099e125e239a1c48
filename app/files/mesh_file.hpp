// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <optional>

#include "mesh/parallel/mesh_part.hpp"

namespace curlew {

/// How a mesh file's mesh is divided: the part of each cell of the mesh numbered in that order.
struct StoredPartition {
  Partition partition;
  CellOrder order = CellOrder::ReverseCuthillMcKee;
};

/// Curlew's own mesh file (.h5): a RawMesh as it is, in HDF5. Reading one needs no Gmsh.
void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw);
/// The same with the parts that ranks need of it, all of `mesh` (which was made from `raw`), each in a piece
/// that can be read alone (docs/parallel-runs.md).
void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw, const Mesh& mesh,
                     const StoredPartition& partition);

/// Throws InputError naming the file where it is no whole mesh file.
RawMesh read_mesh_file(const std::filesystem::path& path);

/// Whether the file holds the parts of the mesh for that many ranks, numbered in that order. Throws
/// InputError where it is no mesh file or another version wrote them.
bool has_parts(const std::filesystem::path& path, Index ranks, CellOrder order);
/// How the mesh is divided; nothing where it is not.
std::optional<StoredPartition> read_partition(const std::filesystem::path& path);
/// What one rank needs, reading no more. Throws InputError where the file has no such part or it is damaged.
MeshPart read_mesh_part(const std::filesystem::path& path, Index rank);

}  // namespace curlew
