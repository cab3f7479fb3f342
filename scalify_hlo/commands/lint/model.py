"""Lints and their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.names import name_of, shown_name
from scalify_hlo.ir.locations import source_location
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.report.matmuls import Location, MatmulReport
from scalify_hlo.report.model import ValueReport


class Finding(NamedTuple):
    """A place where something is likely to go wrong.

    Attributes:
        lint: The name of the lint.
        message: One sentence.
        location: The source location, as MLIR prints it.
        name: The scopes of the op, or the name of the argument.
        cure: What to do about it.
    """

    lint: str
    message: str
    location: Location
    name: str
    cure: str


_FILE: Final = '":'
"""Between the name of a file and the line in a location that MLIR prints."""


class Place(NamedTuple):
    """A place at which a lint found something, and a description of it.

    Attributes:
        message: One sentence.
        location: The source location, as MLIR prints it.
        name: The scopes of the op, or the name of the argument.
    """

    message: str
    location: str
    name: str

    @classmethod
    def at(cls, op: ir.Operation, message: str) -> Place:
        """Returns the place of an op, whose name comes before the message."""
        name = shown_name(name_of(op))
        return cls(f"{op.name}: {message}", source_location(op.location), name)

    def with_file(self, other: str) -> Place:
        """Returns the place, at another location if its own has no file."""
        return self if _FILE in self.location else self._replace(location=other)


@dataclass(frozen=True)
class Subject:
    """A program that lints look at: an original, or what a recipe makes of one.

    Attributes:
        main: The function that the program starts at, with all calls inlined.
        ops: The ops of ``main`` and of their regions, in program order.
        matmuls: The matmuls of the original.
        arguments: The arguments of the original.
        weights: The names of the arguments that are weights of matmuls.
        trains: Whether it is a training step or another program with a backward pass.
        rewritten: Whether a recipe of low precision was applied.
        undeclared: The names of arguments that the program measures in each call, since no one
            declared their scale.
        original: The program before the rewrite; None if that was a rewritten program too.
        options: The options of the rewrite.
    """

    main: ir.OpView
    ops: Sequence[ir.Operation]
    matmuls: Sequence[MatmulReport]
    arguments: Sequence[ValueReport]
    weights: Collection[str]
    trains: bool
    rewritten: bool
    undeclared: Sequence[str]
    original: ir.Module | None
    options: Options


Check: TypeAlias = Callable[[Subject], Iterator[Place]]


class Lint(NamedTuple):
    """A kind of fault.

    Attributes:
        name: The name, such as ``epsilon``.
        description: The text of it in documents.
        cure: What to do about each finding.
        check: Yields the places where it is found.
    """

    name: str
    description: str
    cure: str
    check: Check
