// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/case_node.hpp"

#include <algorithm>

namespace curlew {

std::vector<CaseNode::Entry>::iterator CaseNode::Table::position(std::string_view key) {
  return std::lower_bound(entries.begin(), entries.end(), key,
                          [](const Entry& entry, std::string_view k) { return entry.key < k; });
}

CaseNode* CaseNode::Table::find(std::string_view key) {
  const auto entry = position(key);
  return entry == entries.end() || entry->key != key ? nullptr : &entry->node;
}

CaseNode* CaseNode::Table::ask(std::string_view key) {
  if (!any_key && std::find(valid_keys.begin(), valid_keys.end(), key) == valid_keys.end()) {
    valid_keys.emplace_back(key);
  }
  return find(key);
}

}  // namespace curlew
