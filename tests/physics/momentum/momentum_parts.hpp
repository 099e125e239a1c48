// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "physics/momentum/momentum_systems.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {

/// What preconditioners of face velocities are made of.
struct MomentumParts {
  MomentumParts(const Mesh& on, const FlowSettings& settings, const Executor& executor = Executor::serial())
      : mesh(on),
        boundaries(executor, mesh, settings),
        mass(executor, mesh, FaceStencil(mesh), 2),
        viscous(executor, mesh, mass.matrix().stencil()),
        matrices(executor, mesh, boundaries, mass, viscous),
        like(executor, mesh.topology().faces().size(), "face vectors", "1") {}
  /// An arbitrary force on what is free, or on what of it is tangential.
  template <class T>
  FaceVectors<T> force(Real seed, bool tangential) const {
    std::vector<Vector4<T>> values;
    for (const Vector3 v : arbitrary_vectors(mesh, like.size(), seed)) {
      const FaceHold hold = boundaries.hold_of_face()[values.size()];
      const Vector3 area = mesh.geometry().face_areas()[values.size()];
      const Vector3 tangent = v - dot(v, area) / dot(area, area) * area;
      const Vector3 free = tangential || hold == FaceHold::Normal ? tangent : v;
      values.push_back(rounded<T>(hold == FaceHold::All ? Vector3{} : free));
    }
    FaceVectors<T> force(like.executor(), like.size(), "force", "1");
    force.copy_from_host(values);
    return force;
  }

  const Mesh& mesh;
  FlowBoundaries boundaries;
  FluxMass mass;
  ViscousForm viscous;
  MomentumMatrices matrices;
  FaceVectors<float> like;
};

template <class T>
Real product(const FaceVectors<T>& x, const FaceVectors<T>& y) {
  const auto a = x.to_host(), b = y.to_host();
  Real sum = 0;
  for (std::size_t f = 0; f < a.size(); ++f) sum += dot(a[f], b[f]);
  return sum;
}

template <class T>
bool same_bits(const FaceVectors<T>& x, const FaceVectors<T>& y) {
  const auto a = x.to_host(), b = y.to_host();
  return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

/// Of a preconditioner, for forces that `force(seed)` gives.
template <class T, class Force>
void expect_symmetric_and_positive(const Preconditioner<FaceVectors<T>>& preconditioner, const Force& force) {
  FaceVectors<T> z = force(1), y = alike(z);
  for (const Real seed : {1., 2., 3.}) {
    const FaceVectors<T> r = force(seed), s = force(seed + 7);
    SumInParts sum(Executor::serial());
    preconditioner.apply_with_product(r, z, sum);
    preconditioner.apply(s, y);
    EXPECT_NEAR(product(s, z), product(r, y), 1e-5 * std::sqrt(product(r, z) * product(s, y)));
    if (product(r, r) > 0) {
      EXPECT_GT(product(r, z), 0);
    }
    EXPECT_NEAR(sum.value(), product(r, z), 1e-6 * product(r, z));
    preconditioner.apply(r, y);
    EXPECT_TRUE(same_bits(y, z));
  }
}

}  // namespace curlew
