// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/platform.hpp"
#include "mesh/parallel/slabs.hpp"
#include "operators/operator.hpp"
#include "physics/state_array.hpp"
#include "solvers/solution_history.hpp"

namespace curlew {

/// Everything a step needs of the past, by name: a run that resumes from it goes on to the same bits. On
/// several ranks each has its slabs of the arrays, and all have the rest. Arrays that a model tells are made
/// of what it is when they are asked for: before it goes on, and not for it to resume from itself.
struct RunState {
  Real time = 0;           ///< [s]
  std::int64_t steps = 0;  ///< taken so far
  std::map<std::string, Real> numbers;
  std::map<std::string, StateArray<Real>> arrays;
  std::map<std::string, StateArray<float>> singles;  ///< arrays of what is in single precision
  bool operator==(const RunState&) const = default;
};

/// What guesses are made of is named by this and more: no result, only the way to it.
inline const std::string guess_prefix = "guess.";

template <class E, class T, Cochain kind>
void store(const Domain& domain, const Field<E, T, kind>& field, const std::string& name, RunState& state) {
  state.arrays[name] = StateArray<Real>(slab_size<E>(domain, sizeof(T) / sizeof(Real)),
                                        [&] { return numbers_in_slabs(domain, field); });
}

namespace detail {

// These throw InputError unless the state has what has that name.

std::vector<Real> array_of(const RunState& state, const std::string& name);
std::vector<float> singles_of(const RunState& state, const std::string& name);
Real number_of(const RunState& state, const std::string& name);
[[noreturn]] void refuse(const std::string& name, const std::string& why);

/// The values of a rank's entities, ghosts included, `columns` of each. Throws InputError, on all ranks,
/// unless the state has as many over all ranks.
template <class E>
std::vector<float> restored_singles(const Domain& domain, const RunState& state, const std::string& name,
                                    int columns) {
  const std::vector<float> values = singles_of(state, name);
  try {
    return from_slabs<E>(domain, std::span(values), columns);
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
}

}  // namespace detail

/// The reverse. Throws InputError, on all ranks, unless the state has as many values as the field over all
/// ranks.
template <class E, class T, Cochain kind>
void restore(const Domain& domain, const RunState& state, const std::string& name, Field<E, T, kind>& field) {
  const std::vector<Real> values = detail::array_of(state, name);
  try {
    numbers_from_slabs(domain, values, field);
  } catch (const InputError& error) {
    detail::refuse(name, error.what());
  }
}

/// Stores the change of a SolutionHistory that `change()` gives, of numbers that single precision holds.
template <class E, Cochain kind>
void store_change(const Domain& domain, std::function<Field<E, Real, kind>()> change, const std::string& name,
                  RunState& state) {
  state.singles[name] = StateArray<float>(slab_size<E>(domain), [&domain, change = std::move(change)] {
    const std::vector<Real> values = change().to_host();
    return in_slabs<E>(domain, std::vector<float>(values.begin(), values.end()));
  });
}
/// The reverse; throws as restore() does.
template <class E, Cochain kind>
void restore_change(const Domain& domain, const RunState& state, const std::string& name,
                    Field<E, Real, kind>& change) {
  const std::vector<float> singles = detail::restored_singles<E>(domain, state, name, 1);
  change.copy_from_host(std::vector<Real>(singles.begin(), singles.end()));
}

/// Stores what a history knows. `make()`: a vector of the right size, to work with.
template <class X, class Make>
void store(const Domain& domain, const SolutionHistory<X>& history, const Make& make, const std::string& name,
           RunState& state) {
  for (std::size_t k = 0; k < history.size(); ++k) {
    const std::string number = guess_prefix + name + "." + std::to_string(k);
    const auto known = history.known(k);
    state.numbers[number + ".mass_factor"] = known.mass_factor;
    state.numbers[number + ".stiffness_factor"] = known.stiffness_factor;
    for (std::size_t j = 0; j <= k; ++j)
      state.numbers[number + ".product_with_" + std::to_string(j)] = known.products[j];
    const std::function change = [&history, make, k]() -> X {
      X x = make();
      history.read(k, x);
      return x;
    };
    store_change(domain, change, number + ".change", state);
  }
}
/// The reverse.
template <class X>
void restore(const Domain& domain, const RunState& state, const std::string& name,
             SolutionHistory<X>& history, X& change) {
  history.clear();
  for (std::size_t k = 0;; ++k) {
    const std::string number = guess_prefix + name + "." + std::to_string(k);
    if (!state.numbers.contains(number + ".mass_factor")) return;
    const auto number_of = [&](const std::string& what) {
      return detail::number_of(state, number + "." + what);
    };
    typename SolutionHistory<X>::Known known{number_of("mass_factor"), number_of("stiffness_factor"), {}};
    for (std::size_t j = 0; j <= k; ++j)
      known.products.push_back(number_of("product_with_" + std::to_string(j)));
    restore_change(domain, state, number + ".change", change);
    history.append(known, change);
  }
}

}  // namespace curlew
