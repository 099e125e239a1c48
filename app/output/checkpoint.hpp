// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mesh/parallel/communicator.hpp"
#include "physics/state_array.hpp"

namespace curlew {

/// The state of a run, complete enough to continue to the same bits. Names are the caller's. On several ranks
/// each has its slabs of the arrays, and all have the rest.
struct Checkpoint {
  std::int64_t step = 0;
  double time = 0;  ///< [s]
  /// Only where some of what was due at this step could not be written: the time of the step before [s].
  std::optional<double> unwritten_since;
  std::map<std::string, double> numbers;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, std::string> texts;
  std::map<std::string, StateArray<double>> arrays;
  std::map<std::string, StateArray<float>> singles;  ///< arrays in single precision
  bool operator==(const Checkpoint&) const = default;
};

/// Writes `directory`/checkpoint_<step>.h5, by all ranks together, and returns its path. A kill at any moment
/// leaves whole files only. Then keeps this one and the one before it and deletes the rest, also those of
/// later steps and those set aside: they belong to a run that this one replaces. Throws Error naming the path
/// and the cause, on several ranks SharedFailure; the earlier ones are then untouched.
///
/// The file is HDF5 behind a user block with a checksum (app/files/checked_hdf5.hpp).
std::filesystem::path write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint,
                                       const Communicator& ranks = *one_rank());

/// Puts .earlier behind the names of the checkpoints in `directory` of steps after `last`, by default of all:
/// a run starts there, or goes on from that step, to which they do not belong. They are of use until it has
/// one of its own.
void set_checkpoints_aside(const std::filesystem::path& directory, std::int64_t last = -1);

/// Whether a file's name says so.
bool is_set_aside(const std::filesystem::path& checkpoint);

/// Verifies a checkpoint and reads it, by all ranks together; arrays are read when they are asked for, and
/// the file stays open till then. Throws InputError naming the file and the damage, on several ranks
/// SharedFailure.
Checkpoint read_checkpoint(const std::filesystem::path& path, const Communicator& ranks = *one_rank());

struct FoundCheckpoint {
  std::filesystem::path path;
  Checkpoint checkpoint;
  /// A sentence for each newer checkpoint passed over because of damage; on rank 0.
  std::vector<std::string> notes;
};

/// The checkpoint of the highest step in `directory` that verifies; none where there is none. `damages`: gets
/// a clause for each that does not, on rank 0. By all ranks together.
std::optional<FoundCheckpoint> find_newest_valid_checkpoint(const std::filesystem::path& directory,
                                                            const Communicator& ranks = *one_rank(),
                                                            std::vector<std::string>* damages = nullptr);

/// What to go on from: the checkpoint `path`, or of a directory the newest in it that verifies. Throws
/// InputError where that is damaged, or none does, on several ranks SharedFailure. By all ranks together.
FoundCheckpoint find_checkpoint(const std::filesystem::path& path, const Communicator& ranks);

}  // namespace curlew
