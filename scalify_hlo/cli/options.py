"""The arguments and options that commands share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import Command
from scalify_hlo.errors import InputError, UsageError, refuse_without
from scalify_hlo.program.byte_source import source_of
from scalify_hlo.recipes.fields import Amount, Count, number, option, options_of
from scalify_hlo.recipes.toml import call_settings
from scalify_hlo.results.model import dump
from scalify_hlo.storage.files import display_name, write_file

if TYPE_CHECKING:
    from scalify_hlo.commands.choose.model import Blame, Search
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.program.arrays import StoredArray
    from scalify_hlo.program.program import Program
    from scalify_hlo.targets.description import Target


@dataclass(frozen=True, kw_only=True)
class WithEntry(Command):
    """A command that reads programs.

    Attributes:
        entry: The function at which the program starts; by default main, or the only public one.
    """

    entry: str | None = option(None, metavar="NAME")

    def read_from(self, path: str) -> Program:
        """Returns the program of a file; see `read`."""
        return read(path, self.entry)


@dataclass(frozen=True, kw_only=True)
class OfProgram(WithEntry):
    """A command on a program."""

    program: str = option(metavar="IN", argument=True, reads=True)

    def read(self) -> Program:
        """Returns the program."""
        return self.read_from(self.program)


@dataclass(frozen=True, kw_only=True)
class WithOutput(Command):
    """A command that writes a file.

    Attributes:
        output: The output file.
    """

    output: str = option("-", metavar="OUT", short="-o", writes=True)


@dataclass(frozen=True, kw_only=True)
class WithQuiet(Command):
    """A command that may print nothing but its output.

    Attributes:
        quiet: Print no remarks, no summary and no progress bar.
    """

    quiet: bool = option(False, short="-q")


@dataclass(frozen=True, kw_only=True)
class WithRemarks(Command):
    """A command that prints remarks.

    Attributes:
        verbose: Print each remark, with the callers of its op, and not one of each kind.
    """

    verbose: bool = option(False, short="-v", of_text=True)


@dataclass(frozen=True, kw_only=True)
class WithForm(Command):
    """A command that prints for people or for programs.

    Attributes:
        form: Print text, or everything as JSON.
    """

    form: Literal["text", "json"] = option("text", flag="--format")

    def start(self) -> None:
        """See `Command.start`.

        Raises:
            UsageError: An option decides which text is printed, and JSON is asked for.
        """
        for name, each in options_of(type(self)).items() if self.form == "json" else ():
            if each.said("of_text") and getattr(self, name) != each.default:
                raise UsageError(
                    f"--{name} has no effect with --format json, which has everything",
                    hint=f"leave --{name} out",
                )
        super().start()

    def text(self, found: object, lines: Iterable[str], name: str = "<program>") -> str:
        """Returns a result in the form that is asked for.

        Args:
            found: The result.
            lines: The lines for people.
            name: The name of the program in locations.
        """
        return dump(found, name) if self.form == "json" else console.printed(lines)


@dataclass(frozen=True, kw_only=True)
class WithRows(WithForm):
    """A command that prints tables.

    Attributes:
        rows: How many rows of each table to print; 0 for all.
    """

    rows: Amount = option(10, of_text=True)


@dataclass(frozen=True, kw_only=True)
class WithMarkdown(WithForm):
    """A command that prints a page of documentation too.

    Attributes:
        markdown: Print everything as a page of documentation.
    """

    markdown: bool = False

    def start(self) -> None:
        """See `Command.start`.

        Raises:
            UsageError: JSON and Markdown are both asked for.
        """
        if self.markdown and self.form != "text":
            raise UsageError(
                f"--markdown and --format {self.form} are different forms of the output",
                hint="give one of them",
            )
        super().start()


Seconds = Annotated[float, number(float, "a number of seconds above 0", lambda s: s > 0)]
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
class WithInputs(OfProgram, Running):
    """A command that runs a program on inputs.

    Attributes:
        inputs: Inputs of the program: arrays by argument name, or arr_0, arr_1 ...
    """

    inputs: tuple[str, ...] = option(metavar="F.NPZ", reads=True)

    def arrays(self) -> list[dict[str, StoredArray]]:
        """Returns the arrays of each file of inputs."""
        return [read_arrays(path) for path in self.inputs]


@dataclass(frozen=True, kw_only=True)
class WithSteps(WithInputs):
    """A command that runs a program for some steps.

    Attributes:
        inputs: Inputs of a step: arrays by argument name, or arr_0, arr_1 ... Repeat it for further
            steps; the first one follows the last.
        steps: How many steps to run.
        carry: Pass results that are arguments of the next call on to the next step.
    """

    steps: Count = 1
    carry: Literal["none", "state"] = "none"


@dataclass(frozen=True, kw_only=True)
class WithSettings(Command):
    """A command that sets options of recipes.

    Attributes:
        settings: Set an option of the recipe, as in matmul.smallest=64.
    """

    settings: tuple[str, ...] = option((), metavar="KEY=VALUE", flag="--set")

    @property
    def keyed(self) -> dict[str, object]:
        """The options that are set, by key.

        Raises:
            UsageError: One has no value.
        """
        return {key: each.value for key, each in call_settings(self.settings).items()}


@dataclass(frozen=True, kw_only=True)
class WithRewrite(WithSettings):
    """A command that rewrites a program.

    Attributes:
        recipe: What to do: a recipe's name, or a TOML file. By default it is fp8-current, and with
            --profile fp8-calibrated.
        signature: same keeps the types of arguments and results; scaled makes float ones pairs.
        input_scale: The rms of the inputs whose names match; 2^k becomes their scale.
        profile: Take all scales from a profile that `calibrate` wrote.
    """

    recipe: str | None = option(None, metavar="NAME|FILE", reads=True)
    signature: Literal["same", "scaled"] = "same"
    input_scale: tuple[str, ...] = option((), metavar="PATTERN=2^k")
    profile: str | None = option(None, metavar="PROFILE.JSON", reads=True)

    def options(
        self, settings: Mapping[str, object] | None = None, *, strict: bool = False
    ) -> Options:
        """Returns the options of the rewrite.

        Args:
            settings: The options of the recipe, if they are others than those that are set.
            strict: Whether a remark is an error.

        Raises:
            UsageError: A recipe, an option of it, or an input scale is not valid.
            InputError: The file of a recipe or of a profile is not valid.
        """
        from scalify_hlo.api import make_options
        from scalify_hlo.recipes.loading import require_pairs
        from scalify_hlo.recipes.toml import parse_input_scale

        scales = dict(map(parse_input_scale, self.input_scale))
        own = self.keyed if settings is None else settings
        made = make_options(self.recipe, self.signature, scales, own, self.profile, strict=strict)
        require_pairs(made.recipe, self.signature)
        return made


@dataclass(frozen=True, kw_only=True)
class WithOptionalRewrite(WithRewrite):
    """A command that rewrites a program if a recipe is given.

    Attributes:
        recipe: Run the rewrite by this recipe too: a recipe's name, or a TOML file.
    """

    def optional(self, settings: Mapping[str, object] | None = None) -> Options | None:
        """Returns the options of the rewrite; None without a recipe.

        Args:
            settings: As for `options`.

        Raises:
            UsageError: As for `options`, or there is an option of a rewrite but no recipe.
            InputError: As for `options`.
        """
        if self.recipe is not None:
            return self.options(settings)
        scaled = self.signature != "same"
        given = {"--signature": scaled, "--input-scale": self.input_scale, "--set": self.settings}
        refuse_without({**given, "--profile": self.profile}, "--recipe")
        return None


@dataclass(frozen=True, kw_only=True)
class WithOptionalRuns(WithOptionalRewrite, WithSteps):
    """A command that runs a program for some steps, and its rewrite if a recipe is given."""

    def sources(self) -> tuple[Program, list[dict[str, StoredArray]], Options | None]:
        """Returns the program, the inputs of the steps, and the options of the rewrite.

        If the recipe predicts sizes from those of inputs, the options have their measured scales.

        Raises:
            UsageError: As for `optional`.
            InputError: A file is not valid.
        """
        from scalify_hlo.recipes.model import NONE

        options = self.optional()
        source, arrays = self.read(), self.arrays()
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


@dataclass(frozen=True, kw_only=True)
class Compiling(OfProgram, WithForm):
    """A command that compiles a program for a device.

    Attributes:
        target: The device: cpu, h100, h200, b200, tpu-v5e, tpu-v6e or tpu7x.
        free_layouts: Let XLA choose the layouts of arguments, as for a caller with Layout.AUTO.
        timeout: The most seconds that XLA may take for a program.
    """

    target: str = option(metavar="NAME")
    free_layouts: bool = False
    timeout: Seconds = option(600.0, metavar="S")

    def device(self) -> Target:
        """Returns the device, whose compiler is installed.

        Raises:
            InputError: There is no such device, or its compiler is missing.
            UsageError: Its compiler chooses no layouts.
        """
        from scalify_hlo.targets.description import load_target, plugin_versions

        device = load_target(self.target)
        plugin_versions(device)
        if self.free_layouts and device.platform == "cpu":
            raise UsageError(
                "--free-layouts has no effect: XLA for CPUs chooses no layouts of arguments",
                hint="leave it out, or compile for a GPU or a TPU",
            )
        return device


def with_measured(options: Options, source: Program, arrays: dict[str, StoredArray]) -> Options:
    """Returns options with measured scales of inputs besides those that were given.

    Args:
        options: The options of a rewrite.
        source: The program.
        arrays: The inputs.
    """
    from scalify_hlo.run.input_scales import scales_by_name

    measured = scales_by_name(source, arrays)
    return replace(options, input_scale=measured | dict(options.input_scale))


def read(path: str, entry: str | None = None) -> Program:
    """Reads a program from a file or from standard input, with guarded native readers.

    Args:
        path: The path of the file, or ``-``.
        entry: The name of the function at which it starts; see `read_program`.

    Raises:
        InputError: The program cannot be read.
    """
    from scalify_hlo.program.program import read_program, require_known

    source = source_of(path, require_known)
    return read_program(source, display_name(path), guarded=True, entry=entry)


def read_arrays(path: str) -> dict[str, StoredArray]:
    """Returns the arrays of an .npz file by name; they are inflated on demand.

    Raises:
        InputError: The file cannot be read, or is not an .npz file.
    """
    from scalify_hlo.program.arrays import arrays_of

    return arrays_of(source_of(path, _require_archive), display_name(path))


def _require_archive(head: bytes, name: str) -> None:
    if not head.startswith(b"PK"):
        raise InputError(
            "this is not an .npz file of arrays",
            location=name,
            hint="write one with numpy.savez(path, *arrays)",
        )
