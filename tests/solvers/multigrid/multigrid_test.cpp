// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/multigrid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/bfloat16.hpp"
#include "mesh/box.hpp"
#include "mesh/entities.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/node_diffusion.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/multigrid/multigrid_hierarchy.hpp"
#include "solvers/multigrid/smoothed_aggregation.hpp"
#include "solvers/null_space.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

/// Their inner product, on the host.
template <class X, class Y>
Real product_of(const X& x, const Y& y) {
  const std::vector<Real> a = x.to_host(), b = y.to_host();
  return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
}

using Pressure = DualCochain<Cell>;
using Outflow = PrimalCochain<Cell>;

/// Diffusion between the cells of a box by the flux between two points, all values given on the boundary or
/// none.
struct Problem {
  CellType type = CellType::Hexahedron;
  Index blocks = 8;
  Real flatness = 1;  ///< the box is 1 x 1/flatness or 1 x 1 x 1/flatness
  Real jump = 1;      ///< conductivity of every other of 4 x 4 (x 4) blocks; 1 in the others
  bool closed = false;
};

std::vector<Real> conductances(const Mesh& mesh, const Problem& problem) {
  const Topology& t = mesh.topology();
  const auto face_centroid = mesh.geometry().face_centroids_of_cells(MemorySpace::Host);
  const auto conductivity = [&](Id<Cell> c) {
    const Vector3 x = mesh.geometry().cell_centroids()[at(c.value())];
    const int block =
        static_cast<int>(4 * x.x) + static_cast<int>(4 * x.y) + static_cast<int>(4 * x.z * problem.flatness);
    return block % 2 == 1 ? problem.jump : Real(1);
  };
  std::vector<Real> k;
  for (const Id<Face> f : t.faces()) {
    const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
    Real resistance = 0;
    for (const auto [c, sign] : t.cells_of_face()[f]) {
      const Vector3 arm = face_centroid(f, sign) - mesh.geometry().cell_centroids()[at(c.value())];
      resistance += sign * dot(arm, area) / dot(area, area) / conductivity(c);
    }
    k.push_back(t.cells_of_face()[f].size() == 1 && problem.closed ? 0 : 1 / resistance);
  }
  return k;
}

Mesh box(const Problem& problem) {
  const bool flat = problem.type == CellType::Triangle || problem.type == CellType::Quadrilateral;
  const Index n = problem.blocks;
  const Real height = 1 / problem.flatness;
  return flat ? Mesh(make_box(problem.type, {n, n, 1}, {1, height, 1}))
              : Mesh(make_box(problem.type, {n, n, n}, {1, 1, height}));
}

std::vector<Real> random_values(Index size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<Real> values(at(size));
  for (Real& value : values) value = static_cast<Real>(generator()) / 4294967296.0 - 0.5;
  return values;
}

template <class F>
F field(const Executor& executor, const std::vector<Real>& values) {
  F result(executor, static_cast<Index>(values.size()), "values", "1");
  result.copy_from_host(values);
  return result;
}

/// The matrix put together anew, by Eigen.
Eigen::SparseMatrix<Real> sparse(const SymmetricMatrix& matrix) {
  Eigen::SparseMatrix<Real> result(matrix.rows(), matrix.rows());
  std::vector<Eigen::Triplet<Real>> entries;
  for (Index i = 0; i < matrix.rows(); ++i) {
    entries.emplace_back(i, i, matrix.diagonal[at(i)]);
    for (Index k = matrix.off_diagonal.starts[at(i)]; k < matrix.off_diagonal.starts[at(i) + 1]; ++k)
      entries.emplace_back(i, matrix.off_diagonal.columns[at(k)], matrix.off_diagonal.values[at(k)]);
  }
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

Eigen::SparseMatrix<Real> sparse(const SparseRows& rows, Index columns) {
  Eigen::SparseMatrix<Real> result(rows.rows(), columns);
  std::vector<Eigen::Triplet<Real>> entries;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k)
      entries.emplace_back(i, rows.columns[at(k)], rows.values[at(k)]);
  }
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// All levels, of one rank alone.
std::vector<AggregationLevel> levels_of(const SymmetricMatrix& matrix, Index coarsest) {
  return smoothed_aggregation(*one_rank(), {undivided_unknowns(matrix.rows()), matrix, {}, {}}, coarsest, 0)
      .levels;
}

struct Solved {
  int iterations;
  Real residual;  ///< true one, from Eigen's matrix
};

Solved solve(const Problem& problem, Real tolerance) {
  const Executor executor = Executor::serial();
  const Mesh mesh = box(problem);
  const CellLaplacian laplacian(executor, mesh.topology(), conductances(mesh, problem));
  std::vector<Real> values = random_values(mesh.topology().cells().size(), 1);
  if (problem.closed) {
    const Real mean =
        Eigen::Map<Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())).mean();
    for (Real& value : values) value -= mean;
  }
  const auto b = field<Outflow>(executor, values);
  Pressure x(executor, b.size(), "x", "1");
  const Multigrid<Pressure> multigrid(executor, mesh.domain(), laplacian.matrix());
  const PiecewiseConstantNullSpace<Pressure> constants(executor, static_cast<Index>(values.size()),
                                                       std::vector<Index>(values.size(), 0));
  ConjugateGradient<Pressure> solver(executor, b.size(), "pressure", {tolerance, 0, 200});
  const Real size = std::sqrt(product_of(b, b));
  const SolveReport report =
      solver.solve(laplacian, multigrid, b, x, {size, 0}, problem.closed ? &constants : nullptr);
  const std::vector<Real> solution = x.to_host();
  const auto as_vector = [](const std::vector<Real>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  return {report.iterations,
          (as_vector(values) - sparse(laplacian.matrix()) * as_vector(solution)).norm() / size};
}

TEST(Multigrid, needs_hardly_more_iterations_on_finer_meshes) {
  const struct {
    CellType type;
    std::array<Index, 3> blocks;
  } families[] = {{CellType::Quadrilateral, {16, 64, 256}},
                  {CellType::Triangle, {12, 48, 192}},
                  {CellType::Hexahedron, {8, 16, 40}},
                  {CellType::Tetrahedron, {4, 8, 20}}};
  for (const auto& [type, blocks] : families) {
    for (const Index n : blocks) {
      const Solved solved = solve({.type = type, .blocks = n}, 1e-8);
      EXPECT_GE(solved.iterations, 4);
      EXPECT_LE(solved.iterations, 14) << "type " << static_cast<int>(type) << ", " << n << " blocks";
      EXPECT_LE(solved.residual, 1.01e-8);
    }
  }
}

TEST(Multigrid, converges_where_nothing_is_given_on_the_boundary) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Tetrahedron}) {
    const Solved solved = solve({.type = type, .blocks = 12, .closed = true}, 1e-10);
    EXPECT_LE(solved.iterations, 18);
    EXPECT_LE(solved.residual, 1.01e-10);
  }
}

TEST(Multigrid, converges_with_jumps_of_a_million) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Tetrahedron}) {
    const Solved solved = solve({.type = type, .blocks = 16, .jump = 1e6}, 1e-8);
    EXPECT_LE(solved.iterations, 18) << static_cast<int>(type);
    EXPECT_LE(solved.residual, 1.01e-8);
  }
}

TEST(Multigrid, converges_on_cells_a_thousand_times_wider_than_high) {
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron}) {
    const Solved solved = solve({.type = type, .blocks = 16, .flatness = 1000}, 1e-8);
    EXPECT_LE(solved.iterations, 16) << static_cast<int>(type);
    EXPECT_LE(solved.residual, 1.01e-8);
  }
}

TEST(Multigrid, converges_on_flat_cells_where_nothing_is_given_on_the_boundary) {
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron}) {
    const Solved solved = solve({.type = type, .blocks = 16, .flatness = 1000, .closed = true}, 1e-8);
    EXPECT_LE(solved.iterations, 11) << static_cast<int>(type);
    EXPECT_LE(solved.residual, 1.01e-8);
  }
}

/// The eigenvalues of the coarsest level are further apart there than numbers in single precision.
TEST(Multigrid, converges_on_cells_ten_thousand_times_wider_than_high) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Tetrahedron}) {
    const Index blocks = type == CellType::Quadrilateral ? 32 : 16;
    const Solved solved = solve({.type = type, .blocks = blocks, .flatness = 1e4, .closed = true}, 1e-6);
    EXPECT_LE(solved.iterations, 11) << static_cast<int>(type);
    EXPECT_LE(solved.residual, 1.01e-6);
  }
}

TEST(Multigrid, single_precision_inside_reaches_twelve_digits) {
  const Solved solved = solve({.type = CellType::Tetrahedron, .blocks = 12}, 1e-12);
  EXPECT_LE(solved.iterations, 20);
  EXPECT_LE(solved.residual, 1.01e-12);
}

TEST(Multigrid, does_not_mind_very_small_and_very_large_right_hand_sides) {
  const Mesh mesh = box({.blocks = 6});
  const Executor executor = Executor::serial();
  std::vector<Real> k = conductances(mesh, {});
  for (Real& value : k) value *= 1e-30;
  const CellLaplacian laplacian(executor, mesh.topology(), k);
  const Multigrid<Pressure> multigrid(executor, mesh.domain(), laplacian.matrix());
  const std::vector<Real> values = random_values(mesh.topology().cells().size(), 3);
  Pressure z(executor, static_cast<Index>(values.size()), "z", "1");
  std::vector<std::vector<Real>> results;
  for (const int exponent : {-300, 0, 300}) {
    std::vector<Real> scaled = values;
    for (Real& value : scaled) value = std::ldexp(value, exponent);
    multigrid.apply(field<Outflow>(executor, scaled), z);
    results.push_back(z.to_host());
    for (Real& value : results.back()) value = std::ldexp(value, -exponent);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[2], results[1]);
  EXPECT_GT(std::abs(results[1][0]), 0);
}

TEST(Multigrid, is_symmetric_and_positive) {
  for (const CellType type : {CellType::Triangle, CellType::Hexahedron, CellType::Tetrahedron}) {
    const Mesh mesh = box({.type = type, .blocks = 10});
    const Executor executor = Executor::serial();
    const CellLaplacian laplacian(executor, mesh.topology(), conductances(mesh, {}));
    const Multigrid<Pressure> multigrid(executor, mesh.domain(), laplacian.matrix());
    const Index cells = mesh.topology().cells().size();
    Pressure bx(executor, cells, "B x", "1"), by(executor, cells, "B y", "1");
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const auto x = field<Outflow>(executor, random_values(cells, seed));
      const auto y = field<Outflow>(executor, random_values(cells, seed + 100));
      multigrid.apply(x, bx);
      multigrid.apply(y, by);
      const Real size = std::sqrt(product_of(x, bx) * product_of(y, by));
      EXPECT_GT(product_of(x, bx), 0);
      EXPECT_NEAR(product_of(y, bx), product_of(x, by), 1e-5 * size);
    }
  }
}

TEST(Multigrid, one_cycle_is_near_the_inverse) {
  const Mesh mesh = box({.type = CellType::Tetrahedron, .blocks = 5});
  const Executor executor = Executor::serial();
  const CellLaplacian laplacian(executor, mesh.topology(), conductances(mesh, {}));
  const Multigrid<Pressure> multigrid(executor, mesh.domain(), laplacian.matrix());
  const Index cells = mesh.topology().cells().size();
  Eigen::MatrixXd product(cells, cells);
  const Eigen::MatrixXd matrix = sparse(laplacian.matrix());
  Pressure z(executor, cells, "z", "1");
  for (Index c = 0; c < cells; ++c) {
    const Eigen::VectorXd column = matrix.col(c);
    multigrid.apply(field<Outflow>(executor, {column.data(), column.data() + cells}), z);
    const std::vector<Real> image = z.to_host();
    product.col(c) = Eigen::Map<const Eigen::VectorXd>(image.data(), cells);
  }
  const Eigen::VectorXcd values = eigenvalues_of_any(product);
  EXPECT_LE(values.imag().cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_GE(values.real().minCoeff(), 0.35);
  EXPECT_LE(values.real().maxCoeff(), 1.05);
}

TEST(Multigrid, has_the_same_bits_on_every_backend) {
  const Mesh mesh = box({.type = CellType::Tetrahedron, .blocks = 12});
  const auto result = [&](const Executor& executor) {
    const CellLaplacian laplacian(executor, mesh.topology(), conductances(mesh, {}));
    const Multigrid<Pressure> multigrid(executor, mesh.domain(), laplacian.matrix());
    Pressure z(executor, mesh.topology().cells().size(), "z", "1");
    multigrid.apply(field<Outflow>(executor, random_values(z.size(), 7)), z);
    return z.to_host();
  };
  const std::vector<Real> expected = result(Executor::serial());
  EXPECT_EQ(result(Executor::openmp(3)), expected);
  for (const Executor& executor : backends_beside_serial())
    EXPECT_EQ(result(executor), expected) << executor.name();
}

TEST(Multigrid, leaves_unknowns_that_are_held_at_zero) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {4, 4, 4}));
  const Executor executor = Executor::serial();
  const std::vector<Real> conductivity(at(mesh.topology().cells().size()), 2);
  SymmetricMatrix matrix = NodeDiffusion(executor, mesh, conductivity).matrix();
  for (Index i = 0; i < matrix.rows(); ++i) {
    if (i % 5 == 0) matrix.diagonal[at(i)] = 0;
    for (Index k = matrix.off_diagonal.starts[at(i)]; k < matrix.off_diagonal.starts[at(i) + 1]; ++k) {
      if (i % 5 == 0 || matrix.off_diagonal.columns[at(k)] % 5 == 0) matrix.off_diagonal.values[at(k)] = 0;
    }
  }
  const Multigrid<PrimalCochain<Node>> multigrid(executor, mesh.domain(), matrix);
  PrimalCochain<Node> z(executor, matrix.rows(), "z", "1");
  multigrid.apply(field<DualCochain<Node>>(executor, random_values(matrix.rows(), 2)), z);
  const std::vector<Real> values = z.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i] == 0, i % 5 == 0) << i;
}

/// So that smooth vectors keep their energy, of which there is little.
TEST(MultigridHierarchy, rounded_rows_give_a_constant_what_the_matrix_gives_it) {
  const Mesh mesh = box({.type = CellType::Tetrahedron, .blocks = 8});
  const CellLaplacian laplacian(Executor::serial(), mesh.topology(), conductances(mesh, {.jump = 1e6}));
  const SymmetricMatrix matrix = laplacian.matrix();
  const Eigen::VectorXd image = sparse(matrix) * Eigen::VectorXd::Ones(matrix.rows());
  const MultigridHierarchy hierarchy = make_multigrid_hierarchy<Cell>(mesh.domain(), matrix, 0);
  ASSERT_GE(hierarchy.levels.size(), 2);
  const MultigridHierarchy::Level& level = hierarchy.levels[0];
  const SparseRows& rows = level.off_diagonal;
  Real largest_change = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    const Real scale = hierarchy.scale[at(i)];
    Real sum = (1 + static_cast<Real>(level.rounding[at(i)])) / scale;
    for (std::size_t k = at(rows.starts[at(i)]); k < at(rows.starts[at(i) + 1]); ++k) {
      const Real value = rows.values[k], own = matrix.off_diagonal.values[k];
      ASSERT_EQ(rows.columns[k], matrix.off_diagonal.columns[k]);
      EXPECT_EQ(value, static_cast<Real>(static_cast<float>(BFloat16(value))));
      const Real of_other = hierarchy.scale[at(rows.columns[k])];
      if (own != 0) largest_change = std::max(largest_change, std::abs(value / (own * scale * of_other) - 1));
      sum += value / of_other;
    }
    EXPECT_NEAR(sum / scale, image[i], 1e-9 * matrix.diagonal[at(i)]);
  }
  EXPECT_LE(largest_change, std::ldexp(1.0, -8));
  EXPECT_GE(largest_change, std::ldexp(1.0, -10));
  EXPECT_TRUE(hierarchy.levels.back().rounding.empty());  // solved by its inverse
}

TEST(SmoothedAggregation, coarse_matrices_are_galerkin_products_and_constants_stay_constant) {
  const Mesh mesh = box({.type = CellType::Tetrahedron, .blocks = 6, .closed = true});
  // One cell is coupled to its neighbours much more weakly than these are among themselves.
  std::vector<Real> k = conductances(mesh, {.blocks = 6, .closed = true});
  for (const auto [f, sign] : mesh.topology().faces_of_cell()[Id<Cell>(100)]) k[at(f.value())] *= 1e-6;
  const CellLaplacian laplacian(Executor::serial(), mesh.topology(), k);
  const std::vector<AggregationLevel> levels = levels_of(laplacian.matrix(), 20);
  ASSERT_GE(levels.size(), 3u);
  EXPECT_LE(levels.back().matrix.rows(), 20);
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const Index coarse = levels[l + 1].matrix.rows();
    const Eigen::SparseMatrix<Real> p = sparse(levels[l].prolongation, coarse);
    const Eigen::SparseMatrix<Real> r = sparse(levels[l].restriction, levels[l].matrix.rows());
    EXPECT_EQ((Eigen::MatrixXd(r) - Eigen::MatrixXd(p).transpose()).norm(), 0);
    const Eigen::MatrixXd expected = p.transpose() * sparse(levels[l].matrix) * p;
    const Eigen::MatrixXd found = sparse(levels[l + 1].matrix);
    EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
    const Eigen::VectorXd ones = p * Eigen::VectorXd::Ones(coarse);
    EXPECT_LE((ones - Eigen::VectorXd::Ones(ones.size())).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(SmoothedAggregation, coarsens_across_strong_couplings_only) {
  // Lines of unknowns coupled by 1 along and by 1e-6 across: no aggregate joins two lines.
  const Index n = 12;
  SymmetricMatrix matrix;
  const auto number = [&](Index line, Index k) { return line * n + k; };
  for (Index line = 0; line < n; ++line) {
    for (Index k = 0; k < n; ++k) {
      Real diagonal = 1e-3;
      const auto couple = [&](Index other_line, Index other, Real coupling) {
        if (other_line < 0 || other_line >= n || other < 0 || other >= n) return;
        matrix.off_diagonal.columns.push_back(number(other_line, other));
        matrix.off_diagonal.values.push_back(-coupling);
        diagonal += coupling;
      };
      couple(line, k - 1, 1);
      couple(line, k + 1, 1);
      couple(line - 1, k, 1e-6);
      couple(line + 1, k, 1e-6);
      matrix.diagonal.push_back(diagonal);
      matrix.off_diagonal.starts.push_back(static_cast<Index>(matrix.off_diagonal.columns.size()));
    }
  }
  const AggregationLevel level = levels_of(matrix, 100).front();
  const SparseRows& restriction = level.restriction;
  ASSERT_GT(restriction.rows(), 0);
  for (Index group = 0; group < restriction.rows(); ++group) {
    const Index line = restriction.columns[at(restriction.starts[at(group)])] / n;
    for (Index k = restriction.starts[at(group)]; k < restriction.starts[at(group) + 1]; ++k)
      EXPECT_EQ(restriction.columns[at(k)] / n, line);
  }
}

TEST(SmoothedAggregation, a_matrix_ruled_by_its_diagonal_needs_no_coarse_level) {
  const Mesh mesh = box({.blocks = 8});
  SymmetricMatrix matrix =
      CellLaplacian(Executor::serial(), mesh.topology(), conductances(mesh, {})).matrix();
  for (Real& value : matrix.diagonal) value *= 100;
  EXPECT_EQ(levels_of(matrix, 20).size(), 1u);
}

}  // namespace
}  // namespace curlew
