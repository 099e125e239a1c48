// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/heat_case.hpp"

// Every tests/errors/NAME.toml says in its first lines what must be reported for it, all of it and nothing
// else:
//   # expect: LINE: fragment of the message        (LINE may be "command line")
//   # set: table.key=value                         (an override as of --set)
// The mesh has the patches left and right and the region solid.

namespace curlew {
namespace {

struct Expectation {
  std::string place;
  std::string fragment;
};

struct BadCase {
  std::filesystem::path file;
  std::vector<Expectation> expected;
  std::vector<std::string> overrides;
};

BadCase read_bad_case(const std::filesystem::path& file) {
  BadCase result{file, {}, {}};
  std::ifstream stream(file);
  const std::string expect = "# expect: ", set = "# set: ";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(expect)) {
      const std::string rest = line.substr(expect.size());
      const std::size_t colon = rest.find(": ");
      result.expected.push_back({rest.substr(0, colon), rest.substr(colon + 2)});
    } else if (line.starts_with(set)) {
      result.overrides.push_back(line.substr(set.size()));
    }
  }
  return result;
}

std::vector<std::filesystem::path> bad_case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(CURLEW_ERRORS_DIRECTORY)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Diagnostic> errors_of(const BadCase& bad) {
  Diagnostics diagnostics;
  try {
    const HeatCase heat_case = read_heat_case(bad.file, bad.overrides, diagnostics);
    const std::vector<std::string> patches = {"left", "right"}, regions = {"solid"};
    check_names_against_mesh(heat_case, patches, regions, diagnostics);
  } catch (const InputErrors& errors) {
    return errors.diagnostics();
  }
  return diagnostics.sorted();
}

class BadCaseTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadCaseTest, ReportsExactlyWhatIsWrong) {
  const BadCase bad = read_bad_case(GetParam());
  ASSERT_FALSE(bad.expected.empty());
  const std::vector<Diagnostic> errors = errors_of(bad);
  std::string all;
  for (const Diagnostic& error : errors) all += error.text() + "\n";
  ASSERT_EQ(errors.size(), bad.expected.size()) << all;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Location& location = errors[i].location;
    const std::string place = location.line > 0 ? std::to_string(location.line) : location.file;
    EXPECT_EQ(place, bad.expected[i].place) << errors[i].text();
    EXPECT_NE(errors[i].message.find(bad.expected[i].fragment), std::string::npos)
        << "expected: " << bad.expected[i].fragment << "\nfound:    " << errors[i].message;
    if (location.line > 0) {
      EXPECT_EQ(location.file, bad.file.string());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadCaseTest, testing::ValuesIn(bad_case_files()),
                         [](const auto& corpus) { return corpus.param.stem().string(); });

TEST(BadCaseCorpus, IsThere) {
  EXPECT_GE(bad_case_files().size(), 60u);
}

}  // namespace
}  // namespace curlew
