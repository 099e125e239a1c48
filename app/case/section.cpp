// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <variant>

#include "app/case/case_node.hpp"

namespace curlew {

namespace {

std::string_view allowed_words(Allowed allowed) {
  switch (allowed) {
    case Allowed::Positive:
      return "positive ";
    case Allowed::NonNegative:
      return "non-negative ";
    case Allowed::Any:
      break;
  }
  return "";
}

std::string in_unit(std::string_view unit) {
  return unit.empty() ? std::string() : fmt::format(" [{}]", unit);
}

std::string number_words(Rule rule, std::string_view noun = "number") {
  const std::string_view adjective = allowed_words(rule.allowed);
  const std::string_view article = adjective.empty() && noun.starts_with('i') ? "an" : "a";
  return fmt::format("{} {}{}{}", article, adjective, noun, in_unit(rule.unit));
}

std::string expression_words(Rule rule) {
  return fmt::format("a {}number or an expression of {}{}", allowed_words(rule.allowed),
                     join(names_of(rule.variables)), in_unit(rule.unit));
}

bool is_allowed(Real value, Allowed allowed) {
  return std::isfinite(value) &&
         (allowed == Allowed::Any || value > 0 || (allowed == Allowed::NonNegative && value == 0));
}

/// "45 W/mK" starts with a number: the user meant it, with a unit.
bool starts_with_number(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" +-.");
  return begin != std::string::npos && text[begin] >= '0' && text[begin] <= '9';
}

/// Whether it is a number and nothing else.
bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return starts_with_number(text) && *end == '\0';
}

/// Whether it is a number beyond those that a case file can hold.
bool is_number_out_of_range(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  const bool is_whole = text.find_first_not_of("+-0123456789") == std::string::npos;
  return is_number(text) && (std::isinf(value) || (is_whole && std::abs(value) >= 0x1p63));
}

std::string found_words(const CaseNode& node) {
  struct Words {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{:#}", v); }  // 2.0 is no integer
    std::string operator()(const std::string& v) const { return "the string " + in_quotes(v); }
    std::string operator()(const CaseNode::Moment&) const { return "a date or time"; }
    std::string operator()(const CaseNode::List& v) const {
      return v.empty() ? "an empty list" : fmt::format("a list of {}", v.size());
    }
    std::string operator()(const CaseNode::Table&) const { return "a table"; }
  };
  return std::visit(Words{}, node.value);
}

}  // namespace

std::string as_key(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? shortened(key) : in_quotes(key);
}

std::string Section::title() const {
  return name_.empty() ? "the case" : fmt::format("[{}]", name_);
}

Location Section::location() const {
  return node_ ? node_->location : Location{};
}

Location Section::location(std::string_view key) const {
  const Node* node = node_ ? std::get<Node::Table>(node_->value).find(key) : nullptr;
  return node ? node->location : location();
}

bool Section::has(std::string_view key) const {
  if (!node_) return false;
  return std::get<Node::Table>(node_->value).ask(key) != nullptr;
}

Section::Node* Section::find(std::string_view key, Rule rule, std::string_view expected) const {
  if (!node_) return nullptr;
  Node* node = std::get<Node::Table>(node_->value).ask(key);
  if (!node && rule.required)
    report_missing(key, fmt::format("{} lacks {}, {}", title(), as_key(key), expected));
  return node;
}

void Section::report_missing(std::string_view key, std::string message) const {
  diagnostics_->error(location(), message);
  std::get<Node::Table>(node_->value).missing.emplace(key, Diagnostic{location(), std::move(message)});
}

void Section::wrong(std::string_view key, const Node& found, std::string_view expected,
                    std::string_view part) const {
  std::string hint;
  const auto expects = [&](std::string_view what) { return expected.find(what) != std::string_view::npos; };
  if (const auto* text = std::get_if<std::string>(&found.value);
      text && starts_with_number(*text) && (expects("number") || expects("integer"))) {
    if (is_number_out_of_range(*text)) {
      hint = "; the number is too large";
    } else if (!(expects("expression") && is_number(*text))) {  // which may have quotes
      hint = "; write the number alone, without quotes or a unit";
    }
  }
  diagnostics_->error(found.location, fmt::format("{}{} of {} must be {}, not {}{}", part, as_key(key),
                                                  title(), expected, found_words(found), hint));
}

std::optional<Real> Section::checked_number(std::string_view key, const Node& node, Rule rule,
                                            std::string_view part) const {
  std::optional<Real> value;
  if (const auto* real = std::get_if<double>(&node.value)) value = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) value = static_cast<Real>(*whole);
  if (value && is_allowed(*value, rule.allowed)) return value;
  wrong(key, node, number_words(rule), part);
  return std::nullopt;
}

std::optional<Real> Section::number(std::string_view key, Rule rule) const {
  const Node* node = find(key, rule, number_words(rule));
  return node ? checked_number(key, *node, rule) : std::nullopt;
}

std::optional<std::int64_t> Section::integer(std::string_view key, Rule rule) const {
  const std::string expected = number_words(rule, "integer");
  const Node* node = find(key, rule, expected);
  if (!node) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&node->value);
  if (value && is_allowed(static_cast<Real>(*value), rule.allowed)) return *value;
  wrong(key, *node, expected);
  return std::nullopt;
}

std::optional<bool> Section::boolean(std::string_view key, Rule rule) const {
  const Node* node = find(key, rule, "true or false");
  if (!node) return std::nullopt;
  if (const auto* value = std::get_if<bool>(&node->value)) return *value;
  wrong(key, *node, "true or false");
  return std::nullopt;
}

std::optional<std::string> Section::string(std::string_view key, Rule rule) const {
  const Node* node = find(key, rule, "a string in quotes");
  if (!node) return std::nullopt;
  const auto* value = std::get_if<std::string>(&node->value);
  if (value && !value->empty()) return *value;
  wrong(key, *node, "a string in quotes that is not empty");
  return std::nullopt;
}

std::optional<std::size_t> Section::choice(std::string_view key, std::span<const std::string> names,
                                           Rule rule) const {
  const std::string expected = fmt::format("one of {}", join(names));
  const Node* node = find(key, rule, expected);
  if (!node) return std::nullopt;
  const auto* value = std::get_if<std::string>(&node->value);
  if (!value) {
    wrong(key, *node, expected);
    return std::nullopt;
  }
  const auto name = std::find(names.begin(), names.end(), *value);
  if (name != names.end()) return static_cast<std::size_t>(name - names.begin());
  diagnostics_->error(node->location, fmt::format("{} of {} cannot be {}{}", as_key(key), title(),
                                                  in_quotes(*value), suggestion(*value, names, "names")));
  return std::nullopt;
}

std::optional<Vector3> Section::checked_vector3(std::string_view key, const Node& node, Rule rule,
                                                std::string_view part) const {
  const auto* list = std::get_if<Node::List>(&node.value);
  if (!list || list->size() != 3) {
    wrong(key, node, fmt::format("a list of three numbers{}", in_unit(rule.unit)), part);
    return std::nullopt;
  }
  const auto x = checked_number(key, (*list)[0], rule, fmt::format("x of {}", part));
  const auto y = checked_number(key, (*list)[1], rule, fmt::format("y of {}", part));
  const auto z = checked_number(key, (*list)[2], rule, fmt::format("z of {}", part));
  if (!x || !y || !z) return std::nullopt;
  return Vector3{*x, *y, *z};
}

std::optional<Vector3> Section::vector3(std::string_view key, Rule rule) const {
  const Node* node = find(key, rule, fmt::format("a list of three numbers{}", in_unit(rule.unit)));
  return node ? checked_vector3(key, *node, rule) : std::nullopt;
}

std::optional<std::vector<Vector3>> Section::points(std::string_view key, Rule rule) const {
  const std::string expected = fmt::format("a list of points [[x, y, z], …]{}", in_unit(rule.unit));
  const Node* node = find(key, rule, expected);
  if (!node) return std::nullopt;
  const auto* list = std::get_if<Node::List>(&node->value);
  const auto is_list = [](const Node& element) { return std::holds_alternative<Node::List>(element.value); };
  if (!list || list->empty() || std::none_of(list->begin(), list->end(), is_list)) {
    wrong(key, *node, expected);
    return std::nullopt;
  }
  std::vector<Vector3> values;
  for (std::size_t k = 0; k < list->size(); ++k) {  // points count from 0, as in columns
    const auto value = checked_vector3(key, (*list)[k], rule, fmt::format("point {} of ", k));
    if (value) values.push_back(*value);
  }
  if (values.size() != list->size()) return std::nullopt;
  return values;
}

std::optional<std::vector<NamedReference>> Section::names(std::string_view key, Rule rule) const {
  const std::string expected = "a list of names";
  const Node* node = find(key, rule, expected);
  if (!node) return std::nullopt;
  const auto* list = std::get_if<Node::List>(&node->value);
  if (!list || list->empty()) {
    wrong(key, *node, expected + " in brackets");
    return std::nullopt;
  }
  std::vector<NamedReference> values;
  for (const Node& element : *list) {
    const auto* name = std::get_if<std::string>(&element.value);
    if (!name) {
      wrong(key, element, expected);
    } else if (std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.name == *name; })) {
      diagnostics_->error(element.location,
                          fmt::format("{} of {} names {} twice", as_key(key), title(), in_quotes(*name)));
    } else {
      values.push_back({*name, element.location});
    }
  }
  if (values.size() != list->size()) return std::nullopt;
  return values;
}

std::optional<std::vector<std::size_t>> Section::choices(std::string_view key,
                                                         std::span<const std::string> valid,
                                                         Rule rule) const {
  const auto given = names(key, rule);
  if (!given) return std::nullopt;
  std::vector<std::size_t> positions;
  for (const NamedReference& reference : *given) {
    const auto name = std::find(valid.begin(), valid.end(), reference.name);
    if (name != valid.end()) {
      positions.push_back(static_cast<std::size_t>(name - valid.begin()));
    } else {
      diagnostics_->error(reference.location,
                          fmt::format("{} of {} cannot have {}{}", as_key(key), title(),
                                      in_quotes(reference.name), suggestion(reference.name, valid, "names")));
    }
  }
  if (positions.size() != given->size()) return std::nullopt;
  return positions;
}

std::optional<Expression> Section::checked_expression(std::string_view key, const Node& node,
                                                      Rule rule) const {
  std::optional<Expression> value;
  if (const auto* text = std::get_if<std::string>(&node.value)) {
    try {
      value = Expression(*text, node.location, rule.variables);
    } catch (const InputErrors& errors) {
      for (const Diagnostic& diagnostic : errors.diagnostics()) {
        diagnostics_->error(diagnostic.location,
                            fmt::format("{} of {}: {}", as_key(key), title(), diagnostic.message));
      }
      return std::nullopt;
    }
  } else if (const auto* real = std::get_if<double>(&node.value)) {
    value = Expression(*real);
  } else if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
    value = Expression(static_cast<Real>(*whole));
  }
  if (value && (!value->is_constant() || is_allowed(value->constant(), rule.allowed))) return value;
  wrong(key, node, expression_words(rule));
  return std::nullopt;
}

std::optional<Expression> Section::expression(std::string_view key, Rule rule) const {
  const Node* node = find(key, rule, expression_words(rule));
  return node ? checked_expression(key, *node, rule) : std::nullopt;
}

std::optional<std::vector<Expression>> Section::expressions(std::string_view key, std::size_t count,
                                                            Rule rule) const {
  const std::string expected = fmt::format("a list of {} numbers or expressions of {}{}", count,
                                           join(names_of(rule.variables)), in_unit(rule.unit));
  const Node* node = find(key, rule, expected);
  if (!node) return std::nullopt;
  const auto* list = std::get_if<Node::List>(&node->value);
  if (!list || list->size() != count) {
    wrong(key, *node, expected);
    return std::nullopt;
  }
  std::vector<Expression> values;
  for (const Node& element : *list) {
    if (auto value = checked_expression(key, element, rule)) values.push_back(*std::move(value));
  }
  if (values.size() != count) return std::nullopt;
  return values;
}

Section Section::table(std::string_view key, Rule rule) const {
  const std::string path = name_.empty() ? as_key(key) : name_ + "." + as_key(key);
  Section absent(nullptr, path, diagnostics_);
  if (!node_) return absent;
  Node* node = std::get<Node::Table>(node_->value).ask(key);
  if (!node) {
    if (rule.required) report_missing(key, fmt::format("{} lacks the table [{}]", title(), path));
    return absent;
  }
  if (!std::holds_alternative<Node::Table>(node->value)) {
    wrong(key, *node, fmt::format("a table [{}]", path));
    return absent;
  }
  node->opened = true;
  return Section(node, path, diagnostics_);
}

std::vector<std::pair<std::string, Section>> Section::tables(std::string_view key) const {
  const Section parent = table(key);
  std::vector<std::pair<std::string, Section>> result;
  if (!parent.node_) return result;
  parent.ignore_others();
  std::vector<std::pair<Location, std::string>> found;
  for (const auto& entry : std::get<Node::Table>(parent.node_->value).entries) {
    found.emplace_back(entry.node.location, entry.key);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first.line < b.first.line; });
  for (const auto& [place, name] : found) {
    const Section child = parent.table(name);
    if (child.exists()) result.emplace_back(name, child);
  }
  return result;
}

void Section::error(std::string_view key, std::string message) const {
  diagnostics_->error(location(key), std::move(message));
}

void Section::ignore_others() const {
  if (node_) std::get<Node::Table>(node_->value).any_key = true;
}

void Section::report_unread() const {
  auto& table = std::get<Node::Table>(node_->value);
  for (auto& entry : table.entries) {
    const bool is_table = std::holds_alternative<Node::Table>(entry.node.value);
    const bool known =
        std::find(table.valid_keys.begin(), table.valid_keys.end(), entry.key) != table.valid_keys.end();
    const auto missing = table.missing.find(nearest_name(entry.key, table.valid_keys).value_or(""));
    if (known || (table.any_key && missing == table.missing.end())) {
      const std::string path = name_.empty() ? as_key(entry.key) : name_ + "." + as_key(entry.key);
      if (entry.node.opened) Section(&entry.node, path, diagnostics_).report_unread();
      continue;
    }
    const std::string what = name_.empty() ? fmt::format("unknown {} {} at the top of the case",
                                                         is_table ? "table" : "key", as_key(entry.key))
                                           : fmt::format("unknown {} {} in {}", is_table ? "table" : "key",
                                                         as_key(entry.key), title());
    diagnostics_->error(entry.node.location,
                        what + suggestion(entry.key, table.valid_keys, name_.empty() ? "tables" : "keys"));
    if (missing != table.missing.end()) diagnostics_->withdraw(missing->second);
  }
}

}  // namespace curlew
