"""A compiled program and its JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final, NamedTuple

from scalify_hlo.results.kinds import NAME, Count, Microseconds
from scalify_hlo.results.model import content, keys, result
from scalify_hlo.targets.compiling import Compiled
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import Kernel, kernels_of, unknown_loops
from scalify_hlo.targets.roofline import Work, kernel_seconds, work_of

_PACKAGES: Final = ("scalify-hlo", "jax", "jaxlib")


@keys("*kernel us=seconds")
class TimedKernel(NamedTuple):
    """A kernel, and the estimated time of a launch; None if the target describes no peaks."""

    kernel: Kernel
    seconds: Microseconds | None


@keys(
    "*compiled(devices) versions *compiled(compiler compile_s=seconds) "
    "memory=(*compiled(arguments results aliased temporaries peak code) *target(device=memory)) "
    "*work(flops f8_share bytes=(read written) launches causes collectives "
    "estimate=(us=seconds us_with_launches=seconds_with_launches us_of_a_launch=launch "
    "us_reached=seconds_reached))"
)
@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program.

    Attributes:
        target: The device.
        compiled: What the compiler made.
        kernels: Its kernels.
        work: Their work and estimated time.
        loops: The number of loops of which the compiler does not know the number of turns.
    """

    target: Target
    compiled: Compiled
    kernels: tuple[Kernel, ...]
    work: Work
    loops: Count

    @classmethod
    def of(cls, compiled: Compiled, target: Target) -> Program:
        """Returns a compiled program with its kernels and their work."""
        module = read_hlo(compiled.hlo)
        kernels = tuple(kernels_of(module))
        return cls(target, compiled, kernels, work_of(kernels, target), unknown_loops(module))

    @property
    def timed(self) -> list[TimedKernel]:
        """The kernels with their estimated times."""
        return [TimedKernel(each, kernel_seconds(each, self.target)) for each in self.kernels]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of this package, of jax, and of the compiler."""
        return {**{name: _version(name) for name in _PACKAGES}, **self.compiled.plugins}


@result("scalify-hlo compile", version=1)
@keys(
    "program=. *program(target=target.name) *program *program(loops_of_unknown_length=loops "
    "kernels=timed)",
    program=NAME,
)
class CompileRecord(NamedTuple):
    """The facts that are known of a compiled program."""

    program: Program


def compile_record(compiled: Compiled, target: Target, program: str) -> dict[str, Any]:
    """Returns what is known of a compiled program.

    Args:
        compiled: The compiled program.
        target: The device.
        program: The name of the program.

    Returns:
        An object of JSON with the name of its ``format`` and its ``version``. Times are in
        microseconds, and those of estimates are null if the target describes no peaks.
    """
    return content(CompileRecord(Program.of(compiled, target)), program)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # A copy of the sources that is not installed.
        return "unknown"
