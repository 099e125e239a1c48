// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curlew {

namespace detail {

/// The bytes of a file in memory, handed over by the HDF5 library when it closes the file.
struct MemoryFile {
  MemoryFile() = default;
  ~MemoryFile() { std::free(bytes); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void* bytes = nullptr;
  std::size_t size = 0;
};

}  // namespace detail

/// Writes one HDF5 file. It is put together in memory and appears under its name, whole, with commit(): the
/// HDF5 library cannot recover from a failed write (on a full disk it would crash at the program's end).
///
/// Objects are named by their path in the file ("/group/name"). Values are stored in this machine's format,
/// contiguous and uncompressed; the same calls make the same bytes. Every failure throws Error naming file,
/// object and cause.
class Hdf5Writer {
 public:
  /// `user_block`: bytes set aside at the head of the file for the caller (0, or a power of two from 512).
  explicit Hdf5Writer(std::filesystem::path path, std::uint64_t user_block = 0);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Creates a group; its parent must exist.
  void create_group(const std::string& name);
  /// Writes a dataset of shape (values.size()), or (values.size() / columns, columns) for columns > 1.
  /// T: double, float, std::int64_t, std::int32_t or std::uint8_t.
  template <class T>
  void write(const std::string& name, std::span<const T> values, int columns = 1);
  /// Gives a group or dataset an attribute: a row of integers, or a text (not empty) of fixed length.
  void write_attribute(const std::string& object, const std::string& name,
                       std::span<const std::int64_t> values);
  void write_attribute(const std::string& object, const std::string& name, std::string_view text);

  /// Ends the HDF5 part and returns the whole file, the user block in front for the caller to fill in.
  std::span<char> close();
  /// Closes the file, brings it to disk and gives it its name, atomically.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& object) const;
  void write_attribute(const std::string& object, const std::string& name, hid_t type, hid_t space,
                       const void* values);

  std::filesystem::path path_;
  hid_t file_ = H5I_INVALID_HID;
  detail::MemoryFile memory_;
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
  bool has(const std::string& name) const;
  /// Names of the datasets and groups in a group, sorted.
  std::vector<std::string> members(const std::string& group) const;

 private:
  [[noreturn]] void fail(const std::string& object) const;

  std::filesystem::path path_;
  hid_t file_ = H5I_INVALID_HID;
};

}  // namespace curlew
