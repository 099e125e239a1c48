// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/incidence.hpp"
#include "kernels/tensor3.hpp"
#include "mesh/geometry.hpp"

namespace curlew {

/// Kernel's part: the arm from a cell's centroid to that of one of its faces, whose normal leaves the cell
/// (sign +1) or enters it (-1) [m].
struct Arms {
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;

  Arms(const Geometry& geometry, MemorySpace space)
      : face_centroid(geometry.face_centroids_of_cells(space)),
        cell_centroid(geometry.cell_centroids(space)) {}
  CURLEW_HOST_DEVICE Vector3 operator()(Id<Cell> c, Id<Face> f, Real sign) const {
    return face_centroid(f, sign) - cell_centroid[c];
  }
};

/// Kernel: gradient of the velocity in a cell from the velocities of its faces, g = (1/V) sum_f v_f S_fᵀ
/// [1/s]. Exact for a linear velocity given by its face means.
template <class Rows>
struct VelocityGradientOnCell {
  Rows faces_of;
  View<Face, const Vector3> velocity, area;
  View<Cell, const Real> volume;
  View<Cell, Tensor3> gradient;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Tensor3 sum{};
    for (const auto [f, sign] : faces_of[c]) sum += outer(velocity[f], sign * area[f]);
    gradient[c] = (1 / volume[c]) * sum;
  }
};

/// Kernel: mean velocity of a cell from those of its faces, v_c = sum_f w_f v_f with the shares of the
/// pyramids over the faces, w_f = h_f A_f / (d V) [m/s]. Exact for a linear velocity at the cell's centroid.
template <class Rows>
struct MeanVelocityOnCell {
  Rows faces_of;
  Real dimension;
  View<Face, const Vector3> velocity, area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume;
  View<Cell, Vector3> mean;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Vector3 centre = cell_centroid[c];
    Vector3 sum{};
    for (const auto [f, sign] : faces_of[c])
      sum += (sign * dot(face_centroid(f, sign) - centre, area[f])) * velocity[f];
    mean[c] = sum / (dimension * volume[c]);
  }
};

/// Kernel: both of them.
template <class Rows>
struct MeanAndGradientOnCell {
  MeanVelocityOnCell<Rows> mean;
  VelocityGradientOnCell<Rows> gradient;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    mean(c);
    gradient(c);
  }
};

/// Kernel's part: what a face gets by the transpose of the mean, sum_c w_cf m_c.
struct MeanVelocityTranspose {
  Incidence<Face, Cell> cells_of;
  Real dimension;
  Arms arms;
  View<Face, const Vector3> area;
  View<Cell, const Real> volume;
  View<Cell, const Vector3> of_mean;
  CURLEW_HOST_DEVICE Vector3 operator()(Id<Face> f) const {
    Vector3 sum{};
    for (const auto [c, sign] : cells_of[f])
      sum += (sign * dot(arms(c, f, sign), area[f]) / (dimension * volume[c])) * of_mean[c];
    return sum;
  }
};

/// Kernel's part: what a face gets by the transpose of the gradient, sum_c m_c S_f / V_c.
struct VelocityGradientTranspose {
  Incidence<Face, Cell> cells_of;
  View<Face, const Vector3> area;
  View<Cell, const Real> volume;
  View<Cell, const Tensor3> of_gradient;
  CURLEW_HOST_DEVICE Vector3 operator()(Id<Face> f) const {
    const Vector3 s = area[f];
    Vector3 sum{};
    for (const auto [c, sign] : cells_of[f]) sum += (sign / volume[c]) * (of_gradient[c] * s);
    return sum;
  }
};

}  // namespace curlew
