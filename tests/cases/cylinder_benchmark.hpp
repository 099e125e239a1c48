// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cases/case_run.hpp"

namespace curlew::test {

// Of cases/cylinder/reference/benchmark.csv, which names the sources.
constexpr double steady_drag = 5.57953523384, steady_lift = 0.010618948146,
                 steady_pressure_difference = 0.11752016697;
constexpr double drag_in_3d = 6.18533, lift_in_3d = 0.009401, least_pressure_difference_in_3d = 0.165,
                 largest_pressure_difference_in_3d = 0.175;
constexpr double shedding_drag_max = 3.227393, shedding_drag_min = 3.164263, shedding_lift_max = 0.986571,
                 shedding_strouhal = 0.301841, shedding_pressure_difference = 2.484;

/// Between front and back of the cylinder [Pa], in the last row.
inline double pressure_difference(const CaseRun& run) {
  return run.last("pressure", "p0_pressure") - run.last("pressure", "p1_pressure");
}

/// The last whole period of a run of cases/cylinder/shedding.toml, from an upward zero of the lift to the
/// next.
struct Shedding {
  double strouhal, drag_min, drag_max, lift_min, lift_max;
  double pressure_difference;  // half a period after the largest lift [Pa]

  /// Throws where there are less than three upward zeros of the lift after `start` [s].
  Shedding(const CaseRun& run, double start) {
    const Table forces = run.read("cylinder"), pressure = run.read("pressure");
    const std::vector<double>&time = forces.at("time"), &drag = forces.at("cx"), &lift = forces.at("cy");
    std::vector<double> zeros;
    for (std::size_t k = 1; k < time.size(); ++k) {
      if (time[k] > start && lift[k - 1] < 0 && lift[k] >= 0)
        zeros.push_back(time[k] - (time[k] - time[k - 1]) * lift[k] / (lift[k] - lift[k - 1]));
    }
    if (zeros.size() < 3) throw std::runtime_error("the cylinder does not shed vortices");
    const double begin = zeros[zeros.size() - 2], period = zeros.back() - begin;
    EXPECT_NEAR((begin - zeros[zeros.size() - 3]) / period, 1, 0.01) << "the flow is not yet periodic";
    const auto row = [&](double t) { return std::lower_bound(time.begin(), time.end(), t) - time.begin(); };
    const auto first = row(begin), last = row(zeros.back());
    const auto [least_drag, most_drag] = std::minmax_element(drag.begin() + first, drag.begin() + last);
    const auto [least_lift, most_lift] = std::minmax_element(lift.begin() + first, lift.begin() + last);
    constexpr double diameter = 0.1, mean_velocity = 1;
    strouhal = diameter / (mean_velocity * period);
    drag_min = *least_drag;
    drag_max = *most_drag;
    lift_min = *least_lift;
    lift_max = *most_lift;
    // Half a period after the largest lift is, in a periodic flow, half a period before it too.
    const double of_most_lift = time[static_cast<std::size_t>(most_lift - lift.begin())];
    const auto opposite = static_cast<std::size_t>(
        row(of_most_lift + period / 2 < time.back() ? of_most_lift + period / 2 : of_most_lift - period / 2));
    pressure_difference = pressure.at("p0_pressure").at(opposite) - pressure.at("p1_pressure").at(opposite);
  }
};

}  // namespace curlew::test
