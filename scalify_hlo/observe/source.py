"""A program with the arguments of its runs, as the commands that observe its values take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import UsageError
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.tensors import Array, interface
from scalify_hlo.run.added import with_added
from scalify_hlo.run.check import Run, compile_module
from scalify_hlo.run.given import Sample, exported_of, flat_arguments, readable
from scalify_hlo.run.many_devices import divides, run_on_devices
from scalify_hlo.run.refinement import refined

_HINT: Final = "run the program as it is exported for the CPU"


class Source:
    """A program of static shapes, with the arguments of its runs.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of each run.

    Attributes:
        name: The name of the program in diagnostics.
        module: The program, at the shapes of the arguments.
        hash: The structural hash of the program as it was given.
        values: The flat arguments of each run.
        interface: The arguments and results of the program.

    Raises:
        InputError: The program is not valid.
        UsageError: There are no arguments, or they do not fit the program.
    """

    def __init__(self, program: Any, samples: Sequence[Sample]) -> None:
        read = readable(program)
        self._exported = exported_of(program) or read.exported
        self.name, module = read.name, read.module
        self.hash = structural_hash(module)
        described = interface(module, self.name, dynamic=True)
        if not samples:
            raise UsageError(
                "there are no inputs to run the program with",
                hint="give an array for each argument",
            )
        self.values: list[list[Array]] = [
            flat_arguments(
                described,
                exported_of(program),
                with_added(module, described, sample) if isinstance(sample, Mapping) else sample,
                _named(i, len(samples)),
            )
            for i, sample in enumerate(samples)
        ]
        if not all(tensor.static for tensor in described.arguments):
            _require_alike(self.values)
            module = refined(copy_module(module), [array.shape for array in self.values[0]])
        self.module = module
        self.interface = interface(module, self.name)

    def compiled(self, module: ir.Module) -> Run:
        """Compiles a program that was made of this one, for as many devices as it needs.

        Args:
            module: The program.

        Raises:
            InputError: XLA refuses it, or there are too few devices.
        """
        if not divides(module):
            return compile_module(module, self.name, hint=_HINT)
        return run_on_devices(self._exported, module, self.name)


def _named(number: int, count: int) -> str:
    return "the inputs" if count == 1 else f"inputs {number + 1}"


def _require_alike(samples: Sequence[Sequence[Array]]) -> None:
    """Refuses inputs of several shapes, for which there would be several programs."""
    shapes = [[array.shape for array in sample] for sample in samples]
    for number, each in enumerate(shapes[1:], 2):
        if each != shapes[0]:
            raise UsageError(
                f"inputs {number} have other shapes than the first",
                hint="give inputs of the same shapes, or run each by itself",
            )
