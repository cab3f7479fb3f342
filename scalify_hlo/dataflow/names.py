"""Name stacks of jax: the scopes of users in them, and the part of a program that they tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import MATMULS, short

FORWARD: Final = "forward"
BACKWARD: Final = "backward"

_TRANSFORMS: Final = re.compile(r"^(?:(?:jvp|transpose|vmap|linearize)\()*")
"""The transforms that jax writes around a scope, as in ``transpose(jvp(mlp))``."""

_FUNCTION: Final = re.compile(r"(?:jit|pjit|pmap|custom_jvp|custom_vjp|remat)\(.*\)", re.DOTALL)
"""A transform of a function with its name, which is no scope."""

_STRUCTURE: Final = re.compile(
    r"/(?:while/(?:body|cond)|cond/branch_\d+_fun|checkpoint|remat2?|rematted_computation"
    r"|closed_call|core_closed_call|core_call|eval_jaxpr|shard_map|named_call|pjit"
    r"|custom_jvp_call|custom_vjp_call(?:_jaxpr)?|custom_lin)(?=/)"
)
"""The parts that jax writes for control flow, calls and rematerialization."""

_PRIMITIVES: Final = short(MATMULS) | {
    "conv_general_dilated",
    "ragged_dot_general",
    "scaled_matmul",
}
"""The primitives, and ops, that a name stack of a matmul may end in."""

_EINSUM: Final = "->"
"""The sign of a scope that jnp.einsum writes: its subscripts."""


def joined(outer: str, inner: str) -> str:
    """Returns the name stack of an op in a call."""
    return f"{outer}/{inner}" if outer and inner else outer or inner


def name_of(op: ir.OpView | ir.Operation) -> str:
    """Returns the name stack of an op in its function; empty if it has none.

    Around the name stack of a call, jax may write the name of its primitive: ``closed_call:``.
    """
    location = op.location
    if not isinstance(location, ir.NameLoc):
        return ""
    name, inner = str(location.name_str), location.child_loc
    return str(inner.name_str) if name[-1:] == ":" and isinstance(inner, ir.NameLoc) else name


class Scopes(NamedTuple):
    """The scopes around a matmul.

    Attributes:
        path: Their names with slashes between; empty if there are none.
        subscripts: The subscripts of the innermost einsum, with spaces for commas, which separate
            patterns; empty if it is in none.
    """

    path: str
    subscripts: str


@lru_cache(maxsize=1024)
def scopes_of(stack: str) -> Scopes:
    """Returns the scopes of a name stack of a matmul, without what jax adds to them.

    A transposed part of a program that is rematerialized, or has a custom rule, repeats the path to
    it: ``transpose(jvp(block))/jvp(block)/checkpoint/mlp``. The path counts once.

    Example:
        >>> scopes_of("jit(step)/transpose(jvp(block))/jvp(block)/checkpoint/mlp/dot_general").path
        'block/mlp'
    """
    path = _path(stack)
    if path and path[-1] in _PRIMITIVES:
        path.pop()
    subscripts = [scope for scope in path if _EINSUM in scope]
    named = [scope for scope in path if _EINSUM not in scope]
    return Scopes("/".join(named), subscripts[-1].replace(",", " ") if subscripts else "")


@lru_cache(maxsize=1024)
def shown_name(stack: str) -> str:
    """Returns a name stack without what jax adds to it: its scopes, and the primitive of the op.

    Example:
        >>> shown_name("jit(step)/transpose(jvp(block))/while/body/closed_call/mlp/add_any")
        'block/mlp/add_any'
    """
    return "/".join(_path(stack))


def layer_in(stack: str) -> str:
    """Returns the scopes around an op, without its primitive; empty if it is in none."""
    return shown_name(stack).rpartition("/")[0] if "/" in stack else ""


def _path(stack: str) -> list[str]:
    path, transposed = list[str](), False
    for transforms, scopes in _segments(stack):
        if transposed and scopes[: len(path)] == path:
            path = scopes
        else:
            path += scopes
        transposed = transposed or "transpose" in transforms
    return path


def _segments(stack: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the scopes from each derivative to the next one, after the transforms of it."""
    derived, scopes = "", list[str]()
    for part in _parts(_STRUCTURE.sub("", f"/{stack}/")):
        inner = _TRANSFORMS.sub("", part, count=1)
        transforms = part[: len(part) - len(inner)]
        inner = inner.removesuffix(")" * transforms.count("("))
        if "jvp" in transforms or "transpose" in transforms:
            yield derived, scopes
            derived, scopes = transforms, []
        if _FUNCTION.fullmatch(inner) is None:
            scopes += filter(None, inner.split("/"))
    yield derived, scopes


def _parts(stack: str) -> Iterator[str]:
    """Yields the parts of a name stack between slashes that are in no brackets."""
    pieces, depth = list[str](), 0
    for piece in stack.split("/"):
        pieces.append(piece)
        depth += piece.count("(") - piece.count(")")
        if depth <= 0:
            yield "/".join(pieces)
            pieces, depth = [], 0
    yield "/".join(pieces)


def part_of(name: str) -> str | None:
    """Returns the part of the program that a name stack tells; None if it tells none."""
    if "transpose(" in name:
        return FORWARD if "rematted_computation" in name else BACKWARD
    return FORWARD if "jvp(" in name else None


def pass_of(name: str) -> str | None:
    """Returns the pass in which an op of a name stack runs; None if it tells none.

    The backward pass computes parts of the forward pass again.
    """
    return BACKWARD if "transpose(" in name else part_of(name)


def is_backward(place: Place) -> bool:
    """Whether names say that the op that makes a value, or a call around it, is backward."""
    value, outer = place
    owner = value.owner
    names = [] if is_block(owner) else [name_of(owner)]
    frame: Frame | None = outer
    while frame is not None and frame.op is not None:
        names.append(name_of(frame.op))
        frame = frame.outer
    return part_of("/".join(reversed(names))) == BACKWARD
