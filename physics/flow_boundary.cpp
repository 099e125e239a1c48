// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow_boundary.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/fill.hpp"
#include "physics/averages.hpp"

namespace curlew {

namespace {

template <class... Alternatives>
struct Overloaded : Alternatives... {
  using Alternatives::operator()...;
};
template <class... Alternatives>
Overloaded(Alternatives...) -> Overloaded<Alternatives...>;

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
      hold_of_face_(at(mesh.topology().faces().size()), FaceHold::Free),
      angular_velocity_(at(mesh.topology().boundary_faces().size())),
      hold_(executor, mesh.topology().faces().size(), "hold", "1"),
      flux_(executor, mesh.topology().boundary_faces().size(), "boundary flux", "m3/s"),
      velocity_(executor, flux_.size(), "boundary velocity", "m/s"),
      outside_pressure_(executor, flux_.size(), "outside pressure", "m2/s2") {
  const std::vector<Patch>& patches = mesh.topology().patches();
  REQUIRE(boundaries_.size() == patches.size(), "a flow needs one boundary condition per patch of the mesh");
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const FaceHold hold = std::holds_alternative<Outlet>(boundaries_[p])     ? FaceHold::Free
                          : std::holds_alternative<Symmetry>(boundaries_[p]) ? FaceHold::Normal
                                                                             : FaceHold::All;
    for (const Id<Face> f : patches[p].faces) hold_of_face_[at(f.value())] = hold;
  }
  hold_.copy_from_host(hold_of_face_);
  find_closed_parts();
}

void FlowBoundaries::find_closed_parts() {
  const Topology& topology = mesh_.topology();
  constexpr Index unvisited = -2;
  closed_part_of_cell_.assign(at(topology.cells().size()), unvisited);
  std::vector<Id<Cell>> queue;
  for (const Id<Cell> root : topology.cells()) {
    if (closed_part_of_cell_[at(root.value())] != unvisited) continue;
    bool open = false;
    queue.assign(1, root);
    closed_part_of_cell_[at(root.value())] = closed_parts_;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const auto [f, sign] : topology.faces_of_cell()[queue[next]]) {
        open = open || (f.value() >= first_ && hold_of_face_[at(f.value())] == FaceHold::Free);
        for (const auto [c, side] : topology.cells_of_face()[f]) {
          Index& part = closed_part_of_cell_[at(c.value())];
          if (part != unvisited) continue;
          part = closed_parts_;
          queue.push_back(c);
        }
      }
    }
    if (open) {
      for (const Id<Cell> c : queue) closed_part_of_cell_[at(c.value())] = -1;
    } else {
      ++closed_parts_;
    }
  }
}

Index FlowBoundaries::closed_part_of(std::size_t boundary_face) const {
  const Id<Face> f(first_ + static_cast<Index>(boundary_face));
  return closed_part_of_cell_[at(mesh_.topology().cells_of_face()[f][0].id.value())];
}

void FlowBoundaries::balance_closed_parts(std::vector<Real>& flux, std::vector<Vector3>& velocity) const {
  std::vector<Real> net(at(closed_parts_), 0), total(at(closed_parts_), 0), passing(at(closed_parts_), 0);
  for (std::size_t b = 0; b < flux.size(); ++b) {
    const Index part = closed_part_of(b);
    if (part < 0) continue;
    net[at(part)] += flux[b];
    total[at(part)] += std::abs(flux[b]);
    passing[at(part)] += norm(velocity[b]) * norm(mesh_.geometry().face_areas()[b + at(first_)]);
  }
  for (std::size_t part = 0; part < net.size(); ++part) {
    // What flows past a wall that moves along itself leaves round-off.
    if (std::abs(net[part]) <= 1e-4 * total[part] + 1e-12 * passing[part]) continue;
    throw InputError(fmt::format(
        "{:.6g} m3/s {} a closed part of the domain through its boundary (the sum of all flow in and out is "
        "{:.6g} m3/s): make inflow and outflow equal, or give one patch the type \"outlet\"",
        std::abs(net[part]), net[part] < 0 ? "enter" : "leave", total[part]));
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

void FlowBoundaries::update(Real time) {
  bool changes = !fresh_;
  for (const FlowBoundary& boundary : boundaries_) changes = changes || depends_on_time(boundary);
  if (!changes) return;

  const std::size_t count = at(flux_.size());
  std::vector<Real> flux(count, 0), pressure(count, 0);
  std::vector<Vector3> velocity(count);
  const auto areas = mesh_.geometry().face_areas().host();
  for (std::size_t p = 0; p < boundaries_.size(); ++p) {
    const Range<Face> faces = mesh_.topology().patches()[p].faces;
    const std::size_t offset = at(faces.first() - first_);
    const auto give = [&](const VectorFunction& function) {
      const FaceAverages averages = average_on_faces(mesh_, faces, function, time);
      for (std::size_t k = 0; k < averages.flux.size(); ++k) {
        // The normal part of the mean is that of the flux, on curved faces too.
        const Vector3 area = areas[at(faces.first()) + k];
        flux[offset + k] = averages.flux[k];
        velocity[offset + k] =
            averages.mean[k] + ((averages.flux[k] - dot(averages.mean[k], area)) / dot(area, area)) * area;
      }
    };
    std::visit(Overloaded{[&](const Wall& wall) {
                            if (wall.rotation) {
                              give(RotationVelocity(*wall.rotation));
                              const Vector3 omega = wall.rotation->angular_velocity(time);
                              for (std::size_t k = 0; k < at(faces.size()); ++k)
                                angular_velocity_[offset + k] = omega;
                            } else if (wall.velocity) {
                              give(*wall.velocity);
                            }
                          },
                          [&](const Inlet& inlet) {
                            if (inlet.velocity) {
                              give(*inlet.velocity);
                              return;
                            }
                            Real total_area = 0, rate = 0;
                            for (const Id<Face> f : faces) total_area += norm(areas[at(f.value())]);
                            const Vector3 anywhere = mesh_.geometry().face_centroids()[at(faces.first())];
                            inlet.flow_rate->evaluate(std::span(&anywhere, 1), time, std::span(&rate, 1));
                            for (std::size_t k = 0; k < at(faces.size()); ++k) {
                              const Vector3 area = areas[at(faces.first()) + k];
                              flux[offset + k] = -rate * norm(area) / total_area;
                              velocity[offset + k] = (flux[offset + k] / dot(area, area)) * area;
                            }
                          },
                          [&](const Outlet& outlet) {
                            if (!outlet.pressure) return;
                            const auto centroids = mesh_.geometry().face_centroids().host();
                            outlet.pressure->evaluate(centroids.subspan(at(faces.first()), at(faces.size())),
                                                      time,
                                                      std::span(pressure).subspan(offset, at(faces.size())));
                            for (std::size_t k = 0; k < at(faces.size()); ++k)
                              pressure[offset + k] /= density_;
                          },
                          [](const Symmetry&) {}},
               boundaries_[p]);
  }
  balance_closed_parts(flux, velocity);
  given_flux_ = std::move(flux);
  given_velocity_ = std::move(velocity);
  outside_pressure_.copy_from_host(pressure);
  fresh_ = true;
  send();
}

void FlowBoundaries::set_quantum(Real quantum) {
  if (quantum == quantum_) return;
  quantum_ = quantum;
  if (fresh_) send();
}

/// Rounds what is given and sends it to the executor.
void FlowBoundaries::send() {
  std::vector<Real> flux = given_flux_;
  if (quantum_ > 0) {
    std::vector<Real> net(at(closed_parts_), 0);
    std::vector<std::size_t> largest(at(closed_parts_), flux.size());
    for (std::size_t b = 0; b < flux.size(); ++b) {
      flux[b] = quantum_ * std::rint(flux[b] / quantum_);
      const Index part = closed_part_of(b);
      if (part < 0) continue;
      net[at(part)] += flux[b];
      std::size_t& l = largest[at(part)];
      if (l == flux.size() || std::abs(flux[b]) > std::abs(flux[l])) l = b;
    }
    for (std::size_t part = 0; part < net.size(); ++part) {
      if (net[part] != 0) flux[largest[part]] -= net[part];
    }
  }
  flux_.copy_from_host(flux);
  velocity_.copy_from_host(given_velocity_);
}

void FlowBoundaries::impose(PrimalCochain<Face>& flux, Field<Face, Vector3>& velocity) const {
  for_each(executor_, flux_.range(),
           ImposeOnBoundaryFace{first_, hold_.view(), mesh_.geometry().face_areas(executor_.space()),
                                flux_.view(), velocity_.view(), flux.view(), velocity.view()});
}

}  // namespace curlew
