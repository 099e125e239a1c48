// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/ranks.hpp"

namespace curlew {

/// The ranks of a run as one of them sees them: what MPI does for Curlew, behind which it stays.
class Communicator : public Ranks {
 public:
  /// One message to a rank.
  struct Outgoing {
    int rank;
    std::span<const std::byte> bytes;
  };
  /// One message from a rank, which is put into several places one after the other.
  struct Incoming {
    int rank;
    std::vector<std::span<std::byte>> places;
  };
  /// Messages on their way; the memory of both must stay where it is until finish().
  class Transfer {
   public:
    virtual ~Transfer() = default;
    virtual void finish() = 0;
  };

  /// Starts all at once. Between two ranks messages arrive in the order of the calls.
  virtual std::unique_ptr<Transfer> start(std::span<const Incoming> incoming,
                                          std::span<const Outgoing> outgoing) const = 0;
  /// One message of any length, waited for on both sides.
  virtual void send(int to, std::span<const std::byte> bytes) const = 0;
  virtual std::vector<std::byte> receive(int from) const = 0;
  /// Ends the whole run, all ranks, at once.
  [[noreturn]] virtual void abort(int status) const = 0;
};

/// The ranks that this program was started as by a launcher (mpirun, srun); otherwise, and in a build without
/// MPI, one rank alone. MPI is started by the first call, if there are several ranks, and ended with the
/// program.
std::shared_ptr<const Communicator> all_ranks();

/// One rank alone.
std::shared_ptr<const Communicator> one_rank();

/// Whether this build can run on several ranks.
bool built_with_mpi();

}  // namespace curlew
