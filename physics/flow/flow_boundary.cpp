// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_boundary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/fill.hpp"
#include "kernels/reduction.hpp"
#include "mesh/parallel/lowest_labels.hpp"
#include "physics/flow/averages.hpp"
#include "physics/overloaded.hpp"

namespace curlew {

namespace {

struct ImposeOnBoundaryFace {
  Index first;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<BoundaryFace, const Real> given_flux;
  View<BoundaryFace, const Vector3> given_velocity;
  View<Face, Real> flux;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<BoundaryFace> b) const {
    const Id<Face> f(first + b.value());
    if (hold[f] == FaceHold::All) {
      flux[f] = given_flux[b];
      velocity[f] = given_velocity[b];
    } else if (hold[f] == FaceHold::Normal) {
      flux[f] = 0;
      velocity[f] -= (dot(velocity[f], area[f]) / dot(area[f], area[f])) * area[f];
    }
  }
};

std::vector<Index> cells_at_boundary(const Topology& topology) {
  std::vector<Index> cells;
  for (const Id<Face> f : topology.boundary_faces())
    cells.push_back(topology.cells_of_face()[f][0].id.value());
  return cells;
}

bool depends_on_time(const FlowBoundary& boundary) {
  const auto changes = [](const auto& function) {
    return function != nullptr && function->depends_on_time();
  };
  return std::visit(
      Overloaded{[&](const Wall& wall) {
                   return wall.rotation ? wall.rotation->rate->depends_on_time() : changes(wall.velocity);
                 },
                 [&](const Inlet& inlet) { return changes(inlet.velocity) || changes(inlet.flow_rate); },
                 [&](const Outlet& outlet) { return changes(outlet.pressure); },
                 [](const Symmetry&) { return false; }},
      boundary);
}

}  // namespace

FlowBoundaries::FlowBoundaries(const Executor& executor, const Mesh& mesh, const FlowSettings& settings)
    : executor_(executor),
      mesh_(mesh),
      boundaries_(settings.boundaries),
      density_(settings.density),
      first_(mesh.topology().interior_faces().last()),
      cell_of_face_(cells_at_boundary(mesh.topology())),
      hold_of_face_(at(mesh.topology().faces().size()), FaceHold::Free),
      angular_velocity_(mesh.topology().patches().size()),
      hold_(executor, mesh.domain().extent<Face>(), "hold", "1"),
      flux_(executor, mesh.topology().boundary_faces().size(), "boundary flux", "m3/s"),
      velocity_(executor, flux_.size(), "boundary velocity", "m/s"),
      outside_pressure_(executor, flux_.size(), "outside pressure", "m2/s2") {
  const std::size_t count = at(flux_.size());
  given_ = {std::vector<Real>(count), std::vector<Vector3>(count), std::vector<Real>(count)};
  const std::vector<Patch>& patches = mesh.topology().patches();
  REQUIRE(boundaries_.size() == patches.size(), "a flow needs one boundary condition per patch of the mesh");
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const FaceHold hold = std::holds_alternative<Outlet>(boundaries_[p])     ? FaceHold::Free
                          : std::holds_alternative<Symmetry>(boundaries_[p]) ? FaceHold::Normal
                                                                             : FaceHold::All;
    for (const Id<Face> f : mesh.topology().faces_of_patch(p)) hold_of_face_[at(f.value())] = hold;
  }
  hold_.copy_from_host(hold_of_face_);
  find_closed_parts();
}

void FlowBoundaries::find_closed_parts() {
  const Topology& topology = mesh_.topology();
  std::vector<std::uint8_t> is_open(at(topology.cells().size()), 0);
  for (const Id<Face> f : topology.boundary_faces()) {
    if (hold_of_face_[at(f.value())] == FaceHold::Free)
      is_open[at(topology.cells_of_face()[f][0].id.value())] = 1;
  }
  NumberedSets closed =
      number_closed_sets<Cell>(mesh_.domain(), connected_by(topology.cells_of_face(), topology.cells()),
                               [&](Id<Cell> c) { return is_open[at(c.value())] != 0; });
  closed_parts_ = closed.count;
  closed_part_of_cell_ = std::move(closed.number);
}

Index FlowBoundaries::closed_part_of(std::size_t boundary_face) const {
  return closed_part_of_cell_[at(cell_of_face_[boundary_face])];
}

std::vector<Real> FlowBoundaries::of_closed_part(Index part, const std::vector<Real>& values) const {
  std::vector<Real> chosen;
  for (std::size_t b = 0; b < values.size(); ++b) {
    if (closed_part_of(b) == part) chosen.push_back(values[b]);
  }
  return chosen;
}

void FlowBoundaries::balance_closed_parts(Given& given, Real time) const {
  auto& [flux, velocity, pressure] = given;
  const char* unit = mesh_.topology().dimension() == 2 ? "m2/s" : "m3/s";
  std::vector<Real> net, total, magnitude, speed;
  for (std::size_t b = 0; b < flux.size(); ++b) {
    magnitude.push_back(std::abs(flux[b]));
    speed.push_back(norm(velocity[b]) * norm(mesh_.geometry().face_areas()[b + at(first_)]));
  }
  for (Index part = 0; part < closed_parts_; ++part) {
    const Real left = sum_of_terms(mesh_.domain().communicator(), of_closed_part(part, flux));
    const Real all = sum_of_terms(mesh_.domain().communicator(), of_closed_part(part, magnitude));
    const Real passing = sum_of_terms(mesh_.domain().communicator(), of_closed_part(part, speed));
    net.push_back(left);
    total.push_back(all);
    // What flows past a wall that moves along itself leaves round-off.
    if (std::abs(left) <= 1e-4 * all + 1e-12 * passing) continue;
    std::string patch;
    Real most = -1;
    for (const Patch& candidate : mesh_.topology().patches()) {
      std::vector<Real> through;
      for (const Id<Face> f : candidate.faces) {
        const std::size_t b = at(f.value() - first_);
        if (closed_part_of(b) == part) through.push_back(flux[b]);
      }
      const Real passes = std::abs(sum_of_terms(mesh_.domain().communicator(), through));
      if (passes > most) patch = candidate.name;
      most = std::max(most, passes);
    }
    throw NetFlowError(
        fmt::format("{:.6g} {} {} a closed part of the domain through its boundary{}, most through the patch "
                    "\"{}\" (the sum of all flow in and out is {:.6g} {}): make inflow and outflow equal, or "
                    "give one patch the type \"outlet\"",
                    std::abs(left), unit, left < 0 ? "enter" : "leave",
                    depend_on_time() ? fmt::format(" at t = {:.6g} s", time) : "", patch, all, unit),
        patch);
  }
  for (std::size_t b = 0; b < flux.size(); ++b) {
    const Index part = closed_part_of(b);
    if (part < 0 || net[at(part)] == 0) continue;
    const Real change = -net[at(part)] * std::abs(flux[b]) / total[at(part)];
    const Vector3 area = mesh_.geometry().face_areas()[b + at(first_)];
    flux[b] += change;
    velocity[b] += (change / dot(area, area)) * area;
  }
}

/// Evaluates what a patch gives at `time`.
void FlowBoundaries::evaluate(std::size_t patch, Real time, Given& given) const {
  const Range<Face> faces = mesh_.topology().patches()[patch].faces;
  const std::size_t offset = at(faces.first() - first_), count = at(faces.size());
  const auto areas = mesh_.geometry().face_areas().host().subspan(at(faces.first()), count);
  const std::span flux = std::span(given.flux).subspan(offset, count);
  const std::span velocity = std::span(given.velocity).subspan(offset, count);
  const auto give = [&](const VectorFunction& function) {
    const FaceAverages averages = average_on_faces(mesh_, faces, function, time);
    for (std::size_t k = 0; k < count; ++k) {
      // The normal part of the mean is that of the flux, on curved faces too.
      const Vector3 mean = averages.mean[k];
      flux[k] = averages.flux[k];
      velocity[k] = mean + ((flux[k] - dot(mean, areas[k])) / dot(areas[k], areas[k])) * areas[k];
    }
  };
  std::visit(Overloaded{[&](const Wall& wall) {
                          if (wall.rotation) {
                            give(RotationVelocity(*wall.rotation));
                          } else if (wall.velocity) {
                            give(*wall.velocity);
                          }
                        },
                        [&](const Inlet& inlet) {
                          if (inlet.velocity) {
                            give(*inlet.velocity);
                            return;
                          }
                          std::vector<Real> own_areas;
                          for (const Vector3 area : areas) own_areas.push_back(norm(area));
                          const Real total_area = sum_of_terms(mesh_.domain().communicator(), own_areas);
                          Real rate = 0;
                          const Vector3 anywhere{};
                          inlet.flow_rate->evaluate(std::span(&anywhere, 1), time, std::span(&rate, 1));
                          if (rate < 0) {
                            inlet.flow_rate->refuse(fmt::format(
                                "the flow_rate of patch '{}' is {} at t = {:.6g}; it must not be negative: "
                                "an inlet takes fluid in, an outlet lets it out",
                                mesh_.topology().patches()[patch].name, rate, time));
                          }
                          for (std::size_t k = 0; k < count; ++k) {
                            flux[k] = -rate * own_areas[k] / total_area;
                            velocity[k] = (flux[k] / dot(areas[k], areas[k])) * areas[k];
                          }
                        },
                        [&](const Outlet& outlet) {
                          if (!outlet.pressure) return;
                          const std::span pressure = std::span(given.pressure).subspan(offset, count);
                          outlet.pressure->evaluate(
                              mesh_.geometry().face_centroids().host().subspan(at(faces.first()), count),
                              time, pressure);
                          for (Real& value : pressure) value /= density_;
                        },
                        [](const Symmetry&) {}},
             boundaries_[patch]);
}

bool FlowBoundaries::depend_on_time() const {
  return std::ranges::any_of(boundaries_, depends_on_time);
}

bool FlowBoundaries::evaluate(Real time) {
  bool evaluated = false;
  for (std::size_t p = 0; p < boundaries_.size(); ++p) {
    if (fresh_ && !depends_on_time(boundaries_[p])) continue;
    evaluate(p, time, given_);
    const auto* const wall = std::get_if<Wall>(&boundaries_[p]);
    if (wall != nullptr && wall->rotation) angular_velocity_[p] = wall->rotation->angular_velocity(time);
    evaluated = true;
  }
  return evaluated;
}

Real FlowBoundaries::courant_rate_at(Real time) const {
  Given given = given_;
  const auto volumes = mesh_.geometry().cell_volumes().host();
  Real rate = 0;
  for (std::size_t p = 0; p < boundaries_.size(); ++p) {
    if (!depends_on_time(boundaries_[p])) continue;
    evaluate(p, time, given);
    for (const Id<Face> f : mesh_.topology().patches()[p].faces) {
      const std::size_t b = at(f.value() - first_);
      rate = std::max(rate, std::abs(given.flux[b]) / volumes[at(cell_of_face_[b])]);
    }
  }
  return mesh_.domain().communicator().maximum(rate);
}

void FlowBoundaries::update(Real time) {
  if (time_ == time) return;
  time_.reset();  // should an expression have no value
  if (evaluate(time)) take_effect(time);
  time_ = time;
}

void FlowBoundaries::update_to_mean(Real time, Real other_time) {
  time_.reset();
  if (!evaluate(time)) return;
  const Given first = given_;
  evaluate(other_time);
  for (std::size_t b = 0; b < first.flux.size(); ++b) {
    given_.flux[b] = (first.flux[b] + given_.flux[b]) / 2;
    given_.velocity[b] = (first.velocity[b] + given_.velocity[b]) / 2;
    given_.pressure[b] = (first.pressure[b] + given_.pressure[b]) / 2;
  }
  take_effect(other_time);
}

void FlowBoundaries::take_effect(Real time) {
  balanced_ = given_;
  balance_closed_parts(balanced_, time);
  outside_pressure_.copy_from_host(balanced_.pressure);
  fresh_ = true;
  send();
}

/// Where this rank has it, the boundary face of a closed part with the largest flux; of several the first.
std::optional<std::size_t> FlowBoundaries::largest_in_closed_part(Index part,
                                                                  const std::vector<Real>& flux) const {
  const Halo<Face>& halo = mesh_.domain().halo<Face>();
  const Communicator& ranks = mesh_.domain().communicator();
  const auto global = [&](std::size_t b) { return halo.global(Id<Face>(first_ + static_cast<Index>(b))); };
  Real largest = 0;
  for (const Real value : of_closed_part(part, flux)) largest = std::max(largest, std::abs(value));
  largest = ranks.maximum(largest);
  std::optional<std::size_t> first;
  for (std::size_t b = 0; b < flux.size(); ++b) {
    if (closed_part_of(b) != part || std::abs(flux[b]) != largest) continue;
    if (!first || global(b) < global(*first)) first = b;
  }
  const Real lead = first ? static_cast<Real>(halo.total() - global(*first)) : Real(0);
  return ranks.maximum(lead) == lead && first ? first : std::nullopt;
}

void FlowBoundaries::set_quantum(Real quantum) {
  if (quantum == quantum_) return;
  quantum_ = quantum;
  if (fresh_) send();
}

/// Rounds what is given and sends it to the executor.
void FlowBoundaries::send() {
  std::vector<Real> flux = balanced_.flux;
  if (quantum_ > 0) {
    for (Real& value : flux) value = quantum_ * std::rint(value / quantum_);
    for (Index part = 0; part < closed_parts_; ++part) {
      // Exact, as all terms are multiples of one power of two.
      const Real net = sum_of_terms(mesh_.domain().communicator(), of_closed_part(part, flux));
      if (net == 0) continue;
      const std::optional<std::size_t> largest = largest_in_closed_part(part, flux);
      if (largest) flux[*largest] -= net;
    }
  }
  flux_.copy_from_host(flux);
  velocity_.copy_from_host(balanced_.velocity);
}

void FlowBoundaries::impose(PrimalCochain<Face>& flux, Field<Face, Vector3>& velocity) const {
  for_each(executor_, flux_.range(),
           ImposeOnBoundaryFace{first_, hold_.view(), mesh_.geometry().face_areas(executor_.space()),
                                flux_.view(), velocity_.view(), flux.view(), velocity.view()});
}

}  // namespace curlew
