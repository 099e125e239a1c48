// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/convected_velocity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/for_each.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/cell_velocity.hpp"
#include "physics/momentum/free_parts.hpp"

namespace curlew {

namespace {

/// How many times as long as the cell is high it is across a face, squared; lengths are volumes over areas.
/// 0 if it is no box.
Real square_of_ratio(const Mesh& mesh, Id<Cell> c, Id<Face> across) {
  const Topology& topology = mesh.topology();
  if (!is_box(topology.cell_type(c))) return 0;
  const auto square_of_area = [&](Id<Face> f) {
    const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
    return dot(area, area);
  };
  Real largest = 0;
  for (const auto [f, sign] : topology.faces_of_cell()[c]) largest = std::max(largest, square_of_area(f));
  return largest / square_of_area(across);
}

/// Kernel's part: how the velocity at a face is found from those of its two cells.
struct BetweenCells {
  Incidence<Face, Cell> cells_of;
  View<Face, const Vector3> area;
  Arms arms;

  struct Weights {
    Id<Cell> cell[2];
    Real share[2];   // a_c
    Vector3 offset;  // e [m]
  };
  /// Of a face with two cells.
  CURLEW_HOST_DEVICE Weights operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    const auto first = cells[0], second = cells[1];
    const Vector3 from_first = arms(first.id, f, first.sign), from_second = arms(second.id, f, second.sign);
    const Real ahead = -dot(from_second, area[f]) * first.sign,
               behind = dot(from_first, area[f]) * first.sign;
    const Real share = ahead / (ahead + behind);
    return {{first.id, second.id}, {share, 1 - share}, share * from_first + (1 - share) * from_second};
  }
};

struct ConvectedOnFace {
  View<Face, const Real> share;
  BetweenCells between;
  View<Cell, const Vector3> mean;
  View<Cell, const Tensor3> gradient;
  View<Face, const Vector3> velocity;
  View<Face, Vector3> convected;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 v = velocity[f];
    if (share[f] == 0) {
      convected[f] = v;
      return;
    }
    const auto w = between(f);
    const Vector3 difference = w.share[0] * mean[w.cell[0]] + w.share[1] * mean[w.cell[1]] +
                               Real(0.5) * (gradient[w.cell[0]] * w.offset + gradient[w.cell[1]] * w.offset) -
                               v;
    convected[f] = v + share[f] * (difference - along(difference, between.area[f]));
  }
};

/// y = theta/2 (1 - n nᵀ) W.
struct HeldBackOnFace {
  View<Face, const Real> share;
  Incidence<Face, Cell> cells_of;
  View<Face, const Vector3> area;
  View<Face, const Real> flux;
  View<Cell, const Vector3> u;
  View<Face, Vector3> held_back;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (share[f] == 0) {
      held_back[f] = Vector3{};
      return;
    }
    const auto cells = cells_of[f];
    const Vector3 transported = (Real(0.5) * share[f] * flux[f]) * (u[cells[0].id] - u[cells[1].id]);
    held_back[f] = transported - along(transported, area[f]);
  }
};

/// What mean and gradient of a cell get of -y.
struct HandedToCell {
  Incidence<Cell, Face> faces_of;
  View<Face, const Real> share;
  BetweenCells between;
  View<Face, const Vector3> held_back;
  View<Cell, Vector3> of_mean;
  View<Cell, Tensor3> of_gradient;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector3 net{};
    Tensor3 moment{};
    for (const auto [f, sign] : faces_of[c]) {
      if (share[f] == 0) continue;
      const auto w = between(f);
      net += (w.cell[0] == c ? w.share[0] : w.share[1]) * held_back[f];
      moment += outer(Real(0.5) * held_back[f], w.offset);
    }
    of_mean[c] = Real(-1) * net;
    of_gradient[c] = Real(-1) * moment;
  }
};

/// The force gets y, and by the transposes of mean and gradient what cells got.
struct AddHeldBackOnFace {
  Incidence<Face, Cell> cells_of;
  Arms arms;
  Real dimension;
  View<Face, const Vector3> area, held_back;
  View<Cell, const Real> volume;
  View<Cell, const Vector3> of_mean;
  View<Cell, const Tensor3> of_gradient;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f];
    Vector3 sum = held_back[f];
    for (const auto [c, sign] : cells_of[f]) {
      sum += (sign * dot(arms(c, f, sign), s) / (dimension * volume[c])) * of_mean[c];
      sum += (sign / volume[c]) * (of_gradient[c] * s);
    }
    force[f] += sum;
  }
};

}  // namespace

std::vector<Real> ConvectedVelocity::shares(const Mesh& mesh) {
  constexpr Real like_a_cube = 1.5;  // a ratio, squared, up to which boxes count as such
  const Topology& topology = mesh.topology();
  Field<Face, Real> share(Executor::serial(), mesh.domain().extent<Face>(), "share", "1");
  Real largest = 0;
  for (const Id<Face> f : share.owned()) {  // their owner is sure to have both cells
    const auto cells = topology.cells_of_face()[f];
    if (cells.size() < 2) continue;
    Real square = 0;
    for (const auto [c, sign] : cells) square = std::max(square, square_of_ratio(mesh, c, f));
    if (square <= like_a_cube) continue;
    share.view()[f] = 1 - std::sqrt((like_a_cube + 1) / (square + 1));
    largest = std::max(largest, share.view()[f]);
  }
  if (mesh.domain().communicator().maximum(largest) == 0) return {};
  exchange_ghosts(mesh.domain(), share);
  for (const Id<Face> f : share.range()) {  // P v of ghosts without both cells is their owner's to find
    if (topology.cells_of_face()[f].size() < 2) share.view()[f] = 0;
  }
  return share.to_host();
}

ConvectedVelocity::ConvectedVelocity(const Executor& executor, const Mesh& mesh)
    : ConvectedVelocity(executor, mesh, shares(mesh)) {}

ConvectedVelocity::ConvectedVelocity(const Executor& executor, const Mesh& mesh, std::vector<Real> share)
    : executor_(executor),
      domain_(mesh.domain()),
      geometry_(mesh.geometry()),
      dimension_(mesh.topology().dimension()),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      share_(std::move(share)),
      on_faces_(executor, is_given() ? Extent(0) : domain_.extent<Face>(), "convected velocity", "m/s"),
      mean_(executor, is_given() ? Extent(0) : domain_.extent<Cell>(), "mean velocity", "m/s"),
      gradient_(executor, mean_.extent(), "velocity gradient", "1/s") {}

View<Face, const Real> ConvectedVelocity::share() const {
  return View<Face, const Real>(share_.data(executor_.space()), on_faces_.size());
}

const FaceVelocity& ConvectedVelocity::of(const FaceVelocity& velocity) {
  if (is_given()) return velocity;
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto volume = geometry_.cell_volumes(space);
  const Arms arms(geometry_, space);
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(executor_, range,
             MeanVelocityOnCell<decltype(rows)>{rows, dimension_, velocity.view(), area, arms.face_centroid,
                                                arms.cell_centroid, volume, mean_.view()});
    for_each(executor_, range,
             VelocityGradientOnCell<decltype(rows)>{rows, velocity.view(), area, volume, gradient_.view()});
  });
  const BetweenCells between{cells_of_face_.view(space), area, arms};
  for_each(executor_, on_faces_.range(),
           ConvectedOnFace{share(), between, std::as_const(mean_).view(), std::as_const(gradient_).view(),
                           velocity.view(), on_faces_.view()});
  exchange_ghosts(domain_, on_faces_);
  return on_faces_;
}

void ConvectedVelocity::add_held_back(const PrimalCochain<Face>& flux, const Field<Cell, Vector3>& u,
                                      FaceVelocity& force) {
  if (is_given()) return;
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto cells_of = cells_of_face_.view(space);
  const Arms arms(geometry_, space);
  for_each(executor_, on_faces_.range(),
           HeldBackOnFace{share(), cells_of, area, flux.view(), u.view(), on_faces_.view()});
  const auto held_back = std::as_const(on_faces_).view();
  for_each(executor_, mean_.range(),
           HandedToCell{faces_of_cell_.view(space), share(), BetweenCells{cells_of, area, arms}, held_back,
                        mean_.view(), gradient_.view()});
  exchange_ghosts(domain_, mean_, gradient_);
  for_each(executor_, force.range(),
           AddHeldBackOnFace{cells_of, arms, dimension_, area, held_back, geometry_.cell_volumes(space),
                             std::as_const(mean_).view(), std::as_const(gradient_).view(), force.view()});
}

}  // namespace curlew
