// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/tangential_approximate_inverse.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/fill.hpp"
#include "kernels/parallel.hpp"
#include "kernels/reduction.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/parallel/exchange.hpp"
#include "physics/momentum/free_parts.hpp"

namespace curlew {

namespace {

constexpr Index longest_row = 7;  // of faces of a face's cells, on tetrahedra

/// Row of G: one number for each face of the face's cells, with which its row of the stencil begins, the
/// first of them the diagonal.
using FactorRow = std::array<float, longest_row>;

/// What the rows of G are made of, on the host.
class FactorRows {
 public:
  FactorRows(const Mesh& mesh, const FaceMatrix& matrix, std::vector<FaceHold> hold)
      : halo_(mesh.domain().halo<Face>()),
        area_(mesh.geometry().face_areas(MemorySpace::Host)),
        stencil_(matrix.stencil().faces_of_face().view(MemorySpace::Host)),
        cells_of_face_(mesh.topology().cells_of_face().view(MemorySpace::Host)),
        faces_of_cell_(mesh.topology().faces_of_cell().view(MemorySpace::Host)),
        reaches_further_(matrix.stencil().reaches_further()),
        entries_(matrix.entries(MemorySpace::Host)),
        hold_(std::move(hold)),
        dimension_(mesh.topology().dimension()),
        strongest_(hold_.size()) {
    parallel_for(strongest_.size(), [&](std::size_t f) {
      const Id<Face> face(static_cast<Index>(f));
      strongest_[f] = static_cast<std::uint8_t>(strongest(face, true) | strongest(face, false));
    });
  }

  Incidence<Face, Face>::Row row(Id<Face> f) const { return stencil_[f]; }
  /// How many entries of it are faces of the face's cells, which may have more than one in common where a
  /// periodic mesh is narrow.
  Index near(Id<Face> f) const {
    if (!reaches_further_) return row(f).size();
    Index count = 1;
    while (count < row(f).size() && is_near(row(f)[count].id, f)) ++count;
    return count;
  }
  bool is_before(Id<Face> h, Id<Face> f) const { return halo_.global(h) < halo_.global(f); }
  /// At most so many entries before and after the diagonal.
  Index width() const { return dimension_ + 1; }
  /// Where a row of the stencil has f.
  Index place_in(Incidence<Face, Face>::Row row, Id<Face> f) const {
    Index place = 0;
    while (row[place].id != f) ++place;
    return place;
  }
  /// Of a face that the rank owns.
  FactorRow operator()(Id<Face> f) const {
    FactorRow values{};
    if (is_held(f)) return values;
    std::array<Index, longest_row> places;
    Eigen::Index size = 0;
    for (Index k = 1; k < near(f); ++k)
      if (is_before(row(f)[k].id, f) && is_coupled(f, k)) places[at(size++)] = k;
    using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, 0, longest_row, longest_row>;
    using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1, 0, longest_row, 1>;
    Matrix energy(size, size);
    Column with_own(size), g(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const Id<Face> h = row(f)[places[at(i)]].id;
      for (Eigen::Index j = 0; j <= i; ++j)
        energy(i, j) = energy(j, i) = energy_of(f, h, row(f)[places[at(j)]].id);
      with_own(i) = energy_of(f, f, h);
    }
    const Real own = energy_of(f, f, f);
    Real least = own;
    g.setZero();
    if (size > 0) {
      const Eigen::LLT<Matrix> factors(energy);
      if (factors.info() == Eigen::Success) {
        g = -factors.solve(with_own);
        least = own + g.dot(with_own);
      }
    }
    // What rounding leaves of a sum of nearly opposite terms, in a sliver, says nothing.
    if (!(least > least_energy * own)) {
      g.setZero();
      least = own;
    }
    if (!(least > 0)) return values;
    const Real scale = std::sqrt((dimension_ - 1) / least);
    values[0] = static_cast<float>(scale);
    for (Eigen::Index i = 0; i < size; ++i) values[at(places[at(i)])] = static_cast<float>(scale * g(i));
    return values;
  }

 private:
  static constexpr Real least_energy = 1e-10;
  /// Least square of the cosine between tangents in the plane, below which two faces count as not coupled.
  static constexpr Real least_alignment = 1e-4;

  bool is_near(Id<Face> g, Id<Face> f) const {
    for (const auto [c, side] : cells_of_face_[f]) {
      for (const auto [h, sign] : faces_of_cell_[c])
        if (h == g) return true;
    }
    return false;
  }
  bool is_held(Id<Face> f) const { return hold_[at(f.value())] == FaceHold::All; }
  Vector3 normal(Id<Face> f) const { return area_[f] / norm(area_[f]); }
  /// K_hk.
  Real entry(Id<Face> h, Id<Face> k) const {
    Id<FacePair> pair(stencil_.start(h));
    for (const auto [g, sign] : stencil_[h]) {
      if (g == k) return entries_[pair];
      ++pair;
    }
    return 0;
  }
  /// Trace of P_f P_h P_k.
  Real trace(Id<Face> f, Id<Face> h, Id<Face> k) const {
    const Vector3 a = normal(f), b = normal(h), c = normal(k);
    const Real ab = dot(a, b), bc = dot(b, c), ca = dot(c, a);
    return dimension_ - 3 + ab * ab + bc * bc + ca * ca - ab * bc * ca;
  }
  /// Trace of P_f P_h K_hk P_k P_f.
  Real energy_of(Id<Face> f, Id<Face> h, Id<Face> k) const { return entry(h, k) * trace(f, h, k); }
  /// The strongest couplings of a face with those before it, or after it: a bit for each place of its row.
  unsigned strongest(Id<Face> f, bool before) const {
    if (is_held(f)) return 0;
    std::array<Real, longest_row> strength{};
    for (Index k = 1; k < near(f); ++k) {
      const Id<Face> h = row(f)[k].id;
      if (is_held(h) || is_before(h, f) != before) continue;
      const Real alignment = trace(f, f, h);
      if (alignment > least_alignment) strength[at(k)] = std::abs(entry(f, h)) * alignment;
    }
    unsigned places = 0;
    for (Index k = 1; k < near(f); ++k) {
      Index stronger = 0;  // of equal ones the first
      for (Index other = 1; other < near(f); ++other)
        stronger +=
            strength[at(other)] > strength[at(k)] || (other < k && strength[at(other)] == strength[at(k)]);
      if (strength[at(k)] > 0 && stronger < width()) places |= 1u << k;
    }
    return places;
  }
  /// Whether both faces of a pair count it among their strongest couplings.
  bool is_coupled(Id<Face> f, Index place) const {
    const auto among = [&](Id<Face> of, Index k) {
      return (unsigned{strongest_[at(of.value())]} >> k & 1u) != 0;
    };
    const Id<Face> h = row(f)[place].id;
    return among(f, place) && among(h, place_in(row(h), f));
  }

  const Halo<Face>& halo_;
  View<Face, const Vector3> area_;
  Incidence<Face, Face> stencil_;
  Incidence<Face, Cell> cells_of_face_;
  Incidence<Cell, Face> faces_of_cell_;
  bool reaches_further_;
  View<FacePair, const Real> entries_;
  std::vector<FaceHold> hold_;
  int dimension_;
  std::vector<std::uint8_t> strongest_;
};

/// y = G x, or Gᵀ x. Gives y . y of a face.
template <class T, class Rows>
struct FactorOnFace {
  Rows faces_of;
  View<FacePair, const float> entry;
  View<Face, const float> diagonal;
  View<Face, const Vector4<T>> normal, x;
  View<Face, Vector4<T>> y;
  CURLEW_HOST_DEVICE Vector4<T> gather(Id<Face> f) const { return row_times(faces_of, entry, x, f); }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, Vector4<T> sum) const {
    sum += diagonal[f] * x[f];  // last: in double it would take registers that the loop needs
    const Vector4<T> result = sum - along(sum, normal[f]);
    y[f] = result;
    return dot(result, result);
  }
};

}  // namespace

bool has_only_simplices(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  Real others = 0;
  for (const Id<Cell> c : t.cells())
    if (!is_simplex(t.cell_type(c))) others = 1;
  return mesh.domain().communicator().maximum(others) == 0;
}

TangentialApproximateInverse::TangentialApproximateInverse(const MomentumMatrices& matrices)
    : matrices_(matrices), single_(matrices.executor(), matrices.mesh().domain().extent<Face>(), "G r", "1") {
  const Mesh& mesh = matrices.mesh();
  const FactorRows rows(mesh, matrices.viscous_form(), matrices.hold_on_host());
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  const auto owned = at(halo.owned().size());
  Field<Face, FactorRow> factor(Executor::serial(), mesh.domain().extent<Face>(), "rows of G", "1");
  parallel_for(owned, [&](std::size_t f) {
    const Id<Face> face(static_cast<Index>(f));
    factor.view()[face] = rows(face);
  });
  exchange_ghosts(mesh.domain(), factor);

  const auto value = std::as_const(factor).view();
  const auto triangle = [&](bool lower) {
    const auto width = at(rows.width());
    std::vector<Index> starts(owned + 1), faces(owned * width);
    std::vector<float> entries(owned * width, 0.f);
    parallel_for(owned, [&](std::size_t f) {
      const Id<Face> face(static_cast<Index>(f));
      const auto row = rows.row(face);
      std::size_t entry = f * width;
      starts[f + 1] = static_cast<Index>(entry + width);
      for (Index k = 1; k < rows.near(face); ++k) {
        const Id<Face> h = row[k].id;
        if (rows.is_before(h, face) != lower) continue;
        const float g = lower ? value[face][at(k)] : value[h][at(rows.place_in(rows.row(h), face))];
        if (g == 0) continue;
        faces[entry] = incidence_entry::make(h.value(), false);
        entries[entry++] = g;
      }
      std::fill(faces.begin() + static_cast<std::ptrdiff_t>(entry),
                faces.begin() + static_cast<std::ptrdiff_t>((f + 1) * width),
                incidence_entry::make(face.value(), false));
    });
    IncidenceTable<Face, Face> table(std::move(starts), std::move(faces));
    ConstantArray<float> values = table.values(std::move(entries));
    return Triangle{std::move(table), std::move(values)};
  };
  lower_ = triangle(true);
  upper_ = triangle(false);
  std::vector<float> diagonal(owned);
  for (const Id<Face> f : halo.owned()) diagonal[at(f.value())] = value[f][0];
  diagonal_ = ConstantArray<float>(std::move(diagonal));
}

template <>
FaceVectors<float>& TangentialApproximateInverse::place() const {
  return single_;
}
template <>
FaceVectors<Real>& TangentialApproximateInverse::place() const {
  if (!double_)
    double_ = std::make_unique<FaceVectors<Real>>(single_.executor(), single_.extent(), "G r", "1");
  return *double_;
}

template <class T, class Launch>
void TangentialApproximateInverse::visit_product(const Triangle& triangle, const FaceVectors<T>& x,
                                                 FaceVectors<T>& y, const Launch& launch) const {
  const MemorySpace space = x.executor().space();
  const View<FacePair, const float> entry(triangle.entries.data(space),
                                          static_cast<Index>(triangle.entries.size(space)));
  const View<Face, const float> diagonal(diagonal_.data(space), x.owned().size());
  const auto normal = matrices_.in<T>().normal.view();
  const auto launch_on = [&](Range<Face> faces) {
    triangle.faces.visit_parts(
        space, faces,
        [&](Range<Face> range, auto rows) {
          launch(range, FactorOnFace<T, decltype(rows)>{rows, entry, diagonal, normal, x.view(), y.view()});
        },
        std::conditional_t<std::is_same_v<T, float>, RowLengths<3, 4>, RowLengths<>>{});
  };
  launch_with_ghosts(matrices_.mesh().domain(), x.owned(), launch_on, x);
}

template <class T>
void TangentialApproximateInverse::apply_in(const FaceVectors<T>& r, FaceVectors<T>& z) const {
  const auto launch = [&](Range<Face> range, const auto& kernel) { for_each(r.executor(), range, kernel); };
  visit_product(lower_, r, place<T>(), launch);
  visit_product(upper_, std::as_const(place<T>()), z, launch);
}
void TangentialApproximateInverse::apply(const FaceVectors<float>& r, FaceVectors<float>& z) const {
  apply_in(r, z);
}
void TangentialApproximateInverse::apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const {
  apply_in(r, z);
}

template <class T>
void TangentialApproximateInverse::apply_with_product_in(const FaceVectors<T>& r, FaceVectors<T>& z,
                                                         SumInParts& product) const {
  // r . z = G r . G r
  visit_product(lower_, r, place<T>(),
                [&](Range<Face> range, const auto& kernel) { product.add(range, kernel); });
  visit_product(upper_, std::as_const(place<T>()), z,
                [&](Range<Face> range, const auto& kernel) { for_each(r.executor(), range, kernel); });
}
void TangentialApproximateInverse::apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                                                      SumInParts& product) const {
  apply_with_product_in(r, z, product);
}
void TangentialApproximateInverse::apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                                                      SumInParts& product) const {
  apply_with_product_in(r, z, product);
}

}  // namespace curlew
