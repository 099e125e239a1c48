// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_fields.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/chosen_values.hpp"
#include "kernels/for_each.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/parallel/gather.hpp"
#include "mesh/parallel/gathered_topology.hpp"
#include "operators/cell_velocity.hpp"

namespace curlew {

namespace {

struct VorticityOnCell {
  View<Cell, const Tensor3> gradient;
  View<Cell, Vector3> vorticity;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Tensor3 g = gradient[c];
    vorticity[c] = {g.z.y - g.y.z, g.x.z - g.z.x, g.y.x - g.x.y};
  }
};

/// |Omega|² - |S|² = -g_ij g_ji.
struct QCriterionOnCell {
  View<Cell, const Tensor3> gradient;
  View<Cell, Real> q;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Tensor3 g = gradient[c];
    q[c] = -(g.x.x * g.x.x + g.y.y * g.y.y + g.z.z * g.z.z) / 2 -
           (g.x.y * g.y.x + g.x.z * g.z.x + g.y.z * g.z.y);
  }
};

template <class Rows>
struct DivergenceOnCell {
  Rows faces_of;
  View<Face, const Real> flux;
  View<Cell, const Real> volume;
  View<Cell, Real> divergence;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Real sum = 0;
    for (const auto [f, sign] : faces_of[c]) sum += sign * flux[f];
    divergence[c] = sum / volume[c];
  }
};

template <class F>
void require_one_per_face(const Mesh& mesh, const F& field) {
  REQUIRE(field.size() == mesh.topology().faces().size(),
          fmt::format("field '{}' has {} values, the mesh has {} faces", field.name(), field.size(),
                      mesh.topology().faces().size()));
}

template <class T, class F>
Field<Cell, T> make_cell_field(const Mesh& mesh, const F& source, const char* name, const char* unit) {
  require_one_per_face(mesh, source);
  exchange_ghosts(mesh.domain(), source);
  return Field<Cell, T>(source.executor(), mesh.domain().extent<Cell>(), name, unit);
}

/// Cells around one that share a node with it, and how far their centroids are from its own, ring by ring.
class Rings {
 public:
  struct Member {
    Id<Cell> cell;
    Vector3 offset;  // [m]
  };

  Rings(const Mesh& mesh, Id<Cell> centre)
      : mesh_(mesh), arm_(mesh.geometry(), MemorySpace::Host), members_{{centre, {}}} {}

  /// Adds those of the cells across the faces of the last ring and gives them back.
  std::span<const Member> grow() {
    const std::size_t end = members_.size();
    for (std::size_t k = last_ring_; k < end; ++k) {
      const auto [own, offset] = members_[k];
      for (const auto [f, sign] : mesh_.topology().faces_of_cell()[own]) {
        for (const auto [other, other_sign] : mesh_.topology().cells_of_face()[f]) {
          if (other_sign == sign || !touches(other)) continue;
          const Vector3 step = arm_(own, f, sign) - arm_(other, f, other_sign);
          if (!holds(other, offset + step, norm(step))) members_.push_back({other, offset + step});
        }
      }
    }
    last_ring_ = end;
    return {members_.begin() + static_cast<std::ptrdiff_t>(end), members_.end()};
  }

 private:
  /// Whether the cell is there, at this place but for rounding: across periodic patches a cell is at several.
  bool holds(Id<Cell> c, Vector3 offset, Real size) const {
    constexpr Real rounding = 1e-6;
    return std::ranges::any_of(members_, [&](const Member& member) {
      return member.cell == c && norm(member.offset - offset) <= rounding * size;
    });
  }

  /// A rank has all cells that share a node with one of its own, with their faces, but none further away.
  bool touches(Id<Cell> c) const {
    const auto& nodes_of = mesh_.topology().nodes_of_cell();
    for (const auto [n, sign] : nodes_of[members_[0].cell]) {
      for (const auto [other, other_sign] : nodes_of[c]) {
        if (n == other) return true;
      }
    }
    return false;
  }

  const Mesh& mesh_;
  Arms arm_;
  std::vector<Member> members_;
  std::size_t last_ring_ = 0;  // where it starts
};

/// The cells that the gradient of a cell is made of, and how.
struct LeastSquares {
  std::vector<Index> cells;           // the cell itself first
  std::vector<Eigen::Vector3d> arms;  // to each of the others [m]
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver;

  static Real weight(const Eigen::Vector3d& arm) { return 1 / arm.squaredNorm(); }

  LeastSquares(const Mesh& mesh, Id<Cell> c) : cells{c.value()} {
    constexpr int most_rings = 3;
    constexpr Real well_spanned = 1e-2;  // an eigenvalue relative to the largest
    Rings rings(mesh, c);
    Eigen::Matrix3d matrix = Eigen::Matrix3d::Zero();
    for (int ring = 0; ring < most_rings; ++ring) {
      for (const auto& [other, offset] : rings.grow()) {
        const Eigen::Vector3d arm(offset.x, offset.y, offset.z);
        matrix += weight(arm) * arm * arm.transpose();
        cells.push_back(other.value());
        arms.push_back(arm);
      }
      solver.compute(matrix);
      // Ascending; in two dimensions the first is zero.
      if (solver.eigenvalues()(3 - mesh.topology().dimension()) > well_spanned * solver.eigenvalues()(2))
        break;
    }
  }

  /// `values`: one per entry of cells.
  Vector3 gradient(std::span<const Real> values) const {
    constexpr Real unknown = 1e-12;  // an eigenvalue relative to the largest
    Eigen::Vector3d rhs = Eigen::Vector3d::Zero(), gradient = Eigen::Vector3d::Zero();
    for (std::size_t k = 0; k < arms.size(); ++k)
      rhs += (weight(arms[k]) * (values[k + 1] - values[0])) * arms[k];
    for (int k = 0; k < 3; ++k) {
      const Real eigenvalue = solver.eigenvalues()(k);
      const Eigen::Vector3d direction = solver.eigenvectors().col(k);
      if (eigenvalue > unknown * solver.eigenvalues()(2))
        gradient += (direction.dot(rhs) / eigenvalue) * direction;
    }
    return {gradient.x(), gradient.y(), gradient.z()};
  }
};

/// Nodes by y, then x.
std::vector<Index> nodes_from_below(std::span<const Vector3> position) {
  std::vector<Index> order(position.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](Index n) { return std::pair(position[at(n)].y, position[at(n)].x); });
  return order;
}

/// Throws InputError for a connected part of the boundary without any of `outer_nodes` that lets fluid
/// through on balance. In two dimensions edges are nodes.
void require_silent_holes(const Topology& topology, std::span<const Real> flux, Real past,
                          const std::vector<bool>& outer_nodes) {
  const Range<Face> boundary = topology.boundary_faces();
  Real largest = 0;
  for (const Real through : flux) largest = std::max(largest, std::abs(through));
  std::vector<bool> seen(at(boundary.size()));
  const auto seen_on = [&](Id<Face> f) { return seen[at(f.value() - boundary.first())]; };
  for (const Id<Face> seed : boundary) {
    if (seen_on(seed)) continue;
    seen_on(seed) = true;
    std::vector<Id<Face>> loop{seed};
    bool outer = false;
    Real outflow = 0, throughput = largest;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      outflow -= flux[at(loop[k].value())];  // out of the hole is into the domain
      throughput += std::abs(flux[at(loop[k].value())]);
      for (const auto [e, sign] : topology.edges_of_face()[loop[k]]) {
        outer = outer || outer_nodes[at(e.value())];
        for (const auto [next, other_sign] : topology.faces_of_edge()[e]) {
          if (!boundary.contains(next) || seen_on(next)) continue;
          seen_on(next) = true;
          loop.push_back(next);
        }
      }
    }
    constexpr Real tolerance = 1e-6;  // well above the divergence that solvers leave
    const Real round_off = 1e-12 * static_cast<Real>(loop.size()) * past;
    if (outer || std::abs(outflow) <= tolerance * throughput + round_off) continue;
    std::string names;
    for (const Patch& patch : topology.patches()) {
      if (std::ranges::any_of(loop, [&](Id<Face> f) { return patch.faces.contains(f); }))
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", patch.name);
    }
    throw InputError(
        fmt::format("the field 'streamfunction' has no single value where fluid comes out of a hole in the "
                    "domain: {} m2/s come out of the one bounded by {}; leave the field out",
                    outflow, names));
  }
}

/// Of a mesh without periodic faces. In two dimensions edge k is node k, and U = C psi.
std::vector<Real> streamfunction(const Topology& topology, std::span<const Vector3> position,
                                 std::span<const Real> flux, Real past) {
  std::vector<Real> psi(at(topology.nodes().size()));
  std::vector<bool> reached(psi.size()), lowest(psi.size());
  std::vector<Id<Edge>> queue;
  for (const Index start : nodes_from_below(position)) {
    if (reached[at(start)]) continue;
    reached[at(start)] = lowest[at(start)] = true;
    queue.assign(1, Id<Edge>(start));
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const Id<Edge> here = queue[k];
      for (const auto [f, sign] : topology.faces_of_edge()[here]) {
        for (const auto [there, other_sign] : topology.edges_of_face()[f]) {
          if (reached[at(there.value())]) continue;
          reached[at(there.value())] = true;
          psi[at(there.value())] = other_sign * (flux[at(f.value())] - sign * psi[at(here.value())]);
          queue.push_back(there);
        }
      }
    }
  }
  require_silent_holes(topology, flux, past, lowest);
  return psi;
}

}  // namespace

Field<Cell, Vector3> mean_velocity(const Mesh& mesh, const Field<Face, Vector3>& face_velocity) {
  auto mean = make_cell_field<Vector3>(mesh, face_velocity, "velocity", "m/s");
  const Executor& executor = face_velocity.executor();
  const MemorySpace space = executor.space();
  mesh.topology().faces_of_cell().visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(executor, range,
             MeanVelocityOnCell<decltype(rows)>{
                 rows, static_cast<Real>(mesh.topology().dimension()), face_velocity.view(),
                 mesh.geometry().face_areas(space), mesh.geometry().face_centroids_of_cells(space),
                 mesh.geometry().cell_centroids(space), mesh.geometry().cell_volumes(space), mean.view()});
  });
  return mean;
}

Field<Cell, Tensor3> velocity_gradient(const Mesh& mesh, const Field<Face, Vector3>& face_velocity) {
  auto gradient = make_cell_field<Tensor3>(mesh, face_velocity, "velocity gradient", "1/s");
  const Executor& executor = face_velocity.executor();
  const MemorySpace space = executor.space();
  mesh.topology().faces_of_cell().visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(
        executor, range,
        VelocityGradientOnCell<decltype(rows)>{rows, face_velocity.view(), mesh.geometry().face_areas(space),
                                               mesh.geometry().cell_volumes(space), gradient.view()});
  });
  return gradient;
}

Field<Cell, Vector3> vorticity(const Field<Cell, Tensor3>& velocity_gradient) {
  Field<Cell, Vector3> result(velocity_gradient.executor(), velocity_gradient.extent(), "vorticity", "1/s");
  for_each(result.executor(), result.range(), VorticityOnCell{velocity_gradient.view(), result.view()});
  return result;
}

Field<Cell, Real> q_criterion(const Field<Cell, Tensor3>& velocity_gradient) {
  Field<Cell, Real> result(velocity_gradient.executor(), velocity_gradient.extent(), "q_criterion", "1/s2");
  for_each(result.executor(), result.range(), QCriterionOnCell{velocity_gradient.view(), result.view()});
  return result;
}

Field<Cell, Real> divergence(const Mesh& mesh, const PrimalCochain<Face>& flux) {
  auto result = make_cell_field<Real>(mesh, flux, "divergence", "1/s");
  const Executor& executor = flux.executor();
  const MemorySpace space = executor.space();
  mesh.topology().faces_of_cell().visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(executor, range,
             DivergenceOnCell<decltype(rows)>{rows, flux.view(), mesh.geometry().cell_volumes(space),
                                              result.view()});
  });
  return result;
}

std::vector<Vector3> least_squares_gradient(const Mesh& mesh, const DualCochain<Cell>& values,
                                            std::span<const Index> cells) {
  REQUIRE(values.size() == mesh.topology().cells().size(),
          fmt::format("the mesh has {} cells, got {} values to take the gradient of",
                      mesh.topology().cells().size(), values.size()));
  std::vector<LeastSquares> of_cells;
  std::vector<Index> needed;
  for (const Index c : cells) {
    const LeastSquares& last = of_cells.emplace_back(mesh, Id<Cell>(c));
    needed.insert(needed.end(), last.cells.begin(), last.cells.end());
  }
  const std::vector<Real> chosen = values_at(values, ConstantArray<Index>(std::move(needed)));
  std::vector<Vector3> gradients;
  std::size_t first = 0;
  for (const LeastSquares& cell : of_cells) {
    gradients.push_back(cell.gradient(std::span(chosen).subspan(first)));
    first += cell.cells.size();
  }
  return gradients;
}

WallFriction wall_friction(const Mesh& mesh, const FlowSettings& settings,
                           const IncompressibleFlow::BoundaryForces& forces) {
  const Topology& topology = mesh.topology();
  const Arms arm(mesh.geometry(), MemorySpace::Host);
  const std::size_t cells = at(topology.cells().size());
  WallFriction friction{std::vector<Vector3>(cells), std::vector<Real>(cells)};
  std::vector<Real> wall_area(cells);
  for (std::size_t p = 0; p < topology.patches().size(); ++p) {
    if (!std::holds_alternative<Wall>(settings.boundaries[p])) continue;
    for (const Id<Face> f : topology.patches()[p].faces) {
      const auto [cell, sign] = topology.cells_of_face()[f][0];
      const std::size_t c = at(cell.value());
      const Vector3 vector = mesh.geometry().face_areas()[at(f.value())];
      const Real area = norm(vector);
      const Vector3 normal = vector / area;
      const Vector3 viscous = forces.viscous[at(f.value() - topology.boundary_faces().first())];
      const Vector3 shear = viscous - dot(viscous, normal) * normal;
      const Real height = std::abs(dot(arm(cell, f, sign), normal));
      friction.shear_stress[c] += settings.density * shear;
      if (settings.viscosity > 0)
        friction.y_plus[c] += area * std::sqrt(norm(shear) / area) * height / settings.viscosity;
      wall_area[c] += area;
    }
  }
  for (std::size_t c = 0; c < cells; ++c) {
    if (wall_area[c] == 0) continue;
    friction.shear_stress[c] = friction.shear_stress[c] / wall_area[c];
    friction.y_plus[c] /= wall_area[c];
  }
  return friction;
}

std::vector<Real> streamfunction(const Mesh& mesh, std::span<const Real> flux, Real past) {
  const Topology& topology = mesh.topology();
  REQUIRE(topology.dimension() == 2, "a streamfunction at the nodes needs a two-dimensional mesh");
  REQUIRE(flux.size() == at(topology.faces().size()),
          fmt::format("the mesh has {} faces, got {} fluxes", topology.faces().size(), flux.size()));
  if (topology.is_periodic()) {
    const Mesh& unfolded = mesh.unfolded();
    std::vector<Real> unfolded_flux(at(unfolded.topology().faces().size()));
    for (const Id<Face> f : topology.faces()) {
      mesh.visit_unfolded(f, [&](Id<Face> shown, Real sign) {
        unfolded_flux[at(shown.value())] = sign * flux[at(f.value())];
      });
    }
    return streamfunction(unfolded, unfolded_flux, past);
  }
  const auto position = mesh.geometry().node_positions().host();
  if (mesh.domain().communicator().ranks() == 1) return streamfunction(topology, position, flux, past);
  const std::optional<Topology> whole = gathered_topology(mesh);
  const std::vector<Vector3> whole_position = gathered<Node>(mesh.domain(), position);
  const std::vector<Real> whole_flux = gathered<Face>(mesh.domain(), flux);
  std::vector<Real> whole_psi;
  on_first_rank(mesh.domain().communicator(),
                [&] { whole_psi = streamfunction(*whole, whole_position, whole_flux, past); });
  return scattered<Node>(mesh.domain(), std::span<const Real>(whole_psi));
}

}  // namespace curlew
