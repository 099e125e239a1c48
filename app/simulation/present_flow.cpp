// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/present_flow.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "kernels/chosen_values.hpp"
#include "kernels/error.hpp"
#include "kernels/reduction.hpp"
#include "physics/flow/flow_fields.hpp"
#include "physics/flow/flow_monitors.hpp"

namespace curlew {

namespace {

struct SpeedPastFace {
  View<Face, const Vector3> velocity, area;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return norm(velocity[f]) * norm(area[f]); }
};

struct PascalOnCell {
  Real density;
  View<Cell, const Real> pressure;  // over density [m2/s2]
  View<Cell, Real> scaled;          // [Pa]
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { scaled[c] = density * pressure[c]; }
};

/// The present state of a flow on the host; fields are made when first asked for.
class PresentFlow final : public FlowSnapshot {
 public:
  /// `centroid_velocity` is made where there is none and somebody sees the velocity.
  PresentFlow(const IncompressibleFlow& flow, const std::vector<FlowAverage>& averages,
              std::optional<CentroidVelocity>& centroid_velocity)
      : flow_(flow), averages_(averages), centroid_velocity_(centroid_velocity) {}

  FieldSnapshot field(const std::string& name) override {
    if (name == "streamfunction") {
      if (!streamfunction_)
        streamfunction_ = streamfunction(flow_.mesh(), flow_.flux().to_host(), largest_past_face());
      return View<Node, const Real>(streamfunction_->data(), static_cast<Index>(streamfunction_->size()));
    }
    auto known = fields_.find(name);
    if (known == fields_.end()) {
      const auto whole = [](const auto& field) { return field.to_host(); };
      known = fields_.emplace(name, is_of_walls(name) ? make_of_walls(name) : make(name, whole)).first;
    }
    return std::visit([](const auto& values) { return view(values); }, known->second);
  }

  FieldSample field_in(const std::string& name, const ChosenCells& chosen) override {
    if (name == "streamfunction" || is_of_walls(name)) return sample(field(name), chosen);
    const auto in_cells = [&](const auto& field) { return values_at(field, chosen.cells); };
    if (name == "velocity") {
      const Field<Face, Vector3>& on_faces = flow_.face_velocity();
      return LinearCellSample<Vector3, Tensor3>{in_cells(at_centroids(on_faces)),
                                                in_cells(gradient(on_faces))};
    }
    if (name == "pressure") {
      const DualCochain<Cell> pressure = in_pascal(flow_.pressure());
      return LinearCellSample<Real, Vector3>{
          in_cells(pressure), least_squares_gradient(flow_.mesh(), pressure, chosen.cells.host())};
    }
    return std::visit([](auto values) -> FieldSample { return values; }, make(name, in_cells));
  }

  std::span<const Real> patch_flows() override {
    if (patch_flows_.empty()) {
      const Mesh& mesh = flow_.mesh();
      const std::vector<Patch>& shown = mesh.unfolded().topology().patches();
      const std::vector<Real> flows = patch_outflows(mesh, flow_.flux());
      patch_flows_.assign(shown.size(), 0);  // nothing leaves through periodic ones
      for (std::size_t p = 0; p < flows.size(); ++p) {
        const auto place = std::ranges::find(shown, mesh.topology().patches()[p].name, &Patch::name);
        patch_flows_[static_cast<std::size_t>(place - shown.begin())] = flows[p];
      }
    }
    return patch_flows_;
  }
  Real density() override { return flow_.settings().density; }
  const IncompressibleFlow::BoundaryForces& boundary_forces() override {
    if (!forces_) {
      const Mesh& mesh = flow_.mesh();
      const Range<Face> shown = mesh.unfolded().topology().boundary_faces();
      const auto& own = forces_of_flow();
      forces_.emplace();
      forces_->pressure.resize(at(shown.size()));
      forces_->viscous.resize(at(shown.size()));
      for (const Id<Face> f : mesh.topology().boundary_faces()) {
        const std::size_t b = at(f.value() - mesh.topology().boundary_faces().first());
        const std::size_t place = at(mesh.unfolded_face(f).value() - shown.first());
        forces_->pressure[place] = own.pressure[b];
        forces_->viscous[place] = own.viscous[b];
      }
    }
    return *forces_;
  }
  IncompressibleFlow::EnergyBudget energy_budget() override { return flow_.energy_budget(); }

 private:
  /// Of a velocity times the size of its face [m2/s].
  Real largest_past_face() const {
    const Field<Face, Vector3>& velocity = flow_.face_velocity();
    const Executor& executor = velocity.executor();
    return maximum(executor, velocity.owned(),
                   SpeedPastFace{velocity.view(), flow_.mesh().geometry().face_areas(executor.space())});
  }

  /// One entry per boundary face of the flow's own mesh.
  const IncompressibleFlow::BoundaryForces& forces_of_flow() {
    if (!forces_of_flow_) forces_of_flow_ = flow_.boundary_forces();
    return *forces_of_flow_;
  }

  using CellValues = std::variant<std::vector<Real>, std::vector<Vector3>>;

  template <class T>
  static FieldSnapshot view(const std::vector<T>& values) {
    return View<Cell, const T>(values.data(), static_cast<Index>(values.size()));
  }

  Field<Cell, Tensor3> gradient(const Field<Face, Vector3>& face_velocity) const {
    return velocity_gradient(flow_.mesh(), face_velocity);
  }

  Field<Cell, Vector3> at_centroids(const Field<Face, Vector3>& face_velocity) const {
    if (!centroid_velocity_) centroid_velocity_.emplace(face_velocity.executor(), flow_.mesh());
    return (*centroid_velocity_)(face_velocity);
  }

  DualCochain<Cell> in_pascal(const DualCochain<Cell>& pressure) {
    DualCochain<Cell> scaled(pressure.executor(), pressure.extent(), pressure.name(), "Pa");
    for_each(scaled.executor(), scaled.range(), PascalOnCell{density(), pressure.view(), scaled.view()});
    return scaled;
  }

  /// Means are no numbers before there is anything to average.
  template <class T>
  static std::vector<T> nan_before_its_begin(const FlowAverage& average, std::vector<T> means) {
    if (average.face_velocity.duration() == 0) {
      for (T& mean : means) mean *= std::numeric_limits<Real>::quiet_NaN();
    }
    return means;
  }

  /// Whether a field is made on the host, of the forces on walls.
  static bool is_of_walls(const std::string& name) { return name == "wall_shear_stress" || name == "y_plus"; }
  CellValues make_of_walls(const std::string& name) {
    WallFriction friction = wall_friction(flow_.mesh(), flow_.settings(), forces_of_flow());
    if (name == "y_plus") return std::move(friction.y_plus);
    return std::move(friction.shear_stress);
  }
  /// What `take` takes to the host of a field that the executor has.
  template <class Take>
  CellValues make(const std::string& name, const Take& take) {
    if (name == "velocity") return take(at_centroids(flow_.face_velocity()));
    if (name == "pressure") return take(in_pascal(flow_.pressure()));
    if (name == "vorticity") return take(vorticity(gradient(flow_.face_velocity())));
    if (name == "q_criterion") return take(q_criterion(gradient(flow_.face_velocity())));
    if (name == "divergence") return take(divergence(flow_.mesh(), flow_.flux()));
    for (const auto& average : averages_) {
      if (name == average.name + "_velocity")
        return nan_before_its_begin(average, take(at_centroids(average.face_velocity.mean())));
      if (name == average.name + "_pressure")
        return nan_before_its_begin(average, take(in_pascal(average.pressure.mean())));
      if (name == average.name + "_vorticity")
        return nan_before_its_begin(average, take(vorticity(gradient(average.face_velocity.mean()))));
    }
    throw Error("a flow has no field '" + name + "'");
  }

  const IncompressibleFlow& flow_;
  const std::vector<FlowAverage>& averages_;
  std::optional<CentroidVelocity>& centroid_velocity_;
  std::map<std::string, CellValues> fields_;
  std::optional<std::vector<Real>> streamfunction_;  // [m2/s]
  std::vector<Real> patch_flows_;                    // [m3/s]
  std::optional<IncompressibleFlow::BoundaryForces> forces_of_flow_, forces_;
};

}  // namespace

bool FlowAverage::has_pressure() const {
  return std::ranges::find(fields, "pressure", &FieldDescription::name) != fields.end();
}

std::unique_ptr<FlowSnapshot> present_flow(const IncompressibleFlow& flow,
                                           const std::vector<FlowAverage>& averages,
                                           std::optional<CentroidVelocity>& centroid_velocity) {
  return std::make_unique<PresentFlow>(flow, averages, centroid_velocity);
}

}  // namespace curlew
