// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <omp.h>

#include <cstdlib>

#include "kernels/error.hpp"
#include "mesh/parallel/communicator.hpp"
#include "mesh/parallel/launch.hpp"

namespace curlew {

namespace {

class OneRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  void sums(std::span<BinnedSum>) const override {}
  Real maximum(Real mine) const override { return mine; }
  bool reaches(MemorySpace space) const override { return space == MemorySpace::Host; }
  std::unique_ptr<Transfer> start(std::span<const Incoming> incoming,
                                  std::span<const Outgoing> outgoing) const override {
    struct Nothing final : Transfer {
      void finish() override {}
    };
    REQUIRE(incoming.empty() && outgoing.empty(), "one rank alone has nobody to exchange messages with");
    return std::make_unique<Nothing>();
  }
  void send(int, std::span<const std::byte>) const override {
    throw Error("one rank alone has nobody to send to");
  }
  std::vector<std::byte> receive(int) const override {
    throw Error("one rank alone has nobody to receive from");
  }
  void maxima(std::span<Real>) const override {}
  void share(std::span<Real>) const override {}
  void broadcast(int, std::vector<std::byte>&) const override {}
  std::vector<Letter> deliver(std::vector<Letter> outgoing) const override {
    REQUIRE(outgoing.empty(), "one rank alone has nobody to exchange messages with");
    return {};
  }
  Place place() const override { return {0, omp_get_max_threads()}; }
  [[noreturn]] void abort(int status, const std::function<void()>& tell) const override {
    tell();
    std::exit(status);
  }
};

}  // namespace

std::shared_ptr<const Communicator> one_rank() {
  static const std::shared_ptr<const Communicator> rank = std::make_shared<OneRank>();
  return rank;
}

#if !defined(CURLEW_MPI)
std::shared_ptr<const Communicator> all_ranks() {
  if (launched_ranks().value_or(1) != 1)
    throw InputError("this curlew was built without MPI and runs on one rank; start it without a launcher");
  return one_rank();
}

bool built_with_mpi() {
  return false;
}
#endif

}  // namespace curlew
