// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/memory.hpp"
#include "kernels/ranks.hpp"

namespace curlew {

/// The ranks of a run as one of them sees them: what MPI does for Curlew, behind which it stays.
class Communicator : public Ranks {
 public:
  /// One message to a rank, made of what is in several places, one after the other.
  struct Outgoing {
    int rank;
    std::vector<std::span<const std::byte>> places;
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

  /// Whether messages can come from that memory and arrive in it. By all ranks together.
  virtual bool reaches(MemorySpace space) const = 0;
  /// Starts all at once. Between two ranks messages arrive in the order of the calls.
  virtual std::unique_ptr<Transfer> start(std::span<const Incoming> incoming,
                                          std::span<const Outgoing> outgoing) const = 0;
  /// One message of any length, waited for on both sides.
  virtual void send(int to, std::span<const std::byte> bytes) const = 0;
  virtual std::vector<std::byte> receive(int from) const = 0;

  // By all ranks together:

  /// Of each value the largest over all ranks; none may be not-a-number.
  virtual void maxima(std::span<Real> values) const = 0;
  /// Each value is one rank's, the others give 0: all get the bits of all.
  virtual void share(std::span<Real> values) const = 0;
  /// All get the bytes of `from`.
  virtual void broadcast(int from, std::vector<std::byte>& bytes) const = 0;
  /// A message of any length to or from another rank.
  struct Letter {
    int rank;
    std::vector<std::byte> bytes;
  };
  /// At most one message to each rank, which need not know that it comes; what has no bytes is not sent.
  /// Returns what has come, by sender.
  virtual std::vector<Letter> deliver(std::vector<Letter> outgoing) const = 0;

  /// What the ranks of one machine have between them.
  struct Place {
    int rank = 0;   ///< among the ranks of this machine
    int cores = 1;  ///< that fall to this rank, of those that the machine's ranks may use
  };
  virtual Place place() const = 0;

  /// Ends the whole run, all ranks, at once, with that exit status. Of the ranks that do so at about the same
  /// time only the lowest tells why.
  [[noreturn]] virtual void abort(int status, const std::function<void()>& tell) const = 0;
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
