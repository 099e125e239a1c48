// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>
#if defined(CURLEW_CUDA)
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "kernels/reduction.hpp"
#include "kernels/tensor3.hpp"
#include "mesh/box.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/parallel/lowest_labels.hpp"
#include "mesh/parallel/mesh_part.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"
#include "operators/node_diffusion.hpp"
#include "operators/viscous_form.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parted.hpp"

namespace curlew {
namespace {

/// One for each kind of memory that there is.
std::vector<Executor> executors() {
  std::vector<Executor> all{Executor::serial(), Executor::debug_device()};
  if (cuda_problem().empty()) all.push_back(Executor::cuda());
  return all;
}

/// A value that belongs to an entity of the whole mesh, whoever has it.
template <class T>
T value_of(GlobalIndex i) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(i));
  generator.discard(5);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  Real numbers[(sizeof(T) + sizeof(Real) - 1) / sizeof(Real)];
  for (Real& number : numbers) number = uniform(generator);
  T value;
  std::memcpy(&value, numbers, sizeof value);
  return value;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A field with its values where the rank owns the entity, and not-a-number in the ghosts.
template <class F>
F own_values(const Executor& executor, const Domain& domain) {
  using E = typename F::Entity;
  using T = typename F::Value;
  const Halo<E>& halo = domain.halo<E>();
  F field(executor, halo.all().size(), "x", "1");
  std::vector<T> values(at(field.size()));
  if (!values.empty()) std::memset(static_cast<void*>(values.data()), 0xff, values.size() * sizeof(T));
  for (const Id<E> i : halo.owned()) values[at(i.value())] = value_of<T>(halo.global(i));
  field.copy_from_host(values);
  return field;
}

/// Entities whose values in a part do not have the bits of those in the whole mesh.
template <class F>
Index differences(const Domain& domain, Range<typename F::Entity> range, const F& part, const F& whole) {
  const auto values = part.to_host(), expected = whole.to_host();
  Index count = 0;
  for (const auto i : range) {
    if (!same_bits(values[at(i.value())], expected[at(domain.halo<typename F::Entity>().global(i))])) ++count;
  }
  return count;
}

template <class X, class Y, class Make>
void expect_same_bits(const Parted& mesh, const std::string& name, const Make& make) {
  for (const Executor& executor : executors()) {
    const auto whole = make(executor, mesh.whole);
    X x = own_values<X>(executor, mesh.whole.domain());
    Y y(executor, mesh.whole.domain().template halo<typename Y::Entity>().all().size(), "y", "1");
    whole.apply(x, y);
    const auto part = make(executor, mesh.part);
    X my_x = own_values<X>(executor, mesh.domain());
    exchange_ghosts(mesh.domain(), my_x);
    Y my_y(executor, mesh.domain().template halo<typename Y::Entity>().all().size(), "y", "1");
    part.apply(my_x, my_y);
    const auto& halo = mesh.domain().template halo<typename Y::Entity>();
    EXPECT_EQ(differences(mesh.domain(), halo.owned(), my_y, y), 0)
        << name << " of " << halo.owned().size() << " on rank " << all_ranks()->rank();
    // What is interior needs no ghosts.
    X blind = own_values<X>(executor, mesh.domain());
    part.apply(blind, my_y);
    EXPECT_EQ(differences(mesh.domain(), halo.interior(), my_y, y), 0)
        << name << " of interior on rank " << all_ranks()->rank();
  }
}

template <class Op>
auto of_topology() {
  return [](const Executor& executor, const Mesh& m) { return Op(executor, m.topology()); };
}
template <class Op>
auto of_mesh() {
  return [](const Executor& executor, const Mesh& m) { return Op(executor, m); };
}

void expect_operators_agree(const Parted& mesh) {
  expect_same_bits<DualCochain<Cell>, DualCochain<Face>>(mesh, "gradient", of_topology<Gradient>());
  expect_same_bits<PrimalCochain<Face>, PrimalCochain<Cell>>(mesh, "divergence", of_topology<Divergence>());
  expect_same_bits<PrimalCochain<Edge>, PrimalCochain<Face>>(mesh, "curl", of_topology<Curl>());
  expect_same_bits<DualCochain<Face>, DualCochain<Edge>>(mesh, "rotation", of_topology<Rotation>());
  expect_same_bits<PrimalCochain<Node>, PrimalCochain<Edge>>(mesh, "node gradient",
                                                             of_topology<NodeGradient>());
  expect_same_bits<PrimalCochain<Face>, Field<Cell, Vector3>>(mesh, "interpolation",
                                                              of_mesh<Interpolation>());
  expect_same_bits<Field<Cell, Vector3>, DualCochain<Face>>(mesh, "integration", of_mesh<Integration>());
  expect_same_bits<PrimalCochain<Node>, DualCochain<Node>>(
      mesh, "node diffusion", [](const Executor& executor, const Mesh& m) {
        std::vector<Real> conductivity;
        for (const Id<Cell> c : m.topology().cells()) {
          conductivity.push_back(2 + value_of<Real>(m.domain().halo<Cell>().global(c)));
        }
        return NodeDiffusion(executor, m, conductivity);
      });
  expect_same_bits<DualCochain<Cell>, PrimalCochain<Cell>>(
      mesh, "cell Laplacian", [](const Executor& executor, const Mesh& m) {
        std::vector<Real> coefficient;
        for (const Id<Face> f : m.topology().faces()) {
          coefficient.push_back(2 + value_of<Real>(m.domain().halo<Face>().global(f)));
        }
        return CellLaplacian(executor, m.topology(), coefficient);
      });
  bool star_shaped = true;
  try {
    const FluxMass attempt(Executor::serial(), mesh.whole);
  } catch (const InputError&) {
    star_shaped = false;
  }
  if (!star_shaped) return;
  expect_same_bits<PrimalCochain<Face>, DualCochain<Face>>(mesh, "flux mass", of_mesh<FluxMass>());
  expect_same_bits<Field<Face, Vector3>, Field<Face, Vector3>>(mesh, "viscous form", of_mesh<ViscousForm>());
}

template <class E>
struct ValueOf {
  View<E, const Real> x;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return x[i]; }
};

/// Numbers, ghosts and sums of one kind of entity.
template <class E>
void expect_sound(const Parted& mesh, Index entities) {
  const Halo<E>& halo = mesh.domain().halo<E>();
  const Communicator& ranks = *all_ranks();
  EXPECT_EQ(halo.total(), entities);
  for (const Range<E> group : {halo.interior(), halo.boundary()}) {
    for (Index i = group.first() + 1; i < group.last(); ++i) {
      const bool patches_begin = std::is_same_v<E, Face> && i >= mesh.part.topology().interior_faces().last();
      EXPECT_TRUE(halo.global(Id<E>(i - 1)) < halo.global(Id<E>(i)) || patches_begin);
    }
  }
  for (const auto& from : halo.ghosts_by_owner()) {
    EXPECT_NE(from.rank, ranks.rank());
    EXPECT_GT(from.entities.size(), 0);
    for (Index i = from.entities.first() + 1; i < from.entities.last(); ++i) {
      EXPECT_LT(halo.global(Id<E>(i - 1)), halo.global(Id<E>(i)));
    }
  }
  // Every entity has one owner: the sum over owners of what each entity is worth is that over the whole mesh.
  const auto worth = own_values<Field<E>>(Executor::serial(), mesh.domain());
  const auto mine = binned_sum(halo.owned().size(), [&](Index k) { return worth.view()[Id<E>(k)]; });
  const auto whole = own_values<Field<E>>(Executor::serial(), mesh.whole.domain());
  EXPECT_EQ(ranks.sum(mine).value(), sum(Executor::serial(), whole.range(), ValueOf<E>{whole.view()}));
}

class OnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(OnRanks, every_entity_has_one_owner) {
  const Parted mesh = divided(GetParam().raw);
  const Topology& t = mesh.whole.topology();
  expect_sound<Node>(mesh, t.nodes().size());
  expect_sound<Edge>(mesh, t.edges().size());
  expect_sound<Face>(mesh, t.faces().size());
  expect_sound<Cell>(mesh, t.cells().size());
  ASSERT_EQ(mesh.part.topology().patches().size(), t.patches().size());
  for (std::size_t p = 0; p < t.patches().size(); ++p) {
    const Patch& mine = mesh.part.topology().patches()[p];
    EXPECT_EQ(mine.name, t.patches()[p].name);
    for (const Id<Face> f : mine.faces) {
      EXPECT_TRUE(
          t.patches()[p].faces.contains(Id<Face>(static_cast<Index>(mesh.domain().halo<Face>().global(f)))));
    }
  }
}

TEST_P(OnRanks, operators_give_the_bits_of_one_rank) {
  expect_operators_agree(divided(GetParam().raw));
}

/// Cells dealt out at random: parts in many pieces, every rank everyone's neighbour.
TEST_P(OnRanks, operators_give_the_bits_of_one_rank_on_the_worst_partition) {
  const Mesh whole(GetParam().raw);
  Partition partition{all_ranks()->ranks(), {}};
  std::mt19937 generator(1);
  for (Index c = 0; c < whole.topology().cells().size(); ++c) {
    partition.part_of_cell.push_back(
        static_cast<Index>(generator() % static_cast<unsigned>(partition.parts)));
  }
  expect_operators_agree(divided(GetParam().raw, partition));
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(OnRanks, some_may_be_empty) {
  const RawMesh raw = make_box(CellType::Tetrahedron, {3, 3, 3});
  Partition partition{all_ranks()->ranks(), {}};
  const Mesh whole(raw);
  for (Index c = 0; c < whole.topology().cells().size(); ++c) {
    partition.part_of_cell.push_back(partition.parts - 1 - (partition.parts > 3 && c % 2 == 1 ? 2 : 0));
  }
  expect_operators_agree(divided(raw, partition));
}

/// Two boxes apart from each other: with two ranks, none has neighbours.
TEST(OnRanks, some_may_have_no_neighbours) {
  RawMesh raw = make_box(CellType::Hexahedron, {3, 2, 2});
  const RawMesh other = raw;
  const auto nodes = static_cast<Index>(raw.nodes.size());
  for (const Vector3 x : other.nodes) raw.nodes.push_back(x + Vector3{5, 0, 0});
  for (std::size_t c = 0; c < other.cell_types.size(); ++c) {
    raw.cell_types.push_back(other.cell_types[c]);
    raw.cell_region.push_back(other.cell_region[c]);
    for (std::int64_t k = other.cell_start[c]; k < other.cell_start[c + 1]; ++k) {
      raw.cell_nodes.push_back(other.cell_nodes[at(k)] + nodes);
    }
    raw.cell_start.push_back(static_cast<std::int64_t>(raw.cell_nodes.size()));
  }
  const Mesh whole(raw);
  Partition partition{all_ranks()->ranks(), {}};
  for (const Vector3 x : whole.geometry().cell_centroids().host()) {
    partition.part_of_cell.push_back(x.x < 3 || partition.parts == 1 ? 0 : 1);
  }
  const Parted mesh = divided(raw, partition);
  EXPECT_TRUE(mesh.domain().halo<Cell>().ghosts().empty());
  expect_operators_agree(mesh);
}

TEST(OnRanks, work_on_the_interior_comes_first_where_exchanges_are_overlapped) {
  const Parted mesh = divided(make_box(CellType::Hexahedron, {9, 8, 7}));
  const Halo<Cell>& halo = mesh.domain().halo<Cell>();
  EXPECT_EQ(halo.interior().size() < halo.owned().size(), all_ranks()->ranks() > 1);
  for (const bool overlaps : {true, false}) {
    const Executor executor = overlaps ? Executor::serial() : Executor::serial().without_overlap();
    auto cells = own_values<Field<Cell>>(executor, mesh.domain());
    std::vector<Range<Cell>> launches;
    const auto launch = [&](Range<Cell> range) { launches.push_back(range); };
    launch_with_ghosts(mesh.domain(), halo.owned(), launch, cells);
    ASSERT_EQ(launches.size(), 2u);
    EXPECT_EQ(launches[0].first(), 0);
    EXPECT_EQ(launches[0].last(), overlaps ? halo.interior().last() : 0);
    EXPECT_EQ(launches[1].first(), launches[0].last());
    EXPECT_EQ(launches[1].last(), halo.owned().last());
    const auto expected = own_values<Field<Cell>>(executor, mesh.whole.domain());
    EXPECT_EQ(differences(mesh.domain(), cells.range(), cells, expected), 0);
  }
}

template <class E>
struct ClearOnEntity {
  View<E, Real> x;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { x[i] = 0; }
};

template <class AnyDomain>
void expect_exchange_of_all_kinds(const AnyDomain& domain, const Parted& mesh, const Executor& executor) {
  auto marks = own_values<Field<Edge, float>>(executor, mesh.domain());
  auto nodes = own_values<PrimalCochain<Node>>(executor, mesh.domain());
  auto changed = own_values<PrimalCochain<Node>>(executor, mesh.domain());
  auto faces = own_values<Field<Face, Vector3>>(executor, mesh.domain());
  auto cells = own_values<Field<Cell, Tensor3>>(executor, mesh.domain());
  const Range<Node> ghosts = mesh.domain().halo<Node>().ghosts();
  Exchange exchange = Exchange::start(domain, nodes, changed, faces, cells, marks);
  // Too late: what is sent is what was there at the start.
  for_each(executor, mesh.domain().halo<Node>().owned(), ClearOnEntity<Node>{changed.view()});
  exchange.finish();
  EXPECT_EQ(differences(mesh.domain(), ghosts, changed,
                        own_values<PrimalCochain<Node>>(executor, mesh.whole.domain())),
            0)
      << executor.name();
  const auto expect_all = [&]<class F>(const F& field) {
    EXPECT_EQ(differences(mesh.domain(), field.range(), field, own_values<F>(executor, mesh.whole.domain())),
              0)
        << executor.name() << " " << field.name();
  };
  expect_all(marks);
  expect_all(nodes);
  expect_all(faces);
  expect_all(cells);
}

TEST(OnRanks, an_exchange_takes_fields_of_several_kinds_at_once) {
  const Parted mesh = divided(make_box(CellType::Prism, {4, 4, 4}));
  for (const Executor& executor : executors()) expect_exchange_of_all_kinds(mesh.domain(), mesh, executor);
}

/// Copies from a device or to it and does not wait for what was launched there, as a network would.
void copy_at_once(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
                  std::size_t bytes) {
#if defined(CURLEW_CUDA)
  if (to_space == MemorySpace::Cuda || from_space == MemorySpace::Cuda) {
    static cudaStream_t stream = nullptr;
    if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemcpyAsync(to, from, bytes,
                    to_space == MemorySpace::Cuda ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return;
  }
#endif
  copy_bytes(to, to_space, from, from_space, bytes);
}

/// Ranks whose messages reach the memory of every device, as those of a device-aware MPI do.
class ReachingRanks final : public Communicator {
 public:
  explicit ReachingRanks(const Communicator& ranks, MemorySpace device) : ranks_(ranks), device_(device) {}

  bool reaches(MemorySpace) const override { return true; }
  std::unique_ptr<Transfer> start(std::span<const Incoming> incoming,
                                  std::span<const Outgoing> outgoing) const override {
    auto transfer = std::make_unique<Landing>();
    transfer->device = device_;
    std::vector<Incoming> landing(incoming.begin(), incoming.end());
    std::vector<Outgoing> leaving(outgoing.begin(), outgoing.end());
    for (Incoming& message : landing) {
      if (device_ != MemorySpace::Host) {
        EXPECT_EQ(message.places.size(), 1u);
      }
      for (std::span<std::byte>& place : message.places) {
        transfer->places.emplace_back(place.data(), std::vector<std::byte>(place.size()));
        place = transfer->places.back().second;
      }
    }
    for (Outgoing& message : leaving) {
      if (device_ != MemorySpace::Host) {
        EXPECT_EQ(message.places.size(), 1u);
      }
      for (std::span<const std::byte>& place : message.places) {
        transfer->left.emplace_back(place.size());
        copy_at_once(transfer->left.back().data(), MemorySpace::Host, place.data(), device_, place.size());
        place = transfer->left.back();
      }
    }
    transfer->underway = ranks_.start(landing, leaving);
    return transfer;
  }

  int rank() const override { return ranks_.rank(); }
  int ranks() const override { return ranks_.ranks(); }
  void sums(std::span<BinnedSum> mine) const override { ranks_.sums(mine); }
  Real maximum(Real mine) const override { return ranks_.maximum(mine); }
  void send(int to, std::span<const std::byte> bytes) const override { ranks_.send(to, bytes); }
  std::vector<std::byte> receive(int from) const override { return ranks_.receive(from); }
  void maxima(std::span<Real> values) const override { ranks_.maxima(values); }
  void share(std::span<Real> values) const override { ranks_.share(values); }
  void broadcast(int from, std::vector<std::byte>& bytes) const override { ranks_.broadcast(from, bytes); }
  std::vector<Letter> deliver(std::vector<Letter> outgoing) const override {
    return ranks_.deliver(std::move(outgoing));
  }
  Place place() const override { return ranks_.place(); }
  void abort(int status, const std::function<void()>& tell) const override { ranks_.abort(status, tell); }

 private:
  struct Landing final : Transfer {
    void finish() override {
      underway->finish();
      for (const auto& [to, bytes] : places)
        copy_at_once(to, device, bytes.data(), MemorySpace::Host, bytes.size());
    }
    MemorySpace device = MemorySpace::Host;
    std::vector<std::pair<std::byte*, std::vector<std::byte>>> places;
    std::vector<std::vector<std::byte>> left;
    std::unique_ptr<Transfer> underway;
  };

  const Communicator& ranks_;
  MemorySpace device_;
};

struct ReachingDomain {
  const Domain& domain;
  const ReachingRanks& ranks;
  const Communicator& communicator() const { return ranks; }
  template <class E>
  const Halo<E>& halo() const {
    return domain.halo<E>();
  }
};

TEST(OnRanks, an_exchange_needs_no_host_where_messages_reach_the_device) {
  const Parted mesh = divided(make_box(CellType::Prism, {4, 4, 4}));
  for (const Executor& executor : executors()) {
    const ReachingRanks ranks(mesh.domain().communicator(), executor.space());
    expect_exchange_of_all_kinds(ReachingDomain{mesh.domain(), ranks}, mesh, executor);
  }
}

/// Columns of cells joined at top and bottom in turn: one way through them all, cut in the middle.
DisjointSets halves_of_a_snake(const Mesh& mesh, Index columns) {
  DisjointSets sets(at(mesh.topology().cells().size()));
  const auto place = [&](Id<Cell> c) {
    const Vector3 centre = mesh.geometry().cell_centroids()[at(c.value())];
    return std::pair(static_cast<Index>(centre.x * static_cast<Real>(columns)),
                     static_cast<Index>(centre.y * static_cast<Real>(columns)));
  };
  for (const Id<Face> f : mesh.topology().faces()) {
    const auto cells = mesh.topology().cells_of_face()[f];
    if (cells.size() < 2) continue;
    const auto [low, high] = std::minmax({place(cells[0].id), place(cells[1].id)});
    const bool turns = low.second == (low.first % 2 == 0 ? columns - 1 : 0) && high.first != columns / 2;
    if (low.first == high.first || turns) sets.join(cells[0].id.value(), cells[1].id.value());
  }
  return sets;
}

/// Of cells whose own labels are the lower the later they come.
Field<Cell, GlobalIndex> lowest_labels(const Mesh& mesh, Index columns) {
  const Halo<Cell>& halo = mesh.domain().halo<Cell>();
  Field<Cell, GlobalIndex> label(Executor::serial(), mesh.domain().extent<Cell>(), "label", "1");
  for (const Id<Cell> c : label.owned()) label.view()[c] = halo.total() - halo.global(c);
  spread_lowest(mesh.domain(), halves_of_a_snake(mesh, columns), label);
  return label;
}

TEST(OnRanks, labels_spread_as_on_one_rank_through_sets_that_come_back_to_ranks) {
  constexpr Index columns = 8;
  const Parted mesh = divided(make_box(CellType::Quadrilateral, {columns, columns, 0}));
  const auto whole = lowest_labels(mesh.whole, columns), part = lowest_labels(mesh.part, columns);
  EXPECT_EQ(differences(mesh.domain(), part.range(), part, whole), 0);
  const std::vector<GlobalIndex> labels = whole.to_host();
  EXPECT_EQ(std::set(labels.begin(), labels.end()).size(), 2u);
}

}  // namespace
}  // namespace curlew
