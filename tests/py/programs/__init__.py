"""Small StableHLO programs, at least one for each rule: one file for each file of rules."""

from tests.py.programs import contraction, elementwise, movement, reduction, structural
from tests.py.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    *elementwise.PROGRAMS,
    *movement.PROGRAMS,
    *contraction.PROGRAMS,
    *reduction.PROGRAMS,
    *structural.PROGRAMS,
)

__all__ = ["PROGRAMS", "Program"]
