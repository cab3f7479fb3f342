"""The formats that patterns of names give to arguments that are state."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.errors import Remark, UsageError, nearest
from scalify_hlo.ir.formats import element_of, element_type
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.patterns import is_like_any, matches, path_of
from scalify_hlo.recipes.model import KEEP, StateOptions


def by_argument(main: ir.OpView, recipe: StateOptions) -> list[StateOptions]:
    """Returns the options of each argument, without patterns."""
    names = attributes.argument_names(main)
    if next(recipe.patterns, None) is None:
        return [recipe] * len(names)
    fitting = (partial(_is_of, name=name, number=number) for number, name in enumerate(names))
    return [recipe.of(fits) for fits in fitting]


def _is_of(pattern: str, name: str, number: int) -> bool:
    """Whether a pattern matches an argument, or the last steps of its path.

    The weights and both moments of a layer differ in the first steps of their paths alone.
    """
    steps = path_of(name).split("/")
    ends = ("/".join(steps[i:]) for i in range(1, len(steps)))
    return matches(pattern, name, number) or is_like_any(pattern, ends)


def of_result(
    mark: Attributes, options: Sequence[StateOptions], recipe: StateOptions
) -> StateOptions:
    """Returns the options of the argument that a result replaces in the next step.

    Args:
        mark: The attributes of the result.
        options: The options of each argument.
        recipe: The options of other results.
    """
    carried = mark.get(attributes.CARRIES)
    return recipe if carried is None else options[ir.IntegerAttr(carried).value]


def some(names: Sequence[str]) -> str:
    """Returns the first of some names, and the number of others."""
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def without_tensors(
    main: ir.OpView,
    recipe: StateOptions,
    found: Container[str],
    is_told: Callable[[Attributes, StateOptions], bool],
) -> Iterator[Remark]:
    """Yields a remark for each pattern that matches tensors which do not get its format.

    Args:
        main: The entry function, after its state was cast.
        recipe: The options of the recipe.
        found: The options that have an effect on some tensor; other remarks tell of others.
        is_told: Whether another remark says why an argument keeps its format.

    Raises:
        UsageError: A pattern matches no argument.
    """
    names, marks = attributes.argument_names(main), attributes.argument_attributes(main)
    arguments, options = main.regions[0].blocks[0].arguments, by_argument(main, recipe)
    for option, pattern, format_ in recipe.patterns:
        key = f'state.{option}."{pattern}"'
        meant = [i for i, name in enumerate(names) if _is_of(pattern, name, i)]
        if not meant:
            near = nearest(pattern, [*map(path_of, names)])
            raise UsageError(f"{key} matches no argument{near}", hint=_LISTED)
        fitting = [i for i in meant if attributes.role_of(marks[i]) in _ROLES.get(option, {option})]
        chosen = [i for i in fitting if getattr(options[i], option) == format_]
        if option not in found:
            continue  # `without_state` says that no argument has the format.
        if not chosen:
            reason = "later patterns match the same arguments" if fitting else _NONE.format(option)
            yield remark(main, f"{key} has no effect: {reason}", f"leave out {key}")
        kept = [
            names[i]
            for i in chosen
            if not (format_ == KEEP or _has(arguments[i], marks[i], format_))
            and not is_told(marks[i], options[i])
        ]
        if kept:
            message = f"keeps the format of {some(kept)}, of which {key} asks for {format_}"
            yield remark(main, f"{message}: {_APPLIES[option]}", _HINT)


def _has(argument: ir.Value, mark: Attributes, format_: str) -> bool:
    """Whether an argument is stored in a format, in blocks or with one scale."""
    packed = attributes.PACKED in mark
    return packed or element_type(argument.type) == element_of(format_)


_ROLES: Final = {"weight": {"weight", ""}, "frozen": {"weight", ""}}
"""The roles of the arguments to which options of weights may apply: frozen ones may have none."""

_NONE: Final = "it matches no argument with the role {}"

_APPLIES: Final = {
    "weight": "it applies to pairs of weights, which a step returns or only quantized matmuls read",
    "frozen": "it applies to pairs of weights that only quantized matmuls read",
    "first_moment": "it applies to pairs of first moments of known sizes",
    "second_moment": "it applies to pairs of second moments of known sizes",
}
"""The tensors to which the formats of each option apply."""

_HINT: Final = (
    "make the pattern match fewer arguments, or declare roles with [inputs] in the recipe"
)

_LISTED: Final = (
    "`scalify-hlo inspect --arguments` lists arguments with their names; a pattern is of a whole "
    "name, or of the end of a path, as in base/*"
)
