// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/executor.hpp"

namespace curlew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Options>
Options parsed(const std::vector<std::string>& arguments) {
  return std::get<Options>(parse_command_line(arguments));
}

std::string message_of(const std::vector<std::string>& arguments) {
  try {
    parse_command_line(arguments);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(CommandLine, ReadsRun) {
  const auto run = parsed<RunOptions>({"run", "--set", "a.b=1", "case.toml", "--set", "c=2", "--backend",
                                       "cpu", "--threads", "4", "--output", "here", "--restart", "x.h5",
                                       "--steps=7", "--no-overlap", "--quiet"});
  EXPECT_EQ(run.case_file, "case.toml");
  EXPECT_THAT(run.overrides, ElementsAre("a.b=1", "c=2"));
  EXPECT_EQ(run.backend, "cpu");
  EXPECT_EQ(run.threads, 4);
  EXPECT_EQ(run.output, "here");
  EXPECT_EQ(run.restart, "x.h5");
  EXPECT_EQ(run.steps, 7);
  EXPECT_FALSE(run.overlap);
  EXPECT_TRUE(run.quiet);
}

TEST(CommandLine, HasDefaults) {
  const auto run = parsed<RunOptions>({"run", "case.toml"});
  EXPECT_THAT(run.overrides, ElementsAre());
  EXPECT_EQ(run.backend, "cpu");
  EXPECT_FALSE(run.threads || run.output || run.restart || run.steps || run.quiet);
  EXPECT_TRUE(run.overlap);
  const auto info = parsed<MeshInfoOptions>({"mesh", "info", "a.msh"});
  EXPECT_EQ(info.mesh.scale, 1);
  EXPECT_EQ(info.mesh.size, 0);
  EXPECT_EQ(info.mesh.order, CellOrder::ReverseCuthillMcKee);
  EXPECT_FALSE(info.json);
}

TEST(CommandLine, ReadsTheOthers) {
  EXPECT_EQ(parsed<CheckOptions>({"check", "case.toml"}).case_file, "case.toml");
  EXPECT_EQ(parsed<CompareOptions>({"compare", "case.toml", "--steps", "99999999999"}).steps, 99999999999);
  const auto info = parsed<MeshInfoOptions>(
      {"mesh", "info", "a.geo", "--json", "--scale", "1e-3", "--size", "0.5", "--order", "hilbert"});
  EXPECT_EQ(info.mesh.file, "a.geo");
  EXPECT_EQ(info.mesh.scale, 1e-3);
  EXPECT_EQ(info.mesh.size, 0.5);
  EXPECT_EQ(info.mesh.order, CellOrder::Hilbert);
  EXPECT_TRUE(info.json);
  const auto convert = parsed<MeshConvertOptions>({"mesh", "convert", "a.msh", "b.h5"});
  EXPECT_EQ(convert.mesh.file, "a.msh");
  EXPECT_EQ(convert.output, "b.h5");
  const auto bench = parsed<BenchOptions>({"bench", "a.msh", "--backend", "cpu", "--threads", "2", "--json"});
  EXPECT_EQ(bench.backend, "cpu");
  EXPECT_EQ(bench.threads, 2);
  EXPECT_TRUE(bench.json);
}

TEST(CommandLine, TakesWhatFollowsTwoDashesForFiles) {
  for (const auto& words : {std::vector<std::string>{"run", "--", "case.toml"}, {"--", "run", "case.toml"}})
    EXPECT_EQ(parsed<RunOptions>(words).case_file, "case.toml");
  const auto run = parsed<RunOptions>({"run", "--steps", "2", "--", "--quiet"});
  EXPECT_EQ(run.case_file, "./--quiet");
  EXPECT_EQ(run.steps, 2);
  EXPECT_FALSE(run.quiet);
  const auto convert = parsed<MeshConvertOptions>({"mesh", "convert", "a.msh", "--", "-b.h5"});
  EXPECT_EQ(convert.mesh.file, "a.msh");
  EXPECT_EQ(convert.output, "./-b.h5");
}

TEST(CommandLine, Answers) {
  EXPECT_THAT(parsed<Answer>({"--version"}).text, HasSubstr("backends: cpu (serial, OpenMP), debug device"));
#if defined(CURLEW_CUDA)
  EXPECT_THAT(parsed<Answer>({"--version"}).text, HasSubstr(", cuda\n"));
#else
  EXPECT_THAT(parsed<Answer>({"--version"}).text, HasSubstr("CUDA is not built in"));
#endif
  EXPECT_THAT(parsed<Answer>({"--help"}).text, HasSubstr("compare"));
  EXPECT_THAT(parsed<Answer>({"run", "--help"}).text, HasSubstr("--restart"));
  for (const auto& words :
       {std::vector<std::string>{"run", "--help"}, {"mesh", "convert", "--help"}, {"bench", "--help"}})
    EXPECT_THAT(parsed<Answer>(words).text,
                testing::Not(testing::AnyOf(HasSubstr("{false}"), HasSubstr("Needs"))));
  EXPECT_THAT(parsed<Answer>({"mesh", "info", "--help"}).text, HasSubstr("--json"));
}

TEST(CommandLine, NamesWhatIsWrong) {
  EXPECT_THAT(message_of({}), HasSubstr("curlew needs a subcommand: run, check"));
  EXPECT_THAT(message_of({"mesh"}), HasSubstr("curlew mesh needs a subcommand: info, convert"));
  EXPECT_THAT(message_of({"rnu", "case.toml"}),
              HasSubstr("has no subcommand \"rnu\"; did you mean \"run\"?"));
  EXPECT_THAT(message_of({"mesh", "inof", "x"}), HasSubstr("did you mean \"info\"?"));
  EXPECT_THAT(message_of({"run", "x", "--thread", "2"}), HasSubstr("did you mean \"--threads\"?"));
  EXPECT_THAT(message_of({"run", "x", "--outptu=a"}), HasSubstr("did you mean \"--output\"?"));
  EXPECT_THAT(message_of({"run"}), HasSubstr("CASE is required"));
  EXPECT_THAT(message_of({"run", "a", "b"}), HasSubstr("not expected: b"));
  EXPECT_THAT(message_of({"run", "a", "--threads", "0"}), HasSubstr("expected a positive integer, not 0"));
  EXPECT_THAT(message_of({"run", "a", "--threads", "1000000"}),
              HasSubstr("expected at most 1024, not 1000000"));
  EXPECT_THAT(message_of({"run", "a", "--steps", "1.5"}), HasSubstr("expected a positive integer, not 1.5"));
  EXPECT_THAT(message_of({"mesh", "info", "a", "--scale", "-1"}),
              HasSubstr("expected a positive number, not -1"));
  EXPECT_THAT(message_of({"mesh", "info", "a", "--size", "nan"}),
              HasSubstr("expected a positive number, not nan"));
  EXPECT_THAT(message_of({"mesh", "info", "a", "--order", "foo"}),
              HasSubstr("foo not in {rcm,hilbert,none}"));
  if (const std::string problem = cuda_problem(); !problem.empty()) {
    EXPECT_EQ(message_of({"run", "a", "--backend", "cuda"}), "--backend cuda: " + problem);
    EXPECT_EQ(message_of({"bench", "a", "--backend", "cuda"}), "--backend cuda: " + problem);
    EXPECT_THAT(problem, HasSubstr("use --backend cpu"));
  }
  for (const char* command : {"run", "bench"})
    EXPECT_THAT(message_of({command, "a", "--backend", "gpu"}), HasSubstr("there is no backend \"gpu\""));
}

}  // namespace
}  // namespace curlew
