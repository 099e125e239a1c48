// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/schedule.hpp"

#include <cmath>

namespace curlew {

namespace {

/// Intervals completed after some time; a time that round-off puts just before the end of one completes it.
Real intervals_within(Real time, Real interval) {
  const Real ratio = time / interval;
  return std::floor(ratio + 1e-9 * std::fmax(1, ratio));
}

}  // namespace

bool is_due(const ScheduleSettings& schedule, Real start, const Moment& moment, bool otherwise) {
  if (schedule.every) return moment.step % *schedule.every == 0;
  if (!schedule.interval) return otherwise;
  return moment.step == 0 || intervals_within(moment.time - start, *schedule.interval) >
                                 intervals_within(moment.previous_time - start, *schedule.interval);
}

}  // namespace curlew
