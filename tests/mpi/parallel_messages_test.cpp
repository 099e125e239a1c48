// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "mesh/parallel/communicator.hpp"

namespace {
std::vector<const void*> given_to_mpi;
}

// In place of MPI's own, which they call.
extern "C" {
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  given_to_mpi.push_back(buffer);
  return PMPI_Isend(buffer, count, type, rank, tag, communicator, request);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  given_to_mpi.push_back(buffer);
  return PMPI_Irecv(buffer, count, type, rank, tag, communicator, request);
}
}

namespace curlew {
namespace {

// A device-aware MPI tells by the address that it is given whether a message is in the memory of a GPU.
TEST(OnRanks, a_message_of_several_places_is_given_to_mpi_by_the_address_of_one) {
  const Communicator& ranks = *all_ranks();
  if (ranks.ranks() == 1) GTEST_SKIP() << "one rank alone sends no messages";
  const int next = (ranks.rank() + 1) % ranks.ranks(),
            last = (ranks.rank() + ranks.ranks() - 1) % ranks.ranks();
  const auto bytes_of = [](int rank) {
    std::vector<std::byte> bytes(1000);
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<std::byte>((k + static_cast<std::size_t>(rank)) % 251);
    return bytes;
  };
  const std::vector<std::byte> sent = bytes_of(ranks.rank());
  std::vector<std::byte> received(sent.size());
  const std::span<const std::byte> from(sent);
  const std::span<std::byte> to(received);
  const Communicator::Outgoing outgoing{next, {from.subspan(600), from.first(100), from.subspan(100, 500)}};
  const Communicator::Incoming incoming{last, {to.subspan(600), to.first(600)}};
  given_to_mpi.clear();
  ranks.start({&incoming, 1}, {&outgoing, 1})->finish();
  EXPECT_EQ(received, bytes_of(last));
  ASSERT_EQ(given_to_mpi.size(), 2u);
  EXPECT_EQ(given_to_mpi[0], to.subspan(600).data());
  EXPECT_EQ(given_to_mpi[1], from.subspan(600).data());
}

}  // namespace
}  // namespace curlew
