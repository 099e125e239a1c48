// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/harmonic_flows.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "solvers/least_energy.hpp"

namespace curlew {

namespace {

/// Values on E of each flow.
template <class E, class T>
struct RowsOfFlows {
  const T* values;
  Index length;
  CURLEW_HOST_DEVICE View<E, const T> operator[](Id<HarmonicFlow> k) const {
    return View<E, const T>(values + at(k.value()) * at(length), length);
  }
};

struct InSingleOnEdge {
  View<Edge, const Real> value;
  View<Edge, float> rounded;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const { rounded[e] = static_cast<float>(value[e]); }
};

template <class T>
struct ProductOfEdge {
  View<Edge, const T> r;
  View<Edge, const float> flow;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    return static_cast<Real>(r[e]) * static_cast<Real>(flow[e]);
  }
};

template <class T>
struct ProductsOfEdges {
  View<Edge, const T> r;
  RowsOfFlows<Edge, float> stream;
  CURLEW_HOST_DEVICE ProductOfEdge<T> operator()(Id<HarmonicFlow> k) const { return {r, stream[k]}; }
};

/// That on edges, and that on loops, which every rank has.
struct ProductOfFlow {
  View<HarmonicFlow, const BinnedSum> on_edges;
  RowsOfFlows<Loop, Real> through;
  Range<Loop> loops;
  View<Loop, const Real> r;
  View<HarmonicFlow, Real> product;
  CURLEW_HOST_DEVICE void operator()(Id<HarmonicFlow> k) const {
    Real sum = on_edges[k].value();
    for (const Id<Loop> l : loops) sum += through[k][l] * r[l];
    product[k] = sum;
  }
};

struct FactorOfFlow {
  RowsOfFlows<HarmonicFlow, Real> inverse;
  Range<HarmonicFlow> flows;
  View<HarmonicFlow, const Real> product;
  View<HarmonicFlow, Real> factor;
  CURLEW_HOST_DEVICE void operator()(Id<HarmonicFlow> k) const {
    Real sum = 0;
    for (const Id<HarmonicFlow> other : flows) sum += inverse[k][other] * product[other];
    factor[k] = sum;
  }
};

struct SetFlowsOnLoop {
  RowsOfFlows<Loop, Real> through;
  Range<HarmonicFlow> flows;
  View<HarmonicFlow, const Real> factor;
  View<Loop, Real> z;
  CURLEW_HOST_DEVICE void operator()(Id<Loop> l) const {
    Real sum = 0;
    for (const Id<HarmonicFlow> k : flows) sum += factor[k] * through[k][l];
    z[l] = sum;
  }
};

/// z of an edge with what flows add, and r . z.
template <class T>
struct AddFlowsOnEdge {
  RowsOfFlows<Edge, float> stream;
  Range<HarmonicFlow> flows;
  View<HarmonicFlow, const Real> factor;
  View<Edge, const T> r;
  View<Edge, T> z;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    T sum = z[e];
    for (const Id<HarmonicFlow> k : flows) sum += static_cast<T>(factor[k] * static_cast<Real>(stream[k][e]));
    z[e] = sum;
    return static_cast<Real>(r[e]) * static_cast<Real>(sum);
  }
};

}  // namespace

HarmonicFlows::HarmonicFlows(const StreamVelocity& like)
    : executor_(like.executor()),
      loops_(like.loop.size()),
      edges_(like.stream.owned().size()),
      stream_(executor_.space(), at(loops_) * at(edges_)),
      through_(executor_.space(), at(loops_) * at(loops_)),
      inverse_(executor_.space(), at(loops_) * at(loops_)),
      sums_(executor_, std::vector<Range<Edge>>(at(loops_), like.stream.owned())),
      products_(executor_.space(), at(loops_)),
      factors_(executor_.space(), at(loops_)) {}

void HarmonicFlows::set(Id<HarmonicFlow> k, const StreamVelocity& flow) {
  float* const row = stream_.data() + at(k.value()) * at(edges_);
  for_each(executor_, flow.stream.owned(),
           InSingleOnEdge{flow.stream.view(), View<Edge, float>(row, edges_)});
  copy_bytes(through_.data() + at(k.value()) * at(loops_), through_.space(), flow.loop.view().data(),
             through_.space(), at(loops_) * sizeof(Real));
}

void HarmonicFlows::set_energies(const System& mass, const System& viscous, StreamVectors<float>& flow,
                                 Paired<StreamVectors<float>>& image) {
  const MemorySpace space = executor_.space();
  for (const auto& [matrix, energies] : {std::pair(&mass, &mass_), std::pair(&viscous, &viscous_)}) {
    energies->resize(at(loops_) * at(loops_));
    for (std::size_t k = 0; k < at(loops_); ++k) {
      copy_bytes(flow.stream.view().data(), space, stream_.data() + k * at(edges_), space,
                 at(edges_) * sizeof(float));
      copy_bytes(flow.loop.view().data(), space, through_.data() + k * at(loops_), space,
                 at(loops_) * sizeof(Real));
      matrix->apply(flow, image);
      set_products<float>(image);
      copy_bytes(energies->data() + k * at(loops_), MemorySpace::Host, products_.data(), space,
                 at(loops_) * sizeof(Real));
    }
  }
}

void HarmonicFlows::set(Real a, Real b) {
  const std::size_t count = at(loops_);
  std::vector<Real> energies, inverse(count * count);
  for (std::size_t k = 0; k < mass_.size(); ++k) energies.push_back(a * mass_[k] + b * viscous_[k]);
  for (std::size_t j = 0; j < count; ++j) {
    std::vector<Real> unit(count, 0);
    unit[j] = 1;
    const std::vector<Real> column = least_energy_factors(energies, unit);
    for (std::size_t i = 0; i < count; ++i) inverse[i * count + j] = column[i];
  }
  copy_bytes(inverse_.data(), inverse_.space(), inverse.data(), MemorySpace::Host,
             inverse.size() * sizeof(Real));
}

template <class T>
void HarmonicFlows::set_products(const Paired<StreamVectors<T>>& r) const {
  const auto on_edges =
      sums_.make(ProductsOfEdges<T>{r.stream.view(), RowsOfFlows<Edge, float>{stream_.data(), edges_}});
  for_each(executor_, range(),
           ProductOfFlow{on_edges, RowsOfFlows<Loop, Real>{through_.data(), loops_}, r.loop.range(),
                         r.loop.view(), View<HarmonicFlow, Real>(products_.data(), loops_)});
}

template <class T>
void HarmonicFlows::add(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z, SumInParts* sum) const {
  set_products<T>(r);
  const View<HarmonicFlow, Real> factors(factors_.data(), loops_);
  for_each(executor_, range(),
           FactorOfFlow{RowsOfFlows<HarmonicFlow, Real>{inverse_.data(), loops_}, range(),
                        View<HarmonicFlow, const Real>(products_.data(), loops_), factors});
  for_each(executor_, z.loop.range(),
           SetFlowsOnLoop{RowsOfFlows<Loop, Real>{through_.data(), loops_}, range(), factors, z.loop.view()});
  if (sum != nullptr)
    sum->add(z.loop.owned(), ProductOfEntity<Loop>{r.loop.view(), std::as_const(z.loop).view()});
  run_and_add(executor_, z.stream.owned(),
              AddFlowsOnEdge<T>{RowsOfFlows<Edge, float>{stream_.data(), edges_}, range(), factors,
                                r.stream.view(), z.stream.view()},
              sum);
}

template void HarmonicFlows::add(const Paired<StreamVectors<float>>&, StreamVectors<float>&,
                                 SumInParts*) const;
template void HarmonicFlows::add(const Paired<StreamVectors<Real>>&, StreamVectors<Real>&, SumInParts*) const;

}  // namespace curlew
