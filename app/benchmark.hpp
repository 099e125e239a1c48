// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/field_difference.hpp"
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
  Real ratio = 1;      ///< of the seconds on the first backend to these
  std::uint64_t ulps = 0;  ///< largest difference of a number from that of the first backend
  std::optional<std::string> first_difference = {};  ///< where the bits differ first, if they do
  /// What else is to be known of the kernel, by name.
  std::vector<std::pair<std::string, Real>> figures = {};

  Real bytes_per_second() const { return bytes / seconds; }
  Real fraction() const { return bytes / (seconds * bandwidth); }
};

/// A kernel on one backend.
template <class MakeFields, class Apply>
struct TimedKernel {
  std::size_t bytes;       ///< the least that one application must move
  MakeFields make_fields;  ///< a tuple of fresh fields
  Apply apply;             ///< of these fields; what it returns, if it does, is compared as they are
  std::vector<std::pair<std::string, Real>> figures = {};
};
template <class MakeFields, class Apply>
TimedKernel(std::size_t, MakeFields, Apply) -> TimedKernel<MakeFields, Apply>;
template <class MakeFields, class Apply>
TimedKernel(std::size_t, MakeFields, Apply, std::vector<std::pair<std::string, Real>>)
    -> TimedKernel<MakeFields, Apply>;

/// What the fields of a kernel hold before it is applied.
enum class Contents { Varied, Zero };

/// How long a measurement takes and what it is meant to exceed.
struct BenchmarkSettings {
  int rounds = 7;           ///< a triad and a batch of applications each; the medians count
  std::size_t working_set;  ///< of the triad, and of what a batch of a kernel moves [B]
  std::size_t most_copies = std::numeric_limits<std::size_t>::max();  ///< of a kernel's fields
  bool times_first = true;  ///< whether the first executor is timed, too, and not only compared with
  std::function<void(const std::string&)> begin = {};     ///< is told of each kernel before it is timed
  std::function<void(const BenchmarkRecord&)> done = {};  ///< is told of each record when it is there

  /// Twenty times the last-level cache, or a sixteenth of the memory where that is less: virtual machines may
  /// report the cache of a whole socket.
  static BenchmarkSettings beyond_cache();
  /// For a first impression, within caches.
  static BenchmarkSettings brief();
};

/// Size of this machine's last-level cache [B]; 32 MiB where it does not say.
std::size_t last_level_cache();

/// Times kernels on some executors against the memory bandwidth of the same moment: triads a = b + s c (24
/// bytes an element, as in STREAM: the line that a store reads first is not counted) alternate with batches
/// of the kernel, each application of a batch on fields of its own, so that no field is found in cache. What
/// comes out is compared bit by bit with what the first executor finds.
class Benchmark {
 public:
  struct Element;  ///< entity tag: one element of the triad

  Benchmark(std::vector<Executor> executors, const BenchmarkSettings& settings);

  const std::vector<BenchmarkRecord>& records() const { return records_; }

  /// Adds a record for each executor of the TimedKernel that `on(executor)` is.
  template <class KernelOn>
  void time(const std::string& name, const KernelOn& on, Contents contents = Contents::Varied) {
    if (settings_.begin) settings_.begin(name);
    std::vector<Result> wanted;
    for (std::size_t k = 0; k < executors_.size(); ++k) {
      const Executor& executor = executors_[k];
      const bool is_timed = times(k);
      const auto kernel = on(executor);
      std::vector<decltype(kernel.make_fields())> copies;
      std::size_t moved = 0;
      do {
        copies.push_back(kernel.make_fields());
        // Tables are streamed by each application as well, and leave no cache to the fields of the one
        // before.
        moved += std::max(
            kernel.bytes,
            std::apply([](const auto&... fields) { return (bytes_of(fields) + ...); }, copies.back()));
        if (contents == Contents::Varied)
          std::apply([this](auto&... fields) { (vary(fields), ...); }, copies.back());
      } while (is_timed && moved < settings_.working_set && copies.size() < settings_.most_copies);

      std::vector<Real> triads, applications;
      const auto batch = [&] {
        for (auto& fields : copies) std::apply(kernel.apply, fields);
      };
      batch();
      for (int round = 0; round < settings_.rounds; ++round) {
        if (is_timed) triads.push_back(seconds_of(executor, [&] { run_triads(k); }) / triads_in_a_row(k));
        applications.push_back(seconds_of(executor, batch) / static_cast<Real>(copies.size()));
      }

      std::vector<Result> results;
      if constexpr (std::is_same_v<decltype(std::apply(kernel.apply, copies.front())), Real>)
        results.push_back({"value", 1, {std::apply(kernel.apply, copies.front())}});
      std::apply([&](const auto&... fields) { (results.push_back(result_of(fields)), ...); }, copies.front());
      if (k == 0) wanted = results;
      if (!is_timed) continue;
      BenchmarkRecord record{name,
                             executor.name(),
                             executor.threads(),
                             median(std::move(applications)),
                             static_cast<Real>(kernel.bytes),
                             triad_bytes() / median(std::move(triads))};
      record.figures = kernel.figures;
      add(std::move(record), wanted, results);
    }
  }

 private:
  /// The numbers that a field holds, or that a kernel returned.
  struct Result {
    std::string entity;
    std::size_t components;
    std::vector<Real> numbers;
  };

  template <class F>
  static std::size_t bytes_of(const F& field) {
    return at(field.size()) * sizeof(typename F::Value);
  }
  template <class X>
  static std::size_t bytes_of(const ConjugateGradientIteration<X>& iteration) {
    return 4 * bytes_of(iteration.residual());
  }
  bool times(std::size_t executor) const { return executor > 0 || settings_.times_first; }

  template <class F>
  void vary(F& field) {
    constexpr std::size_t components = sizeof(typename F::Value) / sizeof(Real);
    static_assert(sizeof(typename F::Value) == components * sizeof(Real));
    std::vector<typename F::Value> values(at(field.size()));
    const std::span<const Real> numbers = varied(values.size() * components);
    std::memcpy(static_cast<void*>(values.data()), numbers.data(), numbers.size_bytes());
    field.copy_from_host(values);
  }
  template <class X>
  void vary(ConjugateGradientIteration<X>& iteration) {
    vary(iteration.residual());
  }
  template <class F>
  static Result result_of(const F& field) {
    return {name_of<typename F::Entity>(), sizeof(typename F::Value) / sizeof(Real), numbers_of(field)};
  }
  template <class X>
  static Result result_of(const ConjugateGradientIteration<X>& iteration) {
    return result_of(iteration.residual());
  }
  template <class E>
  static std::string name_of() {
    if constexpr (std::is_same_v<E, Node>) return "node";
    if constexpr (std::is_same_v<E, Edge>) return "edge";
    if constexpr (std::is_same_v<E, Face>) return "face";
    if constexpr (std::is_same_v<E, Cell>) return "cell";
  }

  template <class Body>
  static Real seconds_of(const Executor& executor, const Body& body) {
    executor.synchronise();
    const auto start = std::chrono::steady_clock::now();
    body();
    executor.synchronise();
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
  }
  /// Numbers between 1/2 and 3/2 that follow no pattern, the same each time.
  std::span<const Real> varied(std::size_t size);
  static Real median(std::vector<Real> values);
  /// As many as make a GPU's way to the first one short against all of them.
  int triads_in_a_row(std::size_t executor) const {
    return executors_[executor].space() == MemorySpace::Host ? 1 : 4;
  }
  void run_triads(std::size_t executor);
  Real triad_bytes() const { return static_cast<Real>(3 * bytes_of(triads_.back().a)); }
  void add(BenchmarkRecord record, const std::vector<Result>& wanted, const std::vector<Result>& results);

  struct Triad {
    Field<Element> a, b, c;
  };
  std::vector<Executor> executors_;
  BenchmarkSettings settings_;
  std::vector<Triad> triads_;  // of each executor
  std::vector<Real> varied_;   // those that were asked for so far
  std::vector<BenchmarkRecord> records_;
};

/// Times the operators that every model uses, vector updates and reductions on a mesh.
void time_kernels(Benchmark& benchmark, const Mesh& mesh);
/// Times the operators that a step of a flow applies, and what its solvers add to them.
void time_flow_kernels(Benchmark& benchmark, const Mesh& mesh);

/// A record as a JSON object: operator, backend, threads, seconds, bytes, gigabytes_per_second, fraction,
/// bandwidth (also in GB/s), ratio, ulps, first_difference (null where there is none), and the figures of the
/// kernel by their names.
std::string to_json(const BenchmarkRecord& record);
/// The records as a table for people: a head, a row each, and the figures of kernels below.
std::string to_table(const std::vector<BenchmarkRecord>& records);
std::string head_of_table();
std::string row_of_table(const BenchmarkRecord& record);
std::string figures_below_table(const std::vector<BenchmarkRecord>& records);

}  // namespace curlew
