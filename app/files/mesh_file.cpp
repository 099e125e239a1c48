// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/mesh_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/files/checked_hdf5.hpp"
#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

const CheckedFormat mesh_file_format{"mesh file", 2};
constexpr std::int64_t part_layout = 1;  // version of what is in /parts

std::vector<std::int64_t> widened(const std::vector<Index>& values) {
  return {values.begin(), values.end()};
}
/// What no Index holds becomes -1, which nothing in a sound file is.
std::vector<Index> narrowed(const std::vector<std::int64_t>& values) {
  std::vector<Index> result(values.size());
  std::ranges::transform(values, result.begin(), [](std::int64_t v) -> Index {
    return std::in_range<Index>(v) ? static_cast<Index>(v) : -1;
  });
  return result;
}

/// Names one after the other, each ended by a zero byte.
std::vector<std::uint8_t> packed(const std::vector<std::string>& names) {
  std::vector<std::uint8_t> bytes;
  for (const std::string& name : names) {
    bytes.insert(bytes.end(), name.begin(), name.end());
    bytes.push_back(0);
  }
  return bytes;
}
std::vector<std::string> unpacked(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::string> names;
  auto first = bytes.begin();
  while (first != bytes.end()) {
    const auto last = std::find(first, bytes.end(), 0);
    names.emplace_back(first, last);
    first = last == bytes.end() ? last : last + 1;
  }
  return names;
}

/// Every index that the rest of the program will follow must lead somewhere.
void require_sound(const RawMesh& raw, const std::filesystem::path& path) {
  const auto require = [&](bool condition, const char* what) {
    if (!condition) {
      throw InputError(
          fmt::format("{}: the mesh file is damaged: {}; write it again with 'curlew mesh convert'",
                      path.string(), what));
    }
  };
  const auto offsets_fit = [](const std::vector<std::int64_t>& start, std::size_t rows, std::size_t entries) {
    return start.size() == rows + 1 && start.front() == 0 &&
           start.back() == static_cast<std::int64_t>(entries) && std::is_sorted(start.begin(), start.end());
  };
  const auto below = [](const std::vector<Index>& values, std::size_t limit) {
    return std::all_of(values.begin(), values.end(), [&](Index v) { return v >= 0 && at(v) < limit; });
  };
  require(raw.dimension == 2 || raw.dimension == 3, "its dimension is neither 2 nor 3");
  require(std::all_of(raw.nodes.begin(), raw.nodes.end(),
                      [](Vector3 x) { return std::isfinite(x.x + x.y + x.z); }),
          "positions of nodes");
  require(offsets_fit(raw.cell_start, raw.cell_types.size(), raw.cell_nodes.size()), "cells");
  require(raw.cell_region.size() == raw.cell_types.size() && below(raw.cell_region, raw.region_names.size()),
          "regions of cells");
  require(offsets_fit(raw.boundary_start, raw.boundary_patch.size(), raw.boundary_nodes.size()),
          "tagged faces");
  for (std::size_t b = 0; b < raw.boundary_patch.size(); ++b) {
    const std::int64_t size = raw.boundary_start[b + 1] - raw.boundary_start[b];
    require(raw.dimension == 2 ? size == 2 : size >= 3, "number of nodes of a tagged face");
  }
  require(below(raw.boundary_nodes, raw.nodes.size()), "nodes of tagged faces");
  require(below(raw.boundary_patch, raw.patch_names.size()), "patches of tagged faces");
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
    const CellType type = raw.cell_types[c];
    require(type <= CellType::Polyhedron && is_planar(type) == (raw.dimension == 2), "a cell's type");
    std::int64_t k = raw.cell_start[c];
    const std::int64_t expected = node_count(type);
    require(raw.cell_start[c + 1] > k && (expected == 0 || raw.cell_start[c + 1] - k == expected),
            "a cell's number of nodes");
    while (k < raw.cell_start[c + 1]) {
      Index size = static_cast<Index>(raw.cell_start[c + 1] - k);
      if (type == CellType::Polyhedron) size = raw.cell_nodes[at(k++)];
      require(size >= 3 && k + size <= raw.cell_start[c + 1], "a cell's faces");
      for (const std::int64_t last = k + size; k < last; ++k) {
        require(raw.cell_nodes[at(k)] >= 0 && at(raw.cell_nodes[at(k)]) < raw.nodes.size(), "a cell's nodes");
      }
    }
  }
}

void write_raw_mesh(Hdf5Writer& file, const RawMesh& raw) {
  file.create_group("/mesh");
  const std::vector<std::int64_t> dimension{raw.dimension};
  file.write<std::int64_t>("/mesh/dimension", dimension);
  file.write<double>("/mesh/nodes", {&raw.nodes.data()->x, 3 * raw.nodes.size()}, 3);
  std::vector<std::uint8_t> types(raw.cell_types.size());
  std::transform(raw.cell_types.begin(), raw.cell_types.end(), types.begin(),
                 [](CellType type) { return static_cast<std::uint8_t>(type); });
  file.write<std::uint8_t>("/mesh/cell_types", types);
  file.write<std::int64_t>("/mesh/cell_start", raw.cell_start);
  file.write<std::int64_t>("/mesh/cell_nodes", widened(raw.cell_nodes));
  file.write<std::int64_t>("/mesh/cell_region", widened(raw.cell_region));
  file.write<std::int64_t>("/mesh/boundary_start", raw.boundary_start);
  file.write<std::int64_t>("/mesh/boundary_nodes", widened(raw.boundary_nodes));
  file.write<std::int64_t>("/mesh/boundary_patch", widened(raw.boundary_patch));
  file.write<std::uint8_t>("/mesh/region_names", packed(raw.region_names));
  file.write<std::uint8_t>("/mesh/patch_names", packed(raw.patch_names));
}

/// One member of all parts, one part after the other.
struct Column {
  std::vector<std::int64_t> starts{0};
  std::vector<Index> indices;
  std::vector<std::int64_t> integers;
  std::vector<std::uint8_t> bytes;
  std::vector<double> reals;
  int width = 1;  // of a row of reals
};

class PartColumns {
 public:
  void operator()(const std::string& name, const std::int64_t& value) {
    add(name, &Column::integers, &value, 1);
  }
  void operator()(const std::string& name, const std::vector<Index>& values) {
    add(name, &Column::indices, values.data(), values.size());
  }
  void operator()(const std::string& name, const std::vector<std::int64_t>& values) {
    add(name, &Column::integers, values.data(), values.size());
  }
  void operator()(const std::string& name, const std::vector<std::uint8_t>& values) {
    add(name, &Column::bytes, values.data(), values.size());
  }
  void operator()(const std::string& name, const std::vector<Real>& values) {
    add(name, &Column::reals, values.data(), values.size());
  }
  void operator()(const std::string& name, const std::vector<Vector3>& values) {
    columns_[name].width = 3;
    add(name, &Column::reals, values.empty() ? nullptr : &values.data()->x, 3 * values.size());
  }
  void operator()(const std::string& name, const std::vector<std::string>& names) {
    (*this)(name, packed(names));
  }

  /// Must last until the file is written.
  void write(Hdf5Writer& file) const {
    for (const auto& [name, column] : columns_) {
      const std::string path = "/parts/" + name;
      file.write<std::int64_t>(path + "_start", column.starts);
      if (!column.reals.empty() || column.width > 1) {
        file.write_shares<double>(path, {column.reals}, column.width);
      } else if (!column.integers.empty()) {
        file.write_shares<std::int64_t>(path, {column.integers});
      } else if (!column.bytes.empty()) {
        file.write_shares<std::uint8_t>(path, {column.bytes});
      } else {
        file.write_shares<std::int32_t>(path, {column.indices});
      }
    }
  }

 private:
  template <class T>
  void add(const std::string& name, std::vector<T> Column::*values, const T* first, std::size_t count) {
    Column& column = columns_[name];
    (column.*values).insert((column.*values).end(), first, first + count);
    column.starts.push_back(static_cast<std::int64_t>((column.*values).size()) / column.width);
  }

  std::map<std::string, Column> columns_;
};

/// Reads the members of one part.
struct PartReader {
  const Hdf5Reader& file;
  Index rank;

  template <class T>
  std::vector<T> rows(const std::string& name) const {
    const std::string path = "/parts/" + name;
    const auto ends = file.read_rows<std::int64_t>(path + "_start", rank, 2);
    return file.read_rows<T>(path, ends[0], ends[1] - ends[0]);
  }
  void operator()(const std::string& name, std::int64_t& value) const {
    const auto values = rows<std::int64_t>(name);
    value = values.empty() ? 0 : values.front();
  }
  template <class T>
  void operator()(const std::string& name, std::vector<T>& values) const {
    values = rows<T>(name);
  }
  void operator()(const std::string& name, std::vector<Vector3>& values) const {
    const std::vector<double> numbers = rows<double>(name);
    values.resize(numbers.size() / 3);
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = {numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]};
    }
  }
  void operator()(const std::string& name, std::vector<std::string>& names) const {
    names = unpacked(rows<std::uint8_t>(name));
  }
};

std::int64_t checksum_of(const MeshPart& part) {
  const std::vector<std::byte> bytes = bytes_of(part);
  return static_cast<std::int64_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw) {
  Hdf5Writer file(path, checked_user_block);
  write_raw_mesh(file, raw);
  commit_checked(file, mesh_file_format);
}

void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw, const Mesh& mesh,
                     const StoredPartition& stored) {
  Hdf5Writer file(path, checked_user_block);
  write_raw_mesh(file, raw);
  file.create_group("/parts");
  const std::vector<std::int64_t> layout{part_layout, stored.partition.parts, static_cast<int>(stored.order)};
  file.write<std::int64_t>("/parts/layout", layout);
  file.write<std::int32_t>("/parts/part_of_cell", stored.partition.part_of_cell);
  MeshDivider divider(mesh, stored.partition);
  PartColumns columns;
  std::vector<std::int64_t> checksums;
  for (Index rank = 0; rank < stored.partition.parts; ++rank) {
    const MeshPart part = divider.part(rank);
    checksums.push_back(checksum_of(part));
    visit_members(part, [&](const std::string& name, const auto& member) { columns(name, member); });
  }
  columns.write(file);
  file.write<std::int64_t>("/parts/checksums", checksums);
  commit_checked(file, mesh_file_format);
}

namespace {

struct PartsLayout {
  Index parts;
  CellOrder order;
};

std::optional<PartsLayout> read_layout(const Hdf5Reader& file, const std::filesystem::path& path) {
  if (!file.has("/parts")) return std::nullopt;
  const std::vector<std::int64_t> layout = file.read<std::int64_t>("/parts/layout");
  if (layout.size() != 3 || layout[0] != part_layout || !std::in_range<Index>(layout[1]) || layout[2] < 0 ||
      layout[2] > 2) {
    throw InputError(
        fmt::format("{}: its parts were written by another version of curlew; write it again with "
                    "'curlew mesh convert --partition'",
                    path.string()));
  }
  return PartsLayout{static_cast<Index>(layout[1]), static_cast<CellOrder>(layout[2])};
}

}  // namespace

bool has_parts(const std::filesystem::path& path, Index ranks, CellOrder order) {
  if (const auto damage = damage_of_head(path, mesh_file_format)) {
    throw InputError(
        fmt::format("{}: {}; write it again with 'curlew mesh convert'", path.string(), *damage));
  }
  const auto layout = read_layout(Hdf5Reader(path), path);
  return layout && layout->parts == ranks && layout->order == order;
}

std::optional<StoredPartition> read_partition(const std::filesystem::path& path) {
  const Hdf5Reader file(path);
  const auto layout = read_layout(file, path);
  if (!layout) return std::nullopt;
  return StoredPartition{{layout->parts, file.read<std::int32_t>("/parts/part_of_cell")}, layout->order};
}

MeshPart read_mesh_part(const std::filesystem::path& path, Index rank) {
  const Hdf5Reader file(path);
  MeshPart part;
  visit_members(part, PartReader{file, rank});
  if (checksum_of(part) != file.read_rows<std::int64_t>("/parts/checksums", rank, 1)[0]) {
    throw InputError(
        fmt::format("{}: part {} is damaged; write it again with 'curlew mesh convert --partition'",
                    path.string(), rank));
  }
  return part;
}

RawMesh read_mesh_file(const std::filesystem::path& path) {
  if (const auto damage = damage_of(path, mesh_file_format)) {
    throw InputError(
        fmt::format("{}: {}; write it again with 'curlew mesh convert'", path.string(), *damage));
  }
  const Hdf5Reader file(path);
  RawMesh raw;
  const std::vector<std::int64_t> dimension = file.read<std::int64_t>("/mesh/dimension");
  raw.dimension =
      dimension.size() == 1 && std::in_range<int>(dimension[0]) ? static_cast<int>(dimension[0]) : 0;
  const std::vector<double> nodes = file.read<double>("/mesh/nodes");
  for (std::size_t n = 0; n + 2 < nodes.size(); n += 3)
    raw.nodes.push_back({nodes[n], nodes[n + 1], nodes[n + 2]});
  for (const std::uint8_t type : file.read<std::uint8_t>("/mesh/cell_types")) {
    raw.cell_types.push_back(static_cast<CellType>(type));
  }
  raw.cell_start = file.read<std::int64_t>("/mesh/cell_start");
  raw.cell_nodes = narrowed(file.read<std::int64_t>("/mesh/cell_nodes"));
  raw.cell_region = narrowed(file.read<std::int64_t>("/mesh/cell_region"));
  raw.boundary_start = file.read<std::int64_t>("/mesh/boundary_start");
  raw.boundary_nodes = narrowed(file.read<std::int64_t>("/mesh/boundary_nodes"));
  raw.boundary_patch = narrowed(file.read<std::int64_t>("/mesh/boundary_patch"));
  raw.region_names = unpacked(file.read<std::uint8_t>("/mesh/region_names"));
  raw.patch_names = unpacked(file.read<std::uint8_t>("/mesh/patch_names"));
  require_sound(raw, path);
  return raw;
}

}  // namespace curlew
