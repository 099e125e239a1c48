// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/files/hdf5_file.hpp"

namespace curlew {

/// Which of Curlew's own HDF5 files. They carry a user block of 512 bytes that says so in words and holds the
/// format's version and the length and CRC-32 checksum of all that follows: the HDF5 library does not notice
/// every damage, and may crash on some.
struct CheckedFormat {
  std::string name;  ///< "checkpoint", "mesh file"
  int version = 1;
};

/// The bytes that an Hdf5Writer must set aside at the head of such a file.
inline constexpr std::uint64_t checked_user_block = 512;

/// Commits the file with its user block. Throws as Hdf5Writer::commit().
void commit_checked(Hdf5Writer& file, const CheckedFormat& format);

/// What is wrong with the file ("it is cut off after 100 bytes"); nothing where it is as it was written. By
/// all ranks together, each of which reads its share of the file; all are told.
std::optional<std::string> damage_of(const std::filesystem::path& path, const CheckedFormat& format,
                                     const Communicator& ranks = *one_rank());
/// The same of the first bytes alone, which say what the file is: for one that is read in pieces with
/// checksums of their own.
std::optional<std::string> damage_of_head(const std::filesystem::path& path, const CheckedFormat& format);

}  // namespace curlew
