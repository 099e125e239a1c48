// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "mesh/mesh.hpp"
#include "solvers/conjugate_gradient.hpp"

namespace curlew {

/// What one kernel cost on one backend.
struct BenchmarkRecord {
  std::string kernel;
  std::string backend;
  int threads = 1;
  Real seconds = 0;    ///< one application, median [s]
  Real bytes = 0;      ///< the least that one application must move: each input read and each output written
                       ///< once
  Real bandwidth = 0;  ///< of the triads run between the applications, median [B/s]

  Real bytes_per_second() const { return bytes / seconds; }
  Real fraction() const { return bytes / (seconds * bandwidth); }
};

/// How long a measurement takes and what it is meant to exceed.
struct BenchmarkSettings {
  int rounds = 7;           ///< a triad and a batch of applications each; the medians count
  std::size_t working_set;  ///< of the triad, and of all copies of a kernel's fields together [B]

  /// Twenty times the last-level cache.
  static BenchmarkSettings beyond_cache();
};

/// Size of this machine's last-level cache [B]; 32 MiB where it does not say.
std::size_t last_level_cache();

/// Times kernels on one executor against the memory bandwidth of the same moment: triads a = b + s c (24
/// bytes an element, as in STREAM: the line that a store reads first is not counted) alternate with batches
/// of the kernel, each application of a batch on fields of its own, so that no field is found in cache.
class Benchmark {
 public:
  struct Element;  ///< entity tag: one element of the triad

  Benchmark(const Executor& executor, const BenchmarkSettings& settings);

  const Executor& executor() const { return executor_; }
  const std::vector<BenchmarkRecord>& records() const { return records_; }

  /// Adds a record of `apply(fields...)`, `make_fields()` being a tuple of fresh fields and `bytes` the least
  /// that one application must move.
  template <class MakeFields, class Apply>
  void time(const std::string& kernel, std::size_t bytes, const MakeFields& make_fields, const Apply& apply) {
    std::vector<decltype(make_fields())> copies;
    std::size_t held = 0;
    do {
      copies.push_back(make_fields());
      held += std::apply([](const auto&... fields) { return (bytes_of(fields) + ...); }, copies.back());
    } while (held < settings_.working_set);

    std::vector<Real> triads, applications;
    const auto batch = [&] {
      for (auto& fields : copies) std::apply(apply, fields);
    };
    batch();
    for (int round = 0; round < settings_.rounds; ++round) {
      triads.push_back(seconds_of([&] { triad(); }));
      applications.push_back(seconds_of(batch) / static_cast<Real>(copies.size()));
    }
    records_.push_back({kernel, executor_.name(), executor_.threads(), median(std::move(applications)),
                        static_cast<Real>(bytes), triad_bytes() / median(std::move(triads))});
  }

 private:
  template <class F>
  static std::size_t bytes_of(const F& field) {
    return at(field.size()) * sizeof(typename F::Value);
  }
  template <class X>
  static std::size_t bytes_of(const ConjugateGradientIteration<X>& iteration) {
    return 4 * bytes_of(iteration.residual());
  }
  template <class Body>
  Real seconds_of(const Body& body) const {
    executor_.synchronise();
    const auto start = std::chrono::steady_clock::now();
    body();
    executor_.synchronise();
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
  }
  static Real median(std::vector<Real> values);
  void triad();
  Real triad_bytes() const { return static_cast<Real>(3 * bytes_of(a_)); }

  Executor executor_;
  BenchmarkSettings settings_;
  Field<Element> a_, b_, c_;
  std::vector<BenchmarkRecord> records_;
};

/// Times every operator, vector update and reduction on a mesh.
void time_kernels(Benchmark& benchmark, const Mesh& mesh);

/// The records as a JSON array, one object each: operator, backend, threads, seconds, bytes,
/// gigabytes_per_second, fraction, bandwidth (also in GB/s).
std::string to_json(const std::vector<BenchmarkRecord>& records);
/// The records as a table for people.
std::string to_table(const std::vector<BenchmarkRecord>& records);

}  // namespace curlew
