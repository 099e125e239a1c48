// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <stdexcept>
#include <string>

namespace curlew {

/// A failure that a caller may report: an internal error (exit status 1) unless a derived type says
/// otherwise.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad input: a command line, case file or mesh that cannot be used (exit status 2). The message says what
/// is wrong and what would be right.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The solution diverged or a solve hit its iteration cap (exit status 3).
class DivergedError : public Error {
 public:
  using Error::Error;
};

}  // namespace curlew

/// Checks input and shapes, always on. `message` is a sentence: expected, got, which entity.
#define REQUIRE(condition, message)                   \
  do {                                                \
    if (!(condition)) throw ::curlew::Error(message); \
  } while (false)
