// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// gpu_poisson hexahedron|tetrahedron BLOCKS
//
// Poisson's equation between the cells of a cube on the GPU, 0 given on the boundary, a source of 1: the
// product with the two-point Laplacian against that of cuSPARSE in each of its formats, in turns, vectors
// changing so that no cache has them; and solves from zero to a residual of 1e-8 of the right-hand side, by
// Jacobi and by multigrid. Medians of wall time. A line of JSON on standard output.
#include <cuda_runtime.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cell_system.hpp"
#include "kernels/for_each.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/box.hpp"
#include "mesh/mesh.hpp"
#include "operators/cell_laplacian.hpp"
#include "processor_time.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/preconditioners.hpp"

namespace {

using namespace curlew;

constexpr Real tolerance = 1e-8;
constexpr int rounds = 9, vectors = 8;
using Pressure = DualCochain<Cell>;
using Outflow = PrimalCochain<Cell>;

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

/// Of the whole GPU, whatever stream is used.
template <class Body>
Real seconds_of(const Body& body) {
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  body();
  check(cudaDeviceSynchronize());
  return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
}

struct TriadOnCell {
  View<Cell, const Real> b, c;
  View<Cell, Real> a;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> i) const { a[i] = b[i] + 3 * c[i]; }
};

/// A matrix in a format of cuSPARSE.
class CusparseMatrix {
 public:
  enum class Format { Rows, SlicedRows };

  CusparseMatrix(std::string name, const SparseRows& rows, Format format, cusparseSpMVAlg_t algorithm)
      : name_(std::move(name)), size_(rows.rows()), algorithm_(algorithm) {
    constexpr auto index = CUSPARSE_INDEX_32I;
    constexpr auto base = CUSPARSE_INDEX_BASE_ZERO;
    check(cusparseCreate(&handle_));
    const auto entries = static_cast<std::int64_t>(rows.values.size());
    if (format == Format::Rows) {
      starts_ = ConstantArray<Index>(rows.starts);
      columns_ = ConstantArray<Index>(rows.columns);
      values_ = ConstantArray<Real>(rows.values);
      check(cusparseCreateConstCsr(&matrix_, size_, size_, entries, on_gpu(starts_), on_gpu(columns_),
                                   on_gpu(values_), index, index, base, CUDA_R_64F));
    } else {
      constexpr Index width = 32;
      std::vector<Index> lengths;
      for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i)
        lengths.push_back(rows.starts[i + 1] - rows.starts[i]);
      const SlicedRows sliced(width, std::move(lengths));
      starts_ = sliced.starts();
      columns_ = ConstantArray<Index>(sliced.arranged(std::span<const Index>(rows.columns)));
      values_ = ConstantArray<Real>(sliced.arranged(std::span<const Real>(rows.values)));
      check(cusparseCreateConstSlicedEll(&matrix_, size_, size_, entries, sliced.places(), width,
                                         on_gpu(starts_), on_gpu(columns_), on_gpu(values_), index, index,
                                         base, CUDA_R_64F));
    }
  }
  ~CusparseMatrix() {
    cudaFree(buffer_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;

  const std::string& name() const { return name_; }
  void apply(const Pressure& p, Outflow& outflow) {
    cusparseConstDnVecDescr_t x = nullptr;
    cusparseDnVecDescr_t y = nullptr;
    check(cusparseCreateConstDnVec(&x, size_, p.view().data(), CUDA_R_64F));
    check(cusparseCreateDnVec(&y, size_, outflow.view().data(), CUDA_R_64F));
    const Real one = 1, zero = 0;
    const auto product = [&](const auto& call, auto&&... last) {
      check(call(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, x, &zero, y, CUDA_R_64F,
                 algorithm_, last...));
    };
    if (buffer_ == nullptr) {
      std::size_t bytes = 0;
      product(cusparseSpMV_bufferSize, &bytes);
      check(cudaMalloc(&buffer_, std::max<std::size_t>(bytes, 1)));
      product(cusparseSpMV_preprocess, buffer_);
    }
    product(cusparseSpMV, buffer_);
    check(cusparseDestroyDnVec(x));
    check(cusparseDestroyDnVec(y));
  }

 private:
  template <class T>
  static const T* on_gpu(const ConstantArray<T>& array) {
    return array.data(MemorySpace::Cuda);
  }
  std::string name_;
  Index size_;
  cusparseSpMVAlg_t algorithm_;
  ConstantArray<Index> starts_, columns_;
  ConstantArray<Real> values_;
  cusparseHandle_t handle_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  void* buffer_ = nullptr;
};

/// Largest difference between two results, as a share of the largest number.
Real difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return apart / largest;
}

void run(const Mesh& mesh) {
  const Executor executor = Executor::cuda();
  const Index n = mesh.topology().cells().size();
  const CellLaplacian laplacian(executor, mesh.topology(), two_point_coefficients(mesh));
  const SymmetricMatrix matrix = laplacian.matrix();
  const SparseRows rows = with_diagonal(matrix);

  std::vector<Pressure> p;
  std::vector<Outflow> outflow;
  std::vector<Real> varied(at(n));
  for (std::size_t i = 0; i < varied.size(); ++i) varied[i] = std::sin(static_cast<Real>(i % 1009));
  for (int k = 0; k < vectors; ++k) {
    p.emplace_back(executor, n, "pressure", "m2/s2");
    p.back().copy_from_host(varied);
    outflow.emplace_back(executor, n, "outflow", "m3/s");
  }

  // Products.
  using Format = CusparseMatrix::Format;
  std::vector<std::unique_ptr<CusparseMatrix>> peers;
  const auto add = [&](const char* name, Format format, cusparseSpMVAlg_t algorithm) {
    peers.push_back(std::make_unique<CusparseMatrix>(name, rows, format, algorithm));
  };
  add("cusparse_rows_1", Format::Rows, CUSPARSE_SPMV_CSR_ALG1);
  add("cusparse_rows_2", Format::Rows, CUSPARSE_SPMV_CSR_ALG2);
  add("cusparse_sliced", Format::SlicedRows, CUSPARSE_SPMV_SELL_ALG1);
  const auto on_all = [&](const auto& apply) {
    return [&, apply] {
      for (int k = 0; k < vectors; ++k) apply(p[at(k)], outflow[at(k)]);
    };
  };
  const auto own = on_all([&](const Pressure& x, Outflow& y) { laplacian.apply(x, y); });
  own();
  const std::vector<Real> wanted = outflow.front().to_host();
  Real apart = 0;
  for (const auto& peer : peers) {
    on_all([&](const Pressure& x, Outflow& y) { peer->apply(x, y); })();
    check(cudaDeviceSynchronize());
    apart = std::max(apart, difference(wanted, outflow.front().to_host()));
  }
  if (apart > 1e-12) throw std::runtime_error(fmt::format("products differ by {}", apart));

  std::vector<Real> triads, products;
  std::vector<std::vector<Real>> of_peers(peers.size());
  for (int round = 0; round < rounds; ++round) {
    triads.push_back(seconds_of([&] {
      for (std::size_t k = 0; k < vectors; ++k)
        for_each(executor, p[k].range(),
                 TriadOnCell{std::as_const(p[k]).view(), std::as_const(p[(k + 1) % vectors]).view(),
                             View<Cell, Real>(outflow[k].view())});
    }));
    products.push_back(seconds_of(own));
    for (std::size_t k = 0; k < peers.size(); ++k) {
      of_peers[k].push_back(
          seconds_of(on_all([&](const Pressure& x, Outflow& y) { peers[k]->apply(x, y); })));
    }
  }
  const Real triad = median(triads) / vectors, product = median(products) / vectors;
  Real best = std::numeric_limits<Real>::max();
  std::string peers_said;
  for (std::size_t k = 0; k < peers.size(); ++k) {
    const Real seconds = median(of_peers[k]) / vectors;
    best = std::min(best, seconds);
    peers_said += fmt::format(R"("{}": {:.4g}, )", peers[k]->name(), seconds);
  }
  fmt::print(R"({{"unknowns": {}, "entries": {}, "triad_bytes_per_second": {:.4g}, "product": {:.4g}, {})"
             R"("best_of_cusparse_over_product": {:.3g})",
             n, rows.columns.size(), 24 * n / triad, product, peers_said, best / product);
  std::fflush(stdout);
  peers.clear();

  // Solves.
  Outflow& b = outflow.front();
  Pressure& x = p.front();
  const auto volumes = mesh.geometry().cell_volumes().host();
  b.copy_from_host(std::vector<Real>(volumes.begin(), volumes.end()));
  const Real reference = std::sqrt(inner_product(b, b));
  for (const Preconditioning preconditioning : {Preconditioning::Jacobi, Preconditioning::Multigrid}) {
    std::unique_ptr<Preconditioner<Pressure>> preconditioner;
    const Real setup = seconds_of([&] {
      preconditioner = make_preconditioner<Pressure>(preconditioning, executor, mesh.domain(), matrix);
    });
    ConjugateGradient<Pressure> solver(executor, n, "solution", {.relative_tolerance = tolerance});
    SolveReport result;
    std::vector<Real> solves;
    for (int k = 0; k < 4; ++k) {  // the first one sends tables and makes graphs
      solves.push_back(seconds_of([&] {
        x.fill(0);
        result = solver.solve(laplacian, *preconditioner, b, x, {.reference = reference});
      }));
    }
    const Real first = solves.front(), solve = median({solves.begin() + 1, solves.end()});
    fmt::print(
        R"(, "{}": {{"setup": {:.4g}, "first": {:.4g}, "solve": {:.4g}, "iterations": {}, "residual": {:.3g}, )"
        R"("unknowns_per_second": {:.4g}}})",
        preconditioning == Preconditioning::Jacobi ? "jacobi" : "multigrid", setup, first, solve,
        result.iterations, result.residual, n / solve);
    std::fflush(stdout);
  }
  fmt::print("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string type = argc > 1 ? argv[1] : "";
  const int blocks = argc > 2 ? std::atoi(argv[2]) : 0;
  if ((type != "hexahedron" && type != "tetrahedron") || blocks < 2) {
    fmt::print(stderr, "usage: gpu_poisson hexahedron|tetrahedron BLOCKS\n");
    return 2;
  }
  try {
    run(Mesh(make_box(type == "hexahedron" ? CellType::Hexahedron : CellType::Tetrahedron,
                      {blocks, blocks, blocks})));
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
