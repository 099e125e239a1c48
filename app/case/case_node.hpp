// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/diagnostics.hpp"

namespace curlew {

/// A value of a case file, tables and lists included, and what was asked of it.
struct CaseNode {
  struct Moment {};  // a date or time: no key takes one
  using List = std::vector<CaseNode>;
  struct Entry;
  struct Table {
    std::vector<Entry> entries;                              // by key
    std::vector<std::string> valid_keys;                     // in the order they were asked for
    std::map<std::string, Diagnostic, std::less<>> missing;  // reported, by key
    bool any_key = false;                                    // none is unknown

    std::vector<Entry>::iterator position(std::string_view key);
    CaseNode* find(std::string_view key);
    /// find(), and makes the key a valid one.
    CaseNode* ask(std::string_view key);
  };

  std::variant<bool, std::int64_t, double, std::string, Moment, List, Table> value = Table{};
  Location location;
  bool opened = false;  // a table that somebody reads
};

struct CaseNode::Entry {
  std::string key;
  CaseNode node;
};

}  // namespace curlew
