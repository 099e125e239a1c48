// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mesh/communicator.hpp"

namespace curlew {

/// The state of a run, complete enough to continue to the same bits. Names are the caller's.
struct Checkpoint {
  std::int64_t step = 0;
  double time = 0;  ///< [s]
  std::map<std::string, double> numbers;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<double>> arrays;
  bool operator==(const Checkpoint&) const = default;
};

/// Writes `directory`/checkpoint_<step>.h5 and returns its path. A kill at any moment leaves whole files
/// only. Then keeps this one and the one before it and deletes the rest, also those of later steps: they
/// belong to a run that this one replaces. Throws Error naming the path and the cause; the earlier ones are
/// then untouched.
///
/// The file is HDF5 behind a user block with a checksum (app/checked_hdf5.hpp).
std::filesystem::path write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint);

/// Reads and verifies a checkpoint. Throws InputError naming the file and the damage.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// The same on several ranks: rank 0 reads, and the others get all but the contents of the arrays, which they
/// have empty. Throws as read_checkpoint, or SharedFailure.
Checkpoint read_checkpoint(const std::filesystem::path& path, const Communicator& ranks);

struct FoundCheckpoint {
  std::filesystem::path path;
  Checkpoint checkpoint;
  std::vector<std::string> notes;  ///< a sentence for each newer checkpoint passed over because of damage
};

/// The checkpoint of the highest step in `directory` that verifies; none where there is none.
std::optional<FoundCheckpoint> find_newest_valid_checkpoint(const std::filesystem::path& directory);

/// What to go on from: the checkpoint `path`, or of a directory the newest in it that verifies. Throws
/// InputError where that is damaged, or none does. On several ranks the others than rank 0 get what
/// read_checkpoint gives them, the path, and no notes; throws SharedFailure.
FoundCheckpoint find_checkpoint(const std::filesystem::path& path, const Communicator& ranks);

}  // namespace curlew
