"""Small StableHLO programs, at least one for each rule: one file for each file of rules."""

from tests.py.programs import (
    chlo,
    collective,
    contraction,
    control,
    elementwise,
    integer,
    movement,
    reduction,
    regions,
    sharding,
    structural,
    tuples,
)
from tests.py.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    *elementwise.PROGRAMS,
    *movement.PROGRAMS,
    *contraction.PROGRAMS,
    *control.PROGRAMS,
    *reduction.PROGRAMS,
    *regions.PROGRAMS,
    *collective.PROGRAMS,
    *sharding.PROGRAMS,
    *structural.PROGRAMS,
    *chlo.PROGRAMS,
    *integer.PROGRAMS,
    *tuples.PROGRAMS,
)

__all__ = ["PROGRAMS", "Program"]
