// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/field.hpp"
#include "mesh/mesh.hpp"
#include "physics/flow/flow_settings.hpp"

namespace curlew {

/// Entity tag: a boundary face that the rank owns, numbered from the first one.
struct BoundaryFace;

/// How much of a face's velocity the boundary gives.
enum class FaceHold : std::uint8_t {
  Free,    ///< nothing: interior faces and outlets
  Normal,  ///< no flux through it, the rest free: symmetry
  All      ///< the whole velocity: walls and inlets
};

/// The boundary conditions of a flow on its mesh: what is held, and to which values. On a divided mesh all
/// calls are made by all ranks together.
class FlowBoundaries {
 public:
  FlowBoundaries(const Executor& executor, const Mesh& mesh, const FlowSettings& settings);

  /// Evaluates the boundary values at `time` [s]. A closed part of the domain must take in what it lets out:
  /// up to 1e-4 of the sum of |U|, what quadrature may leave, is spread over its held faces; throws
  /// InputError with the imbalance where it is more.
  void update(Real time);
  /// The same with the mean of the values at two times.
  void update_to_mean(Real time, Real other_time);
  bool depend_on_time() const;
  /// The largest Courant number, at least, of a step of 1 s with the fluxes that patches which change in time
  /// are given at `time` [s], whatever has been evaluated: what enters or leaves a cell through a face also
  /// leaves or enters it elsewhere, max |U_f| / V over these faces [1/s].
  Real courant_rate_at(Real time) const;

  /// From now on given fluxes are multiples of `quantum` [m3/s], and those of a closed part of the domain sum
  /// to zero exactly.
  void set_quantum(Real quantum);

  const Field<Face, FaceHold>& hold() const { return hold_; }
  /// Writes the held values into fluxes and face velocities; not into ghosts.
  void impose(PrimalCochain<Face>& flux, Field<Face, Vector3>& velocity) const;
  /// Pressure over density outside of each outlet face [m2/s2], 0 elsewhere.
  const Field<BoundaryFace>& outside_pressure() const { return outside_pressure_; }
  Index first_boundary_face() const { return first_; }
  /// The cell at each boundary face.
  const ConstantArray<Index>& cell_of_face() const { return cell_of_face_; }

  /// For each cell the closed part of the domain that it belongs to, numbered from 0 over all ranks by the
  /// lowest cell; -1 in parts that an outlet opens.
  const std::vector<Index>& closed_part_of_cell() const { return closed_part_of_cell_; }
  /// Angular velocity of the wall that each patch is [rad/s]; zero where none rotates.
  const std::vector<Vector3>& angular_velocity() const { return angular_velocity_; }
  /// The same faces' hold, on the host.
  const std::vector<FaceHold>& hold_of_face() const { return hold_of_face_; }

 private:
  /// What boundary faces are given: a flux [m3/s], a velocity [m/s] or a pressure outside [m2/s2]; else 0.
  struct Given {
    std::vector<Real> flux;
    std::vector<Vector3> velocity;
    std::vector<Real> pressure;
  };

  /// Evaluates what patches give, of those that change in time at least; whether there were any.
  bool evaluate(Real time);
  void evaluate(std::size_t patch, Real time, Given& given) const;
  /// Makes what has been evaluated what the boundary gives. `time` [s]: what errors tell of.
  void take_effect(Real time);
  void find_closed_parts();
  Index closed_part_of(std::size_t boundary_face) const;
  /// The values of a closed part's boundary faces.
  std::vector<Real> of_closed_part(Index part, const std::vector<Real>& values) const;
  std::optional<std::size_t> largest_in_closed_part(Index part, const std::vector<Real>& flux) const;
  void send();
  void balance_closed_parts(Given& given, Real time) const;

  Executor executor_;
  const Mesh& mesh_;
  std::vector<FlowBoundary> boundaries_;
  Real density_;
  Index first_;  // boundary face
  ConstantArray<Index> cell_of_face_;
  bool fresh_ = false;        // whether what does not change in time has been evaluated
  std::optional<Real> time_;  // whose values are in effect [s]; none of a mean
  Real quantum_ = 0;          // 0: none
  Given given_;
  Given balanced_;  // so that nothing is left over in closed parts; before rounding
  std::vector<FaceHold> hold_of_face_;
  std::vector<Index> closed_part_of_cell_;
  Index closed_parts_ = 0;
  std::vector<Vector3> angular_velocity_;
  Field<Face, FaceHold> hold_;
  Field<BoundaryFace> flux_;               // [m3/s]
  Field<BoundaryFace, Vector3> velocity_;  // [m/s]
  Field<BoundaryFace> outside_pressure_;   // [m2/s2]
};

}  // namespace curlew
