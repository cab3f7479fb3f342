"""The ops that `scalify-roles` marked for the passes that quantize."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import BODIES, BRANCHES, LOOP
from scalify_hlo.analysis.listing import Listing
from scalify_hlo.analysis.matmuls import MATMULS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.walk import ops_in

MARKS = frozenset(
    {
        *(attributes.ROLES, attributes.SITE, attributes.VOCABULARY, attributes.LAST),
        *(attributes.MEMBERS, attributes.INDEPENDENT),
    }
)
"""The attributes that `scalify-roles` writes on matmuls for the pass that quantizes them."""

LEFT = (
    attributes.STATE_GRADIENT,
    attributes.PART,
    attributes.MATMUL,
    attributes.SWAPPED,
)
"""The attributes of `scalify-roles` that the last quantizing pass removes."""

_WITH_OPS = BODIES | BRANCHES | {LOOP}
"""The ops with regions in `main` that may contain marked ops."""


def marked_ops(module: ir.Operation, listing: Listing | None = None) -> list[ir.OpView]:
    """Returns the matmuls, and the ops that make gradients of weights, in the order of a walk.

    Args:
        module: The module.
        listing: The ops of `main`, if they were listed.
    """
    gradient = attributes.STATE_GRADIENT

    def is_marked(name: str, op: ir.Operation) -> bool:
        return name in MATMULS or gradient in op.attributes

    if listing is None:
        return [op.opview for op in _found(module, None, is_marked)]
    main, found = main_function(module), []
    for function in module.regions[0].blocks[0].operations:
        listed = listing if function == main else None
        found += [op.opview for op in _found(function.operation, listed, is_marked)]
    return found


def marked_matmuls(main: ir.OpView, listing: Listing | None = None) -> list[ir.Operation]:
    """Returns the matmuls of a function that have roles, in the order of a walk.

    Args:
        main: The function.
        listing: Its ops, if they were listed.
    """
    roles = attributes.ROLES
    return _found(
        main.operation, listing, lambda name, op: name in MATMULS and roles in op.attributes
    )


def _found(
    around: ir.Operation,
    listing: Listing | None,
    kind: Callable[[str, ir.Operation], bool],
) -> list[ir.Operation]:
    """Returns the ops inside of another one that are of a kind; only marked ones are.

    Args:
        around: The op.
        listing: The ops of its block, if it is a function whose ops were listed.
        kind: Whether an op, given with its name, is of the kind.
    """
    if listing is None:
        return ops_in(around, where=lambda op: kind(op.name, op))
    found: list[ir.Operation] = []
    names = listing.with_roles
    for name, op in listing.ops[: listing.touched]:
        if name in _WITH_OPS:
            found += ops_in(op, where=lambda op: kind(op.name, op))
        elif (names is None or name in names) and kind(name, op):
            found.append(op)
    return found


def clear(op: ir.OpView, marks: Iterable[str]) -> None:
    """Removes attributes from an op."""
    present = op.attributes
    for mark in marks:
        if mark in present:
            del present[mark]


def roles_of(op: ir.OpView) -> list[str]:
    """Returns the roles of a matmul's operands."""
    return attributes.texts(op.attributes[attributes.ROLES])
