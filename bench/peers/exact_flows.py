# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Flows in the unit cube whose velocity and pressure are known, and how far a program is from them."""

from dataclasses import dataclass

import numpy as np


@dataclass
class TaylorGreen:
    """Vortices between planes of symmetry, which decay."""

    viscosity: float = 0.01
    end: float = 1.0
    speed: float = 1.0  # largest, about
    symmetric = True  # at all sides; otherwise the velocity is given there

    def expressions(self):
        rate = repr(2 * np.pi**2 * self.viscosity)
        return [f"{u}*exp(-{rate}*t)" for u in ("sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)", "0")]

    def velocity(self, x, t):
        a, b, decay = np.pi * x[:, 0], np.pi * x[:, 1], np.exp(-2 * np.pi**2 * self.viscosity * t)
        return decay * np.stack([np.sin(a) * np.cos(b), -np.cos(a) * np.sin(b), 0 * a], axis=1)

    def pressure(self, x, t):
        a, b, decay = 2 * np.pi * x[:, 0], 2 * np.pi * x[:, 1], np.exp(-4 * np.pi**2 * self.viscosity * t)
        return decay * (np.cos(a) + np.cos(b)) / 4


@dataclass
class EthierSteinman:
    """Vortices through all sides (IJNMF 19, 1994), of a cube of side 2 brought to the unit cube."""

    viscosity: float
    end: float = 0.25
    speed: float = 6.9
    symmetric = False
    a, d = np.pi / 2, np.pi

    def triples(self, coordinates):
        """Each direction with the two after it."""
        return [[coordinates[(k + j) % 3] for j in range(3)] for k in range(3)]

    def expressions(self):
        a, d, rate = repr(self.a), repr(self.d), repr(self.viscosity * self.d**2)
        return [
            f"-{a}*(exp({a}*{p})*sin({a}*{q} + {d}*{r}) + exp({a}*{r})*cos({a}*{p} + {d}*{q}))*exp(-{rate}*t)"
            for p, q, r in self.triples(["(x - 0.5)", "(y - 0.5)", "(z - 0.5)"])
        ]

    def velocity(self, x, t):
        a, d, decay = self.a, self.d, np.exp(-self.viscosity * self.d**2 * t)
        parts = [
            -a * decay * (np.exp(a * p) * np.sin(a * q + d * r) + np.exp(a * r) * np.cos(a * p + d * q))
            for p, q, r in self.triples((x - 0.5).T)
        ]
        return np.stack(parts, axis=1)

    def pressure(self, x, t):
        a, d, decay = self.a, self.d, np.exp(-2 * self.viscosity * self.d**2 * t)
        return -decay * a**2 / 2 * sum(
            np.exp(2 * a * p) + 2 * np.sin(a * p + d * q) * np.cos(a * r + d * p) * np.exp(a * (q + r))
            for p, q, r in self.triples((x - 0.5).T)
        )


FLOWS = {
    "Taylor-Green": TaylorGreen(),
    "Ethier-Steinman": EthierSteinman(viscosity=0.1),
    "the same, viscosity a tenth": EthierSteinman(viscosity=0.01),
}


def errors(flow, time, centroids, volumes, velocity, pressure):
    """Of what cells hold, in L2 and relative: of velocity, and of pressure less its mean."""

    def without_mean(p):
        return p - volumes @ p / volumes.sum()

    def norm(v):
        return np.sqrt(volumes @ (v * v).reshape(len(v), -1).sum(axis=1))

    u, p = flow.velocity(centroids, time), without_mean(flow.pressure(centroids, time))
    return {
        "velocity": norm(velocity - u) / norm(u),
        "pressure": norm(without_mean(pressure) - p) / norm(p),
    }


def cell_geometry(points, cells):
    """Centroids and volumes of tetrahedra (rows of four nodes), or of the equal cubes of the box."""
    x = points[cells]
    if cells.shape[1] == 4:
        a, b, c = (x[:, k] - x[:, 0] for k in (1, 2, 3))
        return x.mean(axis=1), np.abs(np.einsum("ij,ij->i", np.cross(a, b), c)) / 6
    return x.mean(axis=1), np.full(len(cells), 1 / len(cells))
