"""Facts about a program and its inputs that a comparison needs before any run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.analysis.depth import levels_of
from scalify_hlo.choose.sites import keys_of
from scalify_hlo.deep import run_deep
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.value_map import erase, erase_argument, replace_uses
from scalify_hlo.dialect.walk import ops_in
from scalify_hlo.errors import UsageError
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.tensors import Array, Interface
from scalify_hlo.io.wellformed import located
from scalify_hlo.observe.feeding import carried_state
from scalify_hlo.observe.numbering import inline_numbered
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.rules.probes import probes_of
from scalify_hlo.run.given import Sample, flat_arguments


def flat_inputs(
    described: Interface, exported: Any, samples: Sequence[Sample]
) -> list[list[Array]]:
    """Returns the flat arguments of each step.

    Raises:
        UsageError: There are none, or they do not fit the program, or each other.
    """
    if not samples:
        raise UsageError(
            "there are no inputs to run the program with", hint="give an array for each argument"
        )
    names = (
        ["the inputs"] if len(samples) == 1 else [f"inputs {i + 1}" for i in range(len(samples))]
    )
    found = [
        flat_arguments(described, exported, sample, name)
        for sample, name in zip(samples, names, strict=True)
    ]
    shapes = [[array.shape for array in values] for values in found]
    for name, each in zip(names, shapes, strict=True):
        if each != shapes[0]:
            raise UsageError(
                f"{name} have other shapes than the first",
                hint="give inputs of the same shapes, or compare on each by itself",
            )
    return found


def name_arguments(module: ir.Module, names: Sequence[str]) -> None:
    """Gives the arguments of a program names, which a refinement of its shapes drops.

    Args:
        module: The program, which is edited.
        names: The names.
    """
    with module.context:
        main = main_function(module.operation)
        if main is None:
            return
        block = main.regions[0].blocks[0]
        for old, name in zip(list(block.arguments), names, strict=True):
            replace_uses(old, block.add_argument(old.type, ir.Location.name(name)))
        for _ in names:
            erase_argument(block, 0)


def carried_results(module: ir.Module, name: str, *, required: bool) -> dict[int, int]:
    """Returns the results that are arguments of the next call.

    Raises:
        UsageError: There is none, and some are required.
    """
    try:
        return carried_state(module, name)
    except UsageError:
        if required:
            raise
        return {}


class Named(NamedTuple):
    """The names of a program's arguments and matmuls.

    Attributes:
        roles: The roles of arguments by their names.
        sites: The site of each matmul by the number of its op.
        rewritten: The same for matmuls of a rewrite. One of swapped operands has the number of the
            transpose whose place it takes.
    """

    roles: dict[str, str]
    sites: dict[int, str]
    rewritten: dict[int, str]


def named_sites(base: ir.Module, name: str) -> Named:
    """Returns the roles of arguments, and the sites of matmuls.

    Args:
        base: The module, whose ops are numbered.
        name: Its name in errors.
    """
    module = copy_module(base)
    with located(name):
        roles = run_passes(module, [RolesPass()]).roles
    found: dict[int, tuple[str, bool]] = {}
    moved: dict[int, int] = {}
    with module.context:
        for op in ops_in(module.operation, where=lambda op: attributes.SITE in op.attributes):
            number = _number(op)
            if number is None:
                continue
            vocabulary = attributes.VOCABULARY in op.attributes
            found[number] = op.attributes[attributes.SITE].value, vocabulary
            users = [use.owner.operation for use in op.results[0].uses]
            transposes = (_number(user) for user in users if user.name == "stablehlo.transpose")
            moved.update((each, number) for each in transposes if each is not None)
    sites = dict(zip(found, keys_of(list(found.values())), strict=True))
    return Named(roles, sites, sites | {each: sites[number] for each, number in moved.items()})


def _number(op: ir.Operation) -> int | None:
    """Returns the number of an op; None if it has none."""
    if attributes.VALUE_NUMBER not in op.attributes:
        return None
    return int(ir.IntegerAttr(op.attributes[attributes.VALUE_NUMBER]).value)


def require_one_step(command: str, samples: Sequence[Sample]) -> None:
    """Checks that there are inputs of one step only.

    Args:
        command: The name of the command in the error.
        samples: The inputs of steps.

    Raises:
        UsageError: There are inputs of several steps.
    """
    if len(samples) > 1:
        raise UsageError(
            f"{command} runs one step, and there are inputs of {len(samples)} steps",
            hint="give those of one step",
        )


def inline_and_erase_probes(module: ir.Module) -> ir.OpView | None:
    """Inlines the calls of a numbered rewrite, and erases its probes.

    Args:
        module: The rewrite, which is edited.

    Returns:
        Its entry function; None if there is none.
    """
    run_deep(lambda: _inline(module), levels_of(module.operation))
    main = main_function(module.operation)
    if main is not None:
        _erase_probes(main)
    return main


def _inline(module: ir.Module) -> None:
    with module.context, ir.Location.unknown():
        inline_numbered(module.operation)


def _erase_probes(main: ir.OpView) -> None:
    for op in probes_of(main):
        erase(op)
