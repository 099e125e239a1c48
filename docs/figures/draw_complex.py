#!/usr/bin/env python3
# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Draws the figures of docs/exact-fractional-step.md: `python3 docs/figures/draw_complex.py` rewrites them."""
import math
import pathlib

HERE = pathlib.Path(__file__).parent


class Drawing:
    def __init__(self, width, height, scale, origin):
        self.width, self.height, self.scale, self.origin = width, height, scale, origin
        self.parts = []

    def place(self, p):
        return self.origin[0] + self.scale * p[0], self.origin[1] - self.scale * p[1]

    def line(self, a, b, colour, width=1.5, dash=None, arrow=False):
        (x1, y1), (x2, y2) = self.place(a), self.place(b)
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += f' marker-end="url(#{colour[1:]})"' if arrow else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"{extra}/>')

    def dot(self, p, colour, radius=4):
        x, y = self.place(p)
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def text(self, p, text, colour="#222222", shift=(8, -6)):
        x, y = self.place(p)
        self.parts.append(f'<text x="{x + shift[0]:.1f}" y="{y + shift[1]:.1f}" fill="{colour}">{text}</text>')

    def write(self, name):
        markers = "".join(
            f'<marker id="{c}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="#{c}"/></marker>' for c in ("b03030", "2060b0", "208040"))
        body = "\n".join(self.parts)
        (HERE / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'font-family="sans-serif" font-size="14">\n<defs>{markers}</defs>\n'
            f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def mean(points):
    return tuple(sum(p[k] for p in points) / len(points) for k in range(2))


def along(a, b, share):
    return tuple(a[k] + share * (b[k] - a[k]) for k in range(2))


def draw_unknowns():
    """Where the unknowns live, on six triangles round a node."""
    drawing = Drawing(460, 460, 130, (230, 190))
    middle = (0.05, -0.03)
    ring = [(1.25 * math.cos(a), 1.15 * math.sin(a)) for a in (0.1, 1.1, 2.2, 3.2, 4.2, 5.3)]
    for k, node in enumerate(ring):
        after = ring[(k + 1) % 6]
        drawing.line(node, after, "#888888")
        drawing.line(middle, node, "#888888")
        face = mean([middle, node])
        across = (node[1] - middle[1], middle[0] - node[0])
        length = math.hypot(*across)
        tip = (face[0] - 0.28 * across[0] / length, face[1] - 0.28 * across[1] / length)
        drawing.line(face, tip, "#b03030", 2, arrow=True)
        outwards = along(face, node, 0.33)
        drawing.line(face, outwards, "#208040", 2, arrow=True)
        cell = mean([middle, node, after])
        drawing.dot(cell, "#2060b0")
        if k == 0:
            drawing.text(tip, "U", "#b03030", (-16, 8))
            drawing.text(outwards, "t", "#208040", (2, 16))
            drawing.text(cell, "p", "#2060b0")
    for node in ring + [middle]:
        drawing.dot(node, "#222222", 5)
    drawing.text(middle, "s", shift=(-18, -8))
    for k, (what, colour) in enumerate([("U  flux through a face", "#b03030"),
                                        ("t  tangential velocity, without inertia", "#208040"),
                                        ("s  edge value (in the plane: at a node)", "#222222"),
                                        ("p  pressure, after the step", "#2060b0")]):
        drawing.parts.append(f'<text x="110" y="{370 + 24 * k}" fill="{colour}">{what}</text>')
    drawing.write("unknowns.svg")


def draw_tree():
    """The dual tree of a square ring, and the loop that one generator closes."""
    drawing = Drawing(420, 420, 70, (35, 385))
    cells = [(i, j) for i in range(5) for j in range(5) if not (1 <= i <= 3 and 1 <= j <= 3)]
    for i, j in cells:
        for a, b in (((i, j), (i + 1, j)), ((i, j), (i, j + 1)), ((i + 1, j), (i + 1, j + 1)),
                     ((i, j + 1), (i + 1, j + 1))):
            drawing.line(a, b, "#aaaaaa")
    centre = {c: (c[0] + 0.5, c[1] + 0.5) for c in cells}
    seen, queue, tree = {(0, 0)}, [(0, 0)], set()
    for c in queue:
        for d in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            other = (c[0] + d[0], c[1] + d[1])
            if other in centre and other not in seen:
                seen.add(other)
                queue.append(other)
                tree.add(frozenset((c, other)))
                drawing.line(centre[other], centre[c], "#2060b0", 2.5, arrow=True)
    for c in cells:
        for d in ((1, 0), (0, 1)):
            other = (c[0] + d[0], c[1] + d[1])
            if other in centre and frozenset((c, other)) not in tree:
                drawing.line(centre[c], centre[other], "#b03030", 3, "6 4")
    for c in cells:
        drawing.dot(centre[c], "#222222", 4)
    drawing.text(centre[(0, 0)], "root", shift=(-14, 22))
    drawing.text((1.25, 2.9), "tree: balances the cells", "#2060b0", (0, 0))
    drawing.text((1.25, 2.4), "generator: with its way", "#b03030", (0, 0))
    drawing.text((1.25, 2.1), "through the tree a loop", "#b03030", (0, 0))
    drawing.write("dual_tree.svg")


draw_unknowns()
draw_tree()
