// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/checkpoint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/error.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Checkpoint example(std::int64_t step) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(step));
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.time = 0.1 * static_cast<double>(step);
  checkpoint.numbers = {{"step size", 1.0 / 3}, {"pressure reference", -0.0}};
  checkpoint.unwritten_since = 1.0 / 7;
  checkpoint.integers = {{"solves", std::numeric_limits<std::int64_t>::min()}, {"nodes", 1000}};
  checkpoint.texts = {{"case", "[case]\nname = \"plaque à µ\"\n"}, {"empty", ""}};
  std::vector<double> temperature;
  while (temperature.size() < 1000) {
    const auto value = std::bit_cast<double>(generator());
    if (value == value) temperature.push_back(value);
  }
  temperature[0] = std::numeric_limits<double>::denorm_min();
  temperature[1] = std::numeric_limits<double>::infinity();
  checkpoint.arrays["temperature"] = temperature;
  checkpoint.arrays["none"] = {};
  checkpoint.singles["guess"] =
      std::vector{-0.f, 0.1f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()};
  return checkpoint;
}

TEST(Checkpoint, reads_back_the_same_bits) {
  const OutputDirectory directory;
  Checkpoint written = example(12);
  const double payload = std::bit_cast<double>(std::uint64_t{0x7ff8'dead'beef'0001});  // a not-a-number
  const auto set_third = [](Checkpoint& checkpoint, double value) {
    std::vector<double> values = checkpoint.arrays.at("temperature").values();
    values[2] = value;
    checkpoint.arrays["temperature"] = values;
  };
  set_third(written, payload);
  const auto path = write_checkpoint(directory.path(), written);
  EXPECT_EQ(path, directory / "checkpoint_12.h5");
  Checkpoint read = read_checkpoint(path);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read.arrays["temperature"].values()[2]),
            std::bit_cast<std::uint64_t>(payload));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read.numbers["pressure reference"]),
            std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_TRUE(std::signbit(read.singles.at("guess").values().at(0)));
  set_third(read, 0);
  set_third(written, 0);
  EXPECT_EQ(read, written);
}

TEST(Checkpoint, an_array_is_in_the_file_before_the_next_is_made) {
  const OutputDirectory directory;
  const auto is_in_file = [&](char letter) {
    return read_text(directory / "checkpoint_0.h5.tmp").find(std::string(8000, letter)) != std::string::npos;
  };
  std::string made;
  Checkpoint checkpoint;
  for (const char letter : {'a', 'b', 'c'}) {
    checkpoint.arrays[std::string(1, letter)] = StateArray<double>(1000, [&, letter] {
      for (const char before : made) EXPECT_TRUE(is_in_file(before)) << before;
      EXPECT_FALSE(is_in_file(letter)) << letter;
      made += letter;
      double value = 0;
      std::memset(&value, letter, sizeof value);
      return std::vector<double>(1000, value);
    });
  }
  write_checkpoint(directory.path(), checkpoint);
  EXPECT_EQ(made, "abc");
}

TEST(Checkpoint, every_flipped_bit_is_detected) {
  const OutputDirectory directory;
  const auto path = write_checkpoint(directory.path(), example(1));
  const std::string whole = read_text(path);
  std::mt19937 generator(5);
  // Everywhere in the file, and again where its bookkeeping lies: the user block and what follows it.
  for (const std::size_t range : {whole.size(), std::size_t{2048}}) {
    for (int k = 0; k < 400; ++k) {
      std::string damaged = whole;
      const std::size_t at = generator() % range;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (generator() % 8)));
      write_text(path, damaged);
      EXPECT_THAT(message_of<InputError>([&] { read_checkpoint(path); }),
                  AllOf(HasSubstr("checkpoint_1.h5"), HasSubstr("cannot start from")))
          << "byte " << at;
    }
  }
  write_text(path, whole);
  EXPECT_EQ(read_checkpoint(path), example(1));
}

TEST(Checkpoint, every_truncation_and_addition_is_detected) {
  const OutputDirectory directory;
  const auto path = write_checkpoint(directory.path(), example(1));
  const std::string whole = read_text(path);
  std::mt19937 generator(6);
  for (int k = 0; k < 300; ++k) {
    const std::size_t length =
        k < 2 ? static_cast<std::size_t>(k) * (whole.size() - 1) : generator() % whole.size();
    write_text(path, whole.substr(0, length));
    EXPECT_THAT(message_of<InputError>([&] { read_checkpoint(path); }), HasSubstr("checkpoint_1.h5"))
        << length;
  }
  write_text(path, whole + '\0');
  EXPECT_THROW(read_checkpoint(path), InputError);
}

TEST(Checkpoint, names_the_damage) {
  const OutputDirectory directory;
  const auto path = write_checkpoint(directory.path(), example(1));
  const std::string whole = read_text(path);
  const auto message = [&](const std::string& text) {
    write_text(path, text);
    return message_of<InputError>([&] { read_checkpoint(path); });
  };
  EXPECT_THAT(message("time,T\n0,1\n" + std::string(600, ' ')),
              HasSubstr("it is not a checkpoint of Curlew"));
  EXPECT_THAT(message(whole.substr(0, 100)), HasSubstr("it is cut off after 100 bytes"));
  EXPECT_THAT(message(whole.substr(0, 600)), HasSubstr("but has length 88"));
  std::string newer = whole;
  newer[newer.find("version 4") + 8] = '5';
  EXPECT_THAT(message(newer), HasSubstr("its format has version 5, this program reads version 4"));
  EXPECT_THAT(message_of<InputError>([&] { read_checkpoint(directory / "checkpoint_9.h5"); }),
              HasSubstr("it does not exist"));
}

TEST(Checkpoint, the_last_two_are_kept) {
  const OutputDirectory directory;
  write_text(directory / "checkpoint_mine.h5", "not ours");
  write_text(directory / "checkpoint_4.h5.tmp", "left by a kill");
  for (const int step : {5, 50, 100, 1000}) write_checkpoint(directory.path(), example(step));
  EXPECT_EQ(directory.names(), "checkpoint_100.h5 checkpoint_1000.h5 checkpoint_mine.h5");
  // A restart from an earlier step replaces what came after it.
  write_checkpoint(directory.path(), example(200));
  EXPECT_EQ(directory.names(), "checkpoint_100.h5 checkpoint_200.h5 checkpoint_mine.h5");
}

TEST(Checkpoint, the_newest_whole_one_is_found) {
  const OutputDirectory directory;
  EXPECT_FALSE(find_newest_valid_checkpoint(directory.path()));
  EXPECT_FALSE(find_newest_valid_checkpoint(directory / "missing"));
  write_checkpoint(directory.path(), example(99));
  const auto newest = write_checkpoint(directory.path(), example(100));
  auto found = find_newest_valid_checkpoint(directory.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->checkpoint, example(100));
  EXPECT_TRUE(found->notes.empty());

  write_text(newest, read_text(newest).substr(0, 3000));
  found = find_newest_valid_checkpoint(directory.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, directory / "checkpoint_99.h5");
  EXPECT_EQ(found->checkpoint, example(99));
  EXPECT_THAT(found->notes,
              testing::ElementsAre(AllOf(HasSubstr("checkpoint_100.h5"), HasSubstr("damaged"))));
}

/// Each of 1000 damaged checkpoints is found out, with a message, and the one before it is used.
TEST(Checkpoint, whatever_damage_is_detected_and_the_one_before_is_used) {
  const OutputDirectory directory;
  const auto earlier = write_checkpoint(directory.path(), example(99));
  const auto newest = write_checkpoint(directory.path(), example(100));
  const std::string whole = read_text(newest);
  std::mt19937 generator(8);
  const auto below = [&](std::size_t bound) { return generator() % bound; };
  // A block of up to 4096 bytes, as disks and file systems lose them.
  const auto block = [&] {
    const std::size_t size = std::size_t{1} << below(13);
    return std::pair(below(whole.size() / size) * size, size);
  };
  for (int k = 0; k < 1000; ++k) {
    std::string damaged = whole;
    switch (k % 5) {
      case 0:
        for (std::size_t flips = 1 + below(8); flips > 0; --flips)
          damaged[below(damaged.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        damaged.resize(below(whole.size()));
        break;
      case 2: {
        const auto [start, size] = block();
        damaged.replace(start, size, size, '\0');
        break;
      }
      case 3: {  // a block in place of another one
        const auto [start, size] = block();
        damaged.replace(below(whole.size() / size) * size, size, whole, start, size);
        break;
      }
      case 4: {  // a block twice, and all that follows moved
        const auto [start, size] = block();
        damaged.insert(start, whole, start, size);
        break;
      }
    }
    if (damaged == whole) {  // a block of zeros, or in place of itself: once more, otherwise
      --k;
      continue;
    }
    write_text(newest, damaged);
    const auto found = find_newest_valid_checkpoint(directory.path());
    ASSERT_TRUE(found) << k;
    ASSERT_EQ(found->path, earlier) << k;
    EXPECT_THAT(found->notes,
                testing::ElementsAre(AllOf(HasSubstr("cannot start from"), HasSubstr("checkpoint_100.h5"),
                                           HasSubstr("trying the checkpoint before it"))));
  }
  write_text(newest, whole);
  EXPECT_EQ(find_newest_valid_checkpoint(directory.path())->path, newest);
}

TEST(Checkpoint, a_full_disk_is_an_error_and_harms_nothing) {
  const OutputDirectory directory;
  write_checkpoint(directory.path(), example(1));
  write_checkpoint(directory.path(), example(2));
  for (const std::size_t bytes : {0u, 100u, 700u, 2000u, 4000u, 9000u}) {
    const FullDisk full(bytes);
    EXPECT_THAT(message_of<Error>([&] { write_checkpoint(directory.path(), example(3)); }),
                AllOf(HasSubstr("cannot write '" + (directory / "checkpoint_3.h5").string()),
                      HasSubstr("File too large")))
        << bytes;
  }
  EXPECT_EQ(directory.names(), "checkpoint_1.h5 checkpoint_2.h5");
  EXPECT_EQ(read_checkpoint(directory / "checkpoint_2.h5"), example(2));
  write_checkpoint(directory.path(), example(3));
  EXPECT_EQ(read_checkpoint(directory / "checkpoint_3.h5"), example(3));
}

TEST(Checkpoint, a_directory_that_takes_no_file_is_named) {
  EXPECT_THAT(message_of<Error>([] { write_checkpoint("/proc", example(3)); }),
              HasSubstr("cannot write '/proc/checkpoint_3.h5': No such file or directory"));
}

TEST(Checkpoint, a_name_with_a_slash_is_refused) {
  const OutputDirectory directory;
  Checkpoint checkpoint;
  checkpoint.numbers["a/b"] = 1;
  EXPECT_THAT(message_of<Error>([&] { write_checkpoint(directory.path(), checkpoint); }), HasSubstr("'a/b'"));
  EXPECT_EQ(directory.names(), "");
}

}  // namespace
}  // namespace curlew::test
