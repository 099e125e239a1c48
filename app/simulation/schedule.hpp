// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>

#include "app/case/case_settings.hpp"

namespace curlew {

/// A state of the run: the initial one (step 0) or that after a time step.
struct Moment {
  std::int64_t step = 0;
  Real time = 0;           ///< [s]
  Real previous_time = 0;  ///< of the step before [s]; means nothing at step 0
};

/// Whether the schedule asks for the state at `moment`: the initial one always, then every so many steps, or
/// the first state at or after each multiple of the interval since `start` [s]. `otherwise` where the
/// schedule says nothing. The same in a run that was restarted.
bool is_due(const ScheduleSettings& schedule, Real start, const Moment& moment, bool otherwise);

}  // namespace curlew
