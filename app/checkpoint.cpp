// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "app/checked_hdf5.hpp"
#include "app/failure.hpp"
#include "app/hdf5_file.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

const CheckedFormat format{"checkpoint", 2};

/// Checkpoints (or their leftover temporary files) in a directory, by step.
std::map<std::int64_t, std::filesystem::path> files_by_step(const std::filesystem::path& directory,
                                                            std::string_view ending) {
  constexpr std::string_view start = "checkpoint_";
  std::map<std::int64_t, std::filesystem::path> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(ending)) continue;
    std::int64_t step = 0;
    const char* end = name.data() + name.size() - ending.size();
    const auto parsed = std::from_chars(name.data() + start.size(), end, step);
    if (parsed.ec == std::errc() && parsed.ptr == end) files[step] = entry.path();
  }
  return files;
}

void keep_last_two(const std::filesystem::path& directory, std::int64_t step) {
  std::error_code ignored;  // what cannot be deleted now is tried again after the next checkpoint
  for (const auto& [other, path] : files_by_step(directory, ".h5.tmp"))
    std::filesystem::remove(path, ignored);
  const auto files = files_by_step(directory, ".h5");
  const auto current = files.find(step);
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file != current && std::next(file) != current) std::filesystem::remove(file->second, ignored);
  }
}

/// Calls `write(name in the file, value)` for each.
template <class Values, class Write>
void write_group(Hdf5Writer& file, const std::string& group, const Values& values, const Write& write) {
  file.create_group(group);
  for (const auto& [name, value] : values) {
    REQUIRE(
        !name.empty() && name != "." && name.find('/') == std::string::npos,
        fmt::format("'{}' cannot name a value in a checkpoint: a name is not empty and has no slash", name));
    write(group + "/" + name, value);
  }
}

/// In half the space where single precision holds the same values, as it does all that guesses are made of.
void write_array(Hdf5Writer& file, const std::string& name, const std::vector<double>& values) {
  const auto is_single = [](double value) {
    return std::abs(value) <= std::numeric_limits<float>::max() &&
           static_cast<double>(static_cast<float>(value)) == value;
  };
  if (std::ranges::all_of(values, is_single)) {
    std::vector<float> singles(values.size());
    std::ranges::transform(values, singles.begin(), [](double value) { return static_cast<float>(value); });
    file.write(name, std::span<const float>(singles));
  } else {
    file.write(name, std::span<const double>(values));
  }
}

/// The one value of a dataset.
template <class T>
T read_one(const Hdf5Reader& file, const std::string& name) {
  return file.read<T>(name).at(0);
}

}  // namespace

std::filesystem::path write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint) {
  const std::filesystem::path path = directory / fmt::format("checkpoint_{}.h5", checkpoint.step);
  Hdf5Writer file(path, checked_user_block);
  const auto write_one = [&](const std::string& name, const auto& value) {
    file.write(name, std::span(&value, 1));
  };
  write_one("/step", checkpoint.step);
  write_one("/time", checkpoint.time);
  write_group(file, "/numbers", checkpoint.numbers, write_one);
  write_group(file, "/integers", checkpoint.integers, write_one);
  write_group(file, "/texts", checkpoint.texts, [&](const std::string& name, const std::string& text) {
    file.write(name, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  });
  write_group(
      file, "/arrays", checkpoint.arrays,
      [&](const std::string& name, const std::vector<double>& values) { write_array(file, name, values); });
  commit_checked(file, format);
  keep_last_two(directory, checkpoint.step);
  return path;
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  if (const auto damage = damage_of(path, format)) {
    throw InputError(fmt::format("cannot restart from '{}': {}", path.string(), *damage));
  }
  const Hdf5Reader file(path);
  Checkpoint checkpoint;
  checkpoint.step = read_one<std::int64_t>(file, "/step");
  checkpoint.time = read_one<double>(file, "/time");
  for (const auto& name : file.members("/numbers")) {
    checkpoint.numbers[name] = read_one<double>(file, "/numbers/" + name);
  }
  for (const auto& name : file.members("/integers")) {
    checkpoint.integers[name] = read_one<std::int64_t>(file, "/integers/" + name);
  }
  for (const auto& name : file.members("/texts")) {
    const auto bytes = file.read<std::uint8_t>("/texts/" + name);
    checkpoint.texts[name] = std::string(bytes.begin(), bytes.end());
  }
  for (const auto& name : file.members("/arrays"))
    checkpoint.arrays[name] = file.read<double>("/arrays/" + name);
  return checkpoint;
}

namespace {

/// Gives all ranks the checkpoint of rank 0, the arrays empty, and its path.
void share(FoundCheckpoint& found, const Communicator& ranks) {
  if (ranks.ranks() == 1) return;
  Checkpoint& checkpoint = found.checkpoint;
  std::vector<std::string> arrays;
  for (const auto& [name, values] : checkpoint.arrays) arrays.push_back(name);
  // CBOR, which holds numbers to the bit.
  const auto packed = nlohmann::json::to_cbor({{"path", found.path.string()},
                                               {"step", checkpoint.step},
                                               {"time", checkpoint.time},
                                               {"numbers", checkpoint.numbers},
                                               {"integers", checkpoint.integers},
                                               {"texts", checkpoint.texts},
                                               {"arrays", arrays}});
  const auto packed_bytes = std::as_bytes(std::span(packed));
  std::vector<std::byte> bytes(packed_bytes.begin(), packed_bytes.end());
  ranks.broadcast(0, bytes);
  if (ranks.rank() == 0) return;
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto json = nlohmann::json::from_cbor(first, first + bytes.size());
  found.path = json.at("path").get<std::string>();
  checkpoint.step = json.at("step");
  checkpoint.time = json.at("time");
  json.at("numbers").get_to(checkpoint.numbers);
  json.at("integers").get_to(checkpoint.integers);
  json.at("texts").get_to(checkpoint.texts);
  for (const std::string name : json.at("arrays")) checkpoint.arrays[name];
}

}  // namespace

Checkpoint read_checkpoint(const std::filesystem::path& path, const Communicator& ranks) {
  FoundCheckpoint found{path, {}, {}};
  together(ranks, [&] {
    if (ranks.rank() == 0) found.checkpoint = read_checkpoint(path);
  });
  share(found, ranks);
  return found.checkpoint;
}

std::optional<FoundCheckpoint> find_newest_valid_checkpoint(const std::filesystem::path& directory) {
  std::vector<std::string> notes;
  const auto files = files_by_step(directory, ".h5");
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    try {
      return FoundCheckpoint{file->second, read_checkpoint(file->second), notes};
    } catch (const InputError& damage) {
      notes.push_back(fmt::format("{}; trying the checkpoint before it", damage.what()));
    }
  }
  return std::nullopt;
}

FoundCheckpoint find_checkpoint(const std::filesystem::path& path, const Communicator& ranks) {
  FoundCheckpoint found{path, {}, {}};
  together(ranks, [&] {
    if (ranks.rank() > 0) return;
    if (!std::filesystem::is_directory(path)) {
      found.checkpoint = read_checkpoint(path);
      return;
    }
    auto newest = find_newest_valid_checkpoint(path);
    if (!newest) {
      throw InputError(fmt::format(
          "cannot restart from '{}': no checkpoint_*.h5 in this directory, or none without damage",
          path.string()));
    }
    found = std::move(*newest);
  });
  share(found, ranks);
  return found;
}

}  // namespace curlew
