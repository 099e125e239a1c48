// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/face_matrix.hpp"

#include <algorithm>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// Calls `visit(g)` for f, then for the other faces of its cells, then for those of cells that these are tied
/// to, some of them more than once. `jumps`: null for no ties.
template <class Visit>
void visit_faces_near(const Topology& topology, const GradientJumps* jumps, Id<Face> f, const Visit& visit) {
  visit(f);
  for (const auto [c, side] : topology.cells_of_face()[f]) {
    for (const auto [g, sign] : topology.faces_of_cell()[c]) visit(g);
  }
  if (jumps == nullptr) return;
  for (const auto [c, side] : topology.cells_of_face()[f]) {
    for (const auto [g, sign] : topology.faces_of_cell()[c]) {
      if (!jumps->is_tied(g)) continue;
      for (const auto [other, its_side] : topology.cells_of_face()[g]) {
        for (const auto [h, its_sign] : topology.faces_of_cell()[other]) visit(h);
      }
    }
  }
}

template <class T, class Rows>
struct RowOnFace {
  Rows faces_of;
  View<FacePair, const Real> entry;
  View<Face, const T> x;
  View<Face, T> y;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { y[f] = row_times(faces_of, entry, x, f); }
};

}  // namespace

FaceStencil::FaceStencil(const Topology& topology, const GradientJumps* jumps)
    : reaches_further_(jumps != nullptr && !jumps->empty()) {
  std::vector<Index> starts{0}, entries;
  starts.reserve(at(topology.faces().size()) + 1);
  entries.reserve(at(topology.faces().size()) * 11);
  for (const Id<Face> f : topology.faces()) {
    const auto start = static_cast<std::ptrdiff_t>(entries.size());
    visit_faces_near(topology, reaches_further_ ? jumps : nullptr, f, [&](Id<Face> g) {
      const Index entry = incidence_entry::make(g.value(), false);
      if (std::find(entries.begin() + start, entries.end(), entry) == entries.end()) entries.push_back(entry);
    });
    starts.push_back(offset_in_table(static_cast<std::int64_t>(entries.size())));
  }
  entries.shrink_to_fit();
  faces_of_face_ = IncidenceTable<Face, Face>(std::move(starts), std::move(entries));
}

FaceMatrix::FaceMatrix(FaceStencil stencil, const Topology& topology, const RowOfCell& row_of_cell,
                       const RowOfTies& row_of_ties)
    : stencil_(std::move(stencil)) {
  const auto stencil_of = stencil_.faces_of_face().view(MemorySpace::Host);
  std::vector<Real> entries(stencil_.faces_of_face().entries());
  parallel_for(at(topology.faces().size()), [&](std::size_t i) {
    const Id<Face> f(static_cast<Index>(i));
    const auto row = stencil_of[f];
    const auto add = [&](Id<Face> column, Real entry) {
      Index place = 0;
      while (row[place].id != column) ++place;
      entries[at(stencil_of.start(f) + place)] += entry;
    };
    std::vector<Real> of_cell;
    for (const auto [c, side] : topology.cells_of_face()[f]) {
      const auto faces = topology.faces_of_cell()[c];
      of_cell.resize(at(faces.size()));
      Index own = 0;
      while (faces[own].id != f) ++own;
      row_of_cell(c, own, of_cell);
      for (Index k = 0; k < faces.size(); ++k) add(faces[k].id, of_cell[at(k)]);
      if (row_of_ties) row_of_ties(c, own, add);
    }
  });
  entries_ = stencil_.faces_of_face().values(std::move(entries));
}

std::vector<Real> FaceMatrix::diagonal() const {
  const auto stencil_of = stencil_.faces_of_face().view(MemorySpace::Host);
  std::vector<Real> diagonal(at(stencil_.faces_of_face().rows()));
  for (std::size_t f = 0; f < diagonal.size(); ++f)
    diagonal[f] = entries_[at(stencil_of.start(Id<Face>(static_cast<Index>(f))))];
  return diagonal;
}

template <class T>
void FaceMatrix::apply_to(const Executor& executor, Range<Face> faces, View<Face, const T> x,
                          View<Face, T> y) const {
  const MemorySpace space = executor.space();
  stencil_.visit_parts(space, faces, [&](Range<Face> range, auto rows) {
    for_each(executor, range, RowOnFace<T, decltype(rows)>{rows, entries(space), x, y});
  });
}

void FaceMatrix::apply(const Executor& executor, Range<Face> faces, View<Face, const Real> x,
                       View<Face, Real> y) const {
  apply_to(executor, faces, x, y);
}

void FaceMatrix::apply(const Executor& executor, Range<Face> faces, View<Face, const Vector3> x,
                       View<Face, Vector3> y) const {
  apply_to(executor, faces, x, y);
}

}  // namespace curlew
