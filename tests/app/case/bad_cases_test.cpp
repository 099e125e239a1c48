// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/case/flow_case.hpp"
#include "app/case/heat_case.hpp"

// Every tests/errors/NAME.toml says in its first lines what must be reported for it, all of it and nothing
// else:
//   # expect: LINE: fragment of the message        (or "command line", or FILE:LINE for another file)
//   # set: table.key=value                         (an override as of --set)
//   # dimension: 2                                 (of the mesh, otherwise 3)
// The mesh of a heat case has the patches left and right and the region solid, that of a flow the patches
// left, right, top and bottom and the region fluid.

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
  int dimension;
};

BadCase read_bad_case(const std::filesystem::path& file) {
  BadCase result{file, {}, {}, 3};
  std::ifstream stream(file);
  const std::string expect = "# expect: ", set = "# set: ", dimension = "# dimension: ";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(expect)) {
      const std::string rest = line.substr(expect.size());
      const std::size_t colon = rest.find(": ");
      result.expected.push_back({rest.substr(0, colon), rest.substr(colon + 2)});
    } else if (line.starts_with(set)) {
      result.overrides.push_back(line.substr(set.size()));
    } else if (line.starts_with(dimension)) {
      result.dimension = std::stoi(line.substr(dimension.size()));
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

bool is_flow(const BadCase& bad) {
  Diagnostics others;
  const CaseFile file(bad.file, bad.overrides, others);
  return read_model_type(file.root(), others) != "heat-diffusion";
}

std::vector<Diagnostic> errors_of(const BadCase& bad) {
  Diagnostics diagnostics;
  try {
    if (is_flow(bad)) {
      const FlowCase flow_case = read_flow_case(bad.file, bad.overrides, diagnostics);
      const std::vector<std::string> patches = {"left", "right", "top", "bottom"}, regions = {"fluid"};
      check_against_mesh(flow_case, bad.dimension, patches, regions, diagnostics);
    } else {
      const HeatCase heat_case = read_heat_case(bad.file, bad.overrides, diagnostics);
      const std::vector<std::string> patches = {"left", "right"}, regions = {"solid"};
      check_names_against_mesh(heat_case, patches, regions, diagnostics);
    }
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
    const std::string place =
        location.line == 0 ? location.file
        : location.file == bad.file.string()
            ? std::to_string(location.line)
            : Location{std::filesystem::path(location.file).filename().string(), location.line}.text();
    EXPECT_EQ(place, bad.expected[i].place) << errors[i].text();
    EXPECT_NE(errors[i].message.find(bad.expected[i].fragment), std::string::npos)
        << "expected: " << bad.expected[i].fragment << "\nfound:    " << errors[i].message;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadCaseTest, testing::ValuesIn(bad_case_files()),
                         [](const auto& corpus) { return corpus.param.stem().string(); });

TEST(BadCaseCorpus, IsThere) {
  EXPECT_GE(bad_case_files().size(), 120u);
}

}  // namespace
}  // namespace curlew
