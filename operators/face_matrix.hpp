// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/vector3.hpp"
#include "mesh/topology.hpp"
#include "operators/gradient_jumps.hpp"
#include "operators/operator.hpp"

namespace curlew {

/// Tag: an entry of a FaceStencil's rows.
struct FacePair;

/// For every face the faces of its cells: itself, then the others in the order of the rows of cells_of_face()
/// and faces_of_cell(), each once, so that the order does not depend on how a mesh is divided. Where a cell
/// of a face is tied to another one, the faces of that one follow.
class FaceStencil {
 public:
  /// Throws InputError where there are more entries than an Index counts.
  explicit FaceStencil(const Topology& topology) : FaceStencil(topology, nullptr) {}
  FaceStencil(const Topology& topology, const GradientJumps& jumps) : FaceStencil(topology, &jumps) {}
  /// With all ties of the mesh.
  explicit FaceStencil(const Mesh& mesh) : FaceStencil(mesh.topology(), GradientJumps(mesh)) {}

  /// Signs are +1 throughout.
  const IncidenceTable<Face, Face>& faces_of_face() const { return faces_of_face_; }
  /// Whether rows of any rank reach beyond the cells of their faces: those of faces that need no ghosts
  /// otherwise (Halo::interior()) may read some then, and those of ghosts about a rank's own edges lack
  /// entries.
  bool reaches_further() const { return reaches_further_; }
  /// Of triangles and quadrilaterals, tetrahedra, hexahedra: on the boundary, and inside.
  using Lengths = RowLengths<3, 5, 4, 7, 6, 11>;
  /// Calls `launch(range, rows)` as IncidenceTable::visit_parts does.
  template <class Launch, class CompiledLengths = Lengths>
  void visit_parts(MemorySpace space, Range<Face> wanted, const Launch& launch,
                   CompiledLengths lengths = {}) const {
    faces_of_face_.visit_parts(space, wanted, launch, lengths);
  }

 private:
  FaceStencil(const Topology& topology, const GradientJumps* jumps);

  IncidenceTable<Face, Face> faces_of_face_;
  bool reaches_further_;
};

/// Sum over cells of dense matrices between the faces of each, and of what couples faces of tied cells,
/// assembled row by row on a FaceStencil. Applied in one pass without a division. The way from faces to cells
/// and back reads areas and centroids twice and writes and reads fields on cells in between: more bytes, from
/// triangles to hexahedra (docs/kernels.md).
class FaceMatrix {
 public:
  /// Sets `entries` to row k of cell c's matrix, one entry for each face in the cell's row of faces.
  using RowOfCell = std::function<void(Id<Cell> c, Index k, std::span<Real> entries)>;
  /// Adds an entry to a row.
  using Add = std::function<void(Id<Face> column, Real entry)>;
  /// Adds to the row of face k of cell c what it has from the cell's ties.
  using RowOfTies = std::function<void(Id<Cell> c, Index k, const Add& add)>;
  /// `row_of_ties`: null where there are none.
  FaceMatrix(FaceStencil stencil, const Topology& topology, const RowOfCell& row_of_cell,
             const RowOfTies& row_of_ties = nullptr);

  const FaceStencil& stencil() const { return stencil_; }
  View<FacePair, const Real> entries(MemorySpace space) const {
    return View<FacePair, const Real>(entries_.data(space), static_cast<Index>(entries_.size(space)));
  }
  std::vector<Real> diagonal() const;
  /// Bytes that an application reads of it.
  std::size_t bytes() const { return stencil_.faces_of_face().bytes() + entries_.size() * sizeof(Real); }

  /// y = A x on these faces.
  void apply(const Executor& executor, Range<Face> faces, View<Face, const Real> x, View<Face, Real> y) const;
  /// The same on each component.
  void apply(const Executor& executor, Range<Face> faces, View<Face, const Vector3> x,
             View<Face, Vector3> y) const;

 private:
  template <class T>
  void apply_to(const Executor& executor, Range<Face> faces, View<Face, const T> x, View<Face, T> y) const;

  FaceStencil stencil_;
  ConstantArray<Real> entries_;  // row by row
};

/// For matrices in single precision: an entry of a row with this diagonal one, but zero for what only
/// rounding left of zero, as between the faces of a cube. Products of that with small numbers would be
/// denormal, which cost a processor a hundred times as much.
CURLEW_HOST_DEVICE inline Real without_rounding(Real entry, Real diagonal) {
  const Real rounding = 1e-12 * diagonal;
  return entry < rounding && -entry < rounding ? 0 : entry;
}

/// Kernel's part: sum over the stencil of face f of its entries times x. A call a row would send vectors
/// through memory.
template <class T, class Entry, class Rows>
[[gnu::always_inline]] CURLEW_HOST_DEVICE inline T row_times(const Rows& faces_of,
                                                             View<FacePair, const Entry> entry,
                                                             View<Face, const T> x, Id<Face> f) {
  T sum{};
  Id<FacePair> pair(faces_of.start(f));
  for (const auto [g, sign] : faces_of[f]) {
    sum += entry[pair] * x[g];
    pair = faces_of.next(pair);
  }
  return sum;
}

}  // namespace curlew
