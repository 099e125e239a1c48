// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/convergence/flow_problems.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/vector_kernels.hpp"
#include "physics/flow/averages.hpp"
#include "physics/flow/centroid_velocity.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/physics/analytic_vector.hpp"

namespace curlew::test {

namespace {

using std::numbers::pi;

Mesh mesh_of(const FlowProblem& problem, RawMesh raw) {
  const Real z = problem.dimension == 3 ? problem.first : 0;
  for (Vector3& x : raw.nodes) x = Vector3{problem.first, problem.first, z} + problem.side * x;
  return Mesh(std::move(raw));
}

FlowSettings settings_of(const FlowProblem& problem, const Mesh& mesh) {
  FlowSettings settings;
  settings.viscosity = problem.viscosity;
  settings.body_force = problem.body_force;
  settings.convection = problem.convection;
  const auto given = std::make_shared<AnalyticVector>(problem.velocity, problem.end > 0);
  for (const Patch& patch : mesh.topology().patches()) {
    if (std::ranges::count(problem.symmetry, patch.name) > 0) {
      settings.boundaries.push_back(Symmetry{});
    } else {
      settings.boundaries.push_back(Inlet{given, nullptr});
    }
  }
  return settings;
}

/// In the norm of the mass of fluxes.
class FluxNorm {
 public:
  explicit FluxNorm(const Mesh& mesh)
      : mass_(Executor::serial(), mesh),
        flux_(Executor::serial(), mesh.topology().faces().size(), "flux", "m3/s"),
        mass_flux_(Executor::serial(), flux_.size(), "mass of fluxes", "m2/s") {}
  Real operator()(std::span<const Real> a, std::span<const Real> b) {
    std::vector<Real> difference(a.size());
    for (std::size_t f = 0; f < a.size(); ++f) difference[f] = a[f] - b[f];
    flux_.copy_from_host(difference);
    mass_.apply(flux_, mass_flux_);
    return std::sqrt(inner_product(mass_flux_, flux_));
  }

 private:
  FluxMass mass_;
  PrimalCochain<Face> flux_;
  DualCochain<Face> mass_flux_;
};

void run(const FlowProblem& problem, const Mesh& mesh, IncompressibleFlow& flow, FluxNorm& norm) {
  flow.start(AnalyticVector(problem.velocity, false), 0);
  // The step without convection is none of stability's: it is what reaches the steady state soonest, about.
  const auto cells = static_cast<Real>(mesh.topology().cells().size());
  const Real longest =
      problem.convection == ConvectionScheme::None
          ? 0.05 * problem.side * problem.side * std::pow(cells, -1.0 / problem.dimension) / problem.viscosity
          : 0.5 / flow.courant_rate();
  if (problem.end > 0) {
    const int steps = static_cast<int>(std::ceil(problem.end / longest));
    for (int k = 0; k < steps; ++k) flow.advance(problem.end / steps);
    return;
  }
  const std::vector<Real> still(at(flow.flux().size()), 0);
  std::vector<Real> before = flow.flux().to_host();
  const Real whole = norm(before, still);
  for (Real change = 1; change > 1e-4 * whole;) {
    flow.advance(longest);
    std::vector<Real> after = flow.flux().to_host();
    change = norm(after, before) / longest;
    before = std::move(after);
  }
}

}  // namespace

FlowProblem stokes(int dimension) {
  // In the plane a cellular flow, in space a sum of three Beltrami waves.
  const Real wave = dimension == 2 ? pi : pi / 2;
  const auto plane = [=](Vector3 x, Real) {
    const Vector3 a = wave * x + Vector3{0.5, 0.9, 0};
    return Vector3{std::sin(a.x) * std::cos(a.y), -std::cos(a.x) * std::sin(a.y), 0};
  };
  const auto space = [=](Vector3 x, Real) {
    const Vector3 a = wave * x + Vector3{0.5, 0.9, 0.3};
    return Vector3{std::sin(a.z) + std::cos(a.y), std::sin(a.x) + std::cos(a.z),
                   std::sin(a.y) + std::cos(a.x)};
  };
  const auto velocity = dimension == 2 ? std::function<Vector3(Vector3, Real)>(plane) : space;
  const auto pressure = [=](Vector3 x, Real) {
    const Vector3 a = wave * x + Vector3{0.3, 0.2, 1};
    return std::cos(a.x) * std::sin(a.y) * (dimension == 2 ? 1 : std::sin(a.z));
  };
  const auto force = [=](Vector3 x) {
    const Vector3 a = wave * x + Vector3{0.3, 0.2, 1};
    const Real along_z = dimension == 2 ? 1 : std::sin(a.z);
    const Vector3 pressure_gradient{-std::sin(a.x) * std::sin(a.y) * along_z,
                                    std::cos(a.x) * std::cos(a.y) * along_z,
                                    dimension == 2 ? 0 : std::cos(a.x) * std::sin(a.y) * std::cos(a.z)};
    const Real minus_laplacian = (dimension == 2 ? 2 : 1) * wave * wave;
    return minus_laplacian * velocity(x, 0) + wave * pressure_gradient;
  };
  return {.name = dimension == 2 ? "Stokes, plane" : "Stokes, space",
          .dimension = dimension,
          .first = 0,
          .side = 1,
          .viscosity = 1,
          .velocity = velocity,
          .pressure = pressure,
          .body_force = steady_vector(force),
          .symmetry = {},
          .end = 0,
          .convection = ConvectionScheme::None};
}

FlowProblem kovasznay() {
  constexpr Real reynolds = 40;
  const Real rate = reynolds / 2 - std::sqrt(reynolds * reynolds / 4 + 4 * pi * pi);
  const auto velocity = [=](Vector3 x, Real) {
    const Real decay = std::exp(rate * x.x);
    return Vector3{1 - decay * std::cos(2 * pi * x.y), rate / (2 * pi) * decay * std::sin(2 * pi * x.y), 0};
  };
  const auto pressure = [=](Vector3 x, Real) { return (1 - std::exp(2 * rate * x.x)) / 2; };
  return {.name = "Kovasznay",
          .dimension = 2,
          .first = -0.5,
          .side = 1.5,
          .viscosity = 1 / reynolds,
          .velocity = velocity,
          .pressure = pressure,
          .body_force = nullptr,
          .symmetry = {},
          .end = 0,
          .convection = ConvectionScheme::Central};
}

FlowProblem taylor_green() {
  constexpr Real viscosity = 0.1;
  const auto velocity = [=](Vector3 x, Real t) {
    return std::exp(-2 * viscosity * t) *
           Vector3{std::sin(x.x) * std::cos(x.y), -std::cos(x.x) * std::sin(x.y), 0};
  };
  const auto pressure = [=](Vector3 x, Real t) {
    return std::exp(-4 * viscosity * t) * (std::cos(2 * x.x) + std::cos(2 * x.y)) / 4;
  };
  return {.name = "Taylor-Green",
          .dimension = 2,
          .first = 0,
          .side = 2,
          .viscosity = viscosity,
          .velocity = velocity,
          .pressure = pressure,
          .body_force = nullptr,
          .symmetry = {"left", "bottom"},
          .end = 1,
          .convection = ConvectionScheme::Central};
}

FlowProblem ethier_steinman() {
  constexpr Real viscosity = 0.5, a = pi / 4, d = pi / 2;
  const auto decay = [=](Real t) { return std::exp(-viscosity * d * d * t); };
  const auto velocity = [=](Vector3 x, Real t) {
    const Real ex = std::exp(a * x.x), ey = std::exp(a * x.y), ez = std::exp(a * x.z);
    return (-a * decay(t)) * Vector3{ex * std::sin(a * x.y + d * x.z) + ez * std::cos(a * x.x + d * x.y),
                                     ey * std::sin(a * x.z + d * x.x) + ex * std::cos(a * x.y + d * x.z),
                                     ez * std::sin(a * x.x + d * x.y) + ey * std::cos(a * x.z + d * x.x)};
  };
  const auto pressure = [=](Vector3 x, Real t) {
    const auto wave = [=](Real p, Real q, Real r) {
      return 2 * std::sin(a * p + d * q) * std::cos(a * r + d * p) * std::exp(a * (q + r));
    };
    const Real squares = std::exp(2 * a * x.x) + std::exp(2 * a * x.y) + std::exp(2 * a * x.z);
    return -a * a / 2 * decay(t) * decay(t) *
           (squares + wave(x.x, x.y, x.z) + wave(x.y, x.z, x.x) + wave(x.z, x.x, x.y));
  };
  return {.name = "Ethier-Steinman",
          .dimension = 3,
          .first = 0,
          .side = 1,
          .viscosity = viscosity,
          .velocity = velocity,
          .pressure = pressure,
          .body_force = nullptr,
          .symmetry = {},
          .end = 0.1,
          .convection = ConvectionScheme::Central};
}

FlowErrors errors_of(const FlowProblem& problem, StepMethod method, const RawMesh& unit_mesh) {
  const Mesh mesh = mesh_of(problem, unit_mesh);
  std::unique_ptr<IncompressibleFlow> stepper;
  if (method == StepMethod::Exact) {
    stepper = std::make_unique<ExactFractionalStep>(Executor::serial(), mesh, settings_of(problem, mesh));
  } else {
    stepper = std::make_unique<ClassicalFractionalStep>(Executor::serial(), mesh, settings_of(problem, mesh));
  }
  IncompressibleFlow& flow = *stepper;
  FluxNorm norm(mesh);
  run(problem, mesh, flow, norm);

  const auto volumes = mesh.geometry().cell_volumes().host();
  const auto centroids = mesh.geometry().cell_centroids().host();
  const std::vector<Vector3> velocity =
      CentroidVelocity(Executor::serial(), mesh)(flow.face_velocity()).to_host();
  std::vector<Real> pressure = flow.pressure().to_host();
  Real volume = 0, mean = 0;
  for (std::size_t c = 0; c < pressure.size(); ++c) {
    pressure[c] -= problem.pressure(centroids[c], flow.time());
    volume += volumes[c];
    mean += volumes[c] * pressure[c];
  }
  mean /= volume;
  FlowErrors squares;
  for (std::size_t c = 0; c < pressure.size(); ++c) {
    const Vector3 error = velocity[c] - problem.velocity(centroids[c], flow.time());
    squares.velocity += volumes[c] * dot(error, error);
    squares.pressure += volumes[c] * (pressure[c] - mean) * (pressure[c] - mean);
  }
  const AnalyticVector exact(problem.velocity, true);
  const Real flux =
      norm(flow.flux().to_host(), average_on_faces(mesh, mesh.topology().faces(), exact, flow.time()).flux);
  return {flux / std::sqrt(volume), std::sqrt(squares.velocity / volume),
          std::sqrt(squares.pressure / volume)};
}

std::vector<FlowCase> by(StepMethod method, std::vector<FlowCase> cases) {
  for (FlowCase& flow : cases) flow.method = method;
  return cases;
}

std::string name_of(const FlowCase& flow) {
  std::string name = flow.problem.name + "_" + flow.family;
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == ',' || c == '-'; }, '_');
  return name;
}

void expect_orders(const FlowCase& flow) {
  FlowErrors order, before;
  Real size_before = 0;
  for (const Real h : flow.sizes) {
    const RawMesh raw = mesh_family(flow.family).mesh(h);
    const auto cells = static_cast<Real>(raw.cell_types.size());
    const Real size = std::pow(cells, -1.0 / flow.problem.dimension);
    const FlowErrors errors = errors_of(flow.problem, flow.method, raw);
    const auto observed = [&](Real FlowErrors::*norm) {
      return std::log(before.*norm / (errors.*norm)) / std::log(size_before / size);
    };
    if (size_before > 0) {
      order = {observed(&FlowErrors::flux), observed(&FlowErrors::velocity), observed(&FlowErrors::pressure)};
    }
    const auto shown = [&](Real value) { return size_before > 0 ? fmt::format("{:.2f}", value) : ""; };
    fmt::print("| {} | {} | {:.0f} | {:.3e} | {} | {:.3e} | {} | {:.3e} | {} |\n", flow.problem.name,
               flow.family, cells, errors.flux, shown(order.flux), errors.velocity, shown(order.velocity),
               errors.pressure, shown(order.pressure));
    before = errors;
    size_before = size;
  }
  const auto expect = [&](const char* what, Real FlowErrors::*norm) {
    EXPECT_GE(order.*norm, flow.least_order.*norm) << "order of the " << what;
    EXPECT_NEAR(before.*norm, flow.error.*norm, flow.error.*norm / 4) << "error of the " << what;
  };
  expect("fluxes", &FlowErrors::flux);
  expect("velocity", &FlowErrors::velocity);
  expect("pressure", &FlowErrors::pressure);
}

}  // namespace curlew::test
