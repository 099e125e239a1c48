# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Cases for OpenFOAM's icoFoam on meshes that Curlew reads too."""

import re
import shutil
import subprocess

import numpy as np

ENVIRONMENT = {
    "WM_PROJECT_DIR": "/usr/share/openfoam",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

# Solvers of the pressure to compare with: the best counts.
PRESSURE_SOLVERS = {
    "GAMG": """
        solver          GAMG;
        smoother        GaussSeidel;
        nCellsInCoarsestLevel 100;
        cacheAgglomeration on;""",
    "PCG-GAMG": """
        solver          PCG;
        preconditioner
        {
            preconditioner  GAMG;
            smoother        DIC;
            nPreSweeps      2;
            nPostSweeps     2;
            nVcycles        1;
            nCellsInCoarsestLevel 100;
            cacheAgglomeration on;
            tolerance       0;
            relTol          0;
        }""",
}


# Ways to discretise, of which icoFoam's tutorials have the first one.
SCHEMES = {
    "linear": {},
    "least squares": {"gradient": "leastSquares"},
    "skew-corrected": {"interpolation": "skewCorrected linear"},
    "linear upwind": {"convection": "linearUpwind grad(U)"},
}


def dictionary(folder, path, text, kind="dictionary"):
    """Writes one of OpenFOAM's files."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "FoamFile\n{\n    version 2.0;\n    format ascii;\n"
        f"    class {kind};\n    object {file.name};\n}}\n{text}\n"
    )


def run(folder, *command):
    log = folder / f"{command[0]}.log"
    with open(log, "w") as out:
        code = subprocess.call(command, cwd=folder, stdout=out, stderr=out)
    if code != 0:
        raise SystemExit(f"error: {' '.join(command)} failed; see {log}")


def write_settings(
    folder, solver, flow, processes, tolerance, gradient="Gauss linear", interpolation="linear", convection=None
):
    """System and properties. Two PISO correctors, second order in time and space, as Curlew's step."""
    last = flow["steps"] * flow["step"]
    for stale in (folder / "postProcessing", *(d for d in folder.glob("[0-9]*") if d.name != "0")):
        shutil.rmtree(stale, ignore_errors=True)  # what is there would stay, and be read
    dictionary(
        folder,
        "system/controlDict",
        f"""application icoFoam; startFrom startTime; startTime 0; stopAt endTime; endTime {last!r};
deltaT {flow["step"]!r}; writeControl timeStep; writeInterval {flow["steps"]}; writeFormat ascii; writePrecision 12;
timeFormat general; timePrecision 10; runTimeModifiable no;
functions
{{
    square
    {{
        type magSqr; libs (fieldFunctionObjects); field U; executeControl timeStep; executeInterval {flow["steps"]};
        writeControl none;
    }}
    energy
    {{
        type volFieldValue; libs (fieldFunctionObjects); regionType all; operation volIntegrate; fields (magSqr(U));
        writeFields no; log no; executeControl timeStep; executeInterval {flow["steps"]};
        writeControl timeStep; writeInterval {flow["steps"]};
    }}
}}""",
    )
    dictionary(
        folder,
        "system/fvSchemes",
        f"""ddtSchemes {{ default backward; }}
gradSchemes {{ default {gradient}; }}
divSchemes {{ default none; div(phi,U) Gauss {convection or interpolation}; }}
laplacianSchemes {{ default Gauss linear corrected; }}
interpolationSchemes {{ default {interpolation}; }}
snGradSchemes {{ default corrected; }}""",
    )
    pressure = PRESSURE_SOLVERS[solver]
    dictionary(
        folder,
        "system/fvSolution",
        f"""solvers
{{
    p {{{pressure}
        tolerance {tolerance["p"]}; relTol 0.05;
    }}
    pFinal {{{pressure}
        tolerance {tolerance["p"]}; relTol 0;
    }}
    U {{ solver PBiCGStab; preconditioner DILU; tolerance {tolerance["U"]}; relTol 0; }}
}}
PISO {{ nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }}""",
    )
    dictionary(folder, "system/decomposeParDict", f"numberOfSubdomains {processes}; method simple;\n"
               f"simpleCoeffs {{ n ({processes} 1 1); delta 0.001; }}")
    dictionary(folder, "constant/transportProperties", f"nu {flow['viscosity']!r};")


def import_mesh(folder, mesh, kind="wall"):
    """Gmsh's mesh, renumbered, with patches of this kind all round."""
    run(folder, "gmshToFoam", str(mesh))
    boundary = folder / "constant/polyMesh/boundary"
    boundary.write_text(re.sub(r"\btype\s+patch;", f"type {kind};", boundary.read_text()))
    run(folder, "renumberMesh", "-overwrite")


def patch_faces(folder):
    """By the names of patches: centroids and area vectors of their faces, all triangles or all parallelograms."""
    mesh = folder / "constant/polyMesh"
    number = r"[-+0-9.eE]+"
    points = np.array(re.findall(rf"\(({number}) ({number}) ({number})\)", (mesh / "points").read_text()), float)
    faces = re.findall(r"\d\(([\d ]+)\)", (mesh / "faces").read_text())
    geometry = {}
    for name, count, start in re.findall(
        r"(\w+)\s*\{[^}]*nFaces\s+(\d+);\s*startFace\s+(\d+);", (mesh / "boundary").read_text()
    ):
        x = points[[list(map(int, f.split())) for f in faces[int(start) : int(start) + int(count)]]]
        sides = np.cross(x[:, 1] - x[:, 0], x[:, -1] - x[:, 0])
        geometry[name] = x.mean(axis=1), sides / 2 if x.shape[1] == 3 else sides
    return geometry


def values(kind, array):
    """A list of numbers or vectors as OpenFOAM writes it."""
    rows = "\n".join(
        "({!r} {!r} {!r})".format(*map(float, row)) if kind == "vector" else repr(float(row)) for row in array
    )
    return f"nonuniform List<{kind}>\n{len(array)}\n(\n{rows}\n)"


def read_field(file):
    """The numbers or vectors of cells in one of OpenFOAM's files."""
    text = file.read_text()
    head = re.search(r"internalField\s+nonuniform List<(\w+)>\s*(\d+)\s*\(", text)
    columns = 3 if head[1] == "vector" else 1
    count = int(head[2]) * columns
    numbers = text[head.end() :].replace("(", " ").replace(")", " ").split(None, count)[:count]
    return np.array(numbers, float).reshape(-1, columns).squeeze()


def write_fields(folder, velocity, pressure, conditions):
    """At the start: values of all cells, or "uniform ..."; `conditions` of the velocity by patches."""
    patches = "".join(f"{name} {{ {text} }}\n" for name, text in conditions.items())
    dictionary(
        folder,
        "0/U",
        f"dimensions [0 1 -1 0 0 0 0]; internalField {velocity};\nboundaryField\n{{\n{patches}}}",
        "volVectorField",
    )
    pressures = "".join(
        f'{name} {{ type {"symmetry" if "symmetry" in text else "zeroGradient"}; }}\n' for name, text in conditions.items()
    )
    dictionary(
        folder,
        "0/p",
        f"dimensions [0 2 -2 0 0 0 0]; internalField {pressure};\nboundaryField\n{{\n{pressures}}}",
        "volScalarField",
    )


def write_initial_fields(folder, walls):
    """Fluid at rest. `walls`: the velocity of each patch, or a function of position for it."""
    faces = patch_faces(folder)
    conditions = {}
    for name, velocity in walls.items():
        if callable(velocity):
            value = values("vector", [velocity(x) for x in faces[name][0]])
        else:
            value = "uniform ({} {} {})".format(*velocity)
        conditions[name] = f"type fixedValue; value {value};"
    write_fields(folder, "uniform (0 0 0)", "uniform 0", conditions)


def write_exact_flow(folder, flow, step, steps):
    """The start of an exact flow and what is given on its boundary at each step. Returns centroids and volumes of cells."""
    faces = patch_faces(folder)
    if flow.symmetric:
        conditions = {name: "type symmetry;" for name in faces}
    else:
        conditions = {
            name: "type timeVaryingMappedFixedValue; setAverage off; offset (0 0 0); mapMethod nearest; "
            "value uniform (0 0 0);"
            for name in faces
        }
        write_boundary_data(folder, flow, faces, step, steps)
    anything = "type symmetry;" if flow.symmetric else "type zeroGradient;"
    write_fields(folder, "uniform (0 0 0)", "uniform 0", {name: anything for name in faces})
    for what in ("writeCellCentres", "writeCellVolumes"):
        run(folder, "postProcess", "-func", what, "-time", "0")
    centroids, volumes = read_field(folder / "0/C"), read_field(folder / "0/V")
    write_fields(
        folder,
        values("vector", flow.velocity(centroids, 0)),
        values("scalar", flow.pressure(centroids, 0)),
        conditions,
    )
    return centroids, volumes


def write_boundary_data(folder, flow, faces, step, steps):
    """Velocities at the centroids of faces, with as much along the normal that nothing is left over."""
    area = sum(np.linalg.norm(s, axis=1).sum() for _, s in faces.values())
    for name, (x, _) in faces.items():
        file = folder / f"constant/boundaryData/{name}/points"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(values("vector", x).partition("\n")[2])
    for k in range(steps + 1):
        net = sum((flow.velocity(x, k * step) * s).sum() for x, s in faces.values())
        for name, (x, s) in faces.items():
            normal = s / np.linalg.norm(s, axis=1)[:, None]
            file = folder / f"constant/boundaryData/{name}/{k * step:.10g}/U"
            file.parent.mkdir(exist_ok=True)
            file.write_text(values("vector", flow.velocity(x, k * step) - net / area * normal).partition("\n")[2])


def last_fields(folder):
    """Velocity and pressure of cells at the end."""
    last = max((d for d in folder.iterdir() if re.fullmatch(r"[0-9.e-]+", d.name)), key=lambda d: float(d.name))
    return read_field(last / "U"), read_field(last / "p")


def last_divergence(log):
    """Mean of |div u| times the step, after the last corrector, as the log has it."""
    return float(re.findall(r"sum local = ([-+0-9.eE]+)", log.read_text())[-1])


def iterations(log):
    """Of pressure in a step, both correctors; means over the second half of the run."""
    text = log.read_text()
    steps = text.split("\nTime = ")[1:]
    half = steps[len(steps) // 2 :]
    return sum(int(n) for s in half for n in re.findall(r"Solving for p,.*No Iterations (\d+)", s)) / len(half)


def kinetic_energy(folder):
    """At the end, for a density of 1."""
    table = folder / "postProcessing/energy/0/volFieldValue.dat"
    return float(table.read_text().split()[-1]) / 2
