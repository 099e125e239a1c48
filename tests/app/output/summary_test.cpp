// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/error.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

TEST(Summary, holds_the_keys_of_the_interface) {
  const OutputDirectory directory;
  Summary summary;
  summary.status = RunStatus::Diverged;
  summary.reason = "step 8: \"a\xff\"";  // no UTF-8
  summary.case_name = "crankshaft";
  summary.steps = 7;
  summary.time = 0.1 + 0.2;
  summary.iterations = {{"temperature", 12.5}};
  summary.monitors = {{"ends", {{"total", 1.5}, {"hot", NAN}}}};
  write_summary(directory / "summary.json", summary);
  const auto json = nlohmann::json::parse(read_text(directory / "summary.json"));
  for (const char* key : {"status", "case", "model", "backend", "ranks", "threads", "cells", "faces", "edges",
                          "nodes", "steps", "time", "wall_seconds", "seconds_per_step", "iterations",
                          "max_divergence", "peak_memory_bytes", "version", "monitors"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["status"], "diverged");
  EXPECT_EQ(json["reason"], "step 8: \"a\uFFFD\"");
  EXPECT_EQ(json["case"], "crankshaft");
  EXPECT_EQ(json["steps"], 7);
  EXPECT_EQ(json["time"], 0.1 + 0.2);
  EXPECT_EQ(json["iterations"]["temperature"], 12.5);
  EXPECT_TRUE(json["max_divergence"].is_null());
  EXPECT_EQ(json["monitors"]["ends"]["total"], 1.5);
  EXPECT_TRUE(json["monitors"]["ends"]["hot"].is_null());
  EXPECT_EQ(directory.names(), "summary.json");

  summary.status = RunStatus::Stopped;
  summary.reason = "";
  summary.max_divergence = 3e-15;
  write_summary(directory / "summary.json", summary);
  const auto second = nlohmann::json::parse(read_text(directory / "summary.json"));
  EXPECT_EQ(second["status"], "stopped");
  EXPECT_FALSE(second.contains("reason"));
  EXPECT_EQ(second["max_divergence"], 3e-15);
}

TEST(Summary, peak_memory_counts_what_was_touched) {
  const std::int64_t before = peak_memory_bytes();
  EXPECT_GT(before, 1 << 20);
  const std::vector<char> memory(200 << 20, 'x');
  EXPECT_GE(peak_memory_bytes() - before, memory.size() / 2);
}

TEST(Summary, a_failure_names_path_and_cause_and_keeps_the_old_file) {
  const OutputDirectory directory;
  write_text(directory / "summary.json", "old");
  const FullDisk full(50);
  EXPECT_THAT(
      message_of<Error>([&] { write_summary(directory / "summary.json", {}); }),
      testing::HasSubstr("cannot write '" + (directory / "summary.json").string() + "': File too large"));
  EXPECT_EQ(read_text(directory / "summary.json"), "old");
  EXPECT_EQ(directory.names(), "summary.json");
}

}  // namespace
}  // namespace curlew::test
