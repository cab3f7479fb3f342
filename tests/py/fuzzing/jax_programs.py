"""Random functions of jax, exported: control flow, transformations, unknown sizes, pytrees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

from tests.py.fuzzing.steps import Step, Steps, draw_steps
from tests.py.judge import Array

Values = dict[str, list[tuple[str, Any]]]
"""Values with names, by kind: ``batch`` (b, 4), ``square`` (4, 4), ``row`` (4,), ``one`` ()."""

SIZE = 4
ROWS = 3
_DTYPES: Mapping[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_SHAPED = ("batch", "square", "row", "one")
ARGUMENTS = (
    ("x", "batch"),
    ("y", "batch"),
    ("w", "square"),
    ("v", "square"),
    ("g", "row"),
    ("s", "one"),
    ("i", "indices"),
)


def _shape(kind: str, rows: Any) -> tuple[Any, ...]:
    return {
        "batch": (rows, SIZE),
        "square": (SIZE, SIZE),
        "row": (SIZE,),
        "one": (),
        "indices": (2,),
    }[kind]


class _Scope:
    """The values that steps can use; those of a kind that is missing are made."""

    def __init__(self, values: Mapping[str, Sequence[tuple[str, Any]]]) -> None:
        self.values: Values = {kind: list(found) for kind, found in values.items()}

    def pick(self, step: Step, slot: int, kind: str) -> Any:
        return step.pick(slot, self.values[kind], lambda pair: pair[0])[1]

    def add(self, step: Step, kind: str, value: Any) -> None:
        self.values[kind].append((f"s{step.number}.{len(self.values[kind])}", value))

    def inside(self) -> _Scope:
        return _Scope(self.values)

    def run(self, steps: Steps) -> _Scope:
        """Does steps one after the other."""
        for step in steps:
            if step.kind in _WITH_BODIES:
                _WITH_BODIES[step.kind](self, step)
            else:
                _OPS[step.kind](self, step)
        return self

    def replaced(self, step: Step, **given: Any) -> _Scope:
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


def _unary(scope: _Scope, step: Step) -> None:
    random = step.random()
    kind = random.choice(_SHAPED)
    scope.add(step, kind, random.choice(_UNARY)(scope.pick(step, 0, kind)))


def _binary(scope: _Scope, step: Step) -> None:
    random = step.random()
    kind, other = random.choice(
        (
            *((k, k) for k in _SHAPED),
            ("batch", "row"),
            ("square", "row"),
            ("batch", "one"),
            ("square", "one"),
            ("row", "one"),
        )
    )
    function = random.choice(_BINARY)
    scope.add(step, kind, function(scope.pick(step, 0, kind), scope.pick(step, 1, other)))


def _product(scope: _Scope, step: Step) -> None:
    random = step.random()
    batch, square, row = (scope.pick(step, i, k) for i, k in enumerate(_SHAPED[:3]))
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


def _attention(scope: _Scope, step: Step) -> None:
    q, k, v = (scope.pick(step, i, "batch") for i in range(3))
    scores = q @ k.T / 2.0
    if step.random().random() < 0.5:
        mask = jnp.tril(jnp.ones((q.shape[0], q.shape[0]), bool))
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    scope.add(step, "batch", jax.nn.softmax(scores, -1) @ v)


def _norm(scope: _Scope, step: Step) -> None:
    x, gain = scope.pick(step, 0, "batch"), scope.pick(step, 1, "row")
    if step.random().random() < 0.5:
        x = x - jnp.mean(x, -1, keepdims=True)
    scope.add(step, "batch", x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain)


def _total(scope: _Scope, step: Step) -> None:
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


def _reduce(scope: _Scope, step: Step) -> None:
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


def _running(scope: _Scope, step: Step) -> None:
    random = step.random()
    x = scope.pick(step, 0, "square")
    function: Any = random.choice(
        (jnp.cumsum, lax.cummax, lax.cummin, jnp.cumprod, lax.cumlogsumexp)
    )
    scope.add(step, "square", function(x, axis=random.randrange(2)))


def _associative(scope: _Scope, step: Step) -> None:
    x = scope.pick(step, 0, "square")
    scope.add(step, "square", lax.associative_scan(_combiner(step), x))


def _ordered(scope: _Scope, step: Step) -> None:
    random = step.random()
    x, other = scope.pick(step, 0, "square"), scope.pick(step, 1, "square")
    if random.random() < 0.5:
        found = lax.sort((x, other), dimension=random.randrange(2), num_keys=random.choice((1, 2)))
        scope.add(step, "square", found[0])
        scope.add(step, "square", found[1])
    else:
        scope.add(step, "square", jnp.take_along_axis(other, jnp.argsort(x, 1), 1))


def _indexed(scope: _Scope, step: Step) -> None:
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


def _moved(scope: _Scope, step: Step) -> None:
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


def _convolution(scope: _Scope, step: Step) -> None:
    x, kernel = scope.pick(step, 0, "square"), scope.pick(step, 1, "square")[:3, :3]
    result = lax.conv_general_dilated(x[None, None], kernel[None, None], (1, 1), "SAME")
    scope.add(step, "square", result[0, 0])


def _constant(scope: _Scope, step: Step) -> None:
    rng = np.random.default_rng(step.seed)
    kind = step.random().choice(("square", "row", "one"))
    dtype = scope.pick(step, 0, "one").dtype
    scope.add(step, kind, jnp.asarray(rng.standard_normal(_shape(kind, 0)), dtype))


_OPS: Mapping[str, Callable[[_Scope, Step], None]] = {
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


def _inner(
    scope: _Scope, step: Step, which: int = 0, kinds: Sequence[str] = ("batch", "square")
) -> Callable[..., tuple[Any, ...]]:
    """A body as a function of one value of each kind, which captures what else it uses."""

    def function(*given: Any) -> tuple[Any, ...]:
        inner = scope.replaced(step, **dict(zip(kinds, given, strict=True)))
        inner.run(step.bodies[which])
        return tuple(inner.pick(step, 30 + i, kind) for i, kind in enumerate(kinds))

    return function


def _taken(scope: _Scope, step: Step) -> tuple[Any, Any]:
    return scope.pick(step, 10, "batch"), scope.pick(step, 11, "square")


def _keep(scope: _Scope, step: Step, values: Sequence[Any]) -> None:
    for kind, value in zip(("batch", "square"), values, strict=True):
        scope.add(step, kind, value)


def _jit(scope: _Scope, step: Step) -> None:
    function = jax.jit(_inner(scope, step))
    values = function(*_taken(scope, step))
    if step.random().random() < 0.5:
        values = function(*values)
    _keep(scope, step, values)


def _remat(scope: _Scope, step: Step) -> None:
    _keep(scope, step, jax.checkpoint(_inner(scope, step))(*_taken(scope, step)))


def _cond(scope: _Scope, step: Step) -> None:
    branches = [_inner(scope, step, i) for i in range(len(step.bodies))]
    taken = _taken(scope, step)
    if len(branches) == 2:
        positive = scope.pick(step, 12, "one") > 0
        _keep(scope, step, lax.cond(positive, *branches, *taken))
    else:
        _keep(scope, step, lax.switch(scope.pick(step, 12, "indices")[0], branches, *taken))


def _scan(scope: _Scope, step: Step) -> None:
    random = step.random()
    body = _inner(scope, step)

    def turn(carry: Any, row: Any) -> tuple[Any, Any]:
        batch, square = body(*carry)
        return (batch + row, square), jnp.sum(batch) * row

    rows = scope.pick(step, 13, "square")
    carry, sums = lax.scan(turn, _taken(scope, step), rows[: random.randrange(1, 4)])
    _keep(scope, step, carry)
    scope.add(step, "row", jnp.sum(sums, 0))


def _loop(scope: _Scope, step: Step) -> None:
    body = _inner(scope, step)
    turns = step.random().randrange(4)
    taken = _taken(scope, step)
    _keep(scope, step, lax.fori_loop(0, turns, lambda _, carry: body(*carry), taken))


def _while(scope: _Scope, step: Step) -> None:
    body = _inner(scope, step)

    def go_on(carry: Any) -> Any:
        return (carry[0] < 3) & (jnp.max(carry[2]) < 1e3)

    start = (jnp.zeros((), jnp.int32), *_taken(scope, step))
    carry = lax.while_loop(go_on, lambda c: (c[0] + 1, *body(c[1], c[2])), start)
    _keep(scope, step, carry[1:])


def _grad(scope: _Scope, step: Step) -> None:
    body = _inner(scope, step)

    def loss(batch: Any, square: Any) -> Any:
        return sum(jnp.sum(value) for value in body(batch, square))

    value, gradients = jax.value_and_grad(loss, (0, 1))(*_taken(scope, step))
    _keep(scope, step, gradients)
    scope.add(step, "one", value)


def _tangent(scope: _Scope, step: Step) -> None:
    taken = _taken(scope, step)
    ones = tuple(map(jnp.ones_like, taken))
    _, tangents = jax.jvp(_inner(scope, step), taken, ones)
    _keep(scope, step, tangents)


def _vmap(scope: _Scope, step: Step) -> None:
    function = jax.vmap(_inner(scope, step, kinds=("row", "one")))
    batch, square = _taken(scope, step)
    rows, ones = function(square, batch[0])
    scope.add(step, "square", rows)
    scope.add(step, "row", ones)


def _custom(scope: _Scope, step: Step) -> None:
    """A function whose gradient is another than its own."""
    inner = _inner(scope, step)
    half = jax.custom_vjp(lambda a: a * 0.5)
    half.defvjp(lambda a: (a * 0.5, a), lambda a, ct: (ct * jnp.sign(a),))
    batch, square = inner(*_taken(scope, step))
    _keep(scope, step, (half(batch), square))


def _composite(scope: _Scope, step: Step) -> None:
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


_WITH_BODIES: Mapping[str, Callable[[_Scope, Step], None]] = {
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
    dict.fromkeys(_OPS, 3)
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
    chosen = [random.choice(_SHAPED) for _ in range(random.randint(1, 3))]
    dtype = _DTYPES[element]

    def function(params: dict[str, Any], x: Any, y: Any, i: Any) -> Any:
        scope = _Scope({kind: [] for kind in (*_SHAPED, "indices")})
        for name, kind in ARGUMENTS:
            value = {"x": x, "y": y, "i": i}.get(name, params.get(name))
            scope.values[kind].append((name, value))
        scope.run(steps)
        if everything:
            return [value for kind in _SHAPED for _, value in scope.values[kind]]
        last = Step("results", -1, seed)
        results = [scope.pick(last, slot, kind) for slot, kind in enumerate(chosen)]
        made = [
            v for kind in _SHAPED for n, v in scope.values[kind] if n.startswith("s") and n != "s"
        ]
        return {"results": results, "last": tuple(made[-2:])}

    with jax.enable_x64(element == "f64"):
        rows: Any = export.symbolic_shape("b")[0] if symbolic else ROWS
        kinds = dict(ARGUMENTS)

        def shaped(name: str) -> jax.ShapeDtypeStruct:
            type_ = np.dtype(np.int32) if name == "i" else dtype
            return jax.ShapeDtypeStruct(_shape(kinds[name], rows), type_)

        params = {name: shaped(name) for name in "wvgs"}
        jitted = jax.jit(function, donate_argnums=(0,) if donated else (), keep_unused=True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers")
            exported = export.export(jitted)(params, shaped("x"), shaped("y"), shaped("i"))
    return Exported(exported, arrays_of(seed, element))


def arrays_of(seed: int, element: str) -> list[Array]:
    """Arguments in the order in which a pytree is flat."""
    rng = np.random.default_rng(seed)
    kinds, dtype = dict(ARGUMENTS), _DTYPES[element]
    arrays = [rng.standard_normal(_shape(kinds[n], ROWS)).astype(dtype) for n in "gsvwxy"]
    return [*arrays, rng.integers(0, 3, 2).astype(np.int32)]
