// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/checkpoint.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>

#include "app/failure.hpp"
#include "app/files/atomic_file.hpp"
#include "app/files/checked_hdf5.hpp"
#include "app/files/hdf5_file.hpp"
#include "app/files/step_files.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/slabs.hpp"

namespace curlew {

namespace {

const CheckedFormat checkpoint_format{"checkpoint", 4};

std::string file_name(std::int64_t step) {
  return fmt::format("checkpoint_{}.h5", step);
}

constexpr std::string_view set_aside = ".h5.earlier";

/// Checkpoints (or their leftover temporary files, or those set aside) in a directory, by step.
std::map<std::int64_t, std::filesystem::path> checkpoints_in(const std::filesystem::path& directory,
                                                             std::string_view ending) {
  return files_by_step(directory, "checkpoint_", ending);
}

void keep_last_two(const std::filesystem::path& directory, std::int64_t step) {
  std::error_code ignored;  // what cannot be deleted now is tried again after the next checkpoint
  for (const std::string_view ending : {std::string_view(".h5.tmp"), set_aside}) {
    for (const auto& [other, path] : checkpoints_in(directory, ending))
      std::filesystem::remove(path, ignored);
  }
  const auto files = checkpoints_in(directory, ".h5");
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

/// The one value of a dataset.
template <class T>
T read_one(const Hdf5Reader& file, const std::string& name) {
  return file.read<T>(name).at(0);
}

}  // namespace

std::filesystem::path write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint,
                                       const Communicator& ranks) {
  const std::filesystem::path path = directory / file_name(checkpoint.step);
  Hdf5Writer file(path, checked_user_block, ranks);
  const auto write_one = [&](const std::string& name, const auto& value) {
    file.write(name, std::span(&value, 1));
  };
  write_one("/step", checkpoint.step);
  write_one("/time", checkpoint.time);
  if (checkpoint.unwritten_since) write_one("/unwritten_since", *checkpoint.unwritten_since);
  write_group(file, "/numbers", checkpoint.numbers, write_one);
  write_group(file, "/integers", checkpoint.integers, write_one);
  write_group(file, "/texts", checkpoint.texts, [&](const std::string& name, const std::string& text) {
    file.write(name, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  });
  const auto write_shared = [&]<class T>(const std::string& name, const StateArray<T>& array) {
    file.write_share<T>(name, array.size(), [&array] { return array.values(); });
  };
  write_group(file, "/arrays", checkpoint.arrays, write_shared);
  write_group(file, "/singles", checkpoint.singles, write_shared);
  commit_checked(file, checkpoint_format);
  if (ranks.rank() == 0) keep_last_two(directory, checkpoint.step);
  return path;
}

bool is_set_aside(const std::filesystem::path& checkpoint) {
  return checkpoint.filename().string().ends_with(set_aside);
}

void set_checkpoints_aside(const std::filesystem::path& directory, std::int64_t last) {
  for (const auto& [step, path] : checkpoints_in(directory, ".h5")) {
    if (step <= last) continue;
    std::error_code failure;
    std::filesystem::rename(path, directory / fmt::format("checkpoint_{}{}", step, set_aside), failure);
    if (failure) {
      throw FileError(fmt::format("cannot rename '{}', a checkpoint of an earlier run: {}", path.string(),
                                  failure.message()));
    }
  }
}

namespace {

/// Of one that has no damage.
Checkpoint read_verified(const std::filesystem::path& path, const Communicator& ranks) {
  const auto shared_file = std::make_shared<const Hdf5Reader>(path);
  const Hdf5Reader& file = *shared_file;
  Checkpoint checkpoint;
  checkpoint.step = read_one<std::int64_t>(file, "/step");
  checkpoint.time = read_one<double>(file, "/time");
  if (file.has("/unwritten_since")) checkpoint.unwritten_since = read_one<double>(file, "/unwritten_since");
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
  const auto read_arrays = [&]<class T>(const std::string& group, std::map<std::string, StateArray<T>>& to) {
    for (const auto& name : file.members(group)) {
      const std::string path_in_file = group + "/" + name;
      const Slabs slabs(file.rows(path_in_file), 1, ranks.ranks());
      const std::int64_t first = slabs.first(ranks.rank()), size = slabs.size(ranks.rank());
      to[name] =
          StateArray<T>(static_cast<std::size_t>(size), [&ranks, shared_file, path_in_file, first, size] {
            std::vector<T> values;
            together(ranks, [&] { values = shared_file->read_rows<T>(path_in_file, first, size); });
            return values;
          });
    }
  };
  read_arrays("/arrays", checkpoint.arrays);
  read_arrays("/singles", checkpoint.singles);
  return checkpoint;
}

std::string refusal(const std::filesystem::path& path, const std::string& why) {
  return fmt::format("cannot start from '{}': {}", path.string(), why);
}

}  // namespace

Checkpoint read_checkpoint(const std::filesystem::path& path, const Communicator& ranks) {
  const auto damage = damage_of(path, checkpoint_format, ranks);
  Checkpoint checkpoint;
  together(ranks, [&] {
    if (damage) throw InputError(refusal(path, *damage));
    checkpoint = read_verified(path, ranks);
  });
  return checkpoint;
}

std::optional<FoundCheckpoint> find_newest_valid_checkpoint(const std::filesystem::path& directory,
                                                            const Communicator& ranks,
                                                            std::vector<std::string>* damages) {
  std::vector<std::int64_t> steps;  // the newest last
  if (ranks.rank() == 0) {
    for (const auto& [step, path] : checkpoints_in(directory, ".h5")) steps.push_back(step);
  }
  broadcast(ranks, steps);
  FoundCheckpoint found;
  for (; !steps.empty(); steps.pop_back()) {
    found.path = directory / file_name(steps.back());
    const auto damage = damage_of(found.path, checkpoint_format, ranks);
    if (!damage) {
      together(ranks, [&] { found.checkpoint = read_verified(found.path, ranks); });
      return found;
    }
    if (ranks.rank() == 0) {
      found.notes.push_back(fmt::format("{}; trying the checkpoint before it", refusal(found.path, *damage)));
      if (damages != nullptr)
        damages->push_back(fmt::format("{}: {}", found.path.filename().string(), *damage));
    }
  }
  return std::nullopt;
}

FoundCheckpoint find_checkpoint(const std::filesystem::path& path, const Communicator& ranks) {
  std::error_code ignored;  // a path that cannot be looked at is none of a file either, which is told below
  const bool is_directory =
      ranks.maximum(ranks.rank() == 0 && std::filesystem::is_directory(path, ignored) ? 1 : 0) > 0;
  if (!is_directory) return {path, read_checkpoint(path, ranks), {}};
  std::vector<std::string> damages;  // on rank 0, which tells
  auto newest = find_newest_valid_checkpoint(path, ranks, &damages);
  together(ranks, [&] {
    if (newest) return;
    std::string why = "no checkpoint_*.h5 in this directory";
    if (!damages.empty()) why += fmt::format(" without damage ({})", fmt::join(damages, "; "));
    const auto aside = checkpoints_in(path, set_aside);
    if (!aside.empty()) {
      why += fmt::format("; of the run before the last there is {}, which --restart takes by this name",
                         aside.rbegin()->second.filename().string());
    } else {
      why += "; give --restart a directory with some, or a checkpoint_*.h5 itself";
    }
    throw InputError(refusal(path, why));
  });
  return *std::move(newest);
}

}  // namespace curlew
