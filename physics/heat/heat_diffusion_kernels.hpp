// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/view.hpp"
#include "mesh/entities.hpp"
#include "physics/heat/heat_load.hpp"

namespace curlew {

/// y = (C/dt) x + theta (H + K) x at nodes that are solved for, zero at held ones, given K x. Returns the
/// term of x . y.
struct HeatSystemOnNode {
  Real per_step, implicit_weight;  // 1/dt [1/s] (0: steady), theta
  View<Node, const Real> capacity, convection;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> x;
  View<Node, Real> y;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n, Real outflow) const {
    const Real own = x[n], conducted = outflow + convection[n] * own;
    const Real image = held[n] ? Real(0) : per_step * capacity[n] * own + implicit_weight * conducted;
    y[n] = image;
    return own * image;
  }
};

/// The matrix's entry on the diagonal; zero at held nodes.
struct DiagonalOnNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity, convection, conductance;
  View<Node, const std::uint8_t> held;
  View<Node, Real> diagonal;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    diagonal[n] =
        held[n] ? Real(0) : per_step * capacity[n] + implicit_weight * (conductance[n] + convection[n]);
  }
};

/// What the matrix has on the diagonal but for conduction, with one convection over that with another; 1 at
/// held nodes.
struct RatioWithConvectionOnNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> convection, other;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    if (held[n] || convection[n] == other[n]) return 1;
    const Real stored = per_step * capacity[n];
    return (stored + implicit_weight * convection[n]) / (stored + implicit_weight * other[n]);
  }
};

/// Net heat into the dual volume from everything but a holding boundary.
struct InflowOnNode {
  View<Node, const Real> load, convection, temperature;
  View<Node, Real> inflow;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n, Real outflow) const {
    inflow[n] = load[n] - convection[n] * temperature[n] - outflow;
  }
};

/// What the heat that is stored lacks, at the temperature of a guess, of what flows in, as the scheme weighs
/// it, and of what earlier steps left over.
struct LackOfNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity, previous, previous_inflow, left_over;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n, Real temperature, Real inflow) const {
    return implicit_weight * inflow + (1 - implicit_weight) * previous_inflow[n] -
           per_step * (capacity[n] * (temperature - previous[n]) - left_over[n]);
  }
};

/// That at the temperatures of the moment; zero at held nodes.
struct SoughtOnNode {
  LackOfNode lack;
  View<Node, const Real> temperature, inflow;
  View<Node, const std::uint8_t> held;
  View<Node, Real> sought;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    sought[n] = held[n] ? Real(0) : lack(n, temperature[n], inflow[n]);
  }
};

/// What a holding boundary must supply: stored heat less the inflow from elsewhere, as the scheme weighs
/// them.
struct SuppliedOnNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity, temperature, previous, inflow, previous_inflow;
  View<Node, Real> supplied;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    supplied[n] = per_step * capacity[n] * (temperature[n] - previous[n]) - implicit_weight * inflow[n] -
                  (1 - implicit_weight) * previous_inflow[n];
  }
};

/// What is left over for later steps once a step is done.
struct LeftOverOnNode {
  Real step;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> supplied;
  View<Node, Real> left_over;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    if (!held[n]) left_over[n] -= step * supplied[n];
  }
};

struct HoldOnNode {
  View<Node, const std::uint8_t> held;
  View<Node, const Real> held_temperature;
  View<Node, Real> temperature;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    if (held[n]) temperature[n] = held_temperature[n];
  }
};

struct DistanceFromHeldOnNode {
  View<Node, const std::uint8_t> held;
  View<Node, const Real> held_temperature, temperature;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real distance = held[n] ? std::abs(temperature[n] - held_temperature[n]) : 0;
    return distance > rounding_of_held * std::abs(held_temperature[n]) ? distance : 0;
  }
};

struct RaiseOnNode {
  Real rise;  // [K]
  View<Node, Real> temperature;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const { temperature[n] += rise; }
};

/// 1 at nodes that are solved for, zero at held ones.
struct SolvedForOnNode {
  View<Node, const std::uint8_t> held;
  View<Node, Real> x;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const { x[n] = held[n] ? 0 : 1; }
};

/// C x at nodes that are solved for, zero at held ones.
struct CapacityOnNode {
  View<Node, const Real> capacity;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> x;
  View<Node, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const { y[n] = held[n] ? Real(0) : capacity[n] * x[n]; }
};

struct StoredOfNode {
  View<Node, const Real> capacity, temperature, previous;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    return capacity[n] * (temperature[n] - previous[n]);
  }
};

struct SquaredProductOfNode {
  View<Node, const Real> a, b;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real product = a[n] * b[n];
    return product * product;
  }
};

/// How much of what a node lacks other nodes get to feel: strong convection answers it by a small change of
/// the node's own temperature. Zero at held nodes.
struct ShareFeltOfNode {
  Real implicit_weight;
  View<Node, const Real> convection, diagonal;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    if (!(diagonal[n] > 0)) return 0;
    const Real share = 1 - implicit_weight * convection[n] / diagonal[n];
    return share > rounding ? share : rounding;
  }
  static constexpr Real rounding = std::numeric_limits<Real>::epsilon();
};

struct SquaredShareOfNode {
  ShareFeltOfNode share_felt;
  View<Node, const Real> sought;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real term = share_felt(n) * sought[n];
    return term * term;
  }
};

/// Of the terms that make up what a uniform temperature lacks, but for conduction, which is zero.
struct SquaredTermOfNode {
  Real per_step, implicit_weight;
  ShareFeltOfNode share_felt;
  View<Node, const Real> capacity, convection, load, temperature;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real term = (per_step * capacity[n] + implicit_weight * convection[n]) * std::abs(temperature[n]) +
                      implicit_weight * std::abs(load[n]);
    const Real felt = share_felt(n) * term;
    return felt * felt;
  }
};

/// That at one temperature everywhere, without what is conducted from held nodes.
struct SquaredLackWithoutConductionOfNode {
  LackOfNode lack;
  ShareFeltOfNode share_felt;
  Real temperature;
  View<Node, const Real> convection, load;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real felt = share_felt(n) * lack(n, temperature, load[n] - convection[n] * temperature);
    return felt * felt;
  }
};

/// The heat that passes a node: what a held one is supplied with, what another stores and takes from sources
/// and convection.
struct SquaredHeatOfNode {
  Real per_step, implicit_weight;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> capacity, convection, load, temperature, previous, supplied;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real heat = held[n] ? supplied[n]
                              : implicit_weight * (load[n] - convection[n] * temperature[n]) -
                                    per_step * capacity[n] * (temperature[n] - previous[n]);
    return heat * heat;
  }
};

}  // namespace curlew
