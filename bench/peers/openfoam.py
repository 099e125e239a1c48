# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Cases for OpenFOAM's icoFoam on meshes that Curlew reads too."""

import re
import shutil
import subprocess
from pathlib import Path

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


def write_settings(folder, solver, flow, processes, tolerance):
    """System and properties. Two PISO correctors, second order in time and space, as Curlew's step."""
    last = flow["steps"] * flow["step"]
    shutil.rmtree(folder / "postProcessing", ignore_errors=True)  # what is there would stay, and be read
    dictionary(
        folder,
        "system/controlDict",
        f"""application icoFoam; startFrom startTime; startTime 0; stopAt endTime; endTime {last!r};
deltaT {flow["step"]!r}; writeControl timeStep; writeInterval 1000000; writeFormat ascii; writePrecision 12;
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
        """ddtSchemes { default backward; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear corrected; }
interpolationSchemes { default linear; }
snGradSchemes { default corrected; }""",
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


def import_mesh(folder, mesh):
    """Gmsh's mesh, renumbered, with walls all round."""
    run(folder, "gmshToFoam", str(mesh))
    boundary = folder / "constant/polyMesh/boundary"
    boundary.write_text(re.sub(r"\btype\s+patch;", "type wall;", boundary.read_text()))
    run(folder, "renumberMesh", "-overwrite")


def write_initial_fields(folder, walls):
    """Fluid at rest. `walls`: the velocity of each patch, or a function of position for it."""
    patches = {
        name: (int(faces), int(start))
        for name, faces, start in re.findall(
            r"(\w+)\s*\{[^}]*nFaces\s+(\d+);\s*startFace\s+(\d+);", (folder / "constant/polyMesh/boundary").read_text()
        )
    }
    conditions = ""
    for name, velocity in walls.items():
        if callable(velocity):
            vectors = "\n".join("({!r} {!r} {!r})".format(*velocity(x)) for x in centroids(folder, *patches[name]))
            value = f"nonuniform List<vector>\n{patches[name][0]}\n(\n{vectors}\n)"
        else:
            value = "uniform ({} {} {})".format(*velocity)
        conditions += f"{name} {{ type fixedValue; value {value}; }}\n"
    dictionary(
        folder,
        "0/U",
        f"dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);\nboundaryField\n{{\n{conditions}}}",
        "volVectorField",
    )
    dictionary(
        folder,
        "0/p",
        "dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;\n"
        'boundaryField { ".*" { type zeroGradient; } }',
        "volScalarField",
    )


def centroids(folder, count, start):
    """Of triangles that are consecutive faces."""
    number = r"[-+0-9.eE]+"
    points = [
        tuple(map(float, p))
        for p in re.findall(rf"\(({number}) ({number}) ({number})\)", (folder / "constant/polyMesh/points").read_text())
    ]
    faces = re.findall(r"3\((\d+) (\d+) (\d+)\)", (folder / "constant/polyMesh/faces").read_text())
    for face in faces[start : start + count]:
        corners = [points[int(n)] for n in face]
        yield tuple(sum(c[k] for c in corners) / 3 for k in range(3))


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
