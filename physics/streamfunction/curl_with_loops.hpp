// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/several_sums.hpp"
#include "operators/incidence_operator.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

/// Entity tags: a face that loops go through, and a face of a loop that the rank owns, loop by loop.
struct LoopedFace;
struct LoopEntry;

/// Curl with harmonic fluxes: U = C s + Z q. D times it is zero exactly.
class CurlWithLoops {
 public:
  /// `loops`: of each harmonic flux the faces that this rank has, ghosts included.
  CurlWithLoops(const Executor& executor, const Mesh& mesh,
                const std::vector<std::vector<SignedId<Face>>>& loops);

  /// Fluxes at ghosts too, from streamfunctions that are right there.
  void apply(const PrimalCochain<Edge>& stream, const PrimalCochain<Loop>& through,
             PrimalCochain<Face>& flux) const {
    set_curl(flux.range(), stream, flux);
    add_loops(through, flux);
  }
  /// The parts of that: the curl, on these faces, and then the loops on all.
  void set_curl(Range<Face> faces, const PrimalCochain<Edge>& stream, PrimalCochain<Face>& flux) const {
    curl_.apply_on(faces, stream, flux);
  }
  /// The same, and its transpose, for kernels that go on with the sums.
  const SignedSums<Face, Edge>& sums_over_edges() const { return curl_.rows(); }
  const SignedSums<Edge, Face>& sums_over_faces() const { return curl_.columns(); }
  void add_loops(const PrimalCochain<Loop>& through, PrimalCochain<Face>& flux) const;
  /// Adds the velocities along `normal` that fluxes through loops make, and beside them their size.
  template <class T>
  void add_loops(const PrimalCochain<Loop>& through, const Field<Face, T>& inverse_area,
                 const FaceVectors<T>& normal, FaceVectors<T>& velocity) const;
  /// From circulations that are right on all faces about the rank's own edges.
  void apply_transpose(const DualCochain<Face>& circulation, DualCochain<Edge>& rotation,
                       DualCochain<Loop>& round) const;
  /// Its part: the circulation round each loop.
  template <class T>
  void set_circulation_round_loops(const Field<Face, T, Cochain::Dual>& circulation,
                                   DualCochain<Loop>& round) const;

 private:
  View<LoopedFace, const Index> looped_faces() const {
    return View<LoopedFace, const Index>(looped_faces_.data(executor_.space()), loops_of_face_.rows());
  }

  Executor executor_;
  Curl curl_;
  IncidenceTable<LoopedFace, Loop> loops_of_face_;
  ConstantArray<Index> looped_faces_;
  ConstantArray<Index> entries_;  // as in an IncidenceTable
  SeveralSums<Loop, LoopEntry> sums_;
};

}  // namespace curlew
