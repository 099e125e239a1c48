// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "tests/end_to_end/program.hpp"

namespace curlew::test {

/// A case of 40 steps, with the same bits on any number of ranks and a checkpoint after each step, so that a
/// run spends much of its time writing them.
class CheckpointedCase : public JacobiCase {
 public:
  CheckpointedCase();
};

struct Kills {
  int kills;
  unsigned seed;
  int ranks = 0;  ///< 0: without mpirun
};

/// Runs the case to its end once, then again and again: each run is killed (SIGKILL; of several ranks one) at
/// a random moment between its start and its end, every fourth in the middle of writing a file, and goes on
/// to the end from the newest checkpoint that verifies, or from the start where there is none yet. Expects
/// that no kill leaves a damaged checkpoint, and that each run ends with the files of the first one, byte by
/// byte.
void expect_same_bytes_after_kills(const CaseFolder& folder, const Kills& kills);

}  // namespace curlew::test
