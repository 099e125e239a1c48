// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "app/failure.hpp"
#include "app/output/checkpoint.hpp"
#include "app/output/field_files.hpp"
#include "app/output/field_picture.hpp"
#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "mesh/parallel/slabs.hpp"
#include "operators/cell_gradient.hpp"
#include "physics/monitors.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parted.hpp"

namespace curlew {
namespace {

using test::FullDisk;
using test::OutputDirectory;
using test::read_text;
using test::write_text;

/// A temperature and its gradient on a mesh, and a field that has its extrema at several nodes.
class Values final : public Snapshot {
 public:
  explicit Values(const Mesh& mesh) : nodes_(mesh.topology().nodes().size()) {
    for (const Vector3 x : mesh.geometry().node_positions().host()) {
      temperature_.push_back(std::sin(3 * x.x + x.y) + x.z / 3);
      stepped_.push_back(std::floor(3 * x.x));
    }
    gradient_ = cell_gradients(mesh, temperature_);
  }
  FieldSnapshot field(const std::string& name) override {
    if (name == "temperature") return View<Node, const Real>(temperature_.data(), nodes_);
    if (name == "stepped") return View<Node, const Real>(stepped_.data(), nodes_);
    return View<Cell, const Vector3>(gradient_.data(), static_cast<Index>(gradient_.size()));
  }
  std::span<const Real> patch_flows() override { return {}; }

 private:
  Index nodes_;
  std::vector<Real> temperature_, stepped_;
  std::vector<Vector3> gradient_;
};

const std::vector<FieldDescription> fields{
    {"temperature", "K", 1}, {"stepped", "1", 1}, {"gradient", "K/m", 3}};

void expect_same_bits(const std::vector<Real>& got, const std::vector<Real>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(got[k]), std::bit_cast<std::uint64_t>(expected[k])) << k;
}

class OnRanks : public testing::TestWithParam<ShelfMesh> {};

/// The directory of rank 0, for all.
std::filesystem::path shared(const OutputDirectory& mine) {
  const std::string name = mine.path().string();
  std::vector<char> letters(name.begin(), name.end());
  broadcast(*all_ranks(), letters);
  return std::string(letters.begin(), letters.end());
}

TEST_P(OnRanks, files_of_fields_have_the_bytes_of_one_rank) {
  RawMesh raw = GetParam().raw;
  raw.region_names = {"steel", "copper"};
  for (std::size_t c = 0; c < raw.cell_region.size(); ++c) raw.cell_region[c] = c % 3 == 0 ? 1 : 0;
  const Parted mesh = divided(raw);
  Values whole(mesh.whole), part(mesh.part);
  const OutputDirectory mine, expected;
  const auto ours = shared(mine);
  FieldFiles(expected.path(), "whole", mesh.whole, std::nullopt).write(3, 0.5, fields, whole);
  FieldFiles files(ours, "whole", mesh.part, std::nullopt);
  files.write(3, 0.5, fields, part);
  const std::filesystem::path diverged = files.write_diverged(0.5, fields, part);
  if (all_ranks()->rank() > 0) {
    EXPECT_EQ(mine.names(), "");
    return;
  }
  EXPECT_TRUE(read_text(diverged) == read_text(expected / "fields/whole_000003.hdf"));
  std::filesystem::remove(diverged);
  EXPECT_EQ(mine.names(), expected.names());
  for (const char* name : {"whole.hdf.series", "fields/whole_000003.hdf"})
    EXPECT_TRUE(read_text(ours / name) == read_text(expected / name)) << name;
}

TEST_P(OnRanks, pictures_have_the_bits_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  Values whole(mesh.whole), part(mesh.part);
  const auto expected_views = viewpoints(mesh.whole), views = viewpoints(mesh.part);
  ASSERT_EQ(views.size(), expected_views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    EXPECT_EQ(views[v].caption, expected_views[v].caption);
    EXPECT_EQ(views[v].left, expected_views[v].left);
    EXPECT_EQ(views[v].pixels_per_metre, expected_views[v].pixels_per_metre);
    for (const auto& field : fields) {
      const ShownField shown(mesh.part, part.field(field.name)),
          shown_whole(mesh.whole, whole.field(field.name));
      EXPECT_EQ(shown.range()->low, shown_whole.range()->low);
      EXPECT_EQ(shown.range()->high, shown_whole.range()->high);
      const ValueImage image = draw(shown, views[v]), expected = draw(shown_whole, expected_views[v]);
      ASSERT_EQ(image.width(), expected.width());
      ASSERT_EQ(image.height(), expected.height());
      int different = 0;
      for (int row = 0; row < image.height(); ++row) {
        for (int column = 0; column < image.width(); ++column) {
          const bool covered = image.covered(column, row);
          const bool same = covered == expected.covered(column, row) &&
                            (!covered || (image.value(column, row) == expected.value(column, row) &&
                                          image.light(column, row) == expected.light(column, row)));
          different += same ? 0 : 1;
        }
      }
      EXPECT_EQ(different, 0) << field.name << ", " << views[v].caption;
    }
  }
}

TEST(Images, of_ranks_are_merged_to_what_one_would_have_drawn) {
  const Communicator& ranks = *all_ranks();
  const auto triangle = [](Real depth, Real value) {
    return std::array<Corner, 3>{{{0, 0, depth, value}, {8, 0, depth, value}, {0, 8, depth, value}}};
  };
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  ValueImage merged(8, 8), expected(8, 8);
  for (int rank = 0; rank < ranks.ranks(); ++rank) {
    // Far and large; in the depth of all with the largest value on the last rank, whose light is the least.
    const std::array<std::pair<std::array<Corner, 3>, Real>, 3> drawn{
        {{triangle(-1, 100), 1}, {triangle(0, rank), 1 - 0.1 * rank}, {triangle(0, nan), 1}}};
    for (const auto& [what, light] : drawn) {
      expected.draw(what, light);
      if (rank == ranks.rank()) merged.draw(what, light);
    }
  }
  // One rank alone sees this.
  const std::array<Corner, 3> corner{{{4, 4, 2, nan}, {8, 4, 2, 1}, {8, 8, 2, 1}}};
  expected.draw(corner, 0.3);
  if (ranks.rank() + 1 == ranks.ranks()) merged.draw(corner, 0.3);
  merged.merge(ranks);
  EXPECT_EQ(expected.value(1, 1), ranks.ranks() - 1);
  EXPECT_TRUE(expected.covered(6, 5) && std::isnan(expected.value(6, 5)));
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      EXPECT_EQ(merged.covered(column, row), expected.covered(column, row));
      expect_same_bits({merged.value(column, row), merged.light(column, row)},
                       {expected.value(column, row), expected.light(column, row)});
    }
  }
}

TEST_P(OnRanks, checkpoints_have_the_bytes_of_one_rank_and_are_read_in_slabs) {
  const Parted mesh = divided(GetParam().raw);
  const Communicator& ranks = *all_ranks();
  const auto state_of = [](const Mesh& m) {
    std::vector<Real> pressure, velocity;
    for (const Id<Cell> c : m.domain().halo<Cell>().all())
      pressure.push_back(0.1 * static_cast<Real>(m.domain().halo<Cell>().global(c)));
    for (const Id<Face> f : m.domain().halo<Face>().all()) {
      const auto g = static_cast<Real>(m.domain().halo<Face>().global(f));
      velocity.insert(velocity.end(), {g, -g, g / 3});
    }
    Checkpoint state;
    state.step = 7;
    state.numbers["quantum"] = 0.1;
    state.arrays["pressure"] = in_slabs<Cell>(m.domain(), std::span<const Real>(pressure));
    state.arrays["velocity"] = in_slabs<Face>(m.domain(), std::span<const Real>(velocity), 3);
    const std::vector<float> guess(velocity.begin(), velocity.end());
    state.singles["guess"] = in_slabs<Face>(m.domain(), std::span(guess), 3);
    return state;
  };
  const OutputDirectory mine, alone;
  const auto ours = shared(mine);
  const Checkpoint part = state_of(mesh.part);
  const auto expected = write_checkpoint(alone.path(), state_of(mesh.whole));
  const auto written = write_checkpoint(ours, part, ranks);
  if (ranks.rank() == 0) {
    EXPECT_TRUE(read_text(written) == read_text(expected));
  }
  EXPECT_EQ(read_checkpoint(written, ranks), part);
  EXPECT_EQ(read_checkpoint(expected), state_of(mesh.whole));
  const auto found = find_checkpoint(ours, ranks);
  EXPECT_EQ(found.path, written);
  EXPECT_EQ(found.checkpoint, part);

  // A bit anywhere, in whichever rank's share of the file.
  const std::string whole = ranks.rank() == 0 ? read_text(written) : "";
  for (int k = 1; k <= 8; ++k) {
    if (ranks.rank() == 0) {
      std::string damaged = whole;
      damaged[damaged.size() * static_cast<std::size_t>(k) / 8 - 1] ^= 4;
      write_text(written, damaged);
    }
    EXPECT_ANY_THROW(read_checkpoint(written, ranks)) << k;
    EXPECT_ANY_THROW(find_checkpoint(ours, ranks)) << k;
  }
}

TEST(FilesOfRanks, a_rank_that_does_not_see_a_file_is_named) {
  const Communicator& ranks = *all_ranks();
  if (ranks.ranks() == 1) return;
  const OutputDirectory mine;
  Checkpoint state;
  state.step = 7;
  const auto written = write_checkpoint(mine.path(), state);
  const bool sees = ranks.rank() + 1 < ranks.ranks();
  try {
    read_checkpoint(sees ? written : mine / "missing.h5", ranks);
    FAIL();
  } catch (const SharedFailure& shared) {
    EXPECT_THAT(shared.failure().messages,
                testing::ElementsAre(testing::HasSubstr("rank " + std::to_string(ranks.ranks() - 1) +
                                                        " finds no such file; all ranks must see")));
  }
}

TEST(FilesOfRanks, a_rank_that_cannot_write_is_told_by_all_and_leaves_nothing) {
  const Communicator& ranks = *all_ranks();
  const OutputDirectory mine;
  const auto ours = shared(mine);
  Checkpoint state;
  // What others have to make together is made although one rank cannot write any more.
  for (const char* name : {"a", "b", "c"}) {
    state.arrays[name] = StateArray<Real>(10000, [&ranks] {  // of each rank
      return std::vector<Real>(10000, ranks.maximum(0.1));
    });
  }
  const auto message = [&] {
    try {
      // The last rank's share lies at the end.
      std::optional<FullDisk> full;
      if (ranks.rank() + 1 == ranks.ranks()) full.emplace(40000);
      write_checkpoint(ours, state, ranks);
    } catch (const SharedFailure& failure) {
      EXPECT_EQ(failure.failure().status, exit_status::bad_input);
      return failure.failure().messages.at(0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  }();
  EXPECT_THAT(message, testing::HasSubstr("checkpoint_0.h5': File too large"));
  if (ranks.ranks() > 1) {
    EXPECT_THAT(message, testing::StartsWith("rank " + std::to_string(ranks.ranks() - 1) + ": "));
  }
  EXPECT_EQ(mine.names(), "");
}

TEST_P(OnRanks, points_have_the_values_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  Values whole(mesh.whole), part(mesh.part);
  const PointLocator of_whole(mesh.whole), of_part(mesh.part);
  // Anywhere, and at nodes and centroids of faces, where several cells meet.
  std::mt19937 generator(5);
  std::uniform_real_distribution<Real> place(-0.1, 1.1);
  std::vector<Vector3> points;
  const Vector3 low = of_whole.low(), size = of_whole.high() - low;
  for (int k = 0; k < 200; ++k) {
    points.push_back(
        low + Vector3{place(generator) * size.x, place(generator) * size.y, place(generator) * size.z});
  }
  for (const Vector3 x : mesh.whole.geometry().node_positions().host()) points.push_back(x);
  for (const Vector3 x : mesh.whole.geometry().face_centroids().host()) points.push_back(x);
  std::vector<Vector3> inside, outside;
  for (const Vector3 x : points) (of_whole.locate(x) ? inside : outside).push_back(x);
  const PointSampler expected = PointSampler::at_points(of_whole, "p", inside);
  const PointSampler ours = PointSampler::at_points(of_part, "p", inside);
  const auto read = [](const PointSampler& sampler, Snapshot& snapshot, const std::string& field) {
    return sampler(snapshot.field_in(field, sampler.cells()));
  };
  for (const auto& field : fields)
    expect_same_bits(read(ours, part, field.name), read(expected, whole, field.name));
  for (const Vector3 x : outside) EXPECT_THROW(PointSampler::at_points(of_part, "p", {x}), InputError);
  // A line that leaves the mesh.
  const Vector3 from = low - 0.21 * size, to = low + 1.13 * size;
  const PointSampler line = PointSampler::on_line(of_whole, "l", from, to, 37);
  const PointSampler our_line = PointSampler::on_line(of_part, "l", from, to, 37);
  for (const auto& field : fields)
    expect_same_bits(read(our_line, part, field.name), read(line, whole, field.name));
  EXPECT_THROW(PointSampler::on_line(of_part, "l", low - size, low - 2 * size, 4), InputError);
}

TEST_P(OnRanks, extrema_and_means_are_those_of_one_rank) {
  const Parted mesh = divided(GetParam().raw);
  Values whole(mesh.whole), part(mesh.part);
  const VolumeAverage of_whole(mesh.whole, "a", mesh.whole.topology().region_names()[0]);
  const VolumeAverage of_part(mesh.part, "a", mesh.whole.topology().region_names()[0]);
  for (const auto& field : fields) {
    const auto expected = extrema(mesh.whole, whole.field(field.name));
    const auto ours = extrema(mesh.part, part.field(field.name));
    ASSERT_EQ(ours.size(), expected.size());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      for (const auto& [a, b] : {std::pair(ours[k].min, expected[k].min), {ours[k].max, expected[k].max}}) {
        expect_same_bits({a.value, a.position.x, a.position.y, a.position.z},
                         {b.value, b.position.x, b.position.y, b.position.z});
      }
    }
    expect_same_bits(of_part(part.field(field.name)), of_whole(whole.field(field.name)));
  }
}

TEST_P(OnRanks, slabs_are_the_whole_in_order_and_come_back) {
  const Parted mesh = divided(GetParam().raw);
  const Communicator& ranks = *all_ranks();
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  for (const int columns : {1, 2, 3}) {
    std::vector<Real> values;
    for (const Id<Face> f : halo.all()) {
      for (int k = 0; k < columns; ++k) values.push_back(static_cast<Real>(halo.global(f) * columns + k));
    }
    const std::vector<Real> slab = in_slabs<Face>(mesh.domain(), std::span<const Real>(values), columns);
    // As a reader finds it who knows nothing of rows.
    const Slabs of_numbers(halo.total() * columns, 1, ranks.ranks());
    ASSERT_EQ(std::ssize(slab), of_numbers.size(ranks.rank()));
    const std::int64_t first = of_numbers.first(ranks.rank());
    for (std::size_t k = 0; k < slab.size(); ++k)
      EXPECT_EQ(slab[k], static_cast<Real>(first + static_cast<std::int64_t>(k)));
    EXPECT_EQ(from_slabs<Face>(mesh.domain(), std::span(slab), columns), values);
    EXPECT_THROW(from_slabs<Face>(mesh.domain(), std::span(slab), columns == 3 ? 1 : 3), InputError);
  }
}

TEST_P(OnRanks, what_was_gathered_is_scattered_again) {
  const Parted mesh = divided(GetParam().raw);
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  std::vector<Real> values;
  for (const Id<Face> f : halo.all()) values.push_back(static_cast<Real>(halo.global(f)));
  const std::vector<Real> whole = gathered<Face>(mesh.domain(), std::span<const Real>(values));
  if (all_ranks()->rank() == 0) {
    ASSERT_EQ(whole.size(), at(halo.total()));
    for (std::size_t g = 0; g < at(halo.total()); ++g) EXPECT_EQ(whole[g], static_cast<Real>(g));
  } else {
    EXPECT_TRUE(whole.empty());
  }
  EXPECT_EQ(scattered<Face>(mesh.domain(), std::span(whole)), values);
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(Together, all_throw_what_the_lowest_has_to_tell) {
  const Communicator& ranks = *all_ranks();
  if (ranks.ranks() == 1) {
    EXPECT_THROW(together(ranks, [] { throw InputError("here"); }), InputError);
    return;
  }
  EXPECT_NO_THROW(together(ranks, [] {}));
  const auto told = [&](int first) {
    try {
      together(ranks, [&] {
        if (ranks.rank() >= first) throw DivergedError("at rank " + std::to_string(ranks.rank()));
      });
    } catch (const SharedFailure& shared) {
      EXPECT_EQ(shared.failure().status, 3);
      return shared.failure().messages;
    }
    return std::vector<std::string>{"nothing"};
  };
  EXPECT_EQ(told(0), std::vector<std::string>{"at rank 0"});
  EXPECT_EQ(told(1), std::vector<std::string>{"rank 1: at rank 1"});
  EXPECT_EQ(told(ranks.ranks()), std::vector<std::string>{"nothing"});
}

TEST(Ranks, share_values_to_the_bit) {
  const Communicator& ranks = *all_ranks();
  std::vector<Real> values(static_cast<std::size_t>(ranks.ranks()) + 2, 0);
  const std::vector<Real> expected{-0.0, 1e-310, std::numeric_limits<Real>::infinity(), 0.1};
  if (ranks.rank() == ranks.ranks() - 1) std::copy_n(expected.begin(), 3, values.begin());
  ranks.share(values);
  expect_same_bits({values.begin(), values.begin() + 3}, {expected.begin(), expected.begin() + 3});
  std::vector<Real> largest{static_cast<Real>(ranks.rank()), -static_cast<Real>(ranks.rank())};
  ranks.maxima(largest);
  EXPECT_EQ(largest[0], ranks.ranks() - 1);
  EXPECT_EQ(largest[1], 0);
  EXPECT_GE(ranks.place().cores, 1);
}

}  // namespace
}  // namespace curlew
