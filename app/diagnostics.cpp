// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace curlew {

namespace {

std::string joined_text(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += diagnostic.text();
  }
  return text;
}

std::string folded(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

std::string Location::text() const {
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

std::string Diagnostic::text() const {
  const std::string place = location.text();
  return place.empty() ? message : place + ": " + message;
}

InputErrors::InputErrors(std::vector<Diagnostic> diagnostics)
    : InputError(joined_text(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputErrors::InputErrors(Location location, std::string message)
    : InputErrors(std::vector<Diagnostic>(1, Diagnostic{std::move(location), std::move(message)})) {}

void Diagnostics::error(Location location, std::string message) {
  diagnostics_.push_back({std::move(location), std::move(message)});
}

void Diagnostics::add(const InputErrors& errors) {
  diagnostics_.insert(diagnostics_.end(), errors.diagnostics().begin(), errors.diagnostics().end());
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = diagnostics_;
  const auto key = [](const Diagnostic& d) {
    return std::tuple(d.location.line > 0, std::string_view(d.location.file), d.location.line);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  return result;
}

void Diagnostics::throw_if_any() const {
  if (!empty()) throw InputErrors(sorted());
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between the beginnings of a and b.
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> valid) {
  const std::string wanted = folded(name);
  // A third of the letters may be wrong; a name of one letter is matched only in the other case.
  std::size_t best = std::min(wanted.size() - std::min<std::size_t>(wanted.size(), 1),
                              std::max<std::size_t>(1, wanted.size() / 3)) +
                     1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : valid) {
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  if (nearest || wanted.size() < 2) return nearest;
  for (const std::string& candidate : valid) {
    const std::string other = folded(candidate);
    if (!other.starts_with(wanted) && !(other.size() >= 3 && wanted.starts_with(other))) continue;
    if (nearest) return std::nullopt;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view name, std::span<const std::string> valid, std::string_view what) {
  std::string text;
  if (const auto nearest = nearest_name(name, valid)) text += "; did you mean \"" + *nearest + "\"?";
  if (valid.empty()) return text + "; there are no " + std::string(what);
  return text + (text.empty() ? "; " : " ") + "valid " + std::string(what) + ": " + join(valid);
}

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole UTF-8 characters
  return std::string(text.substr(0, end)) + "…";
}

std::string in_quotes(std::string_view text, std::size_t longest) {
  return '"' + shortened(text, longest) + '"';
}

std::string join(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace curlew
