// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <mpi.h>
#include <sched.h>
#if __has_include(<mpi-ext.h>)  // Open MPI's, which tells what else it can
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>

#include "kernels/error.hpp"
#include "mesh/parallel/communicator.hpp"
#include "mesh/parallel/launch.hpp"

namespace curlew {

namespace {

static_assert(std::is_same_v<Real, double>);

constexpr int halo_tag = 1, message_tag = 2, failure_tag = 3, letter_tag = 4;

int count_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a message between two ranks is longer than 2 GiB; use more ranks or a coarser mesh");
  return static_cast<int>(bytes);
}

void add_binned_sums(void* from, void* to, int* count, MPI_Datatype*) {
  const auto* terms = static_cast<const BinnedSum*>(from);
  auto* sums = static_cast<BinnedSum*>(to);
  for (int k = 0; k < *count; ++k) sums[k].add(terms[k]);
}

/// Calls `pass(place, count, type)` for a message that is in several places: of one type for all of them, so
/// that it need not be copied together. They are counted from the first.
template <class Places, class Pass>
void with_type_of(const Places& places, const Pass& pass) {
  if (places.size() == 1) return pass(places.front().data(), count_of(places.front().size()), MPI_BYTE);
  const auto address_of = [](const auto& place) {
    MPI_Aint address;
    MPI_Get_address(place.data(), &address);
    return address;
  };
  std::vector<int> lengths;
  std::vector<MPI_Aint> distances;
  for (const auto& place : places) {
    lengths.push_back(count_of(place.size()));
    distances.push_back(MPI_Aint_diff(address_of(place), address_of(places.front())));
  }
  MPI_Datatype type;
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), distances.data(), MPI_BYTE,
                           &type);
  MPI_Type_commit(&type);
  pass(places.front().data(), 1, type);
  MPI_Type_free(&type);  // when the message has arrived
}

/// MPI says that messages can be in the memory of a GPU. A build of MPI without that has the question, too.
bool says_that_it_reaches_gpus() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

/// Whether a message passes from a place in that memory to another one there.
bool passes_within(MemorySpace space) {
  std::vector<std::byte> sent(1 << 16), received(sent.size());
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = static_cast<std::byte>(k % 251);
  Buffer<std::byte> from(space, sent.size()), to(space, sent.size());
  copy_bytes(from.data(), space, sent.data(), MemorySpace::Host, sent.size());
  copy_bytes(to.data(), space, received.data(), MemorySpace::Host, sent.size());
  const int count = count_of(sent.size());
  MPI_Sendrecv(from.data(), count, MPI_BYTE, 0, 0, to.data(), count, MPI_BYTE, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  copy_bytes(received.data(), MemorySpace::Host, to.data(), space, sent.size());
  return received == sent;
}

class MpiTransfer final : public Communicator::Transfer {
 public:
  ~MpiTransfer() override { finish(); }
  void finish() override {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    requests.clear();
  }
  std::vector<MPI_Request> requests;
};

class MpiRanks final : public Communicator {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &ranks_);
    MPI_Type_contiguous(sizeof(BinnedSum), MPI_BYTE, &binned_sum_);
    MPI_Type_commit(&binned_sum_);
    MPI_Op_create(add_binned_sums, 1, &add_);
    place_ = find_place();
  }
  ~MpiRanks() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
    MPI_Op_free(&add_);
    MPI_Type_free(&binned_sum_);
    MPI_Comm_free(&communicator_);
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  void sums(std::span<BinnedSum> mine) const override {
    MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), binned_sum_, add_, communicator_);
  }
  Real maximum(Real mine) const override {
    Real largest = 0;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
    return largest;
  }

  std::unique_ptr<Transfer> start(std::span<const Incoming> incoming,
                                  std::span<const Outgoing> outgoing) const override {
    auto transfer = std::make_unique<MpiTransfer>();
    transfer->requests.reserve(incoming.size() + outgoing.size());
    const auto add = [&](const auto& message, const auto& pass) {
      with_type_of(message.places, [&](auto* place, int count, MPI_Datatype type) {
        transfer->requests.emplace_back();
        pass(place, count, type, message.rank, halo_tag, communicator_, &transfer->requests.back());
      });
    };
    for (const Incoming& message : incoming) add(message, MPI_Irecv);
    for (const Outgoing& message : outgoing) add(message, MPI_Isend);
    return transfer;
  }

  bool reaches(MemorySpace space) const override {
    if (space == MemorySpace::Cuda && !reaches_gpu_) {
      // Where MPI does not say so it is not tried, since the program might not survive it. All ranks have to
      // make the same messages of an exchange.
      const bool reaches = says_that_it_reaches_gpus() && passes_within(space);
      reaches_gpu_ = maximum(reaches ? 0 : 1) == 0;
      // What is registered last is done first: MPI gives back what it has of the GPU before CUDA's own end.
      if (*reaches_gpu_) std::atexit([] { MPI_Finalize(); });
    }
    return space == MemorySpace::Host || (space == MemorySpace::Cuda && *reaches_gpu_);
  }

  void send(int to, std::span<const std::byte> bytes) const override {
    std::uint64_t size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, to, message_tag, communicator_);
    for (std::size_t first = 0; first < bytes.size(); first += piece) {
      const auto part = bytes.subspan(first, std::min(piece, bytes.size() - first));
      MPI_Send(part.data(), count_of(part.size()), MPI_BYTE, to, message_tag, communicator_);
    }
  }
  std::vector<std::byte> receive(int from) const override {
    std::uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, from, message_tag, communicator_, MPI_STATUS_IGNORE);
    std::vector<std::byte> bytes(size);
    for (std::size_t first = 0; first < bytes.size(); first += piece) {
      const int length = count_of(std::min(piece, bytes.size() - first));
      MPI_Recv(bytes.data() + first, length, MPI_BYTE, from, message_tag, communicator_, MPI_STATUS_IGNORE);
    }
    return bytes;
  }

  void maxima(std::span<Real> values) const override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                  communicator_);
  }
  void share(std::span<Real> values) const override {
    static_assert(sizeof(Real) == sizeof(std::uint64_t));
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_BOR,
                  communicator_);
  }
  void broadcast(int from, std::vector<std::byte>& bytes) const override {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, from, communicator_);
    bytes.resize(size);
    for (std::size_t first = 0; first < bytes.size(); first += piece) {
      const int length = count_of(std::min(piece, bytes.size() - first));
      MPI_Bcast(bytes.data() + first, length, MPI_BYTE, from, communicator_);
    }
  }
  std::vector<Letter> deliver(std::vector<Letter> outgoing) const override {
    std::vector<std::uint64_t> there(at(ranks_), 0), here(at(ranks_), 0);
    for (const Letter& letter : outgoing) there[at(letter.rank)] = letter.bytes.size();
    MPI_Alltoall(there.data(), 1, MPI_UINT64_T, here.data(), 1, MPI_UINT64_T, communicator_);
    std::vector<Letter> incoming;
    for (int r = 0; r < ranks_; ++r) {
      if (here[at(r)] > 0) incoming.push_back({r, std::vector<std::byte>(here[at(r)])});
    }
    MpiTransfer transfer;
    const auto pass_pieces = [&](auto pass, Letter& letter) {
      for (std::size_t first = 0; first < letter.bytes.size(); first += piece) {
        transfer.requests.emplace_back();
        pass(letter.bytes.data() + first, count_of(std::min(piece, letter.bytes.size() - first)), MPI_BYTE,
             letter.rank, letter_tag, communicator_, &transfer.requests.back());
      }
    };
    for (Letter& letter : incoming) pass_pieces(MPI_Irecv, letter);
    for (Letter& letter : outgoing) pass_pieces(MPI_Isend, letter);
    transfer.finish();
    return incoming;
  }
  Place place() const override { return place_; }

  [[noreturn]] void abort(int status, const std::function<void()>& tell) const override {
    if (lowest_to_fail()) {
      tell();
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(5));  // until the one that tells ends this rank
    }
    MPI_Abort(communicator_, status);
    std::abort();  // MPI_Abort does not return
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 30;  // MPI counts in int

  /// Sends word to all ranks, and listens for a while for that of lower ones.
  bool lowest_to_fail() const {
    using Clock = std::chrono::steady_clock;
    const char word = 0;
    for (int r = rank_ + 1; r < ranks_; ++r) {
      MPI_Request request;
      MPI_Isend(&word, 1, MPI_CHAR, r, failure_tag, communicator_, &request);
      MPI_Request_free(&request);
    }
    for (const auto end = Clock::now() + std::chrono::milliseconds(400); rank_ > 0 && Clock::now() < end;) {
      int failed = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, communicator_, &failed, MPI_STATUS_IGNORE);
      if (failed != 0) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  /// Takes all ranks together.
  Place find_place() const {
    MPI_Comm machine;
    MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    Place place;
    int ranks = 1;
    MPI_Comm_rank(machine, &place.rank);
    MPI_Comm_size(machine, &ranks);
    // A launcher may bind ranks to cores of their own, to some in common, or not at all.
    cpu_set_t mine, together;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &together, sizeof mine, MPI_BYTE, MPI_BOR, machine);
    place.cores = std::max(1, std::min(CPU_COUNT(&mine), CPU_COUNT(&together) / ranks));
    MPI_Comm_free(&machine);
    return place;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Datatype binned_sum_ = MPI_DATATYPE_NULL;
  MPI_Op add_ = MPI_OP_NULL;
  int rank_ = 0, ranks_ = 1;
  Place place_;
  mutable std::optional<bool> reaches_gpu_;  // once somebody asked
};

}  // namespace

std::shared_ptr<const Communicator> all_ranks() {
  static const std::shared_ptr<const Communicator> ranks =
      launched_ranks() ? std::make_shared<MpiRanks>() : one_rank();
  return ranks;
}

bool built_with_mpi() {
  return true;
}

}  // namespace curlew
