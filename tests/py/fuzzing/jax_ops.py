"""Ops of jax that random functions are made of, and the values that they use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.py.fuzzing.steps import Step, Steps

Values = dict[str, list[tuple[str, Any]]]
"""Values with names, by kind: ``batch`` (b, 4), ``square`` (4, 4), ``row`` (4,), ``one`` ()."""

Ops: TypeAlias = "Mapping[str, Callable[[Scope, Step], None]]"

SIZE = 4
ROWS = 3
DTYPES: Mapping[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
SHAPED = ("batch", "square", "row", "one")
ARGUMENTS = (
    ("x", "batch"),
    ("y", "batch"),
    ("w", "square"),
    ("v", "square"),
    ("g", "row"),
    ("s", "one"),
    ("i", "indices"),
)


def shape_of(kind: str, rows: Any) -> tuple[Any, ...]:
    return {
        "batch": (rows, SIZE),
        "square": (SIZE, SIZE),
        "row": (SIZE,),
        "one": (),
        "indices": (2,),
    }[kind]


class Scope:
    """The values that steps can use; those of a kind that is missing are made.

    Args:
        values: The values.
        ops: What steps do, by their kind.
    """

    def __init__(self, values: Mapping[str, Sequence[tuple[str, Any]]], ops: Ops) -> None:
        self.ops = ops
        self.values: Values = {kind: list(found) for kind, found in values.items()}

    def pick(self, step: Step, slot: int, kind: str) -> Any:
        return step.pick(slot, self.values[kind], lambda pair: pair[0])[1]

    def add(self, step: Step, kind: str, value: Any) -> None:
        self.values[kind].append((f"s{step.number}.{len(self.values[kind])}", value))

    def inside(self) -> Scope:
        return Scope(self.values, self.ops)

    def run(self, steps: Steps) -> Scope:
        """Does steps one after the other."""
        for step in steps:
            self.ops[step.kind](self, step)
        return self

    def replaced(self, step: Step, **given: Any) -> Scope:
        """A scope with one value more of each kind named, the first choice of none."""
        scope = self.inside()
        for kind, value in given.items():
            scope.values[kind].append((f"in{step.number}", value))
        return scope


_UNARY: tuple[Callable[[Any], Any], ...] = (
    jnp.tanh,
    jnp.sin,
    jnp.exp,
    jnp.abs,
    jnp.negative,
    jnp.sign,
    jnp.floor,
    jnp.square,
    lambda a: jnp.sqrt(jnp.abs(a)),
    lambda a: lax.rsqrt(jnp.abs(a) + 0.125),
    lambda a: jnp.log(jnp.abs(a) + 1),
    lambda a: jnp.log1p(jnp.abs(a)),
    lambda a: 1 / (1 + a * a),
    jax.nn.relu,
    jax.nn.silu,
    jax.nn.sigmoid,
    jax.nn.softplus,
    jax.nn.leaky_relu,
    partial(jax.nn.gelu, approximate=True),
    lambda a: a.astype(jnp.bfloat16).astype(a.dtype),
    lambda a: jnp.where(jnp.isfinite(a), a, 0),
    lambda a: jnp.clip(a, -1.5, 2.0),
    lambda a: jnp.nan_to_num(a, posinf=3.0, neginf=-3.0),
    lax.stop_gradient,
    lax.optimization_barrier,
)
_BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    jnp.add,
    jnp.subtract,
    jnp.multiply,
    jnp.divide,
    jnp.maximum,
    jnp.minimum,
    jnp.multiply,
    jnp.add,
    jnp.arctan2,
    lambda a, b: jnp.where(a > b, a, 2 * b),
    lambda a, b: (a.astype(jnp.bfloat16) * b.astype(jnp.bfloat16)).astype(a.dtype),
)


def _unary(scope: Scope, step: Step) -> None:
    random = step.random()
    kind = random.choice(SHAPED)
    scope.add(step, kind, random.choice(_UNARY)(scope.pick(step, 0, kind)))


def _binary(scope: Scope, step: Step) -> None:
    random = step.random()
    kind, other = random.choice(
        (
            *((k, k) for k in SHAPED),
            ("batch", "row"),
            ("square", "row"),
            ("batch", "one"),
            ("square", "one"),
            ("row", "one"),
        )
    )
    function = random.choice(_BINARY)
    scope.add(step, kind, function(scope.pick(step, 0, kind), scope.pick(step, 1, other)))


def _product(scope: Scope, step: Step) -> None:
    random = step.random()
    batch, square, row = (scope.pick(step, i, k) for i, k in enumerate(SHAPED[:3]))
    other = scope.pick(step, 5, "batch")
    which = random.randrange(6)
    if which == 0:
        scope.add(step, "batch", batch @ square)
    elif which == 1:
        scope.add(step, "batch", batch @ square.T)
    elif which == 2:
        scope.add(step, "square", other.T @ batch)
    elif which == 3:
        scope.add(step, "square", square @ scope.pick(step, 6, "square"))
    elif which == 4:
        scope.add(step, "row", square @ row)
    else:
        scope.add(step, "batch", jnp.einsum("bi,bj,ij->bi", batch, other, square))


def _attention(scope: Scope, step: Step) -> None:
    q, k, v = (scope.pick(step, i, "batch") for i in range(3))
    scores = q @ k.T / 2.0
    if step.random().random() < 0.5:
        mask = jnp.tril(jnp.ones((q.shape[0], q.shape[0]), bool))
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    scope.add(step, "batch", jax.nn.softmax(scores, -1) @ v)


def _norm(scope: Scope, step: Step) -> None:
    x, gain = scope.pick(step, 0, "batch"), scope.pick(step, 1, "row")
    if step.random().random() < 0.5:
        x = x - jnp.mean(x, -1, keepdims=True)
    scope.add(step, "batch", x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain)


def _total(scope: Scope, step: Step) -> None:
    random = step.random()
    kind = random.choice(("batch", "square"))
    x = scope.pick(step, 0, kind)
    function: Any = random.choice(
        (jnp.sum, jnp.max, jnp.min, jnp.mean, jax.nn.logsumexp, jnp.std, jnp.linalg.norm)
    )
    if random.random() < 0.5:
        scope.add(step, "row", function(x, axis=0))
    else:
        scope.add(step, "one", function(x))


def _combiner(step: Step) -> Callable[[Any, Any], Any]:
    """The body of a reduction, of a few ops."""
    random = step.random()
    first, then = random.choice(_BINARY[:6]), random.choice((*_BINARY[:6], None))
    last = random.choice((None, jnp.tanh, jnp.abs, jnp.negative, lambda a: a * 0.5))

    def combine(a: Any, b: Any) -> Any:
        c = first(a, b)
        c = c if then is None else then(c, random.choice((a, b)))
        return c if last is None else last(c)

    return combine


def _reduce(scope: Scope, step: Step) -> None:
    x, start = scope.pick(step, 0, "square"), scope.pick(step, 1, "one")
    kind = step.random().randrange(3)
    combine = _combiner(step)
    if kind == 0:
        scope.add(step, "row", lax.reduce(x, start, combine, (step.seed % 2,)))
    elif kind == 1:
        window = lax.reduce_window(x, jnp.zeros((), x.dtype), combine, (2, 1), (1, 1), "SAME")
        scope.add(step, "square", window)
    else:
        pairs: Any = lax.reduce(
            (x, scope.pick(step, 2, "square")),
            (start, jnp.zeros((), x.dtype)),
            lambda a, b: (combine(a[0], b[0]), jnp.maximum(a[1], b[1]) * 0.5 + a[0]),
            (1,),
        )
        scope.add(step, "row", pairs[0])
        scope.add(step, "row", pairs[1])


def _running(scope: Scope, step: Step) -> None:
    random = step.random()
    x = scope.pick(step, 0, "square")
    function: Any = random.choice(
        (jnp.cumsum, lax.cummax, lax.cummin, jnp.cumprod, lax.cumlogsumexp)
    )
    scope.add(step, "square", function(x, axis=random.randrange(2)))


def _associative(scope: Scope, step: Step) -> None:
    x = scope.pick(step, 0, "square")
    scope.add(step, "square", lax.associative_scan(_combiner(step), x))


def _ordered(scope: Scope, step: Step) -> None:
    random = step.random()
    x, other = scope.pick(step, 0, "square"), scope.pick(step, 1, "square")
    if random.random() < 0.5:
        found = lax.sort((x, other), dimension=random.randrange(2), num_keys=random.choice((1, 2)))
        scope.add(step, "square", found[0])
        scope.add(step, "square", found[1])
    else:
        scope.add(step, "square", jnp.take_along_axis(other, jnp.argsort(x, 1), 1))


def _indexed(scope: Scope, step: Step) -> None:
    random = step.random()
    x, row = scope.pick(step, 0, "square"), scope.pick(step, 1, "row")
    i = scope.pick(step, 2, "indices")
    which = random.randrange(4)
    if which == 0:
        method = random.choice(("add", "multiply", "max", "min", "set"))
        # The interpreter scatters in place, so the operand is one of its own.
        scope.add(step, "square", getattr((x - 1).at[i], method)(row * 2))
    elif which == 1:
        scope.add(step, "row", jnp.sum(x[i], 0))
    elif which == 2:
        scope.add(step, "row", lax.dynamic_slice(x, (i[0], i[1]), (1, SIZE))[0])
    else:
        updated = lax.dynamic_update_slice(x, row[None], (i[0], jnp.zeros((), i.dtype)))
        scope.add(step, "square", updated)


def _moved(scope: Scope, step: Step) -> None:
    random = step.random()
    x, row = scope.pick(step, 0, "batch"), scope.pick(step, 1, "row")
    which = random.randrange(5)
    if which == 0:
        scope.add(step, "batch", jnp.concatenate([x, row[None], x])[: x.shape[0]])
    elif which == 1:
        scope.add(step, "batch", jnp.roll(x, 1, 1))
    elif which == 2:
        scope.add(step, "square", jnp.pad(row[None], ((1, 2), (0, 0)), constant_values=3.0))
    elif which == 3:
        scope.add(step, "square", jnp.outer(row, row))
    else:
        scope.add(step, "batch", jnp.flip(x, 1) + jnp.arange(SIZE, dtype=x.dtype))


def _convolution(scope: Scope, step: Step) -> None:
    x, kernel = scope.pick(step, 0, "square"), scope.pick(step, 1, "square")[:3, :3]
    result = lax.conv_general_dilated(x[None, None], kernel[None, None], (1, 1), "SAME")
    scope.add(step, "square", result[0, 0])


def _constant(scope: Scope, step: Step) -> None:
    rng = np.random.default_rng(step.seed)
    kind = step.random().choice(("square", "row", "one"))
    dtype = scope.pick(step, 0, "one").dtype
    scope.add(step, kind, jnp.asarray(rng.standard_normal(shape_of(kind, 0)), dtype))


OPS: Mapping[str, Callable[[Scope, Step], None]] = {
    "unary": _unary,
    "binary": _binary,
    "product": _product,
    "attention": _attention,
    "norm": _norm,
    "total": _total,
    "reduce": _reduce,
    "running": _running,
    "associative": _associative,
    "ordered": _ordered,
    "indexed": _indexed,
    "moved": _moved,
    "convolution": _convolution,
    "constant": _constant,
}
