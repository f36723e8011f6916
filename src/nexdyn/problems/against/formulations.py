"""The formulations under which the cases of peers run, each with its method, its step or tolerance, and the error that is allowed.

error-controlled methods    1e-7 to 1e-6 from the tightest run
methods of constant step    LIMIT; their steps are halved until the tightest run is so near, whatever the peer says
"""

from __future__ import annotations

from nexdyn.integrate.methods import (
    HHT,
    Baumgarte,
    ImplicitEuler,
    Partitioning,
    Projection,
    RungeKutta4,
)
from nexdyn.integrate.pairs.dormand_prince import DormandPrince
from nexdyn.problems.problem import Run

LIMIT = 1e-3
"""Peers allow errors of 1e-3 in their states by default, Adams among them."""

TREE = Run("minimal coordinates, ABA", DormandPrince(rtol=1e-12, atol=1e-13), 1e-7)
CONSTRAINED = Run("absolute coordinates, index 1, projection", Projection(rtol=1e-12, atol=1e-13), 1e-7)
MINIMAL = (
    TREE,
    Run("minimal coordinates, CRBA", TREE.method, 1e-7, "crba"),
    Run("minimal coordinates, constraint forces", TREE.method, 1e-7, "cfa"),
)
LOOPS = (Run("minimal coordinates, loops projected", DormandPrince(rtol=1e-10, atol=1e-12), 1e-6),)


def index1(rtol: float = 1e-10) -> tuple[Run, ...]:
    """The index-1 forms; errors that grow long ask for a smaller tolerance."""
    atol = rtol / 100
    return (
        Run("absolute coordinates, index 1, baumgarte", Baumgarte(rtol=rtol, atol=atol), 1e-6),
        Run("absolute coordinates, index 1, projection", Projection(rtol=rtol, atol=atol), 1e-6),
        Run("absolute coordinates, index 1, partitioning", Partitioning(rtol=rtol, atol=atol), 1e-6),
    )


BAUMGARTE, PROJECTION, PARTITIONING = index1()


def order2(dt: float) -> tuple[Run, ...]:
    """Methods of order 2. As far from the tightest run as the peer may be from the truth."""
    return (
        Run("absolute coordinates, index 3, HHT-α", HHT(dt=dt), LIMIT),
        Run("potential, implicit Euler with bdf2", ImplicitEuler(dt, bdf2=True), LIMIT),
    )


def rk4(dt: float) -> tuple[Run, ...]:
    """The classical Runge–Kutta method of constant step, on trees and on the spanning trees of loops."""
    return (Run("minimal coordinates, rk4", RungeKutta4(dt), LIMIT),)


def free(dt: float = 5e-4, rtol: float = 1e-10) -> tuple[Run, ...]:
    """All formulations of what is a tree."""
    return (*MINIMAL, *index1(rtol), *order2(dt))


def closed(dt: float = 5e-4) -> tuple[Run, ...]:
    """All formulations of what has a closed loop or a drive."""
    return (CONSTRAINED, *LOOPS, BAUMGARTE, PARTITIONING, *order2(dt))


def rolling(dt: float) -> tuple[Run, ...]:
    """All formulations that support constraints of velocities: partitioning and the potential need positions."""
    return (CONSTRAINED, *LOOPS, BAUMGARTE, *order2(dt)[:1])
