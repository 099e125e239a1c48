// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/curl_with_loops.hpp"

#include <map>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"

namespace curlew {

namespace {

CURLEW_HOST_DEVICE Real flux_of_loops(const Incidence<LoopedFace, Loop>& loops_of,
                                      View<Loop, const Real> through, Id<LoopedFace> k) {
  Real sum = 0;
  for (const auto [loop, sign] : loops_of[k]) sum += sign * through[loop];
  return sum;
}

/// U += Z q on the faces that loops go through.
struct AddLoopsOnFace {
  Incidence<LoopedFace, Loop> loops_of;
  View<LoopedFace, const Index> face;
  View<Loop, const Real> through;
  View<Face, Real> flux;
  CURLEW_HOST_DEVICE void operator()(Id<LoopedFace> k) const {
    flux[Id<Face>(face[k])] += flux_of_loops(loops_of, through, k);
  }
};

template <class T>
struct AddVelocityOfLoopsOnFace {
  Incidence<LoopedFace, Loop> loops_of;
  View<LoopedFace, const Index> face;
  View<Loop, const Real> through;
  View<Face, const T> inverse_area;
  View<Face, const Vector4<T>> normal;
  View<Face, Vector4<T>> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<LoopedFace> k) const {
    const Id<Face> f(face[k]);
    const T size = inverse_area[f] * static_cast<T>(flux_of_loops(loops_of, through, k));
    velocity[f] += normal[f].with_fourth(1).times(size, size);
  }
};

template <class T>
struct CirculationAtEntry {
  View<LoopEntry, const Index> entry;
  View<Face, const T> circulation;
  CURLEW_HOST_DEVICE Real operator()(Id<LoopEntry> k) const {
    return incidence_entry::sign(entry[k]) *
           static_cast<Real>(circulation[Id<Face>(incidence_entry::index(entry[k]))]);
  }
};

template <class T>
struct CirculationsRoundLoops {
  CirculationAtEntry<T> at_entry;
  CURLEW_HOST_DEVICE CirculationAtEntry<T> operator()(Id<Loop>) const { return at_entry; }
};

struct ValueOfSumOnLoop {
  View<Loop, const BinnedSum> sum;
  View<Loop, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Loop> l) const { value[l] = sum[l].value(); }
};

}  // namespace

CurlWithLoops::CurlWithLoops(const Executor& executor, const Mesh& mesh,
                             const std::vector<std::vector<SignedId<Face>>>& loops)
    : executor_(executor), curl_(executor, mesh.topology()), sums_(executor, {}) {
  const Range<Face> own = mesh.domain().halo<Face>().owned();
  std::map<Index, std::vector<Index>> loops_of_face;
  std::vector<Index> entries;
  std::vector<Range<LoopEntry>> entries_of_loop;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const Index first = static_cast<Index>(entries.size());
    for (const auto [f, sign] : loops[l]) {
      loops_of_face[f.value()].push_back(incidence_entry::make(static_cast<Index>(l), sign < 0));
      if (own.contains(f)) entries.push_back(incidence_entry::make(f.value(), sign < 0));
    }
    entries_of_loop.emplace_back(first, static_cast<Index>(entries.size()));
  }
  sums_ = SeveralSums<Loop, LoopEntry>(executor, entries_of_loop);
  entries_ = ConstantArray<Index>(std::move(entries));
  std::vector<Index> faces, starts{0}, rows;
  for (const auto& [face, row] : loops_of_face) {
    faces.push_back(face);
    rows.insert(rows.end(), row.begin(), row.end());
    starts.push_back(static_cast<Index>(rows.size()));
  }
  looped_faces_ = ConstantArray<Index>(std::move(faces));
  loops_of_face_ = IncidenceTable<LoopedFace, Loop>(std::move(starts), std::move(rows));
}

void CurlWithLoops::add_loops(const PrimalCochain<Loop>& through, PrimalCochain<Face>& flux) const {
  for_each(
      executor_, Range<LoopedFace>(0, loops_of_face_.rows()),
      AddLoopsOnFace{loops_of_face_.view(executor_.space()), looped_faces(), through.view(), flux.view()});
}

template <class T>
void CurlWithLoops::add_loops(const PrimalCochain<Loop>& through, const Field<Face, T>& inverse_area,
                              const FaceVectors<T>& normal, FaceVectors<T>& velocity) const {
  for_each(executor_, Range<LoopedFace>(0, loops_of_face_.rows()),
           AddVelocityOfLoopsOnFace<T>{loops_of_face_.view(executor_.space()), looped_faces(), through.view(),
                                       inverse_area.view(), normal.view(), velocity.view()});
}

void CurlWithLoops::apply_transpose(const DualCochain<Face>& circulation, DualCochain<Edge>& rotation,
                                    DualCochain<Loop>& round) const {
  curl_.apply_transpose(circulation, rotation);
  set_circulation_round_loops(circulation, round);
}

template <class T>
void CurlWithLoops::set_circulation_round_loops(const Field<Face, T, Cochain::Dual>& circulation,
                                                DualCochain<Loop>& round) const {
  if (round.size() == 0) return;
  // A loop may go through many faces of many ranks: its sum is a reduction.
  const View<LoopEntry, const Index> entry(entries_.data(executor_.space()),
                                           static_cast<Index>(entries_.size()));
  const CirculationsRoundLoops<T> circulations{{entry, circulation.view()}};
  for_each(executor_, round.range(), ValueOfSumOnLoop{sums_.make(circulations), round.view()});
}

using Loops = PrimalCochain<Loop>;
template void CurlWithLoops::add_loops(const Loops&, const Field<Face, float>&, const FaceVectors<float>&,
                                       FaceVectors<float>&) const;
template void CurlWithLoops::add_loops(const Loops&, const Field<Face, Real>&, const FaceVectors<Real>&,
                                       FaceVectors<Real>&) const;
template void CurlWithLoops::set_circulation_round_loops(const Field<Face, float, Cochain::Dual>&,
                                                         DualCochain<Loop>&) const;
template void CurlWithLoops::set_circulation_round_loops(const DualCochain<Face>&, DualCochain<Loop>&) const;

}  // namespace curlew
