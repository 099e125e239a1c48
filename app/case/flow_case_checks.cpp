// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/flow_case_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace curlew {

namespace {

template <class T>
bool has_type(const FlowBoundarySettings& boundary) {
  return std::holds_alternative<T>(boundary.condition);
}

const std::string& type_name(const FlowBoundarySettings& boundary) {
  return flow_boundary_types[boundary.condition.index()];
}

class FlowChecks {
 public:
  FlowChecks(FlowCase& flow_case, const Section& root, const std::set<std::string>& of_unknown_type,
             Diagnostics& diagnostics)
      : case_(flow_case), root_(root), of_unknown_type_(of_unknown_type), diagnostics_(diagnostics) {}

  void run();

 private:
  void check_periodic() const;
  void check_monitors() const;
  void check_quantity();
  void check_fields();
  /// That of a patch as far as it was understood.
  const FlowBoundarySettings* boundary(const std::string& patch) const;

  FlowCase& case_;
  const Section& root_;
  const std::set<std::string>& of_unknown_type_;
  Diagnostics& diagnostics_;
};

const FlowBoundarySettings* FlowChecks::boundary(const std::string& patch) const {
  const auto found =
      std::ranges::find(case_.boundaries, patch, [](const FlowBoundarySettings& b) { return b.patch.name; });
  return found == case_.boundaries.end() || of_unknown_type_.contains(patch) ? nullptr : &*found;
}

void FlowChecks::run() {
  check_periodic();
  check_monitors();
  check_quantity();
  check_fields();
  if (case_.flow.mean_flow && std::ranges::none_of(case_.boundaries, has_type<PeriodicSettings>) &&
      std::ranges::count_if(case_.boundaries, has_type<Outlet>) < 2) {
    const Section mean = root_.table("fluid").table("mean_flow");
    mean.error("",
               fmt::format("{} drives a flow through periodic patches or from one outlet to another, and no "
                           "[boundary.PATCH] is of type \"periodic\", nor two of type \"outlet\"",
                           mean.title()));
  }
}

/// A patch has one partner, which is another periodic patch with the same idea or has no table of its own.
void FlowChecks::check_periodic() const {
  std::map<std::string, std::string> patch_of_partner;  // without a table
  for (const FlowBoundarySettings& own : case_.boundaries) {
    const auto* periodic = std::get_if<PeriodicSettings>(&own.condition);
    if (!periodic || periodic->partner.name.empty()) continue;
    const auto& [partner, location] = periodic->partner;
    const auto fail = [&](const std::string& message) { diagnostics_.error(location, message); };
    if (partner == own.patch.name) {
      fail(fmt::format("the patch \"{}\" cannot be its own partner; name the patch opposite to it", partner));
      continue;
    }
    const FlowBoundarySettings* other = boundary(partner);
    if (!other) {
      const auto [first, is_new] = patch_of_partner.emplace(partner, own.patch.name);
      if (!is_new) {
        fail(
            fmt::format("the patch \"{}\" cannot be the partner of \"{}\" and of \"{}\"; periodic patches "
                        "come in pairs",
                        partner, first->second, own.patch.name));
      }
    } else if (const auto* back = std::get_if<PeriodicSettings>(&other->condition); !back) {
      fail(
          fmt::format("the partner of the periodic patch \"{0}\" must be periodic too, but [boundary.{1}] is "
                      "of type \"{2}\"; give it type = \"periodic\" and partner = \"{0}\", or drop it",
                      own.patch.name, partner, type_name(*other)));
    } else if (back->partner.name != own.patch.name && !back->partner.name.empty()) {
      fail(fmt::format(
          "the patch \"{0}\" names \"{1}\" its partner, but \"{1}\" names \"{2}\"; both must name "
          "each other",
          own.patch.name, partner, back->partner.name));
    }
  }
}

/// Patches that monitors name must be what they look at, and averages begin within the run.
void FlowChecks::check_monitors() const {
  const auto inside = [&](const std::string& patch) {
    return std::ranges::any_of(case_.boundaries, [&](const FlowBoundarySettings& b) {
      const auto* periodic = std::get_if<PeriodicSettings>(&b.condition);
      return periodic && (b.patch.name == patch || periodic->partner.name == patch);
    });
  };
  for (const MonitorSettings& monitor : case_.monitors) {
    const auto* average = std::get_if<TimeAverageSettings>(&monitor.what);
    const FlowTimeSettings& time = case_.time;
    if (average && average->start && time.start < time.end && *average->start >= time.end) {
      diagnostics_.error(monitor.location,
                         fmt::format("the start of [monitor.{}], {} s, must come before the end "
                                     "of [time], {} s",
                                     monitor.name, *average->start, time.end));
    }
    const auto* flux = std::get_if<FluxSettings>(&monitor.what);
    const auto* forces = std::get_if<ForcesSettings>(&monitor.what);
    if (!flux && !forces) continue;
    for (const NamedReference& patch : flux ? flux->patches : forces->patches) {
      const FlowBoundarySettings* own = boundary(patch.name);
      if (inside(patch.name)) {
        diagnostics_.error(patch.location, fmt::format("patches of [monitor.{}] cannot have \"{}\", which is "
                                                       "periodic: the flow goes on through it",
                                                       monitor.name, patch.name));
      } else if (forces && own && !has_type<Wall>(*own)) {
        diagnostics_.error(patch.location,
                           fmt::format("patches of [monitor.{}] must be walls, and \"{}\" is of "
                                       "type \"{}\"",
                                       monitor.name, patch.name, type_name(*own)));
      }
    }
  }
}

/// What ends a steady run must be something that the run knows; else the default takes its place.
void FlowChecks::check_quantity() {
  const std::string quantity = case_.time.quantity;
  const std::vector<std::string> valid = {"velocity", "kinetic_energy", "MONITOR.COLUMN"};
  if (quantity == valid[0] || quantity == valid[1]) return;
  std::vector<std::string> monitors;  // that write numbers, not tables or fields
  for (const MonitorSettings& monitor : case_.monitors) {
    if (!std::holds_alternative<LineSettings>(monitor.what) &&
        !std::holds_alternative<TimeAverageSettings>(monitor.what)) {
      monitors.push_back(monitor.name);
    }
  }
  // Names of monitors and of columns may have points themselves.
  if (std::ranges::any_of(monitors, [&](const auto& name) { return quantity.starts_with(name + "."); }))
    return;
  const std::size_t dot = quantity.rfind('.');
  const std::string monitor = quantity.substr(0, dot);
  case_.time.quantity = valid[0];
  const std::string told =
      dot == std::string::npos
          ? fmt::format("quantity of [time] cannot be {}{}", in_quotes(quantity),
                        suggestion(quantity, valid, "names"))
          : fmt::format("quantity of [time] is {}, but there is no [monitor.{}] with columns{}",
                        in_quotes(quantity), shortened(monitor),
                        suggestion(monitor, monitors, "monitors with columns"));
  root_.table("time").error("quantity", told);
}

/// The streamfunction is a number in two dimensions only.
void FlowChecks::check_fields() {
  const auto check = [&](const std::vector<FieldDescription>& fields, const std::string& title,
                         const Location& location) {
    if (std::ranges::find(fields, "streamfunction", &FieldDescription::name) == fields.end()) return;
    case_.wrong_in_three_dimensions.push_back(
        {location, fmt::format("the field streamfunction of {} is there in two dimensions only, and the mesh "
                               "has three; vorticity and q_criterion show vortices in both",
                               title)});
  };
  const Section output = root_.table("output");
  check(case_.output.fields, output.title(), output.location("fields"));
  for (const MonitorSettings& monitor : case_.monitors) {
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.fields; }) {
            check(what.fields, fmt::format("[monitor.{}]", monitor.name), monitor.location);
          }
        },
        monitor.what);
  }
}

}  // namespace

void check_together(FlowCase& flow_case, const Section& root, const std::set<std::string>& of_unknown_type,
                    Diagnostics& diagnostics) {
  FlowChecks(flow_case, root, of_unknown_type, diagnostics).run();
}

}  // namespace curlew
