// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <fmt/format.h>
#include <gmsh.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "mesh/import/gmsh_import.hpp"

namespace curlew {

/// Tests that write mesh files, into a folder of their own.
class GmshImport : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("curlew_{}_{}", test->name(), getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

inline std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The message of the InputError that importing the file gives; empty where it gives none.
inline std::string import_error(const std::filesystem::path& file, const GmshImportOptions& options = {}) {
  try {
    import_mesh(file, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Gmsh's ASCII format 2.2: each node "tag x y z", each element "tag type tag_count tags... nodes...".
inline std::string msh22(const std::vector<std::string>& names, const std::vector<std::string>& nodes,
                         const std::vector<std::string>& elements) {
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  const auto section = [&](const std::string& name, const std::vector<std::string>& lines) {
    text += fmt::format("${}\n{}\n", name, lines.size());
    for (const std::string& line : lines) text += line + "\n";
    text += fmt::format("$End{}\n", name);
  };
  if (!names.empty()) section("PhysicalNames", names);
  section("Nodes", nodes);
  section("Elements", elements);
  return text;
}

/// Runs `build` in a Gmsh model and saves the model as `file`.
inline void save(const std::filesystem::path& file, double version, bool binary,
                 const std::function<void()>& build) {
  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  build();
  gmsh::option::setNumber("Mesh.MshFileVersion", version);
  gmsh::option::setNumber("Mesh.Binary", binary ? 1 : 0);
  testing::internal::CaptureStdout();  // the geometry kernel reports on what it writes
  gmsh::write(file.string());
  testing::internal::GetCapturedStdout();
  gmsh::finalize();
}

/// A script of Gmsh for a box with a floor.
inline const std::string box_script = R"(SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 2};
Physical Volume("box") = {1};
Physical Surface("floor") = {5};
Printf("a script may print");
)";

}  // namespace curlew
