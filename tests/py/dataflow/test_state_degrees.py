"""State has its role by its degree in the gradients, in any spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax import lax

from tests.py.dataflow.test_optimizer_roles import OPTAX, assert_state_roles, trained
from tests.py.dataflow.test_roles import EVERY_NAMING, exported, with_roles
from tests.py.dataflow.test_state_roles import argument_roles, names_of, state_gradients
from tests.py.shared import optimizer_programs as programs
from tests.py.shared.judge import shaped
from tests.py.shared.optimizer_programs import (
    B1,
    B2,
    EPSILON,
    FIRST,
    MATRIX_OPTIMIZERS,
    NEITHER,
    SECOND,
    WRITTEN_OUT,
    Optimizer,
    State,
    adam,
    average,
)

pytestmark = pytest.mark.slow

Spelling = Callable[[jax.Array, jax.Array], jax.Array]

half_square = jax.jit(lambda g: 0.5 * g * g)
decayed = jax.jit(lambda g: jnp.clip(g + 0.1, -1.0, 1.0))


def weighted(square: Callable[[jax.Array], jax.Array]) -> Spelling:
    return lambda g, v: B2 * v + (1 - B2) * square(g)


def in_loop(g: jax.Array, v: jax.Array) -> Any:
    return lax.fori_loop(0, 2, lambda _, v: B2 * v + (1 - B2) * g * g, v)


def in_branch(g: jax.Array, v: jax.Array) -> Any:
    return lax.cond(g.sum() > 0, lambda: B2 * v + (1 - B2) * g * g, lambda: v)


def by_case(g: jax.Array, v: jax.Array) -> Any:
    ways = [lambda: v, lambda: v + g**2, lambda: jnp.zeros_like(v)]
    return lax.switch(jnp.int32(g.sum()), ways)


SQUARES: dict[str, Spelling] = {
    "g g c": lambda g, v: B2 * v + g * g * (1 - B2),
    "c g g": lambda g, v: B2 * v + (1 - B2) * g * g,
    "c (g g)": lambda g, v: B2 * v + (1 - B2) * (g * g),
    "g (c g)": lambda g, v: g * ((1 - B2) * g) + v * B2,
    "(c g) (c g)": lambda g, v: B2 * v + (0.1 * g) * (0.2 * g),
    "square": weighted(jnp.square),
    "**": weighted(lambda g: g**2),
    "integer power": weighted(lambda g: lax.integer_pow(g, 2)),
    "power": weighted(lambda g: jnp.power(jnp.abs(g), jnp.float32(2.0))),
    "fourth root": weighted(lambda g: jnp.sqrt(g**4)),
    "inverse": weighted(lambda g: 1 / lax.integer_pow(g, -2)),
    "rsqrt": weighted(lambda g: 1 / (lax.rsqrt(g * g + EPSILON) ** 2)),
    "abs": weighted(lambda g: jnp.abs(g) * jnp.abs(g)),
    "conjugate": weighted(lambda g: (g.conj() * g).real),
    "complex": weighted(lambda g: jnp.abs(lax.complex(g, 2 * g)) ** 2),
    "half": weighted(lambda g: (g.astype(jnp.bfloat16) * g).astype(jnp.float32)),
    "divided": weighted(lambda g: g / (1 / g)),
    "lerp": lambda g, v: v + (1 - B2) * (g * g - v),
    "lerp back": lambda g, v: v - (1 - B2) * (v - g * g),
    "sum": lambda g, v: v + g * g,
    "epsilon": weighted(lambda g: g * g + EPSILON),
    "guard": weighted(lambda g: jnp.maximum(g * g, 1e-30)),
    "finite": weighted(lambda g: jnp.where(jnp.isfinite(g), g * g, 0.0)),
    "largest": lambda g, v: jnp.maximum(v, g * g),
    "yogi": lambda g, v: v - (1 - B2) * jnp.sign(v - g * g) * g * g,
    "jitted": weighted(half_square),
    "jitted twice": weighted(lambda g: decayed(g) * decayed(g)),
    "transposed": weighted(lambda g: (g.T * g.T).T),
    "flat": weighted(lambda g: (g.ravel() * g.reshape(-1)).reshape(g.shape)),
    "halves": weighted(lambda g: jnp.concatenate([g[:4] * g[:4], g[4:] ** 2])),
    "variance": lambda g, v: B2 * v + (1 - B2) * (g - g.mean()) ** 2,
    "loop": in_loop,
    "branch": in_branch,
    "case": by_case,
    "barrier": weighted(lambda g: lax.optimization_barrier(g * g)),
}

AVERAGES: dict[str, Spelling] = {
    "lerp": lambda g, m: m + (1 - B1) * (g - m),
    "lerp back": lambda g, m: m - (1 - B1) * (m - g),
    "sum": lambda g, m: m + g,
    "decrease": lambda g, m: B1 * m - 0.1 * g,
    "dampened": lambda g, m: B1 * m + g / 10,
    "signed root": weighted(lambda g: jnp.sign(g) * jnp.abs(g)),
    "root": weighted(lambda g: jnp.sqrt(g * g + EPSILON)),
    "largest": lambda g, m: jnp.maximum(B2 * m, jnp.abs(g) + EPSILON),
    "over": weighted(lambda g: g**3 / (g**2 + EPSILON)),
    "cubic root": weighted(lambda g: jnp.cbrt(g * g * g)),
    "clamped": weighted(lambda g: jnp.clip(g, -1.0, 1.0)),
    "norm": weighted(lambda g: g / jnp.linalg.norm(g)),
    "norm at most": weighted(lambda g: g * jnp.minimum(1.0, 1 / (jnp.linalg.norm(g) + 1e-6))),
    "norm at least": weighted(lambda g: g / jnp.maximum(1.0, jnp.linalg.norm(g))),
    "jitted": jax.jit(average),
    "centerd": weighted(lambda g: g - g.mean(-1, keepdims=True)),
    "rows": weighted(
        lambda g: jnp.where(
            jnp.linalg.norm(g, axis=-1, keepdims=True) > 1,
            g / (jnp.linalg.norm(g, axis=-1, keepdims=True) + 1e-6),
            g,
        )
    ),
}

OTHERS: dict[str, Spelling] = {
    "sign": weighted(jnp.sign),
    "cube": weighted(lambda g: g**3),
    "fourth power": weighted(lambda g: (g * g) * (g * g)),
    "root": weighted(lambda g: jnp.sqrt(jnp.abs(g))),
    "mixed": weighted(lambda g: g + g * g),
    "bounded": weighted(jnp.tanh),
    "ratio": weighted(lambda g: g / (jnp.abs(g) + EPSILON)),
    "product": lambda g, m: m * (1 + g),
}


def roles_of(optimizer: Optimizer, text: str, *, stripped: bool) -> dict[str, set[str]]:
    """The roles of each tensor of the state over all weights."""
    found: dict[str, set[str]] = {name: set() for name in optimizer.roles}
    names, roles = names_of(text), argument_roles(text, stripped=stripped)
    for name, role in zip(names, roles, strict=True):
        if name.startswith("params"):
            assert role == "weight", name
        elif name.startswith("state"):
            found[name.split("'")[-2]].add(role)
    return found


def assert_roles(optimizer: Optimizer, step: Any = None, params: Any = None) -> None:
    params = params or programs.params()
    state = {name: optimizer.state(weight) for name, weight in params.items()}
    text = exported(step or programs.training(optimizer), (params, state, *programs.batch()))
    for stripped in (False, True):
        found = roles_of(optimizer, text, stripped=stripped)
        assert found == {name: {role} for name, role in optimizer.roles.items()}


SPELLED = {
    **{f"second moment {name}": adam(average, square) for name, square in SQUARES.items()},
    **{f"first moment {name}": adam(mean, SQUARES["square"]) for name, mean in AVERAGES.items()},
    **WRITTEN_OUT,
}


@pytest.mark.parametrize("name", SPELLED)
def test_state_is_found_in_any_spelling(name: str) -> None:
    assert_roles(SPELLED[name])


@pytest.mark.parametrize("name", OTHERS)
def test_other_degrees_are_no_moments(name: str) -> None:
    def update(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
        del p
        m, o = average(g, state["m"]), OTHERS[name](g, state["o"])
        return m + o, {"m": m, "o": o}

    assert_roles(Optimizer(update, {"m": FIRST, "o": NEITHER}))


@pytest.mark.parametrize("sizes", [programs.params, programs.squares], ids=["distinct", "square"])
@pytest.mark.parametrize("name", MATRIX_OPTIMIZERS)
def test_state_of_matrix_optimizers(name: str, sizes: Callable[[], Any]) -> None:
    assert_roles(MATRIX_OPTIMIZERS[name], params=sizes())


def clipped_by_norm(tree: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(tree)))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), tree)


def clipped_by_choice(tree: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(tree)))
    return jax.tree.map(lambda g: jnp.where(norm < 1, g, g / norm), tree)


def clipped_in_branch(tree: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(tree)))
    return lax.cond(norm < 1, lambda: tree, lambda: jax.tree.map(lambda g: g / norm, tree))


CLIPS: dict[str, Callable[[Any], Any]] = {
    "choice": clipped_by_choice,
    "branch": clipped_in_branch,
    "elements": lambda tree: jax.tree.map(lambda g: jnp.clip(g, -1.0, 1.0), tree),
    "factor": clipped_by_norm,
    "jitted": lambda tree: jax.tree.map(decayed, tree),
    "norm": lambda tree: jax.tree.map(lambda g: g / jnp.linalg.norm(g), tree),
    "sum": lambda tree: jax.tree.map(lambda g: 0.5 * (g + 0.5 * g), tree),
}


@pytest.mark.parametrize("name", CLIPS)
def test_clipped_gradients_are_gradients(name: str) -> None:
    spelled = adam(average, SQUARES["c g g"])
    assert_roles(spelled, programs.training(spelled, CLIPS[name]))


EVERYTHING = {**WRITTEN_OUT, **MATRIX_OPTIMIZERS, "adam": adam(average, SQUARES["c g g"])}


def in_call(step: Any) -> Callable[..., Any]:
    jitted = jax.jit(step)

    def called(params: Any, state: Any, ids: jax.Array, labels: jax.Array) -> Any:
        return jitted(params, state, ids, labels)

    return called


def of_several(step: Any) -> Callable[..., Any]:
    """A loop of steps."""

    def steps(params: Any, state: Any, *batch: jax.Array) -> Any:
        def turn(carry: Any, _: None) -> tuple[Any, jax.Array]:
            params, state, loss = step(*carry, *batch)
            return (params, state), loss

        return lax.scan(turn, (params, state), length=3)

    return steps


PLACES = pytest.mark.parametrize("place", [in_call, of_several])


@PLACES
@pytest.mark.parametrize("name", EVERYTHING)
def test_state_has_its_roles_in_calls_and_loops(name: str, place: Callable[[Any], Any]) -> None:
    assert_roles(EVERYTHING[name], place(programs.training(EVERYTHING[name])))


OF_OPTAX = (
    *("accumulated", "adabelief", "amsgrad", "coupled decay"),
    *("lamb", "lars", "rmsprop-momentum"),
)


def step_of_optax(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step with an optimizer of optax, and its arguments."""
    optimizer, params = OPTAX[name][0], programs.params()
    return trained(optimizer), (params, jax.eval_shape(optimizer.init, params), *programs.batch())


@PLACES
@pytest.mark.parametrize("name", OF_OPTAX)
def test_state_of_optax_has_its_roles_there(name: str, place: Callable[[Any], Any]) -> None:
    step, arguments = step_of_optax(name)
    text = exported(place(step), arguments)
    for stripped in (False, True):
        assert_state_roles(name, text, stripped=stripped)


def updated_in_scan(gradients: Any, state: Any, params: Any, update: Any) -> Any:
    return lax.scan(lambda _, each: (None, update(*each)), None, (gradients, state, params))[1]


def updated_in_loop(gradients: Any, state: Any, params: Any, update: Any) -> Any:
    """Layer by layer, in place."""

    def turn(i: jax.Array, carry: Any) -> Any:
        state, params = carry
        taken = jax.tree.map(lambda leaf: leaf[i], (gradients, state, params))
        new = update(*taken)[::-1]
        return jax.tree.map(lambda leaf, slice_: leaf.at[i].set(slice_), (state, params), new)

    return lax.fori_loop(0, 3, turn, (state, params))[::-1]


def updated_in_map(gradients: Any, state: Any, params: Any, update: Any) -> Any:
    return lax.map(lambda each: update(*each), (gradients, state, params))


def updated_at_once(gradients: Any, state: Any, params: Any, update: Any) -> Any:
    return jax.vmap(update)(gradients, state, params)


LOOPS = [updated_at_once, updated_in_loop, updated_in_map, updated_in_scan]


@pytest.mark.parametrize("unrolled", [False, True], ids=["scanned", "unrolled"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize(
    "name", ["adabelief", "adam", "amsgrad", "coupled decay", "rmsprop-momentum"]
)
def test_state_of_stacked_layers(name: str, loop: Any, *, unrolled: bool) -> None:
    """The model and the optimizer are loops over layers, whose weights are stacked."""
    optimizer = OPTAX[name][0]

    def stacked_loss(params: Any, x: jax.Array) -> jax.Array:
        def layer(x: jax.Array, each: Any) -> tuple[jax.Array, None]:
            return jnp.tanh(x @ each["w"] + each["b"]), None

        if unrolled:
            for i in range(3):
                x, _ = layer(x, {name: leaf[i] for name, leaf in params.items()})
            return jnp.mean(x**2)
        return jnp.mean(lax.scan(layer, x, params)[0] ** 2)

    def update(gradients: Any, state: Any, params: Any) -> tuple[Any, Any]:
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        return loop(jax.grad(stacked_loss)(params, x), state, params, update)

    params = {"w": shaped(3, 8, 8), "b": shaped(3, 8)}
    state = jax.eval_shape(jax.vmap(optimizer.init), params)
    text = exported(step, (params, state, shaped(4, 8)))
    for stripped in (False, True):
        assert_state_roles(name, text, stripped=stripped)


def roles_in(function: Callable[..., Any], *arguments: Any) -> dict[str, str]:
    text = exported(function, arguments)
    found = argument_roles(text, stripped=True)
    return dict(zip(names_of(text), found, strict=True))


def test_gradients_of_elementwise_models_are_no_products() -> None:
    """Products of the model are of degree 1 as well."""

    def step(w: jax.Array, m: jax.Array, v: jax.Array, x: jax.Array, y: jax.Array) -> Any:
        g = jax.grad(lambda w: jnp.dot(w * x * x, y))(w)
        m, v = average(g, m), B2 * v + (1 - B2) * g * g
        return w - m / (jnp.sqrt(v) + EPSILON), m, v

    wanted = {"w": "weight", "m": FIRST, "v": SECOND, "x": NEITHER, "y": NEITHER}
    assert roles_in(step, *[shaped(8)] * 5) == wanted


def test_gradients_of_numbers() -> None:
    def step(t: jax.Array, m: jax.Array, v: jax.Array, x: jax.Array) -> Any:
        g = jax.grad(lambda t: jnp.mean(jax.nn.log_softmax(x * t)[:, 0]))(t)
        m, v = average(g, m), B2 * v + (1 - B2) * g * g
        return t - m / (jnp.sqrt(v) + EPSILON), m, v

    wanted = {"t": "weight", "m": FIRST, "v": SECOND, "x": NEITHER}
    assert roles_in(step, shaped(), shaped(), shaped(), shaped(8, 4)) == wanted


def test_statistics_of_batches_are_no_moments() -> None:
    """A model's running mean and variance are not for updates of weights."""

    def step(w: jax.Array, m: jax.Array, mean: jax.Array, var: jax.Array, x: jax.Array) -> Any:
        def loss(w: jax.Array) -> tuple[jax.Array, Any]:
            h = x @ w
            now = h.mean(0), jnp.mean(h * h, 0) - h.mean(0) ** 2
            return jnp.mean(jax.nn.relu((h - now[0]) * lax.rsqrt(now[1] + 1e-5)) ** 3), now

        g, now = jax.grad(loss, has_aux=True)(w)
        m = average(g, m)
        return w - m, m, 0.9 * mean + 0.1 * now[0], 0.9 * var + 0.1 * now[1]

    arguments = shaped(8, 6), shaped(8, 6), shaped(6), shaped(6), shaped(4, 8)
    wanted = {"w": "weight", "m": FIRST, "mean": NEITHER, "var": NEITHER, "x": NEITHER}
    assert roles_in(step, *arguments) == wanted


def test_target_networks_are_weights() -> None:
    """The model computes with them; now and then they are replaced by weights."""

    def step(w: jax.Array, old: jax.Array, x: jax.Array) -> Any:
        g = jax.grad(lambda w: jnp.mean((x @ w - x @ old) ** 2))(w)
        w = w - 0.1 * g
        return w, jnp.where(w.sum() > 0, w, old)

    assert roles_in(step, shaped(8, 6), shaped(8, 6), shaped(4, 8)) == {
        "w": "weight",
        "old": "weight",
        "x": NEITHER,
    }


def test_frozen_weights_are_weights() -> None:
    def step(w: jax.Array, frozen: jax.Array, x: jax.Array) -> Any:
        g = jax.grad(lambda w: jnp.mean((x @ frozen @ w) ** 2))(w)
        return w - 0.1 * g, frozen

    found = roles_in(step, shaped(6, 5), shaped(8, 6), shaped(4, 8))
    assert found == {"w": "weight", "frozen": "weight", "x": NEITHER}


@EVERY_NAMING
@pytest.mark.parametrize(
    "name", ["averaged", "entangled", "muon", "muon-loop", "novograd", *OF_OPTAX]
)
def test_gradients_are_what_the_model_ends_in(name: str, *, stripped: bool) -> None:
    """Neither squares of them nor updates."""
    if name in OF_OPTAX:
        step, arguments = step_of_optax(name)
    else:
        optimizer, params = EVERYTHING[name], programs.params()
        state = {key: optimizer.state(weight) for key, weight in params.items()}
        step, arguments = programs.training(optimizer), (params, state, *programs.batch())
    module, _ = with_roles(exported(step, arguments), stripped=stripped)
    found = state_gradients(module)
    shapes = sorted(tuple(op.results[0].type.shape) for op in found)
    assert shapes == sorted(weight.shape for weight in programs.params().values())
    made_by = {op.name.removeprefix("stablehlo.") for op in found}
    assert made_by <= (
        {"add"} if "decay" in name else {"reduce", "scatter", "transpose", "reshape"}
    )
