// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/hdf5_outline_driver.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace curlew {

namespace {

/// An open file; the HDF5 library knows the first member.
struct OutlineFile {
  H5FD_t known = {};
  FileOutline* outline = nullptr;
  haddr_t end = 0;  // of all that was set aside
};

OutlineFile& file_of(H5FD_t* file) {
  return *reinterpret_cast<OutlineFile*>(file);
}
const OutlineFile& file_of(const H5FD_t* file) {
  return *reinterpret_cast<const OutlineFile*>(file);
}

/// What `work()` gives, or `failed` where it throws: the C code that calls knows of no exceptions.
template <class Work>
auto without_exceptions(decltype(std::declval<Work>()()) failed, const Work& work) noexcept {
  try {
    return work();
  } catch (...) {
    return failed;
  }
}

H5FD_t* open_outline(const char*, unsigned flags, hid_t file_access, haddr_t) {
  if ((flags & H5F_ACC_CREAT) == 0) return nullptr;  // the library looks whether there is one already
  return without_exceptions(nullptr, [&]() -> H5FD_t* {
    auto file = std::make_unique<OutlineFile>();
    file->outline = *static_cast<FileOutline* const*>(H5Pget_driver_info(file_access));
    return &file.release()->known;
  });
}

herr_t close_outline(H5FD_t* known) {
  return without_exceptions(-1, [&]() -> herr_t {
    const std::unique_ptr<OutlineFile> file(&file_of(known));
    file->outline->set_size(file->end);
    return 0;
  });
}

herr_t write_outline(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* bytes) {
  return without_exceptions(-1, [&]() -> herr_t {
    file_of(file).outline->write(address, {static_cast<const std::byte*>(bytes), size});
    return 0;
  });
}

herr_t read_outline(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* bytes) {
  return without_exceptions(-1, [&]() -> herr_t {
    file_of(file).outline->read(address, {static_cast<std::byte*>(bytes), size});
    return 0;
  });
}

hid_t register_driver() {
  H5FD_class_t driver = {};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = 600;  // of those that the library leaves to others
#endif
  driver.name = "outline";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(FileOutline*);
  driver.open = open_outline;
  driver.close = close_outline;
  driver.query = [](const H5FD_t*, unsigned long* features) -> herr_t {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  };
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return file_of(file).end; };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
    file_of(file).end = end;
    return 0;
  };
  driver.get_eof = driver.get_eoa;
  driver.read = read_outline;
  driver.write = write_outline;
  constexpr H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(kinds, driver.fl_map);
  return H5FDregister(&driver);
}

}  // namespace

void write_to_outline(hid_t file_access, FileOutline& outline) {
  static const hid_t driver = register_driver();
  FileOutline* pointer = &outline;
  H5Pset_driver(file_access, driver, &pointer);
}

}  // namespace curlew
