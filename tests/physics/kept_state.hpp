// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

namespace curlew {

/// A RunState or Checkpoint with all arrays at hand: it outlasts the model that told it, and its steps.
template <class State>
State kept(State state) {
  for (auto& [name, array] : state.arrays) array = array.values();
  for (auto& [name, array] : state.singles) array = array.values();
  return state;
}

}  // namespace curlew
