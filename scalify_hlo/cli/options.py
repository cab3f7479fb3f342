"""The arguments and options that commands share."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from scalify_hlo.algebra.limits import LARGEST_SIZE
from scalify_hlo.cli import console
from scalify_hlo.cli.command import Command
from scalify_hlo.errors import UsageError, refuse_without
from scalify_hlo.program.byte_source import source_of
from scalify_hlo.recipes.fields import Amount, number, option, options_of
from scalify_hlo.recipes.toml import call_settings
from scalify_hlo.results.model import dump
from scalify_hlo.storage.files import display_name

if TYPE_CHECKING:
    from scalify_hlo.passes.pipeline import Options
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


@dataclass(frozen=True, kw_only=True)
class WithSizes(Command):
    """A command that may give a program static shapes.

    Attributes:
        dim: A symbolic size of the program, as in b=16.
    """

    dim: tuple[str, ...] = option((), metavar="NAME=SIZE")

    @property
    def sizes(self) -> dict[str, int]:
        """The symbolic sizes that are given, by name.

        Raises:
            UsageError: One is not a size, or is given twice.
        """
        found: dict[str, int] = {}
        for text in self.dim:
            name, _, size = text.rpartition("=")
            if not (name and size.isdecimal() and 0 < int(size) <= LARGEST_SIZE):
                raise UsageError(
                    f"--dim {text} has no size from 1 to {LARGEST_SIZE}",
                    hint="write it as in --dim b=16",
                )
            if found.setdefault(name, int(size)) != int(size):
                raise UsageError(
                    f"--dim gives {name} the sizes {found[name]} and {size}", hint="give one"
                )
        return found


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
        residuals: auto keeps less for the backward pass, with the same values; keep does not. By
            default recipes with narrow matmuls or values do.
    """

    recipe: str | None = option(None, metavar="NAME|FILE", reads=True)
    signature: Literal["same", "scaled"] = "same"
    input_scale: tuple[str, ...] = option((), metavar="PATTERN=2^k")
    profile: str | None = option(None, metavar="PROFILE.JSON", reads=True)
    residuals: Literal["auto", "keep"] | None = None

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
        own = dict(self.keyed if settings is None else settings)
        if self.residuals is not None:
            own["residuals"] = self.residuals
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
        refuse_without(
            {**given, "--profile": self.profile, "--residuals": self.residuals}, "--recipe"
        )
        return None


@dataclass(frozen=True, kw_only=True)
class Compiling(OfProgram, WithSizes, WithForm):
    """A command that compiles a program for a device.

    Attributes:
        target: The device: cpu, l40s, rtx4090, h100, h200, b200, tpu-v5e, tpu-v6e or tpu7x.
        free_layouts: Let XLA choose the layouts of arguments, as for a caller with Layout.AUTO.
        timeout: The most seconds that XLA may take for a program.
    """

    target: str = option(metavar="NAME")
    free_layouts: bool = False
    timeout: Seconds = option(600.0, metavar="S")

    def sized(self, path: str) -> Program:
        """Returns the program of a file, with static shapes.

        Raises:
            UsageError: A symbolic size has no value, or a value is for none.
        """
        from scalify_hlo.run.made_up import at_sizes

        return at_sizes(self.read_from(path), self.sizes)

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


def read(path: str, entry: str | None = None) -> Program:
    """Reads a program from a file or from standard input, with guarded native readers.

    Args:
        path: The path of the file or of the folder of a SavedModel, or ``-``.
        entry: The name of the function at which it starts; see `read_program`.

    Raises:
        InputError: The program cannot be read.
    """
    from scalify_hlo.program.program import read_program, require_known
    from scalify_hlo.program.saved_model import path_in

    source = source_of(path_in(path), require_known)
    program = read_program(source, display_name(path), guarded=True, entry=entry)
    if not gc.isenabled():
        gc.freeze()  # All modules are imported now, and stay.
        gc.enable()
    return program
