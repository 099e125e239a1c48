// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/mesh_report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/bounding_box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/homology/homology.hpp"
#include "mesh/quality.hpp"
#include "operators/cell_gradient.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"

namespace curlew {

namespace {

using Json = nlohmann::ordered_json;

/// Entries of the integer matrix `left` times `right` that are not zero, row by row.
template <class From, class Middle, class To>
std::int64_t product_nonzeros(const IncidenceTable<From, Middle>& left,
                              const IncidenceTable<Middle, To>& right) {
  const auto rows = left.view(MemorySpace::Host);
  const auto middle_rows = right.view(MemorySpace::Host);
  std::atomic<std::int64_t> nonzeros{0};
  parallel_for(at(left.rows()), [&](std::size_t i) {
    thread_local std::vector<std::pair<Index, int>> terms;
    terms.clear();
    for (const auto [m, sign] : rows[Id<From>(static_cast<Index>(i))]) {
      for (const auto [to, factor] : middle_rows[m])
        terms.emplace_back(to.value(), sign * factor > 0 ? 1 : -1);
    }
    std::sort(terms.begin(), terms.end());
    for (std::size_t k = 0; k < terms.size();) {
      const Index column = terms[k].first;
      int entry = 0;
      for (; k < terms.size() && terms[k].first == column; ++k) entry += terms[k].second;
      if (entry != 0) ++nonzeros;
    }
  });
  return nonzeros;
}

template <class E>
struct DotOfEntity {
  View<E, const Vector3> x, y;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return dot(x[i], y[i]); }
};

template <class X, class Y>
Real pairing(const X& x, const Y& y) {
  if constexpr (std::is_same_v<typename X::Value, Vector3>) {
    return sum(x.executor(), x.range(), DotOfEntity<typename X::Entity>{x.view(), y.view()});
  } else {
    return inner_product(x, y);
  }
}

template <class F>
Real length(const F& field) {
  return std::sqrt(pairing(field, field));
}

/// Makes fields for the entities of one mesh.
class Fields {
 public:
  Fields(const Executor& executor, const Topology& topology) : executor_(executor), topology_(topology) {}

  template <class F>
  F zero() const {
    return F(executor_, count(static_cast<typename F::Entity*>(nullptr)), "field", "1");
  }
  /// Between -1 and 1, always the same.
  template <class F>
  F random(unsigned seed) const {
    F field = zero<F>();
    std::minstd_rand generator(seed);
    std::uniform_real_distribution<Real> uniform(-1, 1);
    std::vector<typename F::Value> values(at(field.size()));
    for (auto& value : values) {
      if constexpr (std::is_same_v<typename F::Value, Vector3>) {
        value.x = uniform(generator);
        value.y = uniform(generator);
        value.z = uniform(generator);
      } else {
        value = uniform(generator);
      }
    }
    field.copy_from_host(values);
    return field;
  }

 private:
  Index count(Node*) const { return topology_.nodes().size(); }
  Index count(Edge*) const { return topology_.edges().size(); }
  Index count(Face*) const { return topology_.faces().size(); }
  Index count(Cell*) const { return topology_.cells().size(); }

  const Executor& executor_;
  const Topology& topology_;
};

/// |(ax, y) - (x, aty)| relative to the lengths of ax and y.
template <class AX, class Y, class X, class ATY>
Real defect(const AX& ax, const Y& y, const X& x, const ATY& aty, Real sign = 1) {
  const Real scale = length(ax) * length(y);
  return scale > 0 ? std::abs(pairing(ax, y) - sign * pairing(x, aty)) / scale : 0;
}

/// Of an operator and its own transpose.
template <class X, class Y>
Real transpose_defect(const Operator<X, Y>& op, const Fields& fields) {
  const X x = fields.random<X>(1);
  const auto y = fields.random<Paired<Y>>(2);
  Y ax = fields.zero<Y>();
  auto aty = fields.zero<Paired<X>>();
  op.apply(x, ax);
  op.apply_transpose(y, aty);
  return defect(ax, y, x, aty);
}

Real adjointness(const Executor& executor, const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const Fields fields(executor, t);

  const auto pressure = fields.random<DualCochain<Cell>>(3);
  const auto flux = fields.random<PrimalCochain<Face>>(4);
  auto difference = fields.zero<DualCochain<Face>>();
  auto outflow = fields.zero<PrimalCochain<Cell>>();
  Gradient(executor, t).apply(pressure, difference);
  Divergence(executor, t).apply(flux, outflow);

  const auto streamfunction = fields.random<PrimalCochain<Edge>>(5);
  const auto circulation = fields.random<DualCochain<Face>>(6);
  auto curl = fields.zero<PrimalCochain<Face>>();
  auto rotation = fields.zero<DualCochain<Edge>>();
  Curl(executor, t).apply(streamfunction, curl);
  Rotation(executor, t).apply(circulation, rotation);

  // (Nᵀ V v, U) = (V v, N U)
  const Interpolation interpolation(executor, mesh);
  const Integration integration(executor, mesh);
  const auto velocity = fields.random<Field<Cell, Vector3>>(7);
  auto times_volume = fields.zero<Field<Cell, Vector3>>();
  std::vector<Vector3> values = velocity.to_host();
  for (std::size_t c = 0; c < values.size(); ++c) values[c] *= mesh.geometry().cell_volumes()[c];
  times_volume.copy_from_host(values);
  auto integrated = fields.zero<DualCochain<Face>>();
  auto interpolated = fields.zero<Field<Cell, Vector3>>();
  integration.apply(velocity, integrated);
  interpolation.apply(flux, interpolated);

  return std::max({defect(difference, flux, pressure, outflow, -1),
                   defect(curl, circulation, streamfunction, rotation),
                   defect(integrated, flux, times_volume, interpolated),
                   transpose_defect(NodeGradient(executor, t), fields),
                   transpose_defect(interpolation, fields), transpose_defect(integration, fields)});
}

/// Largest `value_of(i)` for i below `count`.
template <class Value>
Real largest(std::size_t count, const Value& value_of) {
  std::vector<Real> values(count);
  parallel_for(count, [&](std::size_t i) { values[i] = value_of(i); });
  return *std::max_element(values.begin(), values.end());
}

/// No direction of its own on any reasonable mesh; in the plane of a plane mesh.
Vector3 oblique(int dimension) {
  return {0.6, -0.7, dimension == 3 ? 0.4 : 0.0};
}

Real uniform_stream(const Executor& executor, const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const auto areas = mesh.geometry().face_areas(MemorySpace::Host);
  const Fields fields(executor, t);
  const Vector3 u = oblique(t.dimension());
  std::vector<Real> fluxes(at(t.faces().size()));
  for (const Id<Face> f : t.faces()) fluxes[at(f.value())] = dot(u, areas[f]);
  auto flux = fields.zero<PrimalCochain<Face>>();
  flux.copy_from_host(fluxes);
  auto outflow = fields.zero<PrimalCochain<Cell>>();
  auto velocity = fields.zero<Field<Cell, Vector3>>();
  Divergence(executor, t).apply(flux, outflow);
  Interpolation(executor, mesh).apply(flux, velocity);
  return largest(at(t.cells().size()), [&](std::size_t i) {
    const Id<Cell> c(static_cast<Index>(i));
    Real area = 0;
    for (const auto [f, sign] : t.faces_of_cell()[c]) area += norm(areas[f]);
    return std::max(std::abs(outflow.view()[c]) / (norm(u) * area), norm(velocity.view()[c] - u) / norm(u));
  });
}

Real linear_field(const Mesh& mesh) {
  const auto positions = mesh.geometry().node_positions().host();
  const Vector3 gradient = oblique(mesh.topology().dimension());
  std::vector<Real> values(positions.size());
  // From a node of the mesh, so that a mesh far from the origin loses no digits.
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = dot(gradient, positions[n] - positions[0]);
  const std::vector<Vector3> gradients = cell_gradients(mesh, values);
  return largest(gradients.size(),
                 [&](std::size_t c) { return norm(gradients[c] - gradient) / norm(gradient); });
}

Json as_json(Vector3 x) {
  return {x.x, x.y, x.z};
}

Json as_json(const Statistic& statistic) {
  return {{"min", statistic.min},
          {"mean", statistic.mean},
          {"max", statistic.max},
          {"where", as_json(statistic.where)}};
}

Json counts(const Topology& t) {
  std::map<std::string, Index> by_type;
  for (const CellType type : t.cell_types()) ++by_type[name(type)];
  return {{"nodes", t.nodes().size()}, {"edges", t.edges().size()},
          {"faces", t.faces().size()}, {"boundary_faces", t.boundary_faces().size()},
          {"cells", t.cells().size()}, {"cells_by_type", by_type}};
}

Json patches(const Mesh& mesh) {
  Json list = Json::array();
  for (const Patch& patch : mesh.topology().patches()) {
    Real area = 0;
    for (const Id<Face> f : patch.faces) area += norm(mesh.geometry().face_areas()[at(f.value())]);
    list.push_back({{"name", patch.name}, {"faces", patch.faces.size()}, {"area", area}});
  }
  return list;
}

Json regions(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  std::vector<Index> cells(t.region_names().size(), 0);
  std::vector<Real> volumes(cells.size(), 0);
  for (const Id<Cell> c : t.cells()) {
    const std::size_t region = at(t.region_of_cell()[at(c.value())]);
    ++cells[region];
    volumes[region] += mesh.geometry().cell_volumes()[at(c.value())];
  }
  Json list = Json::array();
  for (std::size_t r = 0; r < cells.size(); ++r) {
    list.push_back({{"name", t.region_names()[r]}, {"cells", cells[r]}, {"volume", volumes[r]}});
  }
  return list;
}

Json extent(const Mesh& mesh) {
  const BoundingBox box = bounding_box(mesh);
  return {{"min", as_json(box.low)}, {"max", as_json(box.high)}};
}

Json memory(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  const std::size_t tables =
      t.faces_of_cell().bytes() + t.cells_of_face().bytes() + t.edges_of_face().bytes() +
      t.faces_of_edge().bytes() + t.nodes_of_edge().bytes() + t.edges_of_node().bytes() +
      t.nodes_of_face().bytes() + t.nodes_of_cell().bytes() + t.cells_of_node().bytes() +
      t.region_of_cell().size() * sizeof(Index) + t.cell_types().size() * sizeof(CellType);
  const std::size_t vectors = g.node_positions().size() + g.face_areas().size() + g.face_centroids().size() +
                              g.cell_centroids().size();
  const std::size_t geometry =
      vectors * sizeof(Vector3) + (g.cell_volumes().size() + g.node_volumes().size()) * sizeof(Real);
  const auto bytes = static_cast<Real>(tables + geometry);
  return {{"topology_bytes", tables},
          {"geometry_bytes", geometry},
          {"bytes_per_cell", bytes / static_cast<Real>(t.cells().size())}};
}

Json report(const Mesh& mesh, const std::string& title) {
  const MeshQuality quality = measure_quality(mesh);
  const BettiNumbers betti = betti_numbers(mesh.topology());
  const MeshIdentities identities = check_identities(mesh);
  return {{"mesh", title},
          {"dimension", mesh.topology().dimension()},
          {"counts", counts(mesh.topology())},
          {"patches", patches(mesh)},
          {"regions", regions(mesh)},
          {"extent", extent(mesh)},
          {"quality",
           {{"non_orthogonality", as_json(quality.non_orthogonality)},
            {"skewness", as_json(quality.skewness)},
            {"volume_ratio", as_json(quality.volume_ratio)},
            {"aspect_ratio", as_json(quality.aspect_ratio)},
            {"non_planarity", as_json(quality.non_planarity)}}},
          {"betti", {{"b0", betti.b0}, {"b1", betti.b1}, {"b2", betti.b2}}},
          {"memory", memory(mesh)},
          {"identities",
           {{"dc_nonzeros", identities.dc_nonzeros},
            {"rg_nonzeros", identities.rg_nonzeros},
            {"adjointness", identities.adjointness},
            {"uniform_stream", identities.uniform_stream},
            {"linear_field", identities.linear_field}}},
          {"notes", mesh.notes()}};
}

std::string point(const Json& x) {
  return fmt::format("({:.5g}, {:.5g}, {:.5g})", x[0].get<Real>(), x[1].get<Real>(), x[2].get<Real>());
}

std::string as_text(const Json& report) {
  const bool plane = report["dimension"] == 2;
  std::string text;
  const auto line = [&](const std::string& content) {
    text += content.substr(0, content.find_last_not_of(' ') + 1) + '\n';
  };
  const auto heading = [&](const std::string& content) { line('\n' + content); };
  const auto row = [&](const std::string& label, const Json& value, const std::string& remark) {
    line(fmt::format("  {:<22}{:>12}  {}", label, value.get<std::int64_t>(), remark));
  };
  line(fmt::format("{}: {} dimensions, {} to {} m", report["mesh"].get<std::string>(),
                   plane ? "two" : "three", point(report["extent"]["min"]), point(report["extent"]["max"])));

  heading("counts");
  const Json& counts = report["counts"];
  row("nodes", counts["nodes"], "");
  row("edges", counts["edges"], plane ? "normal to the plane, one at each node" : "");
  row("faces", counts["faces"],
      fmt::format("{} of them on the boundary", counts["boundary_faces"].get<Index>()));
  row("cells", counts["cells"], "");
  for (const auto& [type, count] : counts["cells_by_type"].items()) row("  " + type, count, "");

  heading(fmt::format("{:<24}{:>12}{:>16}", "patches", "faces", plane ? "length [m]" : "area [m2]"));
  for (const Json& patch : report["patches"]) {
    line(fmt::format("  {:<22}{:>12}{:>16.6g}", patch["name"].get<std::string>(), patch["faces"].get<Index>(),
                     patch["area"].get<Real>()));
  }
  heading(fmt::format("{:<24}{:>12}{:>16}", "regions", "cells", plane ? "area [m2]" : "volume [m3]"));
  for (const Json& region : report["regions"]) {
    line(fmt::format("  {:<22}{:>12}{:>16.6g}", region["name"].get<std::string>(),
                     region["cells"].get<Index>(), region["volume"].get<Real>()));
  }

  heading(fmt::format("{:<24}{:>12}{:>12}{:>12}  {}", "quality", "min", "mean", "max", "worst at [m]"));
  const std::pair<const char*, const char*> figures[] = {{"non_orthogonality", "non-orthogonality [°]"},
                                                         {"skewness", "skewness"},
                                                         {"volume_ratio", "volume ratio"},
                                                         {"aspect_ratio", "aspect ratio"},
                                                         {"non_planarity", "non-planarity of faces"}};
  for (const auto& [key, label] : figures) {
    const Json& figure = report["quality"][key];
    line(fmt::format("  {:<22}{:>12.4g}{:>12.4g}{:>12.4g}  {}", label, figure["min"].get<Real>(),
                     figure["mean"].get<Real>(), figure["max"].get<Real>(),
                     figure["min"] < figure["max"] ? point(figure["where"]) : ""));
  }

  heading("shape of the domain (Betti numbers)");
  const Json& betti = report["betti"];
  row("connected parts", betti["b0"], "b0");
  row(plane ? "holes" : "tunnels", betti["b1"], "b1");
  row("enclosed voids", betti["b2"], "b2");

  heading("memory");
  row("bytes a cell", std::llround(report["memory"]["bytes_per_cell"].get<Real>()), "tables and geometry");

  heading("identities on this mesh");
  const Json& identities = report["identities"];
  const auto error = [&](const char* label, const char* key, const char* remark) {
    line(fmt::format("  {:<22}{:>12.2g}  {}", label, identities[key].get<Real>(), remark));
  };
  row("non-zeros of D C", identities["dc_nonzeros"], "divergence of a curl: 0");
  row("non-zeros of R G", identities["rg_nonzeros"], "rotation of a gradient: 0");
  error("adjointness", "adjointness", "operators against their transposes, relative: round-off");
  error("uniform stream", "uniform_stream", "relative: round-off where faces are planar");
  error("linear field", "linear_field", "its gradient, relative: round-off");

  if (!report["notes"].empty()) heading("notes");
  for (const Json& note : report["notes"]) line("  " + note.get<std::string>());
  return text;
}

}  // namespace

MeshIdentities check_identities(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const Executor executor = Executor::openmp(omp_get_max_threads());
  return {product_nonzeros(t.faces_of_cell(), t.edges_of_face()),
          product_nonzeros(t.faces_of_edge(), t.cells_of_face()), adjointness(executor, mesh),
          uniform_stream(executor, mesh), linear_field(mesh)};
}

std::string mesh_report(const Mesh& mesh, const std::string& title, bool json,
                        const std::optional<PartitionQuality>& partition) {
  Json content = report(mesh, title);
  if (partition) {
    content["partition"] = {{"parts", partition->parts},
                            {"empty_parts", partition->empty_parts},
                            {"least_cells", partition->least_cells},
                            {"most_cells", partition->most_cells},
                            {"imbalance", partition->imbalance},
                            {"cut_faces", partition->cut_faces},
                            {"cut", partition->cut},
                            {"most_neighbours", partition->most_neighbours},
                            {"mean_neighbours", partition->mean_neighbours},
                            {"most_ghosts", partition->most_ghosts},
                            {"most_pieces", partition->most_pieces}};
  }
  if (json) return content.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  return as_text(content) + (partition ? "\npartition\n  " + description(*partition) + '\n' : "");
}

}  // namespace curlew
