"""Random functions of jax, exported: control flow, transformations, unknown sizes, pytrees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

from tests.py.fuzzing.jax_ops import ARGUMENTS, DTYPES, OPS, ROWS, SHAPED, Scope, shape_of
from tests.py.fuzzing.steps import Step, Steps, draw_steps
from tests.py.shared.judge import Array


def _inner(
    scope: Scope, step: Step, which: int = 0, kinds: Sequence[str] = ("batch", "square")
) -> Callable[..., tuple[Any, ...]]:
    """A body as a function of one value of each kind, which captures what else it uses."""

    def function(*given: Any) -> tuple[Any, ...]:
        inner = scope.replaced(step, **dict(zip(kinds, given, strict=True)))
        inner.run(step.bodies[which])
        return tuple(inner.pick(step, 30 + i, kind) for i, kind in enumerate(kinds))

    return function


def _taken(scope: Scope, step: Step) -> tuple[Any, Any]:
    return scope.pick(step, 10, "batch"), scope.pick(step, 11, "square")


def _keep(scope: Scope, step: Step, values: Sequence[Any]) -> None:
    for kind, value in zip(("batch", "square"), values, strict=True):
        scope.add(step, kind, value)


def _jit(scope: Scope, step: Step) -> None:
    function = jax.jit(_inner(scope, step))
    values = function(*_taken(scope, step))
    if step.random().random() < 0.5:
        values = function(*values)
    _keep(scope, step, values)


def _remat(scope: Scope, step: Step) -> None:
    _keep(scope, step, jax.checkpoint(_inner(scope, step))(*_taken(scope, step)))


def _cond(scope: Scope, step: Step) -> None:
    branches = [_inner(scope, step, i) for i in range(len(step.bodies))]
    taken = _taken(scope, step)
    if len(branches) == 2:
        positive = scope.pick(step, 12, "one") > 0
        _keep(scope, step, lax.cond(positive, *branches, *taken))
    else:
        _keep(scope, step, lax.switch(scope.pick(step, 12, "indices")[0], branches, *taken))


def _scan(scope: Scope, step: Step) -> None:
    random = step.random()
    body = _inner(scope, step)

    def turn(carry: Any, row: Any) -> tuple[Any, Any]:
        batch, square = body(*carry)
        return (batch + row, square), jnp.sum(batch) * row

    rows = scope.pick(step, 13, "square")
    carry, sums = lax.scan(turn, _taken(scope, step), rows[: random.randrange(1, 4)])
    _keep(scope, step, carry)
    scope.add(step, "row", jnp.sum(sums, 0))


def _loop(scope: Scope, step: Step) -> None:
    body = _inner(scope, step)
    turns = step.random().randrange(4)
    taken = _taken(scope, step)
    _keep(scope, step, lax.fori_loop(0, turns, lambda _, carry: body(*carry), taken))


def _while(scope: Scope, step: Step) -> None:
    body = _inner(scope, step)

    def go_on(carry: Any) -> Any:
        return (carry[0] < 3) & (jnp.max(carry[2]) < 1e3)

    start = (jnp.zeros((), jnp.int32), *_taken(scope, step))
    carry = lax.while_loop(go_on, lambda c: (c[0] + 1, *body(c[1], c[2])), start)
    _keep(scope, step, carry[1:])


def _grad(scope: Scope, step: Step) -> None:
    body = _inner(scope, step)

    def loss(batch: Any, square: Any) -> Any:
        return sum(jnp.sum(value) for value in body(batch, square))

    value, gradients = jax.value_and_grad(loss, (0, 1))(*_taken(scope, step))
    _keep(scope, step, gradients)
    scope.add(step, "one", value)


def _tangent(scope: Scope, step: Step) -> None:
    taken = _taken(scope, step)
    ones = tuple(map(jnp.ones_like, taken))
    _, tangents = jax.jvp(_inner(scope, step), taken, ones)
    _keep(scope, step, tangents)


def _vmap(scope: Scope, step: Step) -> None:
    function = jax.vmap(_inner(scope, step, kinds=("row", "one")))
    batch, square = _taken(scope, step)
    rows, ones = function(square, batch[0])
    scope.add(step, "square", rows)
    scope.add(step, "row", ones)


def _custom(scope: Scope, step: Step) -> None:
    """A function whose gradient is another than its own."""
    inner = _inner(scope, step)
    half = jax.custom_vjp(lambda a: a * 0.5)
    half.defvjp(lambda a: (a * 0.5, a), lambda a, ct: (ct * jnp.sign(a),))
    batch, square = inner(*_taken(scope, step))
    _keep(scope, step, (half(batch), square))


def _composite(scope: Scope, step: Step) -> None:
    square = _taken(scope, step)[1]
    row = scope.pick(step, 13, "row")

    def function(a: Any, b: Any, *, n: Any) -> Any:
        del n
        inner = scope.inside()
        inner.values = {kind: [] for kind in inner.values}  # a composite captures nothing
        inner.values |= {"batch": [("a", a)], "square": [("a", a)], "row": [("b", b)]}
        inner.values |= {"one": [("c", jnp.sum(b))], "indices": [("i", jnp.arange(2))]}
        inner.run(step.bodies[0])
        return inner.pick(step, 30, "square") + inner.pick(step, 31, "row")

    result = lax.composite(function, name=f"fuzzed.op{step.number}")(square, row, n=np.int32(1))
    scope.add(step, "square", result)


_WITH_BODIES: Mapping[str, Callable[[Scope, Step], None]] = {
    "jit": _jit,
    "remat": _remat,
    "cond": _cond,
    "switch": _cond,
    "scan": _scan,
    "loop": _loop,
    "while": _while,
    "grad": _grad,
    "tangent": _tangent,
    "vmap": _vmap,
    "custom": _custom,
    "composite": _composite,
}
_BODIES = dict.fromkeys(_WITH_BODIES, 1) | {"cond": 2, "switch": 3}
KINDS = (
    dict.fromkeys(OPS, 3)
    | {"unary": 8, "binary": 12, "product": 8}
    | dict.fromkeys(_WITH_BODIES, 2)
)
"""The relative frequency of each kind of step."""
_REVERSIBLE = {kind: often for kind, often in KINDS.items() if kind not in ("while", "composite")}


@dataclass(frozen=True)
class Exported:
    """A random function after jax.export, and its arguments."""

    exported: export.Exported
    arrays: list[Array]

    @property
    def text(self) -> str:
        """The program as MLIR text."""
        return str(self.exported.mlir_module())


def draw(random: Random) -> Steps:
    """The steps of a function."""
    kinds = {kind: often for kind, often in KINDS.items() if kind not in _DIFFERENTIATING}
    steps = draw_steps(random, kinds, _BODIES, 8)
    if random.random() < 0.5:
        return steps
    # What is differentiated has neither loops of unknown length nor composites in it.
    bodies = draw_steps(random, _REVERSIBLE, _BODIES, 4)
    kind = random.choice(_DIFFERENTIATING)
    return (*steps, Step(kind, 1_000_000, random.randrange(2**31), (bodies,)))


_DIFFERENTIATING = ("grad", "tangent")


def export_steps(
    steps: Steps,
    seed: int,
    element: str = "f32",
    *,
    symbolic: bool = False,
    everything: bool = False,
) -> Exported:
    """Exports a random function.

    Args:
        steps: Its steps.
        seed: Of what it returns, its arguments, and how it is exported.
        element: The element type of its floats, ``f32`` or ``f64``.
        symbolic: Whether the size of the batch is not known.
        everything: Whether it returns all values that are not made in a body.
    """
    random = Random(seed)
    donated = random.random() < 0.3
    chosen = [random.choice(SHAPED) for _ in range(random.randint(1, 3))]
    dtype = DTYPES[element]

    def function(params: dict[str, Any], x: Any, y: Any, i: Any) -> Any:
        scope = Scope({kind: [] for kind in (*SHAPED, "indices")}, {**OPS, **_WITH_BODIES})
        for name, kind in ARGUMENTS:
            value = {"x": x, "y": y, "i": i}.get(name, params.get(name))
            scope.values[kind].append((name, value))
        scope.run(steps)
        if everything:
            return [value for kind in SHAPED for _, value in scope.values[kind]]
        last = Step("results", -1, seed)
        results = [scope.pick(last, slot, kind) for slot, kind in enumerate(chosen)]
        made = [
            v for kind in SHAPED for n, v in scope.values[kind] if n.startswith("s") and n != "s"
        ]
        return {"results": results, "last": tuple(made[-2:])}

    with jax.enable_x64(element == "f64"):
        rows: Any = export.symbolic_shape("b")[0] if symbolic else ROWS
        kinds = dict(ARGUMENTS)

        def shaped(name: str) -> jax.ShapeDtypeStruct:
            type_ = np.dtype(np.int32) if name == "i" else dtype
            return jax.ShapeDtypeStruct(shape_of(kinds[name], rows), type_)

        params = {name: shaped(name) for name in "wvgs"}
        jitted = jax.jit(function, donate_argnums=(0,) if donated else (), keep_unused=True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers")
            exported = export.export(jitted)(params, shaped("x"), shaped("y"), shaped("i"))
    return Exported(exported, arrays_of(seed, element))


def arrays_of(seed: int, element: str) -> list[Array]:
    """Arguments in the order in which a pytree is flat."""
    rng = np.random.default_rng(seed)
    kinds, dtype = dict(ARGUMENTS), DTYPES[element]
    arrays = [rng.standard_normal(shape_of(kinds[n], ROWS)).astype(dtype) for n in "gsvwxy"]
    return [*arrays, rng.integers(0, 3, 2).astype(np.int32)]
