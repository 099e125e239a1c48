# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Compares Curlew with OpenFOAM, hypre and PETSc from Debian's packages, on the same meshes, and shows how its costs grow.

Builds Curlew and what drives the peers, works in build/peers, and leaves a JSON file for each case and size there. Programs
run in the order A B B A, and medians count, but for flows with a known solution, which run once. Times are processor time
(user and system, of all threads and processes), which other programs disturb less, and wall time.
"""

import argparse
import itertools
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import h5py

import exact_flows
import openfoam

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
WORK = BUILD / "peers"
CASES = {
    "poisson-hex": "a cube of hexahedra: multigrid against BoomerAMG and GAMG, the same matrix",
    "poisson-tet": "the same of tetrahedra",
    "edges-hex": "rotation, mass, curl between the edges of hexahedra: auxiliary space against AMS",
    "edges-tet": "the same of tetrahedra",
    "cavity-hex": "lid-driven cube of hexahedra: a time step against icoFoam's",
    "cavity-tet": "the same of tetrahedra",
    "crankcase": "cases/crankshaft/crankcase.geo: the same",
    "error-hex": "flows with a known solution: what velocities are off by, and time to the same error, against icoFoam",
    "error-tet": "the same on tetrahedra",
    "growth": "Curlew alone, four sizes, each four times larger (--cells is the largest)",
    "scaling": "Curlew alone, a step of both cubes by threads and by ranks (--processes of them)",
}
ALONE = ("growth", "scaling")
CELL_TYPES = {"hex": "hexahedron", "tet": "tetrahedron"}
DEFAULT_CELLS = {"crankcase": 30567, "growth": 256000}  # 64000 for the others
DEFAULT_STEPS = {"growth": 40, "scaling": 40}  # 120 for the others, which compare developed flows
# OpenFOAM's tolerances are on an L1 norm over another reference.
FOAM_TOLERANCE = {"p": 1e-6, "U": 1e-7}
# Curlew's tolerances for momentum and pressure, where they are not its defaults: with these the solves of 120 steps leave no
# more of velocity, as an error against a run with tight tolerances, and of divergence than icoFoam's (docs/performance.md).
EQUAL_ERROR = {"cavity-hex": (2.5e-8, 8e-10), "cavity-tet": (2e-7, 1e-8), "crankcase": (2e-7, 1e-8)}


def call(command, **options):
    print("+", " ".join(map(str, command)), file=sys.stderr)
    return subprocess.run(list(map(str, command)), check=True, **options)


def prepare():
    """Builds Curlew and, for comparisons, the peers' driver."""
    configure = ["cmake", "--preset", "release", "-D", "CURLEW_BENCHMARKS=ON"]
    if not (BUILD / "build.ninja").exists():
        configure += ["-D", "CURLEW_TESTS=OFF"]
    call(configure, cwd=ROOT, stdout=subprocess.DEVNULL)
    call(["ninja", "-C", BUILD, "curlew", "linear_system"], stdout=subprocess.DEVNULL)
    WORK.mkdir(exist_ok=True)
    source, program = Path(__file__).with_name("solve.cpp"), WORK / "solve"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        flags = call(["pkg-config", "--cflags", "--libs", "PETSc", "ompi-cxx"], capture_output=True, text=True).stdout
        call(["g++", "-std=c++20", "-O2", source, "-o", program, "-I/usr/include/hypre", *flags.split(), "-lHYPRE"])


def processes(count):
    """What starts so many of a program."""
    return ["mpirun", "-n", count] if count > 1 else []


# Linear systems


def measure_system(system, cells, arguments):
    """Times of all solvers, by solver and stage, of runs in the order A B B A."""
    kind, shape = system.split("-")
    blocks = blocks_of(shape, cells)
    file = WORK / f"{system}.bin"
    curlew = [BUILD / "bench/linear_system", kind, CELL_TYPES[shape], blocks]
    peers = ["ams"] if kind == "edges" else ["boomeramg-25", "boomeramg-50", "gamg"]
    call([*curlew, file], stdout=subprocess.DEVNULL)
    driver = [*processes(arguments.processes), WORK / "solve", file, *peers]
    threads = os.environ | {"OMP_NUM_THREADS": str(arguments.processes)}
    runs = []
    for _ in range(arguments.rounds):
        for command, environment in ((curlew, threads), (driver, None), (driver, None), (curlew, threads)):
            out = call(command, capture_output=True, text=True, env=environment).stdout
            runs += [json.loads(line) for line in out.splitlines()]
    file.unlink()
    return medians(runs)


def blocks_of(shape, cells):
    """Along a side of a box of about so many cells."""
    return round((cells / (6 if shape == "tet" else 1)) ** (1 / 3))


def medians(runs):
    """Of all runs of each solver."""
    results = {}
    for solver in dict.fromkeys(r["solver"] for r in runs):
        own = [r for r in runs if r["solver"] == solver]
        results[solver] = own[0] | {
            stage: {clock: statistics.median(r[stage][clock] for r in own) for clock in ("cpu", "wall")}
            for stage in ("setup", "product", "solve", "step")
            if stage in own[0]
        }
    return results


# Flows


def steps_of(case, arguments):
    return arguments.steps or DEFAULT_STEPS.get(case, 120)


def flow_of(case, cells, steps):
    """What both programs solve."""
    if case == "crankcase":
        scale = (30567 / cells) ** (1 / 3)
        return {
            "mesh": [ROOT / "cases/crankshaft/crankcase.geo", "-clscale", scale],
            "viscosity": 1e-3,
            "step": 0.0025 * scale,
            "steps": steps,
            "walls": {
                "case": 'type = "wall"',
                "shaft": 'type = "wall"\nrotation = { origin = [0, 0, 0], axis = [1, 0, 0], rate = 10.0 }',
            },
            "foam_walls": {"case": (0, 0, 0), "shaft": lambda x: (0.0, -10 * x[2], 10 * x[1])},
        }
    hexahedra = case == "cavity-hex"
    size = 1 / blocks_of("hex", cells) if hexahedra else (5 / cells) ** (1 / 3)
    return {
        "mesh": [Path(__file__).with_name("cube.geo"), "-setnumber", "h", size, "-setnumber", "hexahedra", int(hexahedra)],
        "viscosity": 1e-2,
        "step": (0.4 if hexahedra else 0.2) * size,
        "steps": steps,
        "walls": {"lid": 'type = "wall"\nvelocity = [1, 0, 0]', "walls": 'type = "wall"'},
        "foam_walls": {"lid": (1, 0, 0), "walls": (0, 0, 0)},
    }


def make_mesh(folder, flow):
    folder.mkdir(parents=True, exist_ok=True)
    mesh = folder / "mesh.msh"
    call(["gmsh", "-3", "-format", "msh22", *flow["mesh"], "-o", mesh], stdout=subprocess.DEVNULL)
    return mesh


def write_curlew_case(folder, name, flow, tolerances):
    initial = flow.get("initial", "[0, 0, 0]")
    boundaries = "\n".join(f"[boundary.{patch}]\n{text}\n" for patch, text in flow["walls"].items())
    solvers = "".join(f"[solver.{system}]\ntolerance = {value!r}\n\n" for system, value in tolerances.items())
    file = folder / f"{name}.toml"
    file.write_text(
        f"""[mesh]
file = "mesh.msh"

[model]
type = "classical-fractional-step"

[fluid]
kinematic_viscosity = {flow["viscosity"]!r}

[time]
step = {flow["step"]!r}
end = {flow["steps"] * flow["step"]!r}

{solvers}[initial]
velocity = {initial}

{boundaries}
[output]
directory = "out_{name}"

[monitor.energy]
type = "energy"
every = {flow["steps"]}

[monitor.divergence]
type = "extrema"
fields = ["divergence"]
every = {flow["steps"]}
"""
    )
    return file


def processor_time(session):
    """Of all processes of a session that have not ended [s]."""
    ticks = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def step_times(command, folder, log, table, marks, steps_of_run):
    """Processor and wall time of a step, from half of the run to the last but one, as they show in the file `table`,
    where a line with `marks` stands for each: without start and end of the program and what it writes then."""
    table.unlink(missing_ok=True)
    print("+", " ".join(map(str, command)), file=sys.stderr)
    with open(log, "w") as out:
        process = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=out, stderr=out, start_new_session=True)
    at = {}
    steps = position = 0
    while process.poll() is None:
        if table.exists():
            with open(table) as lines:
                lines.seek(position)
                new = lines.read()
            whole = new[: new.rfind("\n") + 1]
            position += len(whole.encode())
            found = sum(marks(line) for line in whole.splitlines())
            if found:
                steps += found
                at[steps] = (processor_time(process.pid), time.monotonic())
        time.sleep(0.01)
    if process.returncode != 0:
        raise SystemExit(f"error: {command[0]} ended with {process.returncode}; see {log}")
    # Short steps may come several at a time.
    begin = min((k for k in at if k >= steps_of_run // 2), default=steps_of_run)
    end = max((k for k in at if k < steps_of_run), default=0)
    if end <= begin:
        raise SystemExit(f"error: the steps of {command[0]} are too short to be timed; give more --cells or --steps")
    return {clock: (at[end][k] - at[begin][k]) / (end - begin) for k, clock in enumerate(("cpu", "wall"))}


def run_curlew(folder, name, flow, threads, ranks=1, tolerances={}):
    file = write_curlew_case(folder, name, flow, tolerances)
    out = folder / f"out_{name}"
    shutil.rmtree(out, ignore_errors=True)
    command = [*processes(ranks), BUILD / "app/curlew", "run", file.name, "--threads", threads]
    step = step_times(
        command, folder, folder / f"{name}.log", out / "residuals.csv", lambda line: line[:1].isdigit(), flow["steps"]
    )
    summary = json.loads((out / "summary.json").read_text())
    divergence = summary["monitors"]["divergence"]
    return {
        "solver": "Curlew, equal error" if tolerances else "Curlew",
        "unknowns": summary["cells"],
        "step": step,
        "iterations": summary["iterations"],
        "divergence": flow["step"] * max(-divergence["divergence_min"], divergence["divergence_max"]),
        "energy": summary["monitors"]["energy"]["kinetic_energy"],
        "peak_memory_bytes": summary["peak_memory_bytes"],
    }


def run_openfoam(folder, flow, arguments, solver, **schemes):
    openfoam.write_settings(folder, solver, flow, arguments.processes, FOAM_TOLERANCE, **schemes)
    command = ["icoFoam"]
    if arguments.processes > 1:
        openfoam.run(folder, "decomposePar", "-force")
        command = [*processes(arguments.processes), "icoFoam", "-parallel"]
    log = folder / f"icoFoam_{solver}.log"
    step = step_times(command, folder, log, log, lambda line: line.startswith("ExecutionTime"), flow["steps"])
    return {
        "solver": f"icoFoam, {solver}",
        "step": step,
        "iterations": {"pressure": openfoam.iterations(log)},
        "divergence": openfoam.last_divergence(log),
        "energy": openfoam.kinetic_energy(folder),
    }


def measure_flow(case, cells, arguments):
    flow = flow_of(case, cells, steps_of(case, arguments))
    folder = WORK / case
    mesh = make_mesh(folder, flow)
    foam = folder / "openfoam"
    shutil.rmtree(foam, ignore_errors=True)
    openfoam.write_settings(foam, "GAMG", flow, 1, FOAM_TOLERANCE)
    openfoam.import_mesh(foam, mesh)
    openfoam.write_initial_fields(foam, flow["foam_walls"])
    runs = []
    own = [{}, dict(zip(("momentum", "pressure"), EQUAL_ERROR[case]))]
    solvers = list(openfoam.PRESSURE_SOLVERS)
    for _ in range(arguments.rounds):
        runs += [run_curlew(folder, "curlew", flow, arguments.processes, tolerances=t) for t in own]
        runs += [run_openfoam(foam, flow, arguments, solver) for solver in solvers + solvers[::-1]]
        runs += [run_curlew(folder, "curlew", flow, arguments.processes, tolerances=t) for t in reversed(own)]
    results = medians(runs)
    for result in results.values():
        result["energy_ratio"] = result["energy"] / results["Curlew"]["energy"]
    return results


# Flows with a known solution


def exact_flow_of(flow, shape, cells):
    """What both programs solve on a mesh of about so many cells. Steps are half as long, for a cell and the largest speed, as
    those of the cavity, with which icoFoam's velocities grow beyond all bounds on tetrahedra; shorter ones change no error."""
    box = flow_of(f"cavity-{shape}", cells, 1)
    steps = round(2 * flow.end * flow.speed / box["step"])
    expressions = ", ".join(f'"{e}"' for e in flow.expressions())
    side = 'type = "symmetry"' if flow.symmetric else f'type = "inlet"\nvelocity = [{expressions}]'
    return box | {
        "viscosity": flow.viscosity,
        "step": flow.end / steps,
        "steps": steps,
        "walls": {"lid": side, "walls": side},
        "initial": f"[{expressions}]".replace("*t)", "*0)"),
    }


def measure_errors(shape, cells, arguments):
    """Errors at the end, and processor time of all steps, on three meshes, each of four times as many cells."""
    rows = []
    for name, flow in exact_flows.FLOWS.items():
        for size in (cells // 16, cells // 4, cells):
            case = exact_flow_of(flow, shape, size)
            folder = WORK / "error"
            mesh = make_mesh(folder, case)
            foam = folder / "openfoam"
            shutil.rmtree(foam, ignore_errors=True)
            openfoam.write_settings(foam, "GAMG", case, 1, FOAM_TOLERANCE)
            openfoam.import_mesh(foam, mesh, "symmetry" if flow.symmetric else "patch")
            centroids, volumes = openfoam.write_exact_flow(foam, flow, case["step"], case["steps"])
            runs = [(run_curlew(folder, "curlew", case, arguments.processes), curlew_fields(folder / "out_curlew"))]
            for scheme, options in openfoam.SCHEMES.items():
                try:
                    run = run_openfoam(foam, case, arguments, "GAMG", **options)
                except SystemExit as failure:  # velocities grow beyond all bounds
                    print(failure, file=sys.stderr)
                    continue
                fields = (centroids, volumes, *openfoam.last_fields(foam))
                runs.append((run | {"solver": f"icoFoam, {scheme}"}, fields))
            for result, fields in runs:
                rows.append(
                    {
                        "flow": name,
                        "solver": result["solver"],
                        "cells": len(centroids),
                        "seconds": max(case["steps"] * result["step"]["cpu"], 0.01),  # as the system counts
                        "errors": exact_flows.errors(flow, flow.end, *fields),
                    }
                )
    return rows


def curlew_fields(out):
    """Centroids, volumes, velocity and pressure of cells at the end, of which alone there are fields."""
    (fields,) = (out / "fields").glob("*.hdf")
    with h5py.File(fields) as file:
        grid = file["VTKHDF"]
        cells = grid["Connectivity"][:].reshape(len(grid["Types"]), -1)
        geometry = exact_flows.cell_geometry(grid["Points"][:], cells)
        return *geometry, grid["CellData/velocity"][:], grid["CellData/pressure"][:]


def print_errors(rows):
    print("\nErrors of velocity and pressure at the end, relative, and seconds of processor time of all steps; time to the same\n"
          "error: seconds for Curlew's error of velocity on its mesh, by the two finest meshes of the peer, over Curlew's\n")
    print("| flow | cells | solver | velocity | pressure | seconds | time to the same error |")
    print("|" + "---|" * 7)
    for row in rows:
        ratio = time_to_same_error(row, rows)
        same = "" if ratio is None else f"{ratio:.2f}" if ratio < 100 else "more than 100"
        print(
            f"| {row['flow']} | {row['cells']:,} | {row['solver']} | {row['errors']['velocity']:.2e} | "
            f"{row['errors']['pressure']:.2e} | {row['seconds']:.3g} | {same} |"
        )


def time_to_same_error(row, rows):
    """None for Curlew, and where the peer has no two meshes with errors that fall."""
    if row["solver"] == "Curlew":
        return None
    of_flow = [r for r in rows if r["flow"] == row["flow"]]
    ours = next(r for r in of_flow if r["solver"] == "Curlew" and r["cells"] == row["cells"])
    own = sorted((r for r in of_flow if r["solver"] == row["solver"]), key=lambda r: r["cells"])[-2:]
    if len(own) < 2:
        return None
    error = [math.log(r["errors"]["velocity"]) for r in own]
    seconds = [math.log(r["seconds"]) for r in own]
    if error[1] >= error[0]:
        return None
    slope = (seconds[1] - seconds[0]) / (error[1] - error[0])
    at_same = seconds[1] + slope * (math.log(ours["errors"]["velocity"]) - error[1])
    return math.exp(min(at_same, 100)) / ours["seconds"]


# Growth


def measure_growth(cells, arguments):
    """Set-up and solve of multigrid, and a time step, of Curlew alone."""
    rows = []
    for shape in ("hex", "tet"):
        for size in (cells // 64, cells // 16, cells // 4, cells):
            row = {"shape": shape}
            command = [BUILD / "bench/linear_system", "poisson", CELL_TYPES[shape], blocks_of(shape, size)]
            runs = [
                json.loads(call(command, capture_output=True, text=True).stdout) for _ in range(2 * arguments.rounds)
            ]
            row["poisson"] = medians(runs)["Curlew, multigrid"]
            case = f"cavity-{shape}"
            flow = flow_of(case, size, steps_of("growth", arguments))
            folder = WORK / "growth"
            make_mesh(folder, flow)
            row["flow"] = medians(
                [run_curlew(folder, "growth", flow, arguments.processes) for _ in range(2 * arguments.rounds)]
            )["Curlew"]
            rows.append(row)
    return rows


def print_growth(rows):
    print("\nGrowth: microseconds of processor time an unknown or cell; bytes a cell at the peak of the whole run of the flow\n")
    print(
        "| | unknowns | set-up | solve | iterations | product | cells of the flow | step "
        "| iterations: momentum, tangential, pressure | bytes a cell |"
    )
    print("|" + "---|" * 10)
    for row in rows:
        p, f = row["poisson"], row["flow"]
        per = {s: 1e6 * p[s]["cpu"] / p["unknowns"] for s in ("setup", "solve", "product")}
        print(
            f"| {row['shape']} | {p['unknowns']:,} | {per['setup']:.2f} | {per['solve']:.2f} | {p['iterations']} | "
            f"{per['product']:.4f} | {f['unknowns']:,} | {1e6 * f['step']['cpu'] / f['unknowns']:.2f} | "
            f"{', '.join(format(f['iterations'][k], '.1f') for k in ('momentum', 'tangential', 'pressure'))} | {f['peak_memory_bytes'] / f['unknowns']:.0f} |"
        )


# Scaling


def measure_scaling(cells, arguments):
    """A time step of Curlew alone: by one thread, by several, and by as many ranks of one thread each."""
    many = arguments.processes
    ways = {"1 thread": (1, 1), f"{many} threads": (many, 1), f"{many} ranks": (1, many)}
    rows = []
    for shape in ("hex", "tet"):
        flow = flow_of(f"cavity-{shape}", cells, steps_of("scaling", arguments))
        folder = WORK / "scaling"
        make_mesh(folder, flow)
        order = [*ways, *reversed(ways)] * arguments.rounds
        runs = [run_curlew(folder, "scaling", flow, *ways[way]) | {"solver": way} for way in order]
        rows.append({"shape": shape, "ways": medians(runs)})
    return rows


def print_scaling(rows):
    print("\nScaling: seconds of a step, wall time and processor time of all threads and ranks together\n")
    print("| | cells | | wall time | speed-up | processor time |")
    print("|" + "---|" * 6)
    for row in rows:
        alone = row["ways"]["1 thread"]["step"]["wall"]
        for way, of_way in row["ways"].items():
            wall, cpu = (of_way["step"][clock] for clock in ("wall", "cpu"))
            print(f"| {row['shape']} | {of_way['unknowns']:,} | {way} | {wall:.4f} | {alone / wall:.2f} | {cpu:.4f} |")


# The table


def reached(result):
    if "residual" in result:
        return f"{result['residual']:.1e} in {result['iterations']}"
    return f"{result['divergence']:.1e} in {result['iterations']['pressure']:.3g}"


def rows_of(case, results):
    """One row for each run of Curlew, peer and stage: how many times as long as Curlew it takes."""
    own = [r for r in results.values() if r["solver"].startswith("Curlew")]
    peers = [r for r in results.values() if r not in own]
    for ours, result in itertools.product(own, peers):
        for stage in ("setup", "product", "solve", "step"):
            if stage not in result:
                continue
            ratio = {c: result[stage][c] / max(ours[stage][c], 1e-9) for c in ("cpu", "wall")}
            last = stage in ("solve", "step")
            yield [
                case,
                ours["solver"],
                f"{ours['unknowns']:,}",
                result["solver"],
                stage,
                f"{ours[stage]['cpu']:.3g}",
                f"{result[stage]['cpu']:.3g}",
                f"{ratio['cpu']:.2f}",
                f"{ratio['wall']:.2f}",
                reached(ours) if last else "",
                reached(result) if last else "",
                f"{result['energy_ratio']:.3f}" if "energy" in result else "",
            ]


def print_table(results):
    head = ["case", "by", "unknowns", "peer", "what", "Curlew [s]", "peer [s]", "ratio", "ratio, wall", "Curlew reached"]
    rows = [head + ["peer reached", "energy"]]
    for case, of_case in results.items():
        rows += rows_of(case, of_case)
    width = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    rows.insert(1, ["-" * w for w in width])
    for row in rows:
        print("| " + " | ".join(text.ljust(w) for text, w in zip(row, width)) + " |")
    print(
        "\nSeconds of processor time of one process's set-up, product, solve or step, medians; ratio: peer over Curlew.\n"
        "Reached: true residual over right-hand side, and iterations. Of flows the divergence times the step after the last\n"
        "step (Curlew: largest of all cells; OpenFOAM: mean of its magnitude), the iterations for pressure in a step, and the\n"
        "kinetic energy at the end, peer over Curlew. Equal error: by tolerances with which solves leave no more of velocity and\n"
        "divergence than icoFoam's do; otherwise by the default ones."
    )


def main():
    parser = argparse.ArgumentParser(
        prog="bench/peers/run",
        description=__doc__,
        epilog="\n".join(f"{name}: {what}" for name, what in CASES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("case", nargs="*", metavar="CASE", help="see below; all but growth and scaling where none is given")
    parser.add_argument("--cells", type=int, help="about how many (64000; the crankcase 30567, growth 256000)")
    parser.add_argument("--steps", type=int, help="of a flow, the first half of which does not count (120; growth and scaling 40)")
    parser.add_argument("--rounds", type=int, default=1, help="how often A B B A (1)")
    parser.add_argument("--processes", type=int, default=1, help="of peers, and threads of Curlew (1; scaling: at least 2; error-*: 1)")
    arguments = parser.parse_args()
    cases = arguments.case or [case for case in CASES if case not in ALONE]
    for case in cases:
        if case not in CASES:
            parser.error(f"no case '{case}'; there are {', '.join(CASES)}")
    if arguments.steps is not None and arguments.steps < 8:
        parser.error(f"--steps: at least 8, got {arguments.steps}")
    if "scaling" in cases and arguments.processes < 2:
        parser.error(f"--processes: at least 2 for scaling, got {arguments.processes}")
    if any(case.startswith("error") for case in cases) and arguments.processes > 1:
        parser.error("--processes: errors are those of one process, which has all of icoFoam's fields")
    prepare()
    os.environ.update(openfoam.ENVIRONMENT | {"OMP_NUM_THREADS": "1"})  # not those that a peer would take besides
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} x {processor()}",
        "versions": versions(),
    }
    print(json.dumps(about), file=sys.stderr)
    results = {}
    for case in cases:
        cells = arguments.cells or DEFAULT_CELLS.get(case, 64000)
        if case.startswith("error"):
            measured = measure_errors(case.removeprefix("error-"), cells, arguments)
            print_errors(measured)
        elif case in ALONE:
            measure, show = {"growth": (measure_growth, print_growth), "scaling": (measure_scaling, print_scaling)}[case]
            measured = measure(cells, arguments)
            show(measured)
        else:
            measure = measure_system if case.startswith(("poisson", "edges")) else measure_flow
            measured = results[case] = measure(case, cells, arguments)
        (WORK / f"{case}-{cells}.json").write_text(json.dumps(about | {"results": measured}, indent=1) + "\n")
    if results:
        print_table(results)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def versions():
    packages = ["openfoam", "libhypre-dev", "libpetsc-real-dev", "gmsh", "g++"]
    out = subprocess.run(["dpkg-query", "-W", *packages], capture_output=True, text=True).stdout
    return dict(line.split("\t") for line in out.splitlines())


if __name__ == "__main__":
    main()
