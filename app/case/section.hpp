// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/case/expression.hpp"
#include "app/diagnostics.hpp"

namespace curlew {

/// Which numbers a key takes. Infinity and not-a-number are never among them. For expressions it holds for
/// constants, which are all that can be judged when the file is read.
enum class Allowed { Any, Positive, NonNegative };

/// What a key must hold, for checks and messages.
struct Rule {
  bool required = false;                          ///< its absence is an error
  Allowed allowed = Allowed::Any;                 ///< for numbers
  std::string_view unit = "";                     ///< SI, "W/(m K)"; for messages
  Variables variables = Variables::PlaceAndTime;  ///< that messages offer for expressions
};

/// A name the user wrote, and where: for checks that come later.
struct NamedReference {
  std::string name;
  Location location;
};

struct CaseNode;
class CaseFile;

/// A key as TOML wants it in a dotted name: in quotes unless it is bare.
std::string as_key(std::string_view key);

/// One table of a case file. Getters report what is wrong to the file's Diagnostics and return nothing then,
/// as they do for absent keys. The keys asked for are the valid ones of the table. A Section of an absent
/// table has no keys, and complains about none missing: the absent table was reported, or is allowed. Valid
/// as long as the CaseFile lives.
class Section {
 public:
  /// "boundary.lid"; empty for the whole file.
  const std::string& name() const { return name_; }
  /// "[boundary.lid]", for messages.
  std::string title() const;
  bool exists() const { return node_ != nullptr; }
  /// Of the table's header.
  Location location() const;
  /// Of the key, or of the header where the key is absent.
  Location location(std::string_view key) const;

  /// Whether the key is there; makes it a valid one, as every getter does.
  bool has(std::string_view key) const;

  std::optional<Real> number(std::string_view key, Rule rule = {}) const;
  std::optional<std::int64_t> integer(std::string_view key, Rule rule = {}) const;
  std::optional<bool> boolean(std::string_view key, Rule rule = {}) const;
  std::optional<std::string> string(std::string_view key, Rule rule = {}) const;
  /// Position in `names` of the string given.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string> names,
                                    Rule rule = {}) const;
  /// Three numbers.
  std::optional<Vector3> vector3(std::string_view key, Rule rule = {}) const;
  /// A list of lists of three numbers, at least one.
  std::optional<std::vector<Vector3>> points(std::string_view key, Rule rule = {}) const;
  /// A list of different strings, at least one.
  std::optional<std::vector<NamedReference>> names(std::string_view key, Rule rule = {}) const;
  /// A list of different strings out of `valid`, at least one; their positions there.
  std::optional<std::vector<std::size_t>> choices(std::string_view key, std::span<const std::string> valid,
                                                  Rule rule = {}) const;
  /// A number, or a string that is an expression.
  std::optional<Expression> expression(std::string_view key, Rule rule = {}) const;
  /// `count` of those.
  std::optional<std::vector<Expression>> expressions(std::string_view key, std::size_t count,
                                                     Rule rule = {}) const;

  /// The table `key` in this one.
  Section table(std::string_view key, Rule rule = {}) const;
  /// All tables in the table `key` ([boundary.lid], [boundary.wall]: key = "boundary"), by name and in the
  /// order of the file; any name is valid there.
  std::vector<std::pair<std::string, Section>> tables(std::string_view key) const;

  /// Reports an error at the key (at the table's header where it is absent).
  void error(std::string_view key, std::string message) const;
  /// Nothing can be said about the keys not asked for (a type that is unknown): do not report them.
  void ignore_others() const;
  /// Reports every key and table that nobody asked for. Where one of them is a misspelt one that is missing,
  /// it is not reported as missing too.
  void report_unread() const;

 private:
  friend class CaseFile;
  using Node = CaseNode;

  Section(Node* node, std::string name, Diagnostics* diagnostics)
      : node_(node), name_(std::move(name)), diagnostics_(diagnostics) {}

  Node* find(std::string_view key, Rule rule, std::string_view expected) const;
  // `part` of a list, for messages: "point 2 of ".
  void wrong(std::string_view key, const Node& found, std::string_view expected,
             std::string_view part = "") const;
  std::optional<Real> checked_number(std::string_view key, const Node& node, Rule rule,
                                     std::string_view part = "") const;
  std::optional<Vector3> checked_vector3(std::string_view key, const Node& node, Rule rule,
                                         std::string_view part = "") const;
  std::optional<Expression> checked_expression(std::string_view key, const Node& node, Rule rule) const;
  void report_missing(std::string_view key, std::string message) const;

  Node* node_;
  std::string name_;
  Diagnostics* diagnostics_;
};

}  // namespace curlew
