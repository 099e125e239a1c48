// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/chosen_values.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "physics/flow/averages.hpp"
#include "physics/flow/fractional_step.hpp"

namespace curlew {

namespace {

/// S (M dU/dt + G p - body force) + convection + nu K v, where the convection is.
struct ReactionOnFace {
  Real viscosity;
  View<Face, const Vector3> area;
  View<Face, const Real> circulation;
  View<Face, const Vector3> viscous_force;
  View<Face, Vector3> reaction;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    reaction[f] += circulation[f] * area[f] + viscosity * viscous_force[f];
  }
};

/// Work of the boundary on the fluid at one boundary face, less the kinetic energy that leaves: of its force
/// where it gives the velocity, of the pressure outside where it does not.
struct BoundaryPowerOfFace {
  Index first_boundary_face;
  Incidence<Face, Cell> cells_of;
  Real half;  // 0 where nothing is carried
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, reaction, velocity, convected;
  View<Face, const Real> flux;
  View<Cell, const Vector3> interpolated;
  View<BoundaryFace, const Real> outside_pressure;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Real u = flux[f];
    if (hold[f] == FaceHold::Free) {
      const Real pushed = u * outside_pressure[Id<BoundaryFace>(f.value() - first_boundary_face)];
      const Vector3 leaving = convected[f];
      return -pushed - half * (u > 0 ? u : Real(0)) * dot(leaving, leaving);
    }
    const Vector3 v = velocity[f];
    const Vector3 inside = interpolated[cells_of[f][0].id];
    Vector3 carried = u * v;
    if (hold[f] == FaceHold::All) carried += inflow_correction(u, v, inside, area[f]);
    return dot(reaction[f], v) - half * dot(carried, inside);
  }
};

/// The edge of the complex that an edge of face `f` of mesh.unfolded() has become: of a periodic mesh two may
/// have become one.
Id<Edge> joined_edge(const Mesh& mesh, Id<Face> f, Id<Edge> unfolded) {
  if (&mesh.unfolded() == &mesh) return unfolded;
  const Topology& topology = mesh.topology();
  // In the order of those of the unfolded face.
  const auto nodes = topology.nodes_of_face()[f],
             of_unfolded = mesh.unfolded().topology().nodes_of_face()[mesh.unfolded_face(f)];
  const auto joined = [&](Id<Node> n) {
    Index k = 0;
    while (of_unfolded[k].id != n) ++k;
    return nodes[k].id;
  };
  if (topology.dimension() == 2) return Id<Edge>(joined(Id<Node>(unfolded.value())).value());
  const auto ends = mesh.unfolded().topology().nodes_of_edge()[unfolded];
  const auto [low, high] = std::minmax({joined(ends[0].id), joined(ends[1].id)});
  for (const auto [e, sign] : topology.edges_of_face()[f]) {
    const auto own = topology.nodes_of_edge()[e];
    if (std::minmax({own[0].id, own[1].id}) == std::pair(low, high)) return e;
  }
  throw Error("a face has no edge between two of its nodes");
}

/// Those at single points that have one: an edge where walls meet may have none.
std::vector<std::optional<Vector3>> values_where_there_are_any(const VectorFunction& function,
                                                               std::span<const Vector3> points, Real time) {
  std::vector<Vector3> values(points.size());
  try {
    function.evaluate(points, time, values);
    return {values.begin(), values.end()};
  } catch (const InputError&) {
  }
  std::vector<std::optional<Vector3>> found(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    try {
      function.evaluate(points.subspan(k, 1), time, std::span(values).subspan(k, 1));
      found[k] = values[k];
    } catch (const InputError&) {
    }
  }
  return found;
}

/// Where the velocity is given: null elsewhere, and where it is that of a rigid body, along the normal, or
/// zero.
const VectorFunction* given_velocity(const FlowBoundary& boundary) {
  if (const Wall* wall = std::get_if<Wall>(&boundary)) return wall->rotation ? nullptr : wall->velocity.get();
  if (const Inlet* inlet = std::get_if<Inlet>(&boundary)) return inlet->velocity.get();
  return nullptr;
}

/// What the transposed gradient adds to the viscous force on the faces of walls, `with_inlets` on those of
/// inlets, too, per unit of viscosity [m2/s], one per boundary face that the rank owns: by Stokes' theorem
/// and D U = 0 the integral of -(grad u)ᵀ n over a face is that of u x dl around it. u at an edge is the mean
/// over the faces of theirs that meet there, of that which is given at the edge, or where that has no value,
/// of the face's: exact for walls that move as rigid bodies, and whatever their velocity, the forces on a
/// closed surface sum to zero. `velocity`: of all faces from the first boundary face on, at `time` [s].
std::vector<Vector3> transposed_gradient_forces(const Mesh& mesh, const FlowSettings& settings,
                                                bool with_inlets, std::span<const Vector3> velocity,
                                                std::span<const Vector3> angular_velocity, Real time) {
  const Mesh& shown = mesh.unfolded();  // whose nodes have positions
  const Topology& topology = shown.topology();
  const auto positions = shown.geometry().node_positions(MemorySpace::Host);
  const auto centroids = shown.geometry().face_centroids().host();
  const bool plane = topology.dimension() == 2;
  const auto ends = [&](Id<Edge> e) -> std::pair<Vector3, Vector3> {
    if (plane) {
      const Vector3 node = positions[Id<Node>(e.value())];
      return {node, node + Vector3{0, 0, 1}};
    }
    const auto nodes = topology.nodes_of_edge()[e];
    return {positions[nodes[0].id], positions[nodes[1].id]};
  };
  struct Meeting {
    Vector3 velocity{};  // the sum of those that meet
    Real faces = 0;
  };
  std::vector<Meeting> at_edge(at(mesh.topology().edges().size()));
  const Range<Face> own = mesh.topology().boundary_faces();
  const auto visit_faces = [&](const auto& visit) {
    for (std::size_t p = 0; p < settings.boundaries.size(); ++p) {
      const FlowBoundary& boundary = settings.boundaries[p];
      if (!std::holds_alternative<Wall>(boundary) &&
          !(with_inlets && std::holds_alternative<Inlet>(boundary)))
        continue;
      for (const Id<Face> f : mesh.topology().faces_of_patch(p)) visit(f, mesh.unfolded_face(f), p);
    }
  };
  const auto middle = [&](Id<Edge> e) {
    const auto [start, end] = ends(e);
    return plane ? start : (start + end) / 2;
  };
  // At the edges of faces, one by one, where it varies along them; none where it has no value there.
  std::vector<std::vector<std::optional<Vector3>>> given(settings.boundaries.size());
  for (std::size_t p = 0; p < given.size(); ++p) {
    const VectorFunction* function = given_velocity(settings.boundaries[p]);
    if (function == nullptr || !function->depends_on_space()) continue;
    if (!with_inlets && std::holds_alternative<Inlet>(settings.boundaries[p])) continue;
    std::vector<Vector3> points;
    for (const Id<Face> f : mesh.topology().faces_of_patch(p)) {
      for (const auto [e, sign] : topology.edges_of_face()[mesh.unfolded_face(f)])
        points.push_back(middle(e));
    }
    given[p] = values_where_there_are_any(*function, points, time);
  }
  std::vector<std::size_t> visited(given.size(), 0);
  visit_faces([&](Id<Face> f, Id<Face> shown_face, std::size_t p) {
    for (const auto [e, sign] : topology.edges_of_face()[shown_face]) {
      const Vector3 arm = middle(e) - centroids[at(shown_face.value())];
      Meeting& meeting = at_edge[at(joined_edge(mesh, f, e).value())];
      const std::optional<Vector3> at_edge_itself = given[p].empty() ? std::nullopt : given[p][visited[p]++];
      meeting.velocity +=
          at_edge_itself.value_or(velocity[at(f.value() - own.first())] + cross(angular_velocity[p], arm));
      ++meeting.faces;
    }
  });
  std::vector<Vector3> forces(at(own.size()), Vector3{});
  visit_faces([&](Id<Face> f, Id<Face> shown_face, std::size_t) {
    if (!own.contains(f)) return;
    for (const auto [e, sign] : topology.edges_of_face()[shown_face]) {
      const auto [start, end] = ends(e);
      const Meeting& meeting = at_edge[at(joined_edge(mesh, f, e).value())];
      forces[at(f.value() - own.first())] += (sign / meeting.faces) * cross(meeting.velocity, end - start);
    }
  });
  return forces;
}

}  // namespace

std::vector<Vector3> FractionalStep::velocity_at_boundary() const {
  // The faces that other ranks own come last.
  return now_.velocity.to_host({boundaries_.first_boundary_face(), now_.velocity.size()});
}

const FaceVelocity& FractionalStep::compute_reaction() const {
  FaceVelocity& reaction = next_.velocity;
  bring_pressure_up_to_date();
  circulation_.fill(0);
  momentum_.add_body_force(time_, along_mean_flow(mean_flow_force_), circulation_);
  momentum_.add_pressure_force(pressure_, circulation_);
  momentum_.add_outside_pressure(circulation_);
  linear_combination(1, rate_, -1, circulation_);
  copy(now_.convection, reaction);
  if (!condenses()) momentum_.condense(now_.flux, now_.velocity, reaction, false);
  momentum_.apply_viscous_form(now_.velocity, force_);
  for_each(executor_, force_.range(),
           ReactionOnFace{settings_.viscosity, mesh_.geometry().face_areas(executor_.space()),
                          std::as_const(circulation_).view(), std::as_const(force_).view(), reaction.view()});
  return reaction;
}

IncompressibleFlow::BoundaryForces FractionalStep::boundary_forces() const {
  const FaceVelocity& reaction_on_faces = compute_reaction();
  exchange_ghosts(mesh_.domain(), now_.flux, now_.velocity);
  interpolation_.apply(now_.flux, interpolated_);
  const Range<Face> boundary = mesh_.topology().boundary_faces();
  const std::vector<Vector3> reaction = reaction_on_faces.to_host(boundary),
                             viscous = force_.to_host(boundary), velocity = velocity_at_boundary(),
                             interpolated = values_at(interpolated_, boundaries_.cell_of_face());
  const std::vector<Real> flux = now_.flux.to_host(boundary);
  const auto areas = mesh_.geometry().face_areas().host();
  const std::vector<Vector3> transposed = transposed_gradient_forces(
      mesh_, settings_, false, velocity, boundaries_.angular_velocity(), now_.time);
  BoundaryForces forces;
  for (const Id<Face> f : boundary) {
    const std::size_t b = at(f.value() - boundary.first());
    if (boundaries_.hold_of_face()[at(f.value())] == FaceHold::Free) {
      forces.pressure.push_back({});
      forces.viscous.push_back({});
      continue;
    }
    // Through a wall that pushes fluid along, momentum U v passes; the convective form takes 1/2 U (v + u)
    // and the correction. Only with the difference do the forces on all walls sum to the change of momentum.
    Vector3 missing{};
    if (settings_.convection != ConvectionScheme::None) {
      missing = Real(0.5) * (flux[b] * (velocity[b] - interpolated[b]) -
                             inflow_correction(flux[b], velocity[b], interpolated[b], areas[at(f.value())]));
    }
    forces.pressure.push_back(settings_.viscosity * viscous[b] - reaction[b] - missing);
    forces.viscous.push_back(settings_.viscosity * (transposed[b] - viscous[b]));
  }
  return forces;
}

Real FractionalStep::energy_rate() const {
  if (!has_history()) return inner_product(rate_, now_.flux);
  const Real change = kinetic_energy_ - previous_kinetic_energy_;
  if (!(earlier_step_ > 0)) return change / last_step_;
  const Real before = previous_kinetic_energy_ - earlier_kinetic_energy_, ratio = last_step_ / earlier_step_;
  return ((1 + 2 * ratio) * change - ratio * ratio * before) / ((1 + ratio) * last_step_);
}

Real FractionalStep::power_of_transposed_gradient() const {
  const auto moves = [](const FlowBoundary& boundary) {
    const Wall* wall = std::get_if<Wall>(&boundary);
    return std::holds_alternative<Inlet>(boundary) || (wall != nullptr && (wall->rotation || wall->velocity));
  };
  if (std::ranges::none_of(settings_.boundaries, moves)) return 0;
  const std::vector<Vector3> velocity = velocity_at_boundary();
  std::vector<Real> power;
  for (const Vector3 force : transposed_gradient_forces(mesh_, settings_, true, velocity,
                                                        boundaries_.angular_velocity(), now_.time))
    power.push_back(dot(force, velocity[power.size()]));
  return settings_.viscosity * sum_of_terms(mesh_.domain().communicator(), power);
}

IncompressibleFlow::EnergyBudget FractionalStep::energy_budget() const {
  const FaceVelocity& reaction = compute_reaction();
  EnergyBudget budget;
  budget.kinetic_energy = kinetic_energy_;
  budget.rate = energy_rate();
  exchange_ghosts(mesh_.domain(), now_.flux, now_.velocity);
  // The viscous form is that of all velocity gradients, of which a rotation has some, too.
  const Real of_rotation = power_of_transposed_gradient();
  budget.dissipation = settings_.viscosity * inner_product(force_, now_.velocity) - of_rotation;
  interpolation_.apply(now_.flux, interpolated_);
  budget.boundary_power =
      sum(executor_, mesh_.topology().boundary_faces(),
          BoundaryPowerOfFace{
              boundaries_.first_boundary_face(), mesh_.topology().cells_of_face().view(executor_.space()),
              settings_.convection == ConvectionScheme::None ? Real(0) : Real(0.5), boundaries_.hold().view(),
              mesh_.geometry().face_areas(executor_.space()), reaction.view(), now_.velocity.view(),
              momentum_.convected(now_.velocity).view(), now_.flux.view(),
              std::as_const(interpolated_).view(), boundaries_.outside_pressure().view()});
  budget.boundary_power -= of_rotation;
  circulation_.fill(0);
  momentum_.add_body_force(time_, along_mean_flow(mean_flow_force_), circulation_);
  budget.body_power = inner_product(circulation_, now_.flux);
  return budget;
}

}  // namespace curlew
