// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/quality.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// Evaluates in parallel, sums in the order of the entities.
template <class E, class Value>
Statistic statistic(Range<E> range, const ConstantArray<Vector3>& centroids, const Value& value_of) {
  if (range.empty()) return {};
  std::vector<Real> values(at(range.size()));
  parallel_for(values.size(),
               [&](std::size_t i) { values[i] = value_of(Id<E>(range.first() + static_cast<Index>(i))); });
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  Real total = 0;
  for (const Real value : values) total += value;
  return {*lowest, total / static_cast<Real>(values.size()), *highest,
          centroids[at(range.first() + (highest - values.begin()))]};
}

Real non_orthogonality(const Mesh& mesh, Id<Face> f) {
  const Vector3 along = mesh.geometry().dual_edge(mesh.topology(), f);
  const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
  // The arc tangent, since the arc cosine loses half the digits near zero.
  return std::atan2(norm(cross(along, area)), dot(along, area)) * (180 / std::numbers::pi);
}

Real skewness(const Mesh& mesh, Id<Face> f) {
  const Geometry& g = mesh.geometry();
  const Vector3 along = g.dual_edge(mesh.topology(), f), area = g.face_areas()[at(f.value())];
  const Vector3 behind = g.cell_centroids()[at(mesh.topology().cells_of_face()[f][0].id.value())];
  const Vector3 to_centroid = g.face_centroids()[at(f.value())] - behind;
  const Real advance = dot(along, area);
  if (advance == 0) return std::numeric_limits<Real>::infinity();  // the dual edge never meets the plane
  const Vector3 to_crossing = (dot(to_centroid, area) / advance) * along;
  return norm(to_centroid - to_crossing) / norm(along);
}

Real volume_ratio(const Mesh& mesh, Id<Face> f) {
  const auto cells = mesh.topology().cells_of_face()[f];
  const Real a = mesh.geometry().cell_volumes()[at(cells[0].id.value())];
  const Real b = mesh.geometry().cell_volumes()[at(cells[1].id.value())];
  return std::max(a, b) / std::min(a, b);
}

template <int dimension>
Eigen::Matrix<Real, dimension, 1> as_eigen(Vector3 x) {
  if constexpr (dimension == 2)
    return {x.x, x.y};
  else
    return {x.x, x.y, x.z};
}

/// Square root of the largest over the smallest eigenvalue of the cell's second moments about its centroid,
/// summed over the simplices spanned by the centroid and the triangles (sides) of its surface: a simplex with
/// a corner at the origin has the moments V/((d+1)(d+2)) (sum x xᵀ + (sum x)(sum x)ᵀ).
template <int dimension>
Real aspect_ratio(const Mesh& mesh, Id<Cell> c) {
  using Matrix = Eigen::Matrix<Real, dimension, dimension>;
  const Topology& t = mesh.topology();
  const auto positions = mesh.geometry().node_positions(MemorySpace::Host);
  const Vector3 centre = mesh.geometry().cell_centroids()[at(c.value())];
  Matrix moments = Matrix::Zero();
  const auto add = [&](Real volume, std::initializer_list<Vector3> corners) {
    Vector3 sum{};
    for (const Vector3 corner : corners) {
      const auto x = as_eigen<dimension>(corner);
      moments += volume * x * x.transpose();
      sum += corner;
    }
    const auto x = as_eigen<dimension>(sum);
    moments += volume * x * x.transpose();
  };
  for (const auto [f, outward] : t.faces_of_cell()[c]) {
    const auto nodes = t.nodes_of_face()[f];
    const auto from_centre = [&, row = nodes](Index k) { return positions[row[k].id] - centre; };
    if constexpr (dimension == 2) {
      const Vector3 a = from_centre(0), b = from_centre(1);
      add(outward * cross(a, b).z, {a, b});
    } else if (nodes.size() == 3) {
      const Vector3 a = from_centre(0), b = from_centre(1), d = from_centre(2);
      add(outward * dot(cross(a, b), d), {a, b, d});
    } else {
      visit_fan(nodes, positions,
                [&, sign = outward](Vector3 apex, Id<Node>, Id<Node>, Vector3 xa, Vector3 xb) {
                  const Vector3 a = xa - centre, b = xb - centre, d = apex - centre;
                  add(sign * dot(cross(a, b), d), {a, b, d});
                });
    }
  }
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  const auto axes = solver.computeDirect(moments, Eigen::EigenvaluesOnly).eigenvalues();
  const Real longest = axes[dimension - 1];
  // An axis below round-off of the longest is not resolved; the ratio stops growing there.
  const Real shortest = std::max(axes[0], longest * std::numeric_limits<Real>::epsilon());
  return std::sqrt(longest / shortest);
}

Real non_planarity(const Mesh& mesh, Id<Face> f) {
  const auto nodes = mesh.topology().nodes_of_face()[f];
  if (nodes.size() <= 3) return 0;
  const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
  const Vector3 centroid = mesh.geometry().face_centroids()[at(f.value())];
  Real farthest = 0;
  for (const auto [n, sign] : nodes) {
    const Vector3 x = mesh.geometry().node_positions()[at(n.value())];
    farthest = std::max(farthest, std::abs(dot(x - centroid, area)));
  }
  return farthest / std::pow(norm(area), Real(1.5));
}

}  // namespace

MeshQuality measure_quality(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  REQUIRE(!t.is_periodic(), "the quality of a periodic mesh is that of the mesh that it was made of");
  const auto over_interior_faces = [&](auto value_of) {
    return statistic(t.interior_faces(), g.face_centroids(), [&](Id<Face> f) { return value_of(mesh, f); });
  };
  MeshQuality quality;
  quality.non_orthogonality = over_interior_faces(non_orthogonality);
  quality.skewness = over_interior_faces(skewness);
  quality.volume_ratio = over_interior_faces(volume_ratio);
  quality.aspect_ratio = statistic(t.cells(), g.cell_centroids(), [&](Id<Cell> c) {
    return t.dimension() == 2 ? aspect_ratio<2>(mesh, c) : aspect_ratio<3>(mesh, c);
  });
  quality.non_planarity =
      statistic(t.faces(), g.face_centroids(), [&](Id<Face> f) { return non_planarity(mesh, f); });
  return quality;
}

}  // namespace curlew
