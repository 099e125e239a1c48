// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "physics/space_time_function.hpp"

namespace curlew {

/// What a table runs over: a coordinate [m] or the time [s].
enum class Abscissa { X, Y, Z, Time };

/// Numbers in columns over strictly ascending abscissae.
struct Table {
  Abscissa abscissa = Abscissa::Time;
  std::vector<Real> abscissae;             ///< at least one
  std::vector<std::string> names;          ///< of the other columns, in the order of the file
  std::vector<std::vector<Real>> columns;  ///< one per name, as long as `abscissae`
};

/// Reads a CSV file: a header, its first name x, y, z or t, then a line of numbers per abscissa. Empty lines
/// and those that start with # are passed over. Throws InputErrors with the file and the line of the first
/// thing that is wrong.
Table read_table(const std::filesystem::path& path);

/// One column of a table: linear between its rows, constant beyond the first and the last.
class TableFunction final : public SpaceTimeFunction {
 public:
  TableFunction(std::shared_ptr<const Table> table, std::size_t column)
      : table_(std::move(table)), column_(column) {}

  void evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const override;
  bool depends_on_time() const override { return table_->abscissa == Abscissa::Time; }
  bool depends_on_space() const override { return !depends_on_time(); }

 private:
  Real value(Real abscissa) const;

  std::shared_ptr<const Table> table_;
  std::size_t column_;
};

}  // namespace curlew
