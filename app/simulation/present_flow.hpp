// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/output/monitor_files.hpp"
#include "physics/flow/centroid_velocity.hpp"
#include "physics/flow/incompressible_flow.hpp"
#include "physics/time_average.hpp"

namespace curlew {

/// Means in time of what all averaged fields follow from.
struct FlowAverage {
  std::string name;  ///< of the monitor
  Real start;        ///< [s]
  std::vector<FieldDescription> fields;
  TimeAverage<Field<Face, Vector3>> face_velocity;
  TimeAverage<DualCochain<Cell>> pressure;  ///< where it is among the fields
  bool has_pressure() const;
};

/// The present state of a flow and its averages on the host, whose fields are made when first asked for.
/// `centroid_velocity` is made where there is none and somebody sees the velocity. All must outlive it.
std::unique_ptr<FlowSnapshot> present_flow(const IncompressibleFlow& flow,
                                           const std::vector<FlowAverage>& averages,
                                           std::optional<CentroidVelocity>& centroid_velocity);

}  // namespace curlew
