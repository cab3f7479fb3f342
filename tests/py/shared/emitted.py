"""A training step of a transformer, and readers of what a rewrite emits for its matmuls."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
import optax

import scalify_hlo
from examples.training import cross_entropy, training_step
from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from tests.py.shared.judge import main_of, parse, program_of, shaped

# A program: blocks of a transformer with a head of its own, and AdamW.
#
# All sizes are distinct, so that the shape of a result tells what a matmul computes.

BATCH, SEQUENCE, WIDTH, HEADS, DEPTH, MIDDLE, VOCABULARY = 2, 96, 256, 2, 160, 384, 512
LINEAR: Final = ("q", "k", "v", "out", "up", "down")
SHAPES: Final = {
    **dict.fromkeys("qkv", (WIDTH, HEADS * DEPTH)),
    "out": (HEADS * DEPTH, WIDTH),
    "up": (WIDTH, MIDDLE),
    "down": (MIDDLE, WIDTH),
}


def block(p: Any, x: jax.Array) -> Any:
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * p["gain"]
    q, k, v = (
        (normed @ p[name]).reshape(*x.shape[:2], HEADS, DEPTH).transpose(0, 2, 1, 3)
        for name in "qkv"
    )
    weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / DEPTH**0.5)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(*x.shape[:2], HEADS * DEPTH)
    x = x + mixed @ p["out"]
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def loss(p: Any, tokens: jax.Array) -> jax.Array:
    x = p["embedding"][tokens[:, :-1]]
    for layer in p["blocks"]:
        x = block(layer, x)
    return cross_entropy(x @ p["head"], tokens[:, 1:])


def abstract(blocks: int) -> tuple[Any, Any, Any]:
    layer = {"gain": shaped(WIDTH)}
    layer |= {name: shaped(*shape) for name, shape in SHAPES.items()}
    params = {
        "embedding": shaped(VOCABULARY, WIDTH),
        "blocks": [layer] * blocks,
        "head": shaped(WIDTH, VOCABULARY),
    }
    tokens = shaped(BATCH, SEQUENCE + 1, dtype=np.int32)
    return params, jax.eval_shape(optax.adamw(1e-3).init, params), tokens


@cache
def step(blocks: int = 2) -> jax.export.Exported:
    return program_of(training_step(loss, optax.adamw(1e-3)), *abstract(blocks))


@cache
def inference() -> jax.export.Exported:
    params, _, tokens = abstract(1)
    return program_of(lambda p, t: block(p["blocks"][0], p["embedding"][t]), params, tokens)


# Readers of emitted programs.


@dataclass(frozen=True)
class Operand:
    """An operand of a matmul, as the program computes it.

    Attributes:
        format: Its element type, or that of the data that it is computed from.
        scale: The shape of its scales, before they are repeated for rows; () for one.
        shape: The shape of its data.
        random: Whether bits are drawn to round it.
        mixed: Whether it was multiplied by a matrix of 16 x 16 before.
        size: The factor of the data, if it is a constant of the program.
        exact: Whether that is a quotient of the largest number of the format, and no power of two.
    """

    format: str
    scale: tuple[int, ...]
    shape: tuple[int, ...]
    random: bool
    mixed: bool
    size: float
    exact: bool

    @property
    def wide(self) -> bool:
        return self.format == "f32"

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Matmul:
    """A matmul.

    Attributes:
        kind: ``forward``, ``dgrad``, ``wgrad``, ``product``, or ``head``.
        lhs: Its left operand.
        rhs: Its right operand.
        scales: The element type of the scales of blocks, if it takes them as operands.
        elements: The number of elements of the result.
    """

    kind: str
    lhs: Operand
    rhs: Operand
    scales: str
    elements: int

    @property
    def formats(self) -> tuple[str, str]:
        return self.lhs.format, self.rhs.format


LARGEST: Final = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
_SMALL: Final = re.compile(r"f[48]E\w+")


def element_of(type_: ir.Type) -> str:
    return str(type_.element_type)


def _owners(value: ir.Value, *, stops: frozenset[str]) -> Iterator[ir.Operation]:
    """Yields the ops that compute a value, nearest first, up to other matmuls."""
    waiting, seen = [value], set[int]()
    while waiting:
        value = waiting.pop(0)
        if isinstance(value.owner, ir.Block):
            continue
        op = value.owner.operation
        if hash(op) in seen:
            continue
        seen.add(hash(op))
        yield op
        if op.name not in stops or _mixes(op):
            waiting += op.operands


_MATMULS: Final = frozenset({"stablehlo.dot_general", "stablehlo.composite"})


def _mixes(op: ir.Operation) -> bool:
    return op.name == "stablehlo.dot_general" and list(op.operands[1].type.shape) == [16, 16]


def _elements(shape: Sequence[int]) -> int:
    return math.prod(shape)


def _narrow(value: ir.Value) -> ir.Value | None:
    """Returns the f8 or f4 data that an operand is, or is widened from."""
    count = _elements(value.type.shape)
    for op in _owners(value, stops=_MATMULS):
        for each in op.results:
            if _SMALL.fullmatch(element_of(each.type)) and _elements(each.type.shape) >= count:
                return each
        if op.name == "stablehlo.convert" and element_of(op.operands[0].type) == "f32":
            return None
    return None


def _scaled(data: ir.Value) -> tuple[tuple[int, ...], float]:
    """Returns the shape of the factors of data before their cast, and the factor if it is known."""
    wide = 0
    for op in _owners(data, stops=_MATMULS):
        if op.name == "stablehlo.multiply" and _elements(op.results[0].type.shape) >= wide:
            for factor in op.operands:
                made = factor.owner
                if isinstance(made, ir.Block):
                    continue
                if made.name == "stablehlo.broadcast_in_dim":
                    return tuple(made.operands[0].type.shape), _constant(made.operands[0])
                if made.name == "stablehlo.constant":
                    return (), _constant(factor)
        if op.name in ("stablehlo.dot_general", "stablehlo.composite"):
            break
    return (), 1.0


def _constant(value: ir.Value) -> float:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "stablehlo.constant":
        return math.nan
    attribute = ir.DenseElementsAttr(op.attributes["value"])
    if not attribute.is_splat:
        return math.nan
    return float(np.asarray(attribute.get_splat_value().value))


def _operand(value: ir.Value) -> Operand:
    data = _narrow(value)
    if data is None:
        shape = tuple(value.type.shape)
        return Operand(
            element_of(value.type), (), shape, random=False, mixed=False, size=1.0, exact=False
        )
    chain = list(_owners(data, stops=_MATMULS))
    shape, size = _scaled(data)
    return Operand(
        element_of(data.type),
        shape,
        tuple(data.type.shape),
        random=any(op.name == "stablehlo.rng_bit_generator" for op in chain),
        mixed=any(map(_mixes, chain)),
        size=size,
        exact=any(_divides_largest(op, element_of(data.type)) for op in chain),
    )


def _divides_largest(op: ir.Operation, format_: str) -> bool:
    """Whether an op divides the largest number of a format by other numbers."""
    return op.name == "stablehlo.divide" and _constant(op.operands[0]) == LARGEST.get(format_)


def _kind(op: ir.Operation, *, backward: bool) -> str:
    """Returns what a matmul computes, by the sizes of its result and of its operands."""
    count = _elements(op.results[0].type.shape)
    sizes = [_elements(value.type.shape) for value in list(op.operands)[:2]]
    everything = [count, *sizes]
    if WIDTH * VOCABULARY in everything:
        return "head"
    weights = {_elements(shape) for shape in SHAPES.values()}
    if count in weights:
        return "wgrad"
    if not weights & {*sizes}:
        return "product"
    return "dgrad" if backward else "forward"


@cache
def matmuls(name: str, blocks: int = 2, signature: str = "same") -> list[Matmul]:
    return list(_matmuls(rewritten(name, blocks, signature)))


@cache
def rewritten(name: str, blocks: int = 2, signature: str = "same") -> jax.export.Exported:
    made: jax.export.Exported = scalify_hlo.rewrite(step(blocks), recipe=name, signature=signature)
    return made


def _matmuls(program: jax.export.Exported) -> Iterator[Matmul]:
    module, backward = parse(program.mlir_module()), False
    for op in ops_in(main_of(module)):
        if op.name not in _MATMULS or _mixes(op):
            continue
        lhs, rhs, *scales = op.operands
        element = element_of(scales[0].type) if scales else ""
        kind = _kind(op, backward=backward)
        backward |= kind == "head"  # The head is the last forward matmul.
        yield Matmul(
            kind, _operand(lhs), _operand(rhs), element, _elements(op.results[0].type.shape)
        )


def by_kind(name: str, blocks: int = 2) -> Mapping[str, list[Matmul]]:
    found: dict[str, list[Matmul]] = {}
    for matmul in matmuls(name, blocks):
        found.setdefault(matmul.kind, []).append(matmul)
    return found
