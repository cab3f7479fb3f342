"""The arguments and options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from scalify_hlo.errors import InputError, UsageError, refuse_without
from scalify_hlo.recipes.default import CALIBRATED, DEFAULT
from scalify_hlo.storage.byte_source import source_of
from scalify_hlo.storage.files import display_name

if TYPE_CHECKING:
    from scalify_hlo.io.program import Program
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.storage.arrays import StoredArray

F = TypeVar("F", bound=Callable[..., Any])


_ARRAYS: Final = "arrays by argument name, or arr_0, arr_1 ..."


def inputs_option(what: str, more: str = "", *, required: bool = False) -> Callable[[F], F]:
    """Returns a decorator that adds the option for files of input arrays.

    Args:
        what: The help text before the description of a file.
        more: The help text after it.
        required: Whether at least one file is needed, and several may be given.
    """
    return click.option(
        "--inputs",
        metavar="F.NPZ",
        multiple=required,
        required=required,
        help=f"{what}: {_ARRAYS}{more}",
    )


output_option = click.option(
    "-o", "--output", metavar="OUT", default="-", help="The output file.  [default: -]"
)
"""Adds the option for the output file to a command."""

quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print no remarks and no progress bar."
)
"""Adds the option that suppresses remarks and the progress bar to a command."""


def format_option(what: str) -> Callable[[F], F]:
    """Returns a decorator that adds the option for the form of the output.

    Args:
        what: The help text.
    """
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=what,
    )


def target_option(command: F) -> F:
    """Adds the option for the device that a program is compiled for to a command."""
    return click.option(
        "--target",
        required=True,
        metavar="NAME",
        help="The device: cpu, h100, h200, b200, tpu-v5e, tpu-v6e or tpu7x.",
    )(command)


def timeout_option(command: F) -> F:
    """Adds the option for the time limit of a compilation to a command."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600.0,
        show_default=True,
        metavar="S",
        help="The most seconds that XLA may take for a program.",
    )(command)


def layouts_option(command: F) -> F:
    """Adds the option for layouts of arguments that XLA chooses to a command."""
    return click.option(
        "--free-layouts",
        is_flag=True,
        help="Let XLA choose the layouts of arguments, as for a caller with Layout.AUTO.",
    )(command)


def refuse_both(form: str, *, markdown: bool) -> None:
    """Refuses JSON and Markdown at once.

    Raises:
        UsageError: Both are asked for.
    """
    if markdown and form != "text":
        raise UsageError(
            f"--markdown and --format {form} are different forms of the output",
            hint="give one of them",
        )


def rewrite_options(command: F) -> F:
    """Adds the options of a rewrite to a command."""
    recipe = click.option(
        "--recipe",
        metavar="NAME|FILE",
        help="What to do: a recipe's name, or a TOML file.  "
        f"[default: {DEFAULT}; with --profile {CALIBRATED}]",
    )
    return _with_rewrite(command, recipe)


def optional_rewrite(command: F) -> F:
    """Adds the options of a rewrite that is done only if a recipe is given to a command."""
    recipe = click.option(
        "--recipe",
        metavar="NAME|FILE",
        help="Run the rewrite by this recipe too: a recipe's name, or a TOML file.",
    )
    return _with_rewrite(command, recipe)


def settings_option(whose: str) -> Callable[[F], F]:
    """Returns a decorator that adds the option that sets options of recipes to a command.

    Args:
        whose: The recipe or recipes.
    """
    return click.option(
        "--set",
        "settings",
        metavar="KEY=VALUE",
        multiple=True,
        help=f"Set an option of {whose}, as in matmul.smallest=64.",
    )


def _with_rewrite(command: F, recipe: Callable[[F], F]) -> F:
    for option in (
        click.option(
            "--profile",
            metavar="PROFILE.JSON",
            help="Take all scales from a profile that `calibrate` wrote.",
        ),
        settings_option("the recipe"),
        click.option(
            "--input-scale",
            "input_scale",
            metavar="PATTERN=2^k",
            multiple=True,
            help="The rms of the inputs whose names match; 2^k becomes their scale.",
        ),
        click.option(
            "--signature",
            type=click.Choice(["same", "scaled"]),
            default="same",
            show_default=True,
            help="same keeps the types of arguments and results; scaled makes float ones pairs.",
        ),
        recipe,
    ):
        command = option(command)
    return command


def step_options(command: F) -> F:
    """Adds the options for the inputs of one or several steps to a command."""
    for option in (
        click.option(
            "--carry",
            type=click.Choice(["none", "state"]),
            default="none",
            show_default=True,
            help="Pass results that are arguments of the next call on to the next step.",
        ),
        click.option(
            "--steps",
            type=int,
            default=1,
            show_default=True,
            metavar="N",
            help="How many steps to run.",
        ),
        inputs_option(
            "Inputs of a step",
            " Repeat it for further steps; the first one follows the last.",
            required=True,
        ),
    ):
        command = option(command)
    return command


def to_optional(
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
) -> Options | None:
    """Returns the options of a rewrite that is done only if a recipe is given; else None.

    Raises:
        UsageError: As for `to_options`, or there is an option of a rewrite but no recipe.
        InputError: As for `to_options`.
    """
    if recipe is not None:
        return to_options(recipe, signature, input_scale, settings, profile)
    scaled = signature != "same"
    given = {"--signature": scaled, "--input-scale": input_scale, "--set": settings}
    refuse_without({**given, "--profile": profile}, "--recipe")
    return None


def with_measured(options: Options, source: Program, arrays: dict[str, StoredArray]) -> Options:
    """Returns options with measured scales of inputs, if the recipe predicts sizes from them.

    Args:
        options: The options of a rewrite.
        source: The program.
        arrays: The inputs of a step.
    """
    from dataclasses import replace

    from scalify_hlo.recipes.model import NONE
    from scalify_hlo.run.input_scales import scales_by_name

    if options.recipe.predict == NONE or options.recipe.inputs.scale:
        return options
    measured = scales_by_name(source, arrays)
    return replace(options, input_scale=measured | dict(options.input_scale))


def to_options(
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
    *,
    strict: bool = False,
) -> Options:
    """Returns the options of a rewrite from the options of a command.

    Raises:
        UsageError: A recipe, an option of it, or an input scale is not valid.
        InputError: The file of a recipe or of a profile is not valid.
    """
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.profile.file import load_profile
    from scalify_hlo.recipes.loading import recipe_of, require_pairs
    from scalify_hlo.recipes.toml import parse_input_scale

    seen = None if profile is None else load_profile(profile)
    loaded = recipe_of(recipe, settings, calibrated=seen is not None)
    require_pairs(loaded, signature)
    return Options(
        recipe=loaded,
        profile=seen,
        signature="scaled" if signature == "scaled" else "same",
        input_scale=dict(map(parse_input_scale, input_scale)),
        strict=strict,
    )


def read(path: str, *, checked: bool = True) -> Program:
    """Reads a program from a file or from standard input, with guarded native readers.

    Raises:
        InputError: The program cannot be read.
    """
    from scalify_hlo.io.program import read_program, require_known

    return read_program(
        source_of(path, require_known), display_name(path), guarded=True, checked=checked
    )


def read_arrays(path: str) -> dict[str, StoredArray]:
    """Returns the arrays of an .npz file by name; they are inflated on demand.

    Raises:
        InputError: The file cannot be read, or is not an .npz file.
    """
    from scalify_hlo.storage.arrays import arrays_of

    return arrays_of(source_of(path, _require_archive), display_name(path))


def _require_archive(head: bytes, name: str) -> None:
    if not head.startswith(b"PK"):
        raise InputError(
            "this is not an .npz file of arrays",
            location=name,
            hint="write one with numpy.savez(path, *arrays)",
        )


def version_option(command: F) -> F:
    """Adds the option for the version of the portable artifact to a command."""
    return click.option(
        "--target-version",
        metavar="X.Y.Z|current|minimum",
        help="Write a portable artifact of this StableHLO version.",
    )(command)
