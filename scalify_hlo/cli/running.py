"""The options of commands that run programs: inputs, steps, and the choice of a recipe."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import Command
from scalify_hlo.cli.options import OfProgram, Seconds, WithOptionalRewrite, WithRows, WithSizes
from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.fields import Count, number, option
from scalify_hlo.storage.files import display_name, write_file

if TYPE_CHECKING:
    from scalify_hlo.commands.choose.model import Blame, Search
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.program.program import Program

_Gibibytes = Annotated[float, number(float, "a number of GiB above 0", lambda g: g > 0)]


@dataclass(frozen=True, kw_only=True)
class Running(Command):
    """A command that runs programs, on the CPU, in a child process.

    Attributes:
        timeout: The most seconds that a program may take to compile, and to run once.
        memory_limit: The most memory that programs may take; by default that of the machine.
    """

    timeout: Seconds = option(600.0, metavar="S")
    memory_limit: _Gibibytes | None = option(None, metavar="GIB")

    def start(self) -> None:
        """See `Command.start`."""
        from scalify_hlo.run.child import isolated

        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        most = None if self.memory_limit is None else int(self.memory_limit * 2**30)
        with isolated(self.timeout, most):
            super().start()


@dataclass(frozen=True, kw_only=True)
class OnInputs(WithSizes, Running):
    """A command that runs programs on inputs.

    Attributes:
        inputs: Inputs of the program: arrays by argument name, or arr_0, arr_1 ...; by default,
            they are made up.
        dim: A symbolic size of inputs that are made up, as in b=16.
    """

    inputs: tuple[str, ...] = option((), metavar="F.NPZ", reads=True)

    def arrays(self, source: Program) -> list[Mapping[str, Any]]:
        """Returns the arrays of each file of inputs, or one mapping of arrays that are made up.

        Args:
            source: The program.

        Raises:
            UsageError: There are sizes beside inputs, or they are not those of the program.
            InputError: A file is not valid.
        """
        quiet = getattr(self, "quiet", False)
        if self.inputs:
            self.refuse_sizes()
            return [read_inputs(source, path, quiet=quiet) for path in self.inputs]
        from numpy.random import default_rng

        from scalify_hlo.run.made_up import made_up

        made = made_up(source, self.sizes, default_rng(0), trained=True)
        if made and not quiet:
            console.report_summary(
                "note: inputs are made up: random numbers, with state as at the start of training; "
                "--inputs gives others"
            )
        return [made]

    def refuse_sizes(self) -> None:
        """Refuses sizes beside inputs.

        Raises:
            UsageError: There are some.
        """
        if self.dim:
            raise UsageError(
                "--dim has no effect with --inputs, which have their sizes",
                hint="give one of them",
            )


@dataclass(frozen=True, kw_only=True)
class WithInputs(OfProgram, OnInputs):
    """A command that runs a program on inputs."""


@dataclass(frozen=True, kw_only=True)
class WithSteps(WithInputs):
    """A command that runs a program for some steps.

    Attributes:
        inputs: Inputs of a step: arrays by argument name, or arr_0, arr_1 ...; by default, they are
            made up. Repeat it for further steps; the first one follows the last.
        steps: How many steps to run.
        carry: Pass results that are arguments of the next call on to the next step.
    """

    steps: Count = 1
    carry: Literal["none", "state"] = "none"


@dataclass(frozen=True, kw_only=True)
class WithOptionalRuns(WithOptionalRewrite, WithSteps):
    """A command that runs a program for some steps, and its rewrite if a recipe is given."""

    def sources(self) -> tuple[Program, list[Mapping[str, Any]], Options | None]:
        """Returns the program, the inputs of the steps, and the options of the rewrite.

        If the recipe predicts sizes from those of inputs, the options have their measured scales.

        Raises:
            UsageError: As for `optional`.
            InputError: A file is not valid.
        """
        from scalify_hlo.recipes.model import NONE

        options = self.optional()
        source = self.read()
        arrays = self.arrays(source)
        if options is None or options.recipe.predict == NONE or options.recipe.inputs.scale:
            return source, arrays, options
        return source, arrays, with_measured(options, source, arrays[0])


@dataclass(frozen=True, kw_only=True)
class Choosing(WithInputs, WithRows):
    """A command that runs rewrites of a program to choose a recipe.

    Attributes:
        signature: The signature of rewrites; auto is scaled for recipes that keep state in low
            precision, and same for others.
        profile: The profile of calibrated scales; by default it is one of the inputs.
    """

    signature: Literal["auto", "same", "scaled"] = "auto"
    profile: str | None = option(None, metavar="PROFILE.JSON", reads=True)


@dataclass(frozen=True, kw_only=True)
class Judging(Choosing):
    """A command that judges rewrites by their errors.

    Attributes:
        snr: The signal-to-noise ratio that outputs and gradients need.
    """

    snr: float = option(20.0, metavar="DB")


@dataclass(frozen=True, kw_only=True)
class MakingRecipe(Choosing):
    """A command that makes a recipe.

    Attributes:
        recipe: The recipe to start from: a recipe's name, or a TOML file.
        output: Write the recipe.
    """

    recipe: str = option(metavar="NAME|FILE", reads=True)
    output: str | None = option(None, metavar="R.TOML", short="-o", writes=True)

    def start(self) -> None:
        """See `Command.start`.

        Raises:
            UsageError: No command would take the output as a recipe.
        """
        if self.output is not None and not self.output.endswith(".toml"):
            raise UsageError(
                f"the recipe would be written to {self.output!r}, whose name does not end in .toml",
                hint="name a file as in -o better.toml, so that --recipe takes it",
            )
        super().start()

    def finish(self, found: Blame | Search, lines: Iterable[str]) -> None:
        """Writes the recipe that was found, and prints the result.

        Args:
            found: The result.
            lines: The lines for people.
        """
        if self.output is not None:
            write_file(self.output, found.toml)
        console.echo(self.text(found, lines))


def with_measured(options: Options, source: Program, arrays: Mapping[str, Any]) -> Options:
    """Returns options with measured scales of inputs besides those that were given.

    Args:
        options: The options of a rewrite.
        source: The program.
        arrays: The inputs.
    """
    from scalify_hlo.run.input_scales import scales_by_name

    measured = scales_by_name(source, arrays)
    return replace(options, input_scale=measured | dict(options.input_scale))


def read_inputs(source: Program, path: str, *, quiet: bool) -> Mapping[str, Any]:
    """Returns the arrays of an .npz file that a program reads, by name.

    Args:
        source: The program.
        path: The path of the file, or ``-``.
        quiet: Whether nothing is said of arrays that the program does not read.

    Raises:
        InputError: The file cannot be read, or is not an .npz file.
    """
    from scalify_hlo.program.arrays import read_arrays
    from scalify_hlo.program.tensors import interface
    from scalify_hlo.run.given import arrays_read, ignored

    described = interface(source.module, source.name, dynamic=True)
    arrays, unread = arrays_read(described, source.exported, read_arrays(path))
    if unread and not quiet:
        console.report_summary(f"{display_name(path)}: note: {ignored(unread)}")
    return arrays
