// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/hdf5_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/files/atomic_file.hpp"
#include "app/files/hdf5_outline_driver.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/slabs.hpp"

namespace curlew {

namespace {

/// Owns an HDF5 identifier.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool invalid() const { return id_ < 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

template <class T>
hid_t native_type();
template <>
hid_t native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
hid_t native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
hid_t native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
hid_t native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}

/// What the innermost function of the HDF5 library that failed has to say; the system's own words where it
/// quotes them.
std::string cause_of_failure() {
  std::string cause;
  const auto take_first = [](unsigned number, const H5E_error2_t* error, void* text) -> herr_t {
    if (number == 0) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  const std::string quote = "error message = '";
  if (const auto start = cause.find(quote); start != std::string::npos) {
    const auto from = start + quote.size();
    cause = cause.substr(from, cause.find('\'', from) - from);
  }
  return cause.empty() ? "unknown failure of the HDF5 library" : cause;
}

std::string sentence(const char* verb, const std::filesystem::path& path, const std::string& object) {
  const std::string where = object.empty() ? "" : fmt::format(", object '{}'", object);
  return fmt::format("cannot {} '{}'{}: {}", verb, path.string(), where, cause_of_failure());
}

/// Properties of an open file. Closing it closes all that is open in it.
hid_t file_access() {
  // Failures are reported by exceptions; the library's own printing of its error stack is off.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

}  // namespace

Hdf5Writer::Hdf5Writer(std::filesystem::path path, std::uint64_t user_block, const Communicator& ranks)
    : path_(std::move(path)), ranks_(ranks), first_(ranks.rank() == 0), user_block_(user_block) {
  if (!first_) return;
  const Handle access(file_access(), H5Pclose);
  write_to_outline(access, outline_);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (H5Pset_userblock(creation, user_block) < 0) fail("");
  file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
  if (file_ < 0) fail("");
}

Hdf5Writer::~Hdf5Writer() {
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5Writer::create_group(const std::string& name) {
  if (!first_) return;
  const Handle group(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (group.invalid()) fail(name);
}

std::uint64_t Hdf5Writer::create(const std::string& name, hid_t type, std::uint64_t size, int columns,
                                 const void* values) {
  const auto width = static_cast<std::uint64_t>(columns);
  REQUIRE(columns >= 1 && size % width == 0,
          fmt::format("dataset '{}': {} values do not make rows of {}", name, size, columns));
  const std::array<hsize_t, 2> shape = {size / width, width};
  const Handle space(H5Screate_simple(columns > 1 ? 2 : 1, shape.data(), nullptr), H5Sclose);
  if (space.invalid()) fail(name);
  // The same values give the same bytes: no times of creation. The place is known at once, and stays empty.
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (H5Pset_obj_track_times(creation, false) < 0 || H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) < 0) {
    fail(name);
  }
  const Handle dataset(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose);
  if (dataset.invalid()) fail(name);
  if (size == 0) return 0;
  if (values != nullptr && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail(name);
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) fail(name);
  return offset;
}

template <class T>
void Hdf5Writer::write(const std::string& name, std::span<const T> values, int columns) {
  if (first_) create(name, native_type<T>(), values.size(), columns, values.data());
}

template <class T>
void Hdf5Writer::write_shares(const std::string& name, std::initializer_list<std::span<const T>> shares,
                              int columns) {
  std::vector<std::int64_t> counts;
  for (const auto& share : shares) counts.push_back(std::ssize(share));
  std::uint64_t size = 0;
  for (std::size_t k = 0; const Stretch& stretch : stretches_of(ranks_, counts)) {
    const auto before = size + static_cast<std::uint64_t>(stretch.before);
    shares_.push_back({offsets_.size(), before * sizeof(T),
                       [share = shares.begin()[k++]](const UseBytes& use) { use(std::as_bytes(share)); }});
    size += static_cast<std::uint64_t>(stretch.total);
  }
  offsets_.push_back(first_ ? create(name, native_type<T>(), size, columns, nullptr) : 0);
}

template <class T>
void Hdf5Writer::write_share(const std::string& name, std::size_t size,
                             std::function<std::vector<T>()> make) {
  const Stretch stretch = stretches_of(ranks_, std::array{static_cast<std::int64_t>(size)})[0];
  shares_.push_back({offsets_.size(), static_cast<std::uint64_t>(stretch.before) * sizeof(T),
                     [make = std::move(make)](const UseBytes& use) {
                       const std::vector<T> values = make();
                       use(std::as_bytes(std::span(values)));
                     }});
  const auto total = static_cast<std::uint64_t>(stretch.total);
  offsets_.push_back(first_ ? create(name, native_type<T>(), total, 1, nullptr) : 0);
}

template void Hdf5Writer::write(const std::string&, std::span<const double>, int);
template void Hdf5Writer::write(const std::string&, std::span<const float>, int);
template void Hdf5Writer::write(const std::string&, std::span<const std::int64_t>, int);
template void Hdf5Writer::write(const std::string&, std::span<const std::int32_t>, int);
template void Hdf5Writer::write(const std::string&, std::span<const std::uint8_t>, int);

template void Hdf5Writer::write_shares(const std::string&, std::initializer_list<std::span<const double>>,
                                       int);
template void Hdf5Writer::write_shares(const std::string&, std::initializer_list<std::span<const float>>,
                                       int);
template void Hdf5Writer::write_shares(const std::string&,
                                       std::initializer_list<std::span<const std::int64_t>>, int);
template void Hdf5Writer::write_shares(const std::string&,
                                       std::initializer_list<std::span<const std::int32_t>>, int);
template void Hdf5Writer::write_shares(const std::string&,
                                       std::initializer_list<std::span<const std::uint8_t>>, int);

template void Hdf5Writer::write_share(const std::string&, std::size_t, std::function<std::vector<double>()>);
template void Hdf5Writer::write_share(const std::string&, std::size_t, std::function<std::vector<float>()>);

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name,
                                 std::span<const std::int64_t> values) {
  if (!first_) return;
  const hsize_t size = values.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  write_attribute(object, name, H5T_NATIVE_INT64, space, values.data());
}

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name, std::string_view text) {
  if (!first_) return;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  // Exactly as long as the text: readers of VTKHDF compare without looking for an end.
  if (H5Tset_size(type, text.size()) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0) fail(object);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(object, name, type, space, text.data());
}

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name, hid_t type, hid_t space,
                                 const void* values) {
  const Handle attribute(H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space, H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (attribute.invalid() || H5Awrite(attribute, type, values) < 0) fail(object);
}

std::uint32_t Hdf5Writer::checksum(std::span<const PieceChecksum> mine) const {
  std::uint32_t checksum = 0;
  std::uint64_t offset = user_block_;
  std::vector<std::byte> buffer(1 << 20);
  const auto add_outline = [&](std::uint64_t end) {
    while (offset < end) {
      const auto bytes = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), end - offset));
      outline_.read(offset, bytes);
      checksum = add_to_checksum(checksum, bytes);
      offset += bytes.size();
    }
  };
  for (const PieceChecksum& piece : gathered_checksums(ranks_, mine)) {
    add_outline(piece.offset);
    checksum = add_to_checksum(checksum, piece);
    offset = piece.offset + piece.length;
  }
  if (first_) add_outline(outline_.size());
  return checksum;
}

void Hdf5Writer::commit(const Head& head) {
  if (file_ >= 0 && H5Fclose(std::exchange(file_, H5I_INVALID_HID)) < 0) fail("");
  broadcast(ranks_, offsets_);
  std::vector<PieceChecksum> written;
  const auto write_shares = [&](const WritePiece& write) {
    for (const Share& share : shares_) {
      share.with_bytes([&](std::span<const std::byte> bytes) {
        if (bytes.empty()) return;
        const std::uint64_t offset = offsets_[share.dataset] + share.before;
        if (head) written.push_back({offset, bytes.size(), add_to_checksum(0, bytes)});
        write({offset, bytes});
      });
    }
  };
  const auto text_of_head = [&]() -> std::string {
    if (!head) return {};
    const std::uint32_t of_all = checksum(written);
    return first_ ? head(outline_.size() - user_block_, of_all) : std::string();
  };
  write_file_atomically(path_, ranks_, outline_, write_shares, text_of_head);
}

void Hdf5Writer::fail(const std::string& object) const {
  throw Error(sentence("write", path_, object));
}

Hdf5Reader::Hdf5Reader(std::filesystem::path path) : path_(std::move(path)) {
  const Handle access(file_access(), H5Pclose);
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access);
  if (file_ < 0) fail("");
}

Hdf5Reader::~Hdf5Reader() {
  H5Fclose(file_);
}

template <class T>
std::vector<T> Hdf5Reader::read(const std::string& name) const {
  const Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.invalid()) fail(name);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const std::array<hsize_t, 2> shape = shape_of(name, space);
  require_in_file(name, dataset, shape);
  std::vector<T> values(shape[0] * shape[1]);
  if (values.empty()) return values;
  if (H5Dread(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) fail(name);
  return values;
}

template std::vector<double> Hdf5Reader::read(const std::string&) const;
template std::vector<std::int64_t> Hdf5Reader::read(const std::string&) const;
template std::vector<std::int32_t> Hdf5Reader::read(const std::string&) const;
template std::vector<std::uint8_t> Hdf5Reader::read(const std::string&) const;

template <class T>
std::vector<T> Hdf5Reader::read_rows(const std::string& name, std::int64_t first, std::int64_t count) const {
  const Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.invalid()) fail(name);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const std::array<hsize_t, 2> shape = shape_of(name, space);
  require_in_file(name, dataset, shape);
  const auto rows = static_cast<std::int64_t>(shape[0]);
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    throw InputError(fmt::format("{}: '{}' has {} rows, wanted are {} from {}; the file is damaged",
                                 path_.string(), name, rows, count, first));
  }
  std::vector<T> values(static_cast<std::size_t>(count) * shape[1]);
  if (values.empty()) return values;
  const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first), 0},
                               size = {static_cast<hsize_t>(count), shape[1]};
  const Handle part(H5Screate_simple(H5Sget_simple_extent_ndims(space), size.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
      H5Dread(dataset, native_type<T>(), part, space, H5P_DEFAULT, values.data()) < 0) {
    fail(name);
  }
  return values;
}

template std::vector<double> Hdf5Reader::read_rows(const std::string&, std::int64_t, std::int64_t) const;
template std::vector<float> Hdf5Reader::read_rows(const std::string&, std::int64_t, std::int64_t) const;
template std::vector<std::int64_t> Hdf5Reader::read_rows(const std::string&, std::int64_t,
                                                         std::int64_t) const;
template std::vector<std::int32_t> Hdf5Reader::read_rows(const std::string&, std::int64_t,
                                                         std::int64_t) const;
template std::vector<std::uint8_t> Hdf5Reader::read_rows(const std::string&, std::int64_t,
                                                         std::int64_t) const;

std::array<hsize_t, 2> Hdf5Reader::shape_of(const std::string& name, hid_t space) const {
  std::array<hsize_t, 2> shape = {0, 1};
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions < 1 || dimensions > 2 || H5Sget_simple_extent_dims(space, shape.data(), nullptr) < 0)
    fail(name);
  return shape;
}

void Hdf5Reader::require_in_file(const std::string& name, hid_t dataset,
                                 const std::array<hsize_t, 2>& shape) const {
  // A dataset that the user has packed may be larger than its file.
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_nfilters(creation) > 0) return;
  const Handle type(H5Dget_type(dataset), H5Tclose);
  hsize_t room = 0;
  if (type.invalid() || H5Fget_filesize(file_, &room) < 0) fail(name);
  room /= std::max<hsize_t>(1, H5Tget_size(type));
  if (shape[1] > 0 && shape[0] > room / shape[1]) {
    throw InputError(
        fmt::format("{}: '{}' has {} rows of {} values, more than fit into the file; the file is damaged",
                    path_.string(), name, shape[0], shape[1]));
  }
}

std::int64_t Hdf5Reader::rows(const std::string& name) const {
  const Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.invalid()) fail(name);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  return static_cast<std::int64_t>(shape_of(name, space)[0]);
}

bool Hdf5Reader::has(const std::string& name) const {
  return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5Reader::members(const std::string& group) const {
  const Handle opened(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (opened.invalid()) fail(group);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) noexcept -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(list)->emplace_back(name);
      return 0;
    } catch (...) {  // the C code that calls knows of no exceptions
      return -1;
    }
  };
  if (H5Literate(opened, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) fail(group);
  return names;
}

void Hdf5Reader::fail(const std::string& object) const {
  throw InputError(sentence("read", path_, object));
}

}  // namespace curlew
