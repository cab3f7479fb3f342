"""Conditions that leave an option of a command without effect, and what the user then reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple


class Inert(NamedTuple):
    """A condition under which options have no effect.

    Attributes:
        options: The options.
        when: The condition, as a clause.
        code: The exit status.
        told: A part of what the user reads.
    """

    options: tuple[str, ...]
    when: str
    code: int
    told: str


def _row(options: str, when: str, code: int, told: str) -> Inert:
    return Inert(tuple(options.split()), when, code, told)


INERT: Final = (
    _row("--entry", "the program is a jax.export file", 1, "starts at its function `main`"),
    _row("--signature --input-scale --set --profile --residuals", "a command that rewrites on "
         "request has no --recipe", 2, "is for a rewrite, and there is no --recipe"),
    _row("--dim", "there are --inputs, which have their sizes", 2, "--dim has no effect"),
    _row("--dim", "the shapes of the program are static", 2, "has static shapes"),
    _row("--dim", "the program has other symbolic sizes", 2, "no symbolic size 'c'"),
    _row("--input-scale", "the pattern matches no argument", 2, "matches no float argument"),
    _row("--input-scale", "the pattern matches integers", 2, "only arguments that are not floats"),
    _row("--input-scale", "`check` has no --inputs", 2, "no effect without --inputs"),
    _row("--input-values", "no cast of the recipe depends on sizes", 2, "no effect: no cast of"),
    _row("--input-values --inputs", "an array is for no argument", 2, "which is no argument"),
    _row("--optimize", "there is nothing that it replaces", 0, "--optimize has no effect"),
    _row("--residuals", "no pass keeps values for a later one", 0, "auto has no effect"),
    _row("--target", "the recipe changes no format", 0, "no estimate: the recipe propagate"),
    _row("--recipe --budget", "the recipe quantizes no matmul", 1, "quantizes no matmul"),
    _row("--set", "another option of the recipe leaves it without effect", 2, "has no effect"),
    _row("--profile", "no recipe has calibrated scales", 2, "the profile has no effect"),
    _row("--profile", "`check` has no --per-value", 2, "no effect without --per-value"),
    _row("--profile", "REWRITTEN has no scales of a profile", 2, "was rewritten without one"),
    _row("--per-value", "REWRITTEN records no rewrite", 2, "records no rewrites"),
    _row("--inputs", "there are more than --steps, or than one", 2, "there are inputs of 2 steps"),
    _row("--inputs", "`check` runs one step", 2, "one step takes one file of inputs"),
    _row("--carry", "the program returns no state", 2, "is an argument of its next call"),
    _row("--within", "`compare` runs no steps of training", 2, "no steps of training are run"),
    _row("--steps --seeds", "the program of `compare` returns no loss", 2, "no result is a loss"),
    _row("--steps", "`check` has no --inputs", 2, "--steps has no effect without --inputs"),
    _row("--seed --scale --rtol --max-ulp --min-snr --per-value --input-scale", "`check` has "
         "--steps", 2, "has no effect with --steps"),
    _row("--seed", "there are --inputs", 2, "--seed has no effect with --inputs"),
    _row("--scale", "REWRITTEN takes no pairs", 2, "the scale of pairs has no effect"),
    _row("--rows", "the output is JSON", 2, "has no effect with --format json"),
    _row("--arguments --matmuls --lint --sites", "the output is JSON", 2, "with --format json"),
    _row("--sites", "the recipe rescales nothing", 0, "sites: none"),
    _row("--name --exclude", "the pattern matches no matmul", 2, "matches no matmul"),
    _row("--role --wide", "no matmul is of that kind", 0, "matmuls (0 of 1)"),
    _row("--values", "the pattern matches no value", 2, "matches no float value"),
    _row("--free-layouts", "the target is cpu", 2, "--free-layouts has no effect"),
    _row("--devices", "the program is for another number", 1, "is for 1 device and not for 4"),
    _row("--against", "there is a --recipe", 2, "IN is the original"),
    _row("--markdown", "--format is json", 2, "different forms of the output"),
    _row("--markdown", "one recipe or op is named", 2, "the page has"),
    _row("--literature", "one recipe is named", 2, "the list has"),
    _row("--all --set", "`recipes` has no NAME", 2, "there is no recipe to print"),
    _row("--mlir-print-debuginfo --output", "`opt` has --verify-diagnostics", 2, "writes no "
         "module"),
)  # fmt: skip
"""The conditions, in an order for readers. A test calls each command in each condition."""

ALWAYS: Final = {
    "--strict --require --report --check --again --partial --timeout --memory-limit --snr "
    "--runs --explain --worst": "are conditions, bounds and permissions: nothing is told "
    "if they hold, or if there is nothing to permit",
    "--format --quiet --target-version --print-ir-after-all --mlir-timing --split-input-file "
    "--verify-diagnostics --sort --verbose": "decide about the form of what there is",
    "--only --anywhere --turns --backend --merge --formats --recipes --pass-pipeline --inverse "
    "--memory": "decide what is done with what there is, and the output has it",
}
"""The other options by what they do."""


def section() -> Iterator[str]:
    """Yields the lines of the section."""
    yield from ("## Options without effect", "", _INTRODUCTION, "")
    yield from ("| options | without effect if | exit status | what is read |", "|---|---|---|---|")
    for each in INERT:
        flags = ", ".join(f"`{flag}`" for flag in each.options)
        yield f"| {flags} | {each.when} | {each.code} | {each.told} |"
    yield ""
    for flags, about in ALWAYS.items():
        yield f"{', '.join(f'`{flag}`' for flag in flags.split())} {about}."
        yield ""


_INTRODUCTION: Final = """\
An option that can do nothing is refused, or told beside the result. [Recipes](recipes.md) has the
options of recipes, which --set sets. The last column is a part of what is read."""
