// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// Writes the meshes and fields of a JSON file as the application writes them, for read_vtkhdf.py to read
// back. Arguments: the JSON file and the output directory.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/output/field_series.hpp"

using namespace curlew;

namespace {

std::vector<Vector3> vectors(const nlohmann::json& rows) {
  std::vector<Vector3> result;
  for (const auto& row : rows) result.push_back({row[0], row[1], row[2]});
  return result;
}

}  // namespace

int main(int, char** arguments) {
  const auto cases = nlohmann::json::parse(std::ifstream(arguments[1]));
  for (const auto& [name, item] : cases.items()) {
    const auto nodes = vectors(item["nodes"]);
    std::vector<CellType> types;
    std::vector<std::int64_t> start{0};
    std::vector<Index> cell_nodes;
    for (const auto& cell : item["cells"]) {
      types.push_back(static_cast<CellType>(cell["type"].get<int>()));
      for (const int n : cell["nodes"]) cell_nodes.push_back(n);
      start.push_back(std::ssize(cell_nodes));
    }
    FieldSeries series(arguments[2], name, VtkhdfWriter({nodes, types, start, cell_nodes}));
    for (const auto& output : item["outputs"]) {
      const auto temperature = output["cell_scalar"].get<std::vector<double>>();
      const auto velocity = vectors(output["cell_vector"]);
      const auto potential = output["node_scalar"].get<std::vector<double>>();
      const auto gradient = vectors(output["node_vector"]);
      series.write(output["step"], output["time"],
                   std::vector<FieldView>{{"temperature", temperature}, {"velocity", velocity}},
                   std::vector<FieldView>{{"potential", potential}, {"gradient", gradient}});
    }
  }
}
