// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/schedule.hpp"

#include <cmath>
#include <limits>

namespace curlew {

namespace {

/// Intervals completed from `start` to `time`; a time that round-off puts just before the end of one
/// completes it.
Real intervals_within(Real start, Real time, Real interval) {
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  const Real ratio = (time - start) / interval, largest = std::fmax(std::abs(start), std::abs(time));
  return std::floor(ratio + 1e-9 * std::fmax(1, ratio) + 2 * epsilon * largest / interval);
}

}  // namespace

bool is_due(const ScheduleSettings& schedule, Real start, const Moment& moment, bool otherwise) {
  if (schedule.every) return moment.step % *schedule.every == 0;
  if (!schedule.interval) return otherwise;
  return moment.step == 0 || intervals_within(start, moment.time, *schedule.interval) >
                                 intervals_within(start, moment.previous_time, *schedule.interval);
}

}  // namespace curlew
