// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/mesh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/checked_hdf5.hpp"
#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

const CheckedFormat format{"mesh file", 2};

std::vector<std::int64_t> widened(const std::vector<Index>& values) {
  return {values.begin(), values.end()};
}
std::vector<Index> narrowed(const std::vector<std::int64_t>& values) {
  std::vector<Index> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [](std::int64_t v) { return static_cast<Index>(v); });
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

}  // namespace

void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw) {
  Hdf5Writer file(path, checked_user_block);
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
  commit_checked(file, format);
}

RawMesh read_mesh_file(const std::filesystem::path& path) {
  if (const auto damage = damage_of(path, format)) {
    throw InputError(
        fmt::format("{}: {}; write it again with 'curlew mesh convert'", path.string(), *damage));
  }
  const Hdf5Reader file(path);
  RawMesh raw;
  const std::vector<std::int64_t> dimension = file.read<std::int64_t>("/mesh/dimension");
  raw.dimension = dimension.size() == 1 ? static_cast<int>(dimension[0]) : 0;
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
