// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/tensor3.hpp"
#include "mesh/point_location.hpp"

namespace curlew {

/// The values of a field at one time, on the host: a scalar at the nodes, or a scalar or vector in the cells.
using FieldSnapshot = std::variant<View<Node, const Real>, View<Cell, const Vector3>, View<Cell, const Real>>;

/// A list of cells and of their nodes, cell by cell in the order of nodes_of_cell: where values are taken
/// from a device, of which nothing else is copied.
struct ChosenCells {
  ConstantArray<Index> cells, nodes;
};

/// A scalar at the nodes of chosen cells, one value for each entry of ChosenCells::nodes.
struct NodeSample {
  std::vector<Real> value;
};
/// A field that is linear within each of the chosen cells: the value at its centroid, and the gradient there.
/// Second order at any point.
template <class Value, class Gradient>
struct LinearCellSample {
  std::vector<Value> value;
  std::vector<Gradient> gradient;
};
/// The values of a field in chosen cells, on the host: at their nodes, or one for each cell, constant there
/// or with its gradient.
using FieldSample = std::variant<NodeSample, std::vector<Vector3>, std::vector<Real>,
                                 LinearCellSample<Real, Vector3>, LinearCellSample<Vector3, Tensor3>>;

/// Of a field that the host has.
FieldSample sample(const FieldSnapshot& field, const ChosenCells& chosen);

// On a mesh divided among ranks all of the following is done by all ranks together, from values that hold at
// ghosts too; every rank gets the results of one rank, to the bit.

/// Fields at points: node values interpolated as NodeInterpolation says, cell values those of the cell that
/// holds the point, with the gradient times the distance from its centroid where there is one.
class PointSampler {
 public:
  /// At given points. Throws InputError that names the monitor and every point outside the mesh.
  static PointSampler at_points(const PointLocator& locator, const std::string& monitor,
                                std::vector<Vector3> points);
  /// At `count` points (at least 2) spaced evenly from end to end, both included. Throws InputError that
  /// names the monitor when all of them are outside the mesh.
  static PointSampler on_line(const PointLocator& locator, const std::string& monitor, Vector3 from,
                              Vector3 to, std::int64_t count);

  const std::vector<Vector3>& points() const { return points_; }
  /// How many points are outside the mesh and which is the first, in words; empty: none.
  std::string doubt() const;
  /// Of this rank, those that points lie in.
  const ChosenCells& cells() const { return cells_; }
  /// Point by point, all components each, from the values in cells(); not-a-number at points outside the
  /// mesh.
  std::vector<Real> operator()(const FieldSample& field) const;

 private:
  PointSampler(const PointLocator& locator, std::vector<Vector3> points);

  std::vector<Vector3> points_;
  std::vector<bool> inside_;                              // whether the point is in the mesh
  std::vector<std::optional<NodeInterpolation>> places_;  // of the points in cells of this rank
  std::vector<Vector3> offsets_;                          // from the centroid of the point's cell [m]
  ChosenCells cells_;                                     // one for each of the places
  std::shared_ptr<const Communicator> communicator_;
};

struct Extremum {
  Real value;
  Vector3 position;  ///< [m]: of the node, or the centroid of the cell
};

struct Extrema {
  Extremum min, max;
};

/// Smallest and largest value (in cells: at centroids) and where, at the lowest node or cell if at several:
/// one pair for a scalar, four for a vector (x, y, z, magnitude). What is not a number is passed over.
std::vector<Extrema> extrema(const Mesh& mesh, const FieldSnapshot& field);

/// Volume means over the mesh or one region: cell values weighted by the cells' volumes, node values by the
/// nodes' shares of them (see visit_corner_volumes), so that the mean of a temperature is the heat stored.
/// The bits do not depend on the number of threads. The mesh must outlive it.
class VolumeAverage {
 public:
  /// Throws InputError that names the monitor when the mesh has no such region.
  VolumeAverage(const Mesh& mesh, const std::string& monitor,
                const std::optional<std::string>& region = std::nullopt);

  /// All components.
  std::vector<Real> operator()(const FieldSnapshot& field) const;

 private:
  const Mesh& mesh_;
  std::vector<Real> node_volumes_, cell_volumes_;  // those within the region [m3]
  Real volume_ = 0;                                // of the region [m3]
};

}  // namespace curlew
