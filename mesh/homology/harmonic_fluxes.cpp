// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/harmonic_fluxes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace curlew {

namespace {

/// Calls `visit(id, coefficient)` for each entity of a row of the curl matrix. One that the row holds twice,
/// in a periodic mesh one block wide, counts once with the sum, or not at all.
template <class Row, class Visit>
void visit_coefficients(const Row& row, const Visit& visit) {
  for (Index k = 0; k < row.size();) {
    const auto id = row[k].id;
    int coefficient = 0;
    for (; k < row.size() && row[k].id == id; ++k) coefficient += row[k].sign > 0 ? 1 : -1;
    if (coefficient != 0) visit(id, coefficient);
  }
}

/// The generators that are left after every relation with one has removed it.
std::vector<bool> peel(const Topology& topology, const DualTree& tree, const std::vector<bool>& is_relation) {
  const auto edges_of_face = topology.edges_of_face().view(MemorySpace::Host);
  const auto faces_of_edge = topology.faces_of_edge().view(MemorySpace::Host);
  std::vector<bool> left(at(topology.faces().size()), false);
  for (const Id<Face> f : topology.faces()) left[at(f.value())] = tree.is_free(f) && !tree.contains(f);
  std::vector<Index> generators_left(at(topology.edges().size()), 0), queue;
  for (const Id<Edge> e : topology.edges()) {
    if (!is_relation[at(e.value())]) continue;
    Index& count = generators_left[at(e.value())];
    visit_coefficients(faces_of_edge[e], [&](Id<Face> f, int) { count += left[at(f.value())]; });
    if (count == 1) queue.push_back(e.value());
  }
  for (std::size_t next = 0; next < queue.size(); ++next) {
    if (generators_left[at(queue[next])] != 1) continue;
    visit_coefficients(faces_of_edge[Id<Edge>(queue[next])], [&](Id<Face> f, int) {
      if (!left[at(f.value())]) return;
      left[at(f.value())] = false;
      visit_coefficients(edges_of_face[f], [&](Id<Edge> e, int) {
        if (is_relation[at(e.value())] && --generators_left[at(e.value())] == 1) queue.push_back(e.value());
      });
    });
  }
  return left;
}

/// A term of a relation.
struct Term {
  Index variable;
  std::int64_t coefficient;
};

/// Sets of variables that are equal or opposite, each with its lowest member as root. Variable 0 is zero, and
/// so is all that is equal to it.
class SignedSets {
 public:
  explicit SignedSets(std::size_t size) : parent_(size), is_opposite_(size, false) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  struct Root {
    Index variable;
    bool is_opposite;
  };
  Root root(Index i) {
    bool is_opposite = false;
    while (parent_[at(i)] != i) {
      const Index parent = parent_[at(i)];
      if (is_opposite_[at(parent)]) is_opposite_[at(i)] = !is_opposite_[at(i)];
      parent_[at(i)] = parent_[at(parent)];
      if (is_opposite_[at(i)]) is_opposite = !is_opposite;
      i = parent_[at(i)];
    }
    return {i, is_opposite};
  }
  /// Of two roots.
  void join(Index a, Index b, bool are_opposite) {
    parent_[at(std::max(a, b))] = std::min(a, b);
    is_opposite_[at(std::max(a, b))] = are_opposite;
  }

 private:
  std::vector<Index> parent_;
  std::vector<bool> is_opposite_;
};

/// The relation between roots, highest first, without terms that vanish.
void simplify(std::vector<Term>& relation, SignedSets& sets) {
  for (Term& term : relation) {
    const auto [variable, is_opposite] = sets.root(term.variable);
    term = {variable, is_opposite ? -term.coefficient : term.coefficient};
  }
  std::sort(relation.begin(), relation.end(), [](Term a, Term b) { return a.variable > b.variable; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < relation.size();) {
    Term sum{relation[k].variable, 0};
    for (; k < relation.size() && relation[k].variable == sum.variable; ++k) {
      sum.coefficient += relation[k].coefficient;
    }
    if (sum.variable != 0 && sum.coefficient != 0) relation[kept++] = sum;
  }
  relation.resize(kept);
}

/// Gauss's elimination modulo a prime; the pivot of a relation is its highest variable.
class Elimination {
 public:
  explicit Elimination(std::size_t variables) : relation_of_pivot_(variables, -1) {}
  bool is_pivot(Index variable) const { return relation_of_pivot_[at(variable)] >= 0; }
  void add(std::vector<Term> relation) {
    for (Term& term : relation) term.coefficient = (term.coefficient + prime) % prime;
    std::vector<Term> sum;
    while (!relation.empty() && is_pivot(relation.front().variable)) {
      const std::vector<Term>& other = relations_[at(relation_of_pivot_[at(relation.front().variable)])];
      const std::int64_t factor = prime - relation.front().coefficient;
      sum.clear();
      auto a = relation.begin();
      for (const Term& b : other) {
        while (a != relation.end() && a->variable > b.variable) sum.push_back(*a++);
        const bool in_both = a != relation.end() && a->variable == b.variable;
        const std::int64_t before = in_both ? (a++)->coefficient : 0;
        const std::int64_t coefficient = (before + factor * b.coefficient) % prime;
        if (coefficient != 0) sum.push_back({b.variable, coefficient});
      }
      sum.insert(sum.end(), a, relation.end());
      relation.swap(sum);
    }
    if (relation.empty()) return;
    const std::int64_t scale = inverse(relation.front().coefficient);
    for (Term& term : relation) term.coefficient = term.coefficient * scale % prime;
    relation_of_pivot_[at(relation.front().variable)] = static_cast<Index>(relations_.size());
    relations_.push_back(std::move(relation));
  }

 private:
  static constexpr std::int64_t prime = 2147483647;

  /// By Fermat's little theorem.
  static std::int64_t inverse(std::int64_t a) {
    std::int64_t power = 1;
    for (std::int64_t exponent = prime - 2; exponent > 0; exponent /= 2, a = a * a % prime) {
      if (exponent % 2 == 1) power = power * a % prime;
    }
    return power;
  }

  std::vector<std::vector<Term>> relations_;  // the first coefficient is 1
  std::vector<Index> relation_of_pivot_;
};

}  // namespace

std::vector<std::vector<SignedId<Face>>> harmonic_fluxes(const Topology& topology, const DualTree& tree) {
  const auto edges_of_face = topology.edges_of_face().view(MemorySpace::Host);
  const auto faces_of_edge = topology.faces_of_edge().view(MemorySpace::Host);
  std::vector<bool> is_relation(at(topology.edges().size()), true);
  for (const Id<Face> f : topology.boundary_faces()) {
    if (tree.is_free(f)) continue;
    for (const auto [e, sign] : edges_of_face[f]) is_relation[at(e.value())] = false;
  }
  const std::vector<bool> is_left = peel(topology, tree, is_relation);

  // Variables by the length of their cycles, so that the lowest of a set is the shortest; 0 is zero.
  struct Generator {
    Id<Face> face;
    std::size_t length;
  };
  std::vector<Generator> generators{{Id<Face>(0), 0}};
  for (const Id<Face> f : topology.faces()) {
    if (is_left[at(f.value())]) generators.push_back({f, tree.cycle(f).size()});
  }
  std::stable_sort(generators.begin(), generators.end(),
                   [](const Generator& a, const Generator& b) { return a.length < b.length; });
  std::vector<Index> variable_of_face(at(topology.faces().size()), 0);
  for (std::size_t k = 1; k < generators.size(); ++k) {
    variable_of_face[at(generators[k].face.value())] = static_cast<Index>(k);
  }

  SignedSets sets(generators.size());
  std::vector<std::vector<Term>> rest;
  std::vector<Term> relation;
  for (const Id<Edge> e : topology.edges()) {
    if (!is_relation[at(e.value())]) continue;
    relation.clear();
    visit_coefficients(faces_of_edge[e], [&](Id<Face> f, int coefficient) {
      if (is_left[at(f.value())]) relation.push_back({variable_of_face[at(f.value())], coefficient});
    });
    if (relation.empty()) continue;
    simplify(relation, sets);
    if (relation.size() == 1) {
      sets.join(relation[0].variable, 0, false);
    } else if (relation.size() == 2 &&
               std::abs(relation[0].coefficient) == std::abs(relation[1].coefficient)) {
      sets.join(relation[0].variable, relation[1].variable,
                relation[0].coefficient == relation[1].coefficient);
    } else if (!relation.empty()) {
      rest.push_back(relation);
    }
  }
  Elimination elimination(generators.size());
  for (std::vector<Term>& terms : rest) {
    simplify(terms, sets);
    elimination.add(std::move(terms));
  }

  std::vector<std::vector<SignedId<Face>>> basis;
  for (std::size_t k = 1; k < generators.size(); ++k) {
    const Index variable = static_cast<Index>(k);
    if (sets.root(variable).variable != variable || elimination.is_pivot(variable)) continue;
    basis.push_back(tree.cycle(generators[k].face));
  }
  return basis;
}

}  // namespace curlew
