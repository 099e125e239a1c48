# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Reads field files back with VTK's own reader: same numbers to the bit, shapes, volumes, times and series.

Argument: the program write_fields. Needs Debian's python3-vtk9 and fails without it.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

TRIANGLE, QUADRILATERAL, POLYGON, TETRAHEDRON, HEXAHEDRON, PRISM, PYRAMID, POLYHEDRON = range(8)
VTK_TYPE = {TRIANGLE: 5, QUADRILATERAL: 9, POLYGON: 7, TETRAHEDRON: 10, HEXAHEDRON: 12, PRISM: 13, PYRAMID: 14}
# VTK's own documentation: the normal of a wedge's first triangle points outwards.
VTK_PRISM = [0, 2, 1, 3, 5, 4]

CUBE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
CUBE_FACES = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [0, 4, 7, 3]]

# name: nodes, cells (type, nodes), measure of each cell as known beforehand
MESHES = {
    "triangle": ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [(TRIANGLE, [0, 1, 2])], [1 / 2]),
    "quadrilateral": ([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], [(QUADRILATERAL, [0, 1, 2, 3])], [2]),
    "polygon": ([[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 2, 0], [0, 1, 0]], [(POLYGON, [0, 1, 2, 3, 4])], [3]),
    "tetrahedron": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [(TETRAHEDRON, [0, 1, 2, 3])], [1 / 6]),
    "hexahedron": (CUBE, [(HEXAHEDRON, list(range(8)))], [1]),
    "prism": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [(PRISM, list(range(6)))], [1 / 2]),
    "pyramid": (CUBE[:4] + [[0.5, 0.5, 1]], [(PYRAMID, [0, 1, 2, 3, 4])], [1 / 3]),
    "plane": (
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0], [0.5, 2, 0]],
        [(QUADRILATERAL, [0, 1, 4, 3]), (TRIANGLE, [1, 2, 4]), (TRIANGLE, [2, 5, 4]), (TRIANGLE, [3, 4, 6])],
        [1, 1 / 2, 1 / 2, 1 / 2],
    ),
    # a cube, a pyramid on it, a prism beside it and a tetrahedron beside the pyramid
    "solid": (
        CUBE + [[0.5, 0.5, 2], [2, 0, 0], [2, 0, 1], [2, 1, 1]],
        [
            (HEXAHEDRON, list(range(8))),
            (PYRAMID, [4, 5, 6, 7, 8]),
            (PRISM, [1, 9, 2, 5, 10, 6]),
            (TETRAHEDRON, [5, 6, 8, 11]),
        ],
        [1, 1 / 3, 1 / 2, None],
    ),
}
# the same cube as a general polyhedron, beside a prism; two faces turned the wrong way on purpose
POLYHEDRON_MESH = (
    CUBE + [[2, 0, 0], [2, 0, 1]],
    [
        (POLYHEDRON, [n for k, face in enumerate(CUBE_FACES) for n in [4] + (face[::-1] if k < 2 else face)]),
        (PRISM, [1, 8, 2, 5, 9, 6]),
    ],
)

failures = 0


def check(what, got, expected):
    global failures
    if got != expected:
        failures += 1
        print(f"FAILED {what}: got {got}, expected {expected}")


def awkward(generator):
    """A double with all its digits, over many magnitudes."""
    return generator.uniform(-1, 1) * 10.0 ** generator.randint(-300, 300)


def outputs(nodes, cells, generator):
    return [
        {
            "step": step,
            "time": time,
            "cell_scalar": [awkward(generator) for _ in cells],
            "cell_vector": [[awkward(generator) for _ in range(3)] for _ in cells],
            "node_scalar": [awkward(generator) for _ in nodes],
            "node_vector": [[awkward(generator) for _ in range(3)] for _ in nodes],
        }
        for step, time in [(0, 0.0), (7, 0.1 + 0.2), (123456789, 1e-7)]
    ]


def read(path):
    reader = vtkHDFReader()
    check(f"{path}: VTK can read it", reader.CanReadFile(str(path)), 1)
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def rows(array):
    values = [list(array.GetTuple(k)) for k in range(array.GetNumberOfTuples())]
    return values if array.GetNumberOfComponents() > 1 else [v for (v,) in values]


def measures(grid):
    size = vtkCellSizeFilter()
    size.SetInputData(grid)
    size.Update()
    data = size.GetOutput().GetCellData()
    return [max((data.GetArray(n).GetValue(c) for n in ("Area", "Volume")), key=abs) for c in range(grid.GetNumberOfCells())]


def cell_nodes(grid, c):
    cell = grid.GetCell(c)
    return [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())]


def check_series(directory, name, case):
    series = json.loads((directory / f"{name}.hdf.series").read_text())
    check(f"{name}: version of the series", series["file-series-version"], "1.0")
    check(f"{name}: times of the series", [f["time"] for f in series["files"]], [o["time"] for o in case["outputs"]])
    check(
        f"{name}: files of the series",
        [f["name"] for f in series["files"]],
        [f"fields/{name}_{o['step']:06d}.hdf" for o in case["outputs"]],
    )
    return [read(directory / f["name"]) for f in series["files"]]


def check_standard(directory, name, case, expected_measures):
    for grid, output in zip(check_series(directory, name, case), case["outputs"]):
        check(f"{name}: nodes", rows(grid.GetPoints().GetData()), [[float(x) for x in n] for n in case["nodes"]])
        check(f"{name}: types", [grid.GetCellType(c) for c in range(grid.GetNumberOfCells())],
              [VTK_TYPE[c["type"]] for c in case["cells"]])
        for c, cell in enumerate(case["cells"]):
            expected = [cell["nodes"][k] for k in VTK_PRISM] if cell["type"] == PRISM else cell["nodes"]
            check(f"{name}: nodes of cell {c}", cell_nodes(grid, c), expected)
        for c, (got, expected) in enumerate(zip(measures(grid), expected_measures)):
            good = got > 0 if expected is None else abs(got - expected) < 1e-14
            check(f"{name}: measure {got} of cell {c} is {expected or 'positive'}", good, True)
        cells, nodes = grid.GetCellData(), grid.GetPointData()
        check(f"{name}: cell fields", cells.GetNumberOfArrays(), 2)
        check(f"{name}: temperature", rows(cells.GetArray("temperature")), output["cell_scalar"])
        check(f"{name}: velocity", rows(cells.GetArray("velocity")), output["cell_vector"])
        check(f"{name}: node fields", nodes.GetNumberOfArrays(), 2)
        check(f"{name}: potential", rows(nodes.GetArray("potential")), output["node_scalar"])
        check(f"{name}: gradient", rows(nodes.GetArray("gradient")), output["node_vector"])
        check(f"{name}: time", rows(grid.GetFieldData().GetArray("TimeValue")), [output["time"]])


def check_polyhedron(directory, name, case):
    for grid, output in zip(check_series(directory, name, case), case["outputs"]):
        # six faces of four edges; then the prism
        check(f"{name}: types", [grid.GetCellType(c) for c in range(grid.GetNumberOfCells())], 24 * [10] + [13])
        check(f"{name}: points", grid.GetNumberOfPoints(), 10 + 1 + 6)
        check(f"{name}: the middle", grid.GetPoint(10), (0.5, 0.5, 0.5))
        sizes = measures(grid)
        check(f"{name}: each tetrahedron is 1/24", all(abs(v - 1 / 24) < 1e-15 for v in sizes[:24]), True)
        check(f"{name}: the prism", abs(sizes[24] - 0.5) < 1e-15, True)
        t, v = output["cell_scalar"], output["cell_vector"]
        check(f"{name}: temperature", rows(grid.GetCellData().GetArray("temperature")), 24 * [t[0]] + [t[1]])
        check(f"{name}: velocity", rows(grid.GetCellData().GetArray("velocity")), 24 * [v[0]] + [v[1]])
        potential = rows(grid.GetPointData().GetArray("potential"))
        check(f"{name}: potential at the mesh's nodes", potential[:10], output["node_scalar"])
        scale = max(abs(x) for x in output["node_scalar"])
        check(f"{name}: potential in the middle", abs(potential[10] - sum(output["node_scalar"][:8]) / 8) <= 1e-15 * scale, True)
        gradient = rows(grid.GetPointData().GetArray("gradient"))
        first_face = [sum(output["node_vector"][n][k] for n in CUBE_FACES[0]) / 4 for k in range(3)]
        for got, expected in zip(gradient[11], first_face):
            check(f"{name}: gradient on the first face", abs(got - expected) <= 1e-15 * max(abs(x) for g in output["node_vector"] for x in g), True)


def main():
    generator = random.Random(20240229)
    cases = {}
    for name, (nodes, cells, *_) in [*MESHES.items(), ("polyhedron", POLYHEDRON_MESH)]:
        cases[name] = {
            "nodes": nodes,
            "cells": [{"type": t, "nodes": n} for t, n in cells],
            "outputs": outputs(nodes, cells, generator),
        }
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder)
        (directory / "cases.json").write_text(json.dumps(cases))
        subprocess.run([sys.argv[1], directory / "cases.json", directory], check=True)
        for name, (_, _, expected_measures) in MESHES.items():
            check_standard(directory, name, cases[name], expected_measures)
        check_polyhedron(directory, "polyhedron", cases["polyhedron"])
        leftovers = [str(p) for p in directory.rglob("*.tmp")]
        check("no temporary files are left", leftovers, [])
    print(f"{len(cases)} meshes read, {failures} failures")
    sys.exit(failures > 0)


main()
