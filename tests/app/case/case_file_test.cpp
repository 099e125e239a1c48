// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/case_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <locale>

namespace curlew {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// A case file in memory, and what was found wrong with it.
struct Reading {
  Diagnostics diagnostics;
  CaseFile file;

  explicit Reading(std::string_view text, std::vector<std::string> overrides = {})
      : file(text, "case.toml", overrides, diagnostics) {}

  std::vector<std::string> errors() const {
    std::vector<std::string> texts;
    for (const Diagnostic& diagnostic : diagnostics.sorted()) texts.push_back(diagnostic.text());
    return texts;
  }
};

std::string message_of(std::string_view text) {
  try {
    const Reading reading(text);
    return "";
  } catch (const InputErrors& errors) {
    return errors.what();
  }
}

TEST(Section, ReadsEveryKindOfValue) {
  Reading reading(R"([a]
real = 2.5
whole = 3
truth = true
text = "word"
chosen = "two"
vector = [1, 2, 3]
points = [[1, 2, 3], [4.5, 5, 6]]
names = ["left", "right"]
given = 4
expression = "2*x"
expressions = ["x", 1, 2.5]
)");
  const Section a = reading.file.root().table("a");
  const std::vector<std::string> choices = {"one", "two"};
  EXPECT_EQ(a.number("real"), 2.5);
  EXPECT_EQ(a.number("whole"), 3.0);
  EXPECT_EQ(a.integer("whole"), 3);
  EXPECT_EQ(a.boolean("truth"), true);
  EXPECT_EQ(a.string("text"), "word");
  EXPECT_EQ(a.choice("chosen", choices), 1u);
  EXPECT_EQ(a.vector3("vector"), (Vector3{1, 2, 3}));
  EXPECT_EQ(a.points("points"), (std::vector<Vector3>{{1, 2, 3}, {4.5, 5, 6}}));
  const auto names = a.names("names");
  ASSERT_TRUE(names && names->size() == 2);
  EXPECT_EQ((*names)[1].name, "right");
  EXPECT_EQ((*names)[1].location.line, 9);
  EXPECT_EQ(a.expression("given")->constant(), 4);
  EXPECT_TRUE(a.expression("expression")->depends_on_space());
  EXPECT_EQ(a.expressions("expressions", 3)->at(2).constant(), 2.5);
  EXPECT_EQ(a.number("absent"), std::nullopt);
  EXPECT_EQ(a.location("names").line, 9);
  EXPECT_EQ(a.location("absent").line, 1);
  reading.file.finish();
  EXPECT_THAT(reading.errors(), ElementsAre());
}

TEST(Section, ReportsWrongTypesWithExpectedAndFound) {
  Reading reading("[a]\nx = 'one'\ny = true\nz = [1, 2]\nw = 2.5\nlist = 3\n");
  const Section a = reading.file.root().table("a");
  EXPECT_EQ(a.number("x", {.unit = "m"}), std::nullopt);
  EXPECT_EQ(a.number("y"), std::nullopt);
  EXPECT_EQ(a.vector3("z"), std::nullopt);
  EXPECT_EQ(a.integer("w"), std::nullopt);
  EXPECT_EQ(a.expressions("list", 3), std::nullopt);
  EXPECT_THAT(
      reading.errors(),
      ElementsAre(
          "case.toml:2: x of [a] must be a number [m], not the string \"one\"",
          "case.toml:3: y of [a] must be a number, not true",
          "case.toml:4: z of [a] must be a list of three numbers, not a list of 2",
          "case.toml:5: w of [a] must be an integer, not 2.5",
          "case.toml:6: list of [a] must be a list of 3 numbers or expressions of x, y, z, t, not 3"));
}

TEST(Section, ChecksRanges) {
  Reading reading("[a]\nzero = 0\nminus = -1\ninfinite = inf\nnothing = nan\n");
  const Section a = reading.file.root().table("a");
  EXPECT_EQ(a.number("zero", {.allowed = Allowed::NonNegative}), 0.0);
  EXPECT_EQ(a.number("minus"), -1.0);
  EXPECT_THAT(reading.errors(), ElementsAre());
  EXPECT_EQ(a.number("zero", {.allowed = Allowed::Positive}), std::nullopt);
  EXPECT_EQ(a.integer("minus", {.allowed = Allowed::NonNegative}), std::nullopt);
  EXPECT_EQ(a.number("infinite"), std::nullopt);
  EXPECT_EQ(a.expression("nothing"), std::nullopt);
  EXPECT_EQ(reading.errors().size(), 4u);
}

TEST(Section, FindsTablesInTheOrderOfTheFile) {
  Reading reading("[boundary.wall]\n[boundary.'a b']\n[boundary.inlet]\ntype = 1\n");
  std::vector<std::string> names;
  for (const auto& [name, section] : reading.file.root().tables("boundary")) {
    names.push_back(name + ":" + std::to_string(section.location().line) + section.title());
    section.has("type");
  }
  EXPECT_THAT(names,
              ElementsAre("wall:1[boundary.wall]", "a b:2[boundary.\"a b\"]", "inlet:3[boundary.inlet]"));
}

TEST(Section, AsksOnceForAnAbsentTable) {
  Reading reading("[b]\n");
  const Section a = reading.file.root().table("a", {.required = true});
  EXPECT_FALSE(a.exists());
  EXPECT_EQ(a.number("x", {.required = true}), std::nullopt);
  EXPECT_FALSE(a.table("c", {.required = true}).exists());
  EXPECT_THAT(reading.errors(), ElementsAre("case.toml:1: the case lacks the table [a]"));
}

TEST(CaseFile, ReportsKeysThatNobodyRead) {
  Reading reading("[a]\nlenght = 1\n[a.b]\nc = 1\n[a.d]\ne = 2\n[f]\n");
  const Section a = reading.file.root().table("a");
  a.number("length");
  a.table("d").number("e");
  reading.file.finish();
  EXPECT_THAT(
      reading.errors(),
      ElementsAre("case.toml:2: unknown key lenght in [a]; did you mean \"length\"? valid keys: length, d",
                  "case.toml:3: unknown table b in [a]; valid keys: length, d",
                  "case.toml:7: unknown table f at the top of the case; valid tables: a"));
}

TEST(CaseFile, JudgesNoKeysOfATableThatIsIgnored) {
  Reading reading("[a]\nx = 1\n");
  reading.file.root().table("a").ignore_others();
  reading.file.finish();
  EXPECT_THAT(reading.errors(), ElementsAre());
}

TEST(CaseFile, TellsOfAMisspeltKeyThatOthersDependOn) {
  Reading reading("[a]\ntpye = \"wall\"\nvalue = 1\n");
  const Section a = reading.file.root().table("a");
  const std::vector<std::string> types = {"wall", "inlet"};
  EXPECT_EQ(a.choice("type", types, {.required = true}), std::nullopt);
  a.ignore_others();
  reading.file.finish();
  EXPECT_THAT(reading.errors(),
              ElementsAre("case.toml:2: unknown key tpye in [a]; did you mean \"type\"? valid keys: type"));
}

TEST(Overrides, OfNumbersThatAreTooLargeSaySo) {
  Reading reading("[a]\n", {"a.x=1e400", "a.k=99999999999999999999", "a.y=\"2.5\""});
  const Section a = reading.file.root().table("a");
  a.number("x");
  a.integer("k");
  a.number("y");
  EXPECT_THAT(reading.errors(),
              ElementsAre(HasSubstr("not the string \"1e400\"; the number is too large"),
                          HasSubstr("not the string \"99999999999999999999\"; the number is too large"),
                          HasSubstr("not the string \"2.5\"; write the number alone, without quotes")));
}

TEST(CaseFile, AdvisesToDropQuotesWhereTheyAreWhatIsWrong) {
  Reading reading("[a]\nnumber = \"-2.5\"\nexpression = \"-2.5\"\n");
  const Section a = reading.file.root().table("a");
  a.number("number", {.allowed = Allowed::Positive});
  a.expression("expression", {.allowed = Allowed::Positive});
  EXPECT_THAT(
      reading.errors(),
      ElementsAre(EndsWith("not the string \"-2.5\"; write the number alone, without quotes or a unit"),
                  EndsWith("not the string \"-2.5\"")));
}

TEST(Overrides, ReplaceAndAddKeys) {
  Reading reading("[a]\nx = 1\ny = 2\n",
                  {"a.x=5", "a.z = [1, 2, 3]", "b.c.d=true", "a.'odd key'=\"q\"", "b.c.d=false"});
  const Section root = reading.file.root();
  EXPECT_EQ(root.table("a").number("x"), 5.0);
  EXPECT_EQ(root.table("a").number("y"), 2.0);
  EXPECT_EQ(root.table("a").vector3("z"), (Vector3{1, 2, 3}));
  EXPECT_EQ(root.table("a").string("odd key"), "q");
  EXPECT_EQ(root.table("b").table("c").boolean("d"), false);
  reading.file.finish();
  EXPECT_THAT(reading.errors(), ElementsAre());
}

TEST(Overrides, ReplaceTablesAsAWhole) {
  Reading reading("[time]\nsteady = true\ntolerance = 1\n[a.b]\nx = 1\n[a.c]\nx = 1\n",
                  {"time={end=5, step=1}", "time.step=2", "a.b={}"});
  const Section root = reading.file.root();
  EXPECT_EQ(root.table("time").number("end"), 5.0);
  EXPECT_EQ(root.table("time").number("step"), 2.0);
  EXPECT_TRUE(root.table("a").table("b").exists());
  EXPECT_EQ(root.table("a").table("c").number("x"), 1.0);
  reading.file.finish();
  EXPECT_THAT(reading.errors(), ElementsAre());
}

TEST(Overrides, TakeBareWordsForStrings) {
  Reading reading("[a]\n", {"a.order=hilbert", "a.file=../mesh \"x\".msh", "a.sum=x=1", "a.back=C:\\new"});
  const Section a = reading.file.root().table("a");
  EXPECT_EQ(a.string("order"), "hilbert");
  EXPECT_EQ(a.string("file"), "../mesh \"x\".msh");
  EXPECT_EQ(a.string("sum"), "x=1");
  EXPECT_EQ(a.string("back"), "C:\\new");
}

TEST(Overrides, AreReportedAsTheCommandLine) {
  Reading reading("[a]\nx = 1\n", {"a.x=-1", "a.p=[[1, 2, 3], [1]]", "a.yy=1", "c", "a..b=1", "a.x=1\nb=2"});
  const Section a = reading.file.root().table("a");
  a.number("x", {.allowed = Allowed::Positive});
  a.points("p");
  reading.file.finish();
  EXPECT_THAT(
      reading.errors(),
      ElementsAre(HasSubstr("command line: --set c: no = in it; expected table.key=value"),
                  HasSubstr("command line: --set a..b=1: the name is no dotted TOML key"),
                  HasSubstr(": more than one line"),
                  "command line: x of [a] must be a positive number, not -1",
                  "command line: point 1 of p of [a] must be a list of three numbers, not a list of 1",
                  "command line: unknown key yy in [a]; valid keys: x, p"));
}

TEST(Overrides, OfAValueByATableAreTypeErrors) {
  Reading reading("[time]\nend = 1\n", {"time.end.x=1", "time=3"});
  EXPECT_FALSE(reading.file.root().table("time").exists());
  EXPECT_THAT(reading.errors(), ElementsAre("command line: time of the case must be a table [time], not 3"));
}

TEST(CaseFile, NamesTheLineOfBadToml) {
  EXPECT_THAT(message_of("a = 1\nb = [1,\n"), HasSubstr("case.toml:2: not TOML: "));
  EXPECT_THAT(message_of("a = 1\na = 2\n"), HasSubstr("case.toml:2: not TOML: "));
  EXPECT_THAT(message_of("a = \"\xff\xfe\"\n"), HasSubstr("case.toml:1: not TOML: "));
  EXPECT_THAT(message_of(std::string_view("\x7f"
                                          "ELF\x02\x01\0\0\0",
                                          9)),
              HasSubstr("case.toml:1: not TOML: "));
  EXPECT_THAT(message_of(std::string_view("a = 1\n\0\0", 8)), HasSubstr("not TOML: "));
  EXPECT_THAT(message_of("a = " + std::string(100000, '[')), HasSubstr("not TOML: "));
  EXPECT_THAT(message_of(""), HasSubstr("case.toml:1: the case file is empty"));
  EXPECT_THAT(message_of(" \r\n\t\n"), HasSubstr("case.toml:1: the case file is empty"));
}

TEST(CaseFile, RefusesNullCharacters) {
  EXPECT_EQ(message_of("[a]\nb = \"x\\u0000y\"\n"),
            "case.toml:2: a null character follows \"x\" in a string or name; leave it out");
  EXPECT_THAT(message_of("a = [1, [\n\"ok\",\n\"\\U00000000\"]]\n"),
              HasSubstr("case.toml:3: a null character follows \"\""));
  EXPECT_THAT(message_of("[boundary]\n[boundary.\"wall\\u0000\"]\n"),
              HasSubstr("case.toml:2: a null character follows \"wall\""));
  Reading reading("a = 1\n", {"a=\"x\\u0000y\"", "b=2"});
  EXPECT_EQ(reading.file.root().number("a"), 1);
  EXPECT_EQ(reading.file.root().number("b"), 2);
  EXPECT_THAT(reading.errors(), ElementsAre(HasSubstr("command line: a null character follows \"x\"")));
}

TEST(CaseFile, NamesFilesThatCannotBeRead) {
  Diagnostics diagnostics;
  const auto message = [&](const std::filesystem::path& path) -> std::string {
    try {
      const CaseFile file(path, {}, diagnostics);
      return "";
    } catch (const InputErrors& errors) {
      return errors.what();
    }
  };
  EXPECT_EQ(message("/nowhere/case.toml"), "/nowhere/case.toml: no such case file");
  EXPECT_THAT(message("/"), HasSubstr("/: this is a directory; expected a case file"));
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: this is a device; expected a case file (TOML)");
}

TEST(CaseFile, TakesDecimalPointsWhateverTheLocale) {
  struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  Reading reading("a = 1.5\n");
  const auto value = reading.file.root().number("a");
  std::locale::global(before);
  EXPECT_EQ(value, 1.5);
}

TEST(CaseFile, ReadsAMegabyteFast) {
  std::string text;
  for (int i = 0; text.size() < 1000000; ++i) {
    text += "[boundary.patch_" + std::to_string(i) + "]\ntype = \"temperature\"\nvalue = 300.5\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  Reading reading(text);
  for (const auto& [name, section] : reading.file.root().tables("boundary")) {
    section.string("type");
    section.expression("value");
  }
  reading.file.finish();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(reading.errors(), ElementsAre());
  EXPECT_LT(seconds.count(), 5.0);  // far above what it takes, far below quadratic time
  RecordProperty("seconds", std::to_string(seconds.count()));
}

TEST(CaseFile, RefusesNamesOfManyParts) {
  std::string deep = "a";
  for (int part = 0; part < 200000; ++part) deep += ".a";
  for (const std::string& text : {deep + " = 1", "[" + deep + "]", "a = {" + deep + " = 1}",
                                  "'=,'." + deep + " = 1", "\"=\\\",\". " + deep + " = 1"}) {
    EXPECT_THAT(message_of("# \"'\n\n" + text), HasSubstr("case.toml:3: a name of more than twenty parts"));
  }
  const Reading key("[a]", {deep + "=1"});
  ASSERT_EQ(key.errors().size(), 1u);
  EXPECT_LT(key.errors()[0].size(), 300u);
  // What is no value of TOML is a string.
  const std::string value = "{" + deep + "=1}";
  const Reading text("[a]", {"b=" + value});
  EXPECT_EQ(text.file.root().string("b"), value);
  const std::string points = std::string(100, '.') + "\\" + "\"" + std::string(100, '.');
  EXPECT_EQ(message_of("a = \"" + points + "\"\nb = '''\n" + deep + "'\n'''  # " + deep), "");
  EXPECT_EQ(
      message_of("a.b.c.d = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, "
                 "1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2]"),
      "");
}

TEST(CaseFile, QuotesTheBeginningOfWhatIsLong) {
  const std::string text(100000, 'q');
  const Reading reading("[a]\nvalue = \"" + text + "\"\n" + text + " = 1\n", {text});
  const Section a = reading.file.root().table("a");
  a.expression("value");
  reading.file.finish();
  EXPECT_EQ(reading.errors().size(), 3u);
  for (const std::string& error : reading.errors()) EXPECT_LT(error.size(), 1000u) << error;
}

}  // namespace
}  // namespace curlew
