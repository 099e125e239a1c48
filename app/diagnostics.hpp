// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.hpp"

namespace curlew {

/// Where a piece of input stands.
struct Location {
  std::string file;  ///< as the user named it, or "command line"; empty: nowhere in particular
  int line = 0;      ///< counted from 1; 0: no line (the command line)
  bool operator==(const Location&) const = default;

  /// "FILE:LINE", or "command line", or "" .
  std::string text() const;
};

/// One thing wrong with the input.
struct Diagnostic {
  Location location;
  std::string message;  ///< a sentence: what is wrong and what would be right
  bool operator==(const Diagnostic&) const = default;

  /// "FILE:LINE: message".
  std::string text() const;
};

/// Everything found wrong with the input, one line each; exit status 2.
class InputErrors : public InputError {
 public:
  explicit InputErrors(std::vector<Diagnostic> diagnostics);
  InputErrors(Location location, std::string message);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Collects what is wrong with the input, so that the user sees all of it and not just the first.
class Diagnostics {
 public:
  void error(Location location, std::string message);
  void add(const InputErrors& errors);
  /// Takes back what turned out to follow from another error.
  void withdraw(const Diagnostic& follower) { std::erase(diagnostics_, follower); }

  bool empty() const { return diagnostics_.empty(); }
  std::size_t size() const { return diagnostics_.size(); }

  /// By file and line; errors on one line in the order they were found; the command line first.
  std::vector<Diagnostic> sorted() const;

  /// Throws InputErrors with the sorted list unless it is empty.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Does `action`. What it finds wrong with the input without knowing where gets `place_of` that error.
template <class Action, class PlaceOf>
void with_place(const Action& action, const PlaceOf& place_of) {
  try {
    action();
  } catch (const InputErrors&) {
    throw;
  } catch (const InputError& error) {
    throw InputErrors(place_of(error), error.what());
  }
}

/// Number of insertions, deletions, replacements and swaps of neighbouring characters that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The valid name that `name` most likely stands for: nearest by edit distance, upper and lower case, "-" and
/// "_" alike, or the only one it abbreviates. Nothing where none is near.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> valid);

/// The end of a message on a wrong name: `; did you mean "end"? valid keys: end, start, step`.
/// `what` says in the plural what the valid names are ("keys", "patches of the mesh").
std::string suggestion(std::string_view name, std::span<const std::string> valid, std::string_view what);

/// The text, or its beginning and "…" where it has more than `longest` bytes.
std::string shortened(std::string_view text, std::size_t longest = 60);
/// That in quotes, to be told to the user who wrote it.
std::string in_quotes(std::string_view text, std::size_t longest = 60);

/// "a, b, c".
std::string join(std::span<const std::string> names);

}  // namespace curlew
