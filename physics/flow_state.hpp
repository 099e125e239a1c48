// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>

#include "physics/run_state.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

using FlowState = RunState;

// Of vectors that are more than a field of numbers; restore() throws as for those.

template <Cochain kind>
void store(const Domain& domain, const StreamAndFaceValues<float, Vector4<float>, kind>& x,
           const std::string& name, FlowState& state);
template <Cochain kind>
void restore(const Domain& domain, const FlowState& state, const std::string& name,
             StreamAndFaceValues<float, Vector4<float>, kind>& x);

/// The three components.
void store(const Domain& domain, const FaceVectors<float>& x, const std::string& name, FlowState& state);
void restore(const Domain& domain, const FlowState& state, const std::string& name, FaceVectors<float>& x);

}  // namespace curlew
