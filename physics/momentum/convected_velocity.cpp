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

using FromCells = ConvectedVelocity::FromCells;

/// For the faces with a share; the others are not asked for theirs.
std::vector<FromCells> from_cells_of(const Mesh& mesh, const std::vector<Real>& share) {
  const Arms arms(mesh.geometry(), MemorySpace::Host);
  std::vector<FromCells> all(share.size());
  for (const Id<Face> f : mesh.topology().faces()) {
    if (share.empty() || share[at(f.value())] == 0) continue;
    FromCells& found = all[at(f.value())];
    const auto cells = mesh.topology().cells_of_face()[f];
    const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
    const Vector3 from_first = arms(cells[0].id, f, 1);
    if (cells.size() < 2) {
      found = {1, from_first - along(from_first, area)};
      continue;
    }
    const Vector3 from_second = arms(cells[1].id, f, -1);
    const Real ahead = -dot(from_second, area), behind = dot(from_first, area);
    const Real of_first = ahead / (ahead + behind);
    found = {of_first, of_first * from_first + (1 - of_first) * from_second};
  }
  return all;
}

/// Those that are zero where the velocity on the boundary is not free.
std::vector<Real> free_shares(const Mesh& mesh, std::span<const FaceHold> hold) {
  std::vector<Real> share = ConvectedVelocity::shares(mesh);
  for (std::size_t f = 0; f < share.size(); ++f) {
    if (hold[f] != FaceHold::Free) share[f] = 0;
  }
  return share;
}

struct ConvectedOnFace {
  View<Face, const Real> share;
  View<Face, const FromCells> from_cells;
  Incidence<Face, Cell> cells_of;
  View<Cell, const Vector3> mean;
  View<Cell, const Tensor3> gradient;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector3> convected;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 v = velocity[f];
    if (share[f] == 0) {
      convected[f] = v;
      return;
    }
    const auto cells = cells_of[f];
    const Id<Cell> first = cells[0].id, second = cells[cells.size() - 1].id;
    const auto [of_first, offset] = from_cells[f];
    const Vector3 difference = of_first * mean[first] + (1 - of_first) * mean[second] +
                               Real(0.5) * (gradient[first] * offset + gradient[second] * offset) - v;
    convected[f] = v + share[f] * (difference - along(difference, area[f]));
  }
};

/// y = theta/2 (1 - n nᵀ) W, in place of P v.
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
    const Real carried = flux[f];
    const Vector3 across = cells.size() == 2
                               ? carried * (u[cells[0].id] - u[cells[1].id])
                               : carried * u[cells[0].id] - (carried > 0 ? carried : Real(0)) * held_back[f];
    held_back[f] = (Real(0.5) * share[f]) * (across - along(across, area[f]));
  }
};

/// What mean and gradient of a cell get of -y.
struct HandedToCell {
  Incidence<Cell, Face> faces_of;
  Incidence<Face, Cell> cells_of;
  View<Face, const Real> share;
  View<Face, const FromCells> from_cells;
  View<Face, const Vector3> held_back;
  View<Cell, Vector3> of_mean;
  View<Cell, Tensor3> of_gradient;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector3 net{};
    Tensor3 moment{};
    for (const auto [f, sign] : faces_of[c]) {
      if (share[f] == 0) continue;
      const auto [of_first, offset] = from_cells[f];
      net += (sign > 0 ? of_first : 1 - of_first) * held_back[f];
      const Real weight = cells_of[f].size() == 2 ? Real(0.5) : Real(1);
      moment += outer(weight * held_back[f], offset);
    }
    of_mean[c] = Real(-1) * net;
    of_gradient[c] = Real(-1) * moment;
  }
};

/// The force gets y, and what mean and gradient hand on.
struct AddHeldBackOnFace {
  View<Face, const Vector3> held_back;
  MeanVelocityTranspose by_mean;
  VelocityGradientTranspose by_gradient;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    force[f] += held_back[f] + by_mean(f) + by_gradient(f);
  }
};

}  // namespace

std::vector<Real> ConvectedVelocity::shares(const Mesh& mesh) {
  constexpr Real like_a_cube = 1.5;  // a ratio, squared, up to which boxes count as such
  const Topology& topology = mesh.topology();
  Field<Face, Real> share(Executor::serial(), mesh.domain().extent<Face>(), "share", "1");
  Real largest = 0;
  for (const Id<Face> f : share.owned()) {  // their owner is sure to have both cells
    Real square = 0;
    for (const auto [c, sign] : topology.cells_of_face()[f])
      square = std::max(square, square_of_ratio(mesh, c, f));
    if (square <= like_a_cube) continue;
    share.view()[f] = 1 - std::sqrt((like_a_cube + 1) / (square + 1));
    largest = std::max(largest, share.view()[f]);
  }
  if (mesh.domain().communicator().maximum(largest) == 0) return {};
  exchange_ghosts(mesh.domain(), share);
  // P v of ghosts with one cell is their owner's to find.
  for (const Id<Face> f : Range<Face>(share.owned().last(), share.size())) {
    if (topology.cells_of_face()[f].size() < 2) share.view()[f] = 0;
  }
  return share.to_host();
}

ConvectedVelocity::ConvectedVelocity(const Executor& executor, const Mesh& mesh,
                                     std::span<const FaceHold> hold)
    : ConvectedVelocity(executor, mesh, free_shares(mesh, hold)) {}

ConvectedVelocity::ConvectedVelocity(const Executor& executor, const Mesh& mesh, std::vector<Real> share)
    : executor_(executor),
      domain_(mesh.domain()),
      geometry_(mesh.geometry()),
      dimension_(mesh.topology().dimension()),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      from_cells_(from_cells_of(mesh, share)),
      share_(std::move(share)),
      on_faces_(executor, is_given() ? Extent(0) : domain_.extent<Face>(), "convected velocity", "m/s"),
      mean_(executor, is_given() ? Extent(0) : domain_.extent<Cell>(), "mean velocity", "m/s"),
      gradient_(executor, mean_.extent(), "velocity gradient", "1/s") {}

View<Face, const Real> ConvectedVelocity::share() const {
  return View<Face, const Real>(share_.data(executor_.space()), on_faces_.size());
}

View<Face, const FromCells> ConvectedVelocity::from_cells() const {
  return View<Face, const FromCells>(from_cells_.data(executor_.space()), on_faces_.size());
}

const FaceVelocity& ConvectedVelocity::of(const FaceVelocity& velocity) {
  if (is_given()) return velocity;
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto volume = geometry_.cell_volumes(space);
  const Arms arms(geometry_, space);
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(
        executor_, range,
        MeanAndGradientOnCell<decltype(rows)>{{rows, dimension_, velocity.view(), area, arms.face_centroid,
                                               arms.cell_centroid, volume, mean_.view()},
                                              {rows, velocity.view(), area, volume, gradient_.view()}});
  });
  for_each(executor_, on_faces_.range(),
           ConvectedOnFace{share(), from_cells(), cells_of_face_.view(space), std::as_const(mean_).view(),
                           std::as_const(gradient_).view(), area, velocity.view(), on_faces_.view()});
  exchange_ghosts(domain_, on_faces_);
  return on_faces_;
}

void ConvectedVelocity::add_held_back(const PrimalCochain<Face>& flux, const Field<Cell, Vector3>& u,
                                      FaceVelocity& force) {
  if (is_given()) return;
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto volume = geometry_.cell_volumes(space);
  const auto cells_of = cells_of_face_.view(space);
  for_each(executor_, on_faces_.range(),
           HeldBackOnFace{share(), cells_of, area, flux.view(), u.view(), on_faces_.view()});
  const auto held_back = std::as_const(on_faces_).view();
  for_each(executor_, mean_.range(),
           HandedToCell{faces_of_cell_.view(space), cells_of, share(), from_cells(), held_back, mean_.view(),
                        gradient_.view()});
  exchange_ghosts(domain_, mean_, gradient_);
  for_each(executor_, force.range(),
           AddHeldBackOnFace{
               held_back,
               {cells_of, dimension_, Arms(geometry_, space), area, volume, std::as_const(mean_).view()},
               {cells_of, area, volume, std::as_const(gradient_).view()},
               force.view()});
}

}  // namespace curlew
