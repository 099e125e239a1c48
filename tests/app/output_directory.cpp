// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/app/output_directory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <vector>

namespace curlew::test {

OutputDirectory::OutputDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "curlew-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = name;
}

OutputDirectory::~OutputDirectory() {
  std::filesystem::remove_all(path_);
}

std::string OutputDirectory::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  std::string line;
  for (const auto& name : names) line += (line.empty() ? "" : " ") + name;
  return line;
}

FullDisk::FullDisk(std::size_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

FullDisk::~FullDisk() {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

std::string read_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace curlew::test
