// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/checksum.hpp"
#include "app/files/file_outline.hpp"
#include "mesh/parallel/communicator.hpp"

namespace curlew {

/// Writes one HDF5 file, by all ranks together, which appears under its name, whole, with commit(). The
/// library writes to memory alone (it cannot recover from a failed write: on a full disk it would crash at
/// the program's end), and there its bookkeeping and small values; large arrays it only sets room aside for,
/// and each rank writes its share of them there. Rank 0 alone has the library do anything.
///
/// Objects are named by their path in the file ("/group/name"). Values are stored in this machine's format,
/// contiguous and uncompressed; the same calls make the same bytes, however the shares are divided among
/// ranks. Every failure throws Error naming file, object and cause.
class Hdf5Writer {
 public:
  /// `user_block`: bytes set aside at the head of the file for the caller (0, or a power of two from 512).
  explicit Hdf5Writer(std::filesystem::path path, std::uint64_t user_block = 0,
                      const Communicator& ranks = *one_rank());
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Creates a group; its parent must exist.
  void create_group(const std::string& name);
  /// Writes a dataset of shape (values.size()), or (values.size() / columns, columns) for columns > 1, that
  /// rank 0 has. T: double, float, std::int64_t, std::int32_t or std::uint8_t.
  template <class T>
  void write(const std::string& name, std::span<const T> values, int columns = 1);
  /// The same of what all ranks have, one after the other; of several shares first all of the first one. They
  /// must stay where they are until commit().
  template <class T>
  void write_shares(const std::string& name, std::initializer_list<std::span<const T>> shares,
                    int columns = 1);
  /// The same of one share of each rank, in one column, of `size` values that commit() has `make()` give: of
  /// several such shares no more than one is in memory. `make` may need all ranks together.
  template <class T>
  void write_share(const std::string& name, std::size_t size, std::function<std::vector<T>()> make);
  /// Gives a group or dataset an attribute: a row of integers, or a text (not empty) of fixed length.
  void write_attribute(const std::string& object, const std::string& name,
                       std::span<const std::int64_t> values);
  void write_attribute(const std::string& object, const std::string& name, std::string_view text);

  /// What is to stand in the user block, of the length and the CRC-32 checksum of all that follows it.
  using Head = std::function<std::string(std::uint64_t length, std::uint32_t checksum)>;
  /// Closes the file, brings it to disk and gives it its name, atomically. Throws FileError; on several ranks
  /// SharedFailure, on all.
  void commit(const Head& head = {});

 private:
  using UseBytes = std::function<void(std::span<const std::byte>)>;
  /// One share of a dataset.
  struct Share {
    std::size_t dataset;   // in offsets_
    std::uint64_t before;  // bytes of the dataset before it
    std::function<void(const UseBytes&)> with_bytes;
  };

  [[noreturn]] void fail(const std::string& object) const;
  /// Rank 0 knows; without `values` the dataset is only laid out, and its offset in the file comes back.
  std::uint64_t create(const std::string& name, hid_t type, std::uint64_t size, int columns,
                       const void* values);
  void write_attribute(const std::string& object, const std::string& name, hid_t type, hid_t space,
                       const void* values);
  /// Of the outline with pieces of all ranks. By all ranks together; rank 0 knows.
  std::uint32_t checksum(std::span<const PieceChecksum> mine) const;

  std::filesystem::path path_;
  const Communicator& ranks_;
  bool first_;  // rank 0
  std::uint64_t user_block_;
  FileOutline outline_;                 // on rank 0
  hid_t file_ = H5I_INVALID_HID;        // on rank 0
  std::vector<std::uint64_t> offsets_;  // in the file, of datasets that are shared; on rank 0
  std::vector<Share> shares_;           // of this rank
};

/// Reads one HDF5 file. Every failure throws InputError naming file, object and cause.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(std::filesystem::path path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  /// Reads a whole dataset, row by row. T as in Hdf5Writer::write.
  template <class T>
  std::vector<T> read(const std::string& name) const;
  /// Reads `count` rows from row `first` on, and nothing else.
  template <class T>
  std::vector<T> read_rows(const std::string& name, std::int64_t first, std::int64_t count) const;
  /// Of a dataset.
  std::int64_t rows(const std::string& name) const;
  bool has(const std::string& name) const;
  /// Names of the datasets and groups in a group, sorted.
  std::vector<std::string> members(const std::string& group) const;

 private:
  [[noreturn]] void fail(const std::string& object) const;
  /// Rows and columns of a dataset.
  std::array<hsize_t, 2> shape_of(const std::string& name, hid_t space) const;
  /// Throws where a dataset without filters claims more values than the file has room for: memory for them is
  /// not to be asked for.
  void require_in_file(const std::string& name, hid_t dataset, const std::array<hsize_t, 2>& shape) const;

  std::filesystem::path path_;
  hid_t file_ = H5I_INVALID_HID;
};

}  // namespace curlew
