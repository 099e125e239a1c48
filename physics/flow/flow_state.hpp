// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <string>

#include "physics/run_state.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

using FlowState = RunState;

// Of vectors that are more than a field of numbers.

void store_change(const Domain& domain, std::function<StreamVectors<float>()> change, const std::string& name,
                  FlowState& state);
void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    StreamVectors<float>& x);

/// The three components.
void store_change(const Domain& domain, std::function<FaceVectors<float>()> change, const std::string& name,
                  FlowState& state);
void restore_change(const Domain& domain, const FlowState& state, const std::string& name,
                    FaceVectors<float>& x);

}  // namespace curlew
