// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// solve FILE SOLVER...
//
// Solves what bench/linear_system wrote by hypre and PETSc, on as many processes as there are, each with a
// block of rows, from zero to a residual of 1e-8 of the right-hand side; medians of three, processor time of
// all processes and wall time. A line of JSON for each solver: boomeramg-25, boomeramg-50, gamg;
// of edges: ams. bench/peers/run compiles it.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <petscksp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr double tolerance = 1e-8;
constexpr int most_iterations = 2000, repeats = 3;

struct Rows {
  int rows = 0, columns = 0;
  std::vector<int> starts, column;
  std::vector<double> values;
};

struct System {
  Rows matrix, gradient;  // the latter of edges only
  std::vector<double> b, along[3];
};

template <class T>
std::vector<T> read_array(std::istream& in, std::size_t size) {
  std::vector<T> values(size);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(size * sizeof(T)));
  return values;
}

Rows read_rows(std::istream& in) {
  const auto sizes = read_array<std::int64_t>(in, 3);
  Rows rows;
  rows.rows = static_cast<int>(sizes[0]);
  rows.columns = static_cast<int>(sizes[1]);
  rows.starts = read_array<int>(in, static_cast<std::size_t>(sizes[0]) + 1);
  rows.column = read_array<int>(in, static_cast<std::size_t>(sizes[2]));
  rows.values = read_array<double>(in, static_cast<std::size_t>(sizes[2]));
  return rows;
}

System read_system(const char* path) {
  std::ifstream in(path, std::ios::binary);
  System system;
  system.matrix = read_rows(in);
  const auto n = static_cast<std::size_t>(system.matrix.rows);
  system.b = read_array<double>(in, n);
  if (read_array<std::int64_t>(in, 1)[0] == 1) {
    system.gradient = read_rows(in);
    for (auto& component : system.along) component = read_array<double>(in, n);
  }
  if (!in) {
    std::fprintf(stderr, "%s: not a system that bench/linear_system wrote\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return system;
}

struct Seconds {
  double cpu = 0, wall = 0;
};

Seconds now() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  MPI_Allreduce(MPI_IN_PLACE, &cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {cpu, MPI_Wtime()};
}

Seconds timed(const std::function<void()>& body, const std::function<void()>& after = {}) {
  std::vector<double> cpu, wall;
  for (int k = 0; k < repeats; ++k) {
    const Seconds start = now();
    body();
    const Seconds end = now();
    cpu.push_back(end.cpu - start.cpu);
    wall.push_back(end.wall - start.wall);
    if (after && k + 1 < repeats) after();
  }
  std::sort(cpu.begin(), cpu.end());
  std::sort(wall.begin(), wall.end());
  return {cpu[repeats / 2], wall[repeats / 2]};
}

int rank = 0, ranks = 1;

int first_of(int rows, int block) {
  return static_cast<int>(static_cast<std::int64_t>(rows) * block / ranks);
}

struct Result {
  Seconds setup, product, solve;
  int iterations = 0;
  std::vector<double> x;  // of this process's rows
};

/// The residual of x, by a product of our own.
double true_residual(const System& system, const std::vector<double>& own) {
  const int n = system.matrix.rows;
  std::vector<int> counts, starts;
  for (int r = 0; r < ranks; ++r) {
    starts.push_back(first_of(n, r));
    counts.push_back(first_of(n, r + 1) - first_of(n, r));
  }
  std::vector<double> x(static_cast<std::size_t>(n));
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, x.data(), counts.data(), starts.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
  double residual = 0, reference = 0;
  for (int i = 0; i < n; ++i) {
    double r = system.b[i];
    for (int k = system.matrix.starts[i]; k < system.matrix.starts[i + 1]; ++k)
      r -= system.matrix.values[k] * x[system.matrix.column[k]];
    residual += r * r;
    reference += system.b[i] * system.b[i];
  }
  return std::sqrt(residual / reference);
}

HYPRE_IJMatrix hypre_matrix(const Rows& rows) {
  const int begin = first_of(rows.rows, rank), end = first_of(rows.rows, rank + 1),
            first_column = first_of(rows.columns, rank), last_column = first_of(rows.columns, rank + 1) - 1;
  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, begin, end - 1, first_column, last_column, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  std::vector<int> counts;
  for (int i = begin; i < end; ++i) counts.push_back(rows.starts[i + 1] - rows.starts[i]);
  HYPRE_IJMatrixSetRowSizes(matrix, counts.data());
  HYPRE_IJMatrixInitialize(matrix);
  for (int i = begin; i < end; ++i) {
    int count = counts[i - begin];
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &i, &rows.column[rows.starts[i]],
                            &rows.values[rows.starts[i]]);
  }
  HYPRE_IJMatrixAssemble(matrix);
  return matrix;
}

HYPRE_ParCSRMatrix parcsr(HYPRE_IJMatrix matrix) {
  void* object = nullptr;
  HYPRE_IJMatrixGetObject(matrix, &object);
  return static_cast<HYPRE_ParCSRMatrix>(object);
}

struct HypreVector {
  HypreVector(int rows, const std::vector<double>* values) {
    const int begin = first_of(rows, rank), end = first_of(rows, rank + 1);
    for (int i = begin; i < end; ++i) numbers.push_back(i);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, begin, end - 1, &handle);
    HYPRE_IJVectorSetObjectType(handle, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(handle);
    const std::vector<double> zero(numbers.size(), 0);
    HYPRE_IJVectorSetValues(handle, end - begin, numbers.data(),
                            values ? values->data() + begin : zero.data());
    HYPRE_IJVectorAssemble(handle);
    void* object = nullptr;
    HYPRE_IJVectorGetObject(handle, &object);
    vector = static_cast<HYPRE_ParVector>(object);
  }
  std::vector<int> numbers;
  HYPRE_IJVector handle = nullptr;
  HYPRE_ParVector vector = nullptr;
};

HYPRE_Solver boomeramg(double threshold, int aggressive_levels) {
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetCoarsenType(amg, 8);  // PMIS
  HYPRE_BoomerAMGSetInterpType(amg, 6);   // extended+i
  HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
  HYPRE_BoomerAMGSetStrongThreshold(amg, threshold);
  HYPRE_BoomerAMGSetAggNumLevels(amg, aggressive_levels);
  HYPRE_BoomerAMGSetRelaxType(amg, 6);  // symmetric Gauss-Seidel
  HYPRE_BoomerAMGSetNumSweeps(amg, 1);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  return amg;
}

Result by_hypre(const System& system, const std::string& solver) {
  const HYPRE_IJMatrix matrix = hypre_matrix(system.matrix);
  const HYPRE_ParCSRMatrix a = parcsr(matrix);
  HypreVector b(system.matrix.rows, &system.b), x(system.matrix.rows, nullptr);
  const bool edges = solver == "ams";
  HYPRE_ParCSRMatrix gradient = nullptr;
  std::vector<HypreVector> along;
  if (edges) {
    gradient = parcsr(hypre_matrix(system.gradient));
    for (const auto& component : system.along) along.emplace_back(system.matrix.rows, &component);
  }

  HYPRE_Solver preconditioner = nullptr, pcg = nullptr;
  const auto set_up = [&] {
    if (edges) {
      HYPRE_AMSCreate(&preconditioner);
      HYPRE_AMSSetDimension(preconditioner, 3);
      HYPRE_AMSSetMaxIter(preconditioner, 1);
      HYPRE_AMSSetTol(preconditioner, 0);
      HYPRE_AMSSetCycleType(preconditioner, 13);
      HYPRE_AMSSetPrintLevel(preconditioner, 0);
      HYPRE_AMSSetDiscreteGradient(preconditioner, gradient);
      HYPRE_AMSSetEdgeConstantVectors(preconditioner, along[0].vector, along[1].vector, along[2].vector);
      HYPRE_AMSSetBetaPoissonMatrix(preconditioner, nullptr);  // no mass: gradients are its null space
      HYPRE_AMSSetSmoothingOptions(preconditioner, 2, 1, 1, 1);
      HYPRE_AMSSetAlphaAMGOptions(preconditioner, 8, 1, 6, 0.25, 6, 4);
      HYPRE_AMSSetup(preconditioner, a, b.vector, x.vector);
    } else {
      preconditioner = solver == "boomeramg-50" ? boomeramg(0.5, 1) : boomeramg(0.25, 0);
      HYPRE_BoomerAMGSetup(preconditioner, a, b.vector, x.vector);
    }
  };
  const auto destroy = [&] { (edges ? HYPRE_AMSDestroy : HYPRE_BoomerAMGDestroy)(preconditioner); };
  Result result;
  result.setup = timed(set_up, destroy);
  result.product = timed([&] {
    for (int k = 0; k < 10; ++k) HYPRE_ParCSRMatrixMatvec(1, a, b.vector, 0, x.vector);
  });

  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
  HYPRE_ParCSRPCGSetTol(pcg, tolerance);
  HYPRE_ParCSRPCGSetMaxIter(pcg, most_iterations);
  HYPRE_ParCSRPCGSetTwoNorm(pcg, 1);
  const auto ready = [](HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector) { return 0; };
  HYPRE_ParCSRPCGSetPrecond(pcg, edges ? HYPRE_AMSSolve : HYPRE_BoomerAMGSolve, ready, preconditioner);
  HYPRE_ParCSRPCGSetup(pcg, a, b.vector, x.vector);
  result.solve = timed([&] {
    HYPRE_ParVectorSetConstantValues(x.vector, 0);
    HYPRE_ParCSRPCGSolve(pcg, a, b.vector, x.vector);
  });
  HYPRE_ParCSRPCGGetNumIterations(pcg, &result.iterations);
  result.x.resize(x.numbers.size());
  HYPRE_IJVectorGetValues(x.handle, static_cast<int>(x.numbers.size()), x.numbers.data(), result.x.data());
  HYPRE_ParCSRPCGDestroy(pcg);
  destroy();
  return result;
}

/// Conjugate gradients with GAMG as it comes: Jacobi smoothing and dropped weak couplings were slower.
Result by_petsc(const System& system) {
  const int n = system.matrix.rows, begin = first_of(n, rank), end = first_of(n, rank + 1);
  std::vector<int> starts;
  std::vector<int> columns;
  std::vector<double> values;
  for (int i = begin; i < end; ++i) {  // columns in ascending order
    starts.push_back(static_cast<int>(columns.size()));
    std::map<int, double> row;
    for (int k = system.matrix.starts[i]; k < system.matrix.starts[i + 1]; ++k)
      row[system.matrix.column[k]] += system.matrix.values[k];
    for (const auto& [column, value] : row) {
      columns.push_back(column);
      values.push_back(value);
    }
  }
  starts.push_back(static_cast<int>(columns.size()));
  Mat a;
  MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, end - begin, end - begin, n, n, starts.data(), columns.data(),
                            values.data(), &a);
  MatSetOption(a, MAT_SPD, PETSC_TRUE);
  Vec x, b;
  MatCreateVecs(a, &x, &b);
  double* entries = nullptr;
  VecGetArray(b, &entries);
  std::copy(system.b.begin() + begin, system.b.begin() + end, entries);
  VecRestoreArray(b, &entries);

  KSP ksp;
  const auto destroy = [&] { KSPDestroy(&ksp); };
  const auto set_up = [&] {
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, a, a);
    KSPSetType(ksp, KSPCG);
    KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
    KSPSetTolerances(ksp, tolerance, 0, PETSC_DEFAULT, most_iterations);
    PC pc;
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCGAMG);
    KSPSetFromOptions(ksp);  // sets PETSc's defaults, too
    KSPSetUp(ksp);
  };
  Result result;
  result.setup = timed(set_up, destroy);
  result.product = timed([&] {
    for (int k = 0; k < 10; ++k) MatMult(a, b, x);
  });
  result.solve = timed([&] {
    VecSet(x, 0);
    KSPSolve(ksp, b, x);
  });
  KSPGetIterationNumber(ksp, &result.iterations);
  VecGetArray(x, &entries);
  result.x.assign(entries, entries + (end - begin));
  VecRestoreArray(x, &entries);
  destroy();
  VecDestroy(&x);
  VecDestroy(&b);
  MatDestroy(&a);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int no_options = 1;
  char** arguments = argv;
  PetscInitialize(&no_options, &arguments, nullptr, nullptr);
  HYPRE_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) {
    if (rank == 0) std::fprintf(stderr, "usage: solve FILE SOLVER...\n");
    PetscFinalize();
    return 2;
  }
  const System system = read_system(argv[1]);
  for (int k = 2; k < argc; ++k) {
    const std::string solver = argv[k];
    const bool petsc = solver == "gamg";
    const Result result = petsc ? by_petsc(system) : by_hypre(system, solver);
    const double residual = true_residual(system, result.x);
    if (rank > 0) continue;
    const auto print = [](const char* name, Seconds s) {
      std::printf("\"%s\": {\"cpu\": %.6g, \"wall\": %.6g}, ", name, s.cpu, s.wall);
    };
    std::printf("{\"solver\": \"%s, %s\", \"unknowns\": %d, \"entries\": %zu, ", petsc ? "PETSc" : "hypre",
                solver.c_str(), system.matrix.rows, system.matrix.values.size());
    print("setup", result.setup);
    print("product", {result.product.cpu / 10, result.product.wall / 10});
    print("solve", result.solve);
    std::printf("\"iterations\": %d, \"residual\": %.3g}\n", result.iterations, residual);
    std::fflush(stdout);
  }
  HYPRE_Finalize();
  PetscFinalize();
  return 0;
}
