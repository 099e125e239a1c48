// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/parallel/communicator.hpp"

namespace curlew {

/// What the program exits with, unless a signal ended the run.
namespace exit_status {
inline constexpr int done = 0, internal_error = 1, bad_input = 2, diverged = 3;
}

/// How a command fails.
struct Failure {
  int status = exit_status::internal_error;  ///< for the program to exit with
  std::vector<std::string> messages;         ///< what to tell, a sentence each
  std::function<void()> record = {};         ///< leaves word of it where results are, if there is one
};

/// What an exception means for the program.
Failure failure_of(const std::exception_ptr& thrown);

/// Carries a failure to whoever tells it.
class CarriedFailure : public std::exception {
 public:
  explicit CarriedFailure(Failure failure) : failure_(std::move(failure)) {}
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

/// A failure that all ranks know of, on whichever it happened; rank 0 tells it.
class SharedFailure final : public CarriedFailure {
  using CarriedFailure::CarriedFailure;
};

/// A failure that the other ranks know nothing of, with a record of it for the one that tells.
class LoneFailure final : public CarriedFailure {
  using CarriedFailure::CarriedFailure;
};

/// Has every rank carry out `action`. Where it throws on any of them, all throw a SharedFailure with what the
/// lowest of these has to tell; on one rank alone what it throws goes through as it is. Within `action` no
/// rank may wait for another one after what can fail on one of them only.
void together(const Communicator& ranks, const std::function<void()>& action);

/// Throws an InputError with `complaint`, as together() does, where `mine` is not the same on all ranks: what
/// each of them has read or been told by itself, maybe on a machine of its own. By all ranks together.
void require_same(const Communicator& ranks, std::string_view mine, const std::string& complaint);

}  // namespace curlew
