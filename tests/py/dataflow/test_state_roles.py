"""State is what programs have as state by construction, and inference has no moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax import lax

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import run_passes
from tests.py.dataflow.test_roles import EVERY_NAMING, exported, with_roles
from tests.py.shared import role_models
from tests.py.shared.commands import call
from tests.py.shared.judge import main_of, parse, shaped, stablehlo_of
from tests.py.shared.role_models import DISTINCT

SMALL: dict[str, object] = {"matmul.smallest": 1}

OPTIMIZERS: Mapping[str, Any] = {
    "momentum": optax.sgd(0.1, momentum=0.9),
    "adamw": optax.adamw(1e-3),
    "amsgrad": optax.amsgrad(1e-3),
    "lamb": optax.lamb(1e-3),
    "clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)),
    "averaged": optax.chain(optax.adam(1e-3), optax.ema(0.9)),
    "adafactor": optax.adafactor(1e-3, min_dim_size_to_factor=4),
    "multisteps": optax.MultiSteps(optax.adam(1e-3), 4),
}


def argument_roles(text: str, *, stripped: bool) -> list[str]:
    """The role of each argument; nothing where it has none."""
    module, _ = with_roles(text, stripped=stripped)
    marks = attributes.argument_attributes(main_of(module))
    return [m[attributes.ROLE].value if attributes.ROLE in m else "" for m in marks]


def names_of(text: str) -> list[str]:
    module = parse(text)
    return attributes.argument_names(main_of(module))


NAMED = """
func.func public @main(%p: !w, %m: !w, %x: !x) -> (!w, !w) {
  %y = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (!x, !w) -> !x
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (!x, !x) -> !w
  %0:2 = sdy.named_computation<"update">(%p, %m, %g) (%a: !w, %b: !w, %c: !w) {
    %decay = stablehlo.constant dense<0.9> : !w
    %1 = stablehlo.multiply %b, %decay : !w
    %2 = stablehlo.add %1, %c : !w
    %3 = stablehlo.subtract %a, %2 : !w
    sdy.return %3, %2 : !w, !w
  } : (!w, !w, !w) -> (!w, !w)
  return %0#0, %0#1 : !w, !w
}
"""


@EVERY_NAMING
def test_state_is_found_in_named_computations(*, stripped: bool) -> None:
    """Whose ops have a name of their own, which is not that of the op."""
    text = NAMED.replace("!w", "tensor<8x8xf32>").replace("!x", "tensor<4x8xf32>")
    assert argument_roles(text, stripped=stripped) == ["weight", "first_moment", ""]


@cache
def step_text(name: str) -> str:
    optimizer, params = OPTIMIZERS[name], role_models.mlp_params(DISTINCT)
    state = jax.eval_shape(optimizer.init, params)
    step = training_step(role_models.mlp_loss, optimizer)
    return exported(step, (params, state, *role_models.mlp_batch(DISTINCT)))


@EVERY_NAMING
@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"adafactor"}))
def test_gradients_of_weights_are_the_backward_matmuls(name: str, *, stripped: bool) -> None:
    """Whatever the optimizer does with them: clips, sums or scales them."""
    module, _ = with_roles(step_text(name), stripped=stripped)
    found = state_gradients(module)
    assert sorted(tuple(op.results[0].type.shape) for op in found) == [(8, 12), (12, 8), (12, 10)]
    for op in found:
        while op.name != "stablehlo.dot_general":
            assert op.name in ("stablehlo.transpose", "stablehlo.select")
            op = op.operands[1 if op.name == "stablehlo.select" else 0].owner


def _mean(slow: Any, w: Any, k: Any) -> tuple[Any, Any]:
    return w, slow + (w - slow) / (k + 1)


def _in_halves(slow: Any, w: Any) -> Any:
    return 0.99 * slow + 0.01 * w.astype(jnp.bfloat16).astype(w.dtype)


def _ahead(slow: Any, w: Any, k: Any) -> tuple[Any, Any]:
    slow = jnp.where(k % 5 == 4, slow + 0.5 * (w - slow), slow)
    return jnp.where(k % 5 == 4, slow, w), slow


AVERAGES: Mapping[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "ema": lambda slow, w, _: (w, 0.99 * slow + 0.01 * w),
    "ema, as a difference": lambda slow, w, _: (w, slow - 0.01 * (slow - w)),
    "mean": _mean,
    "lookahead": _ahead,
    "copy, now and then": lambda slow, w, k: (w, jnp.where(k % 5 == 4, w, slow)),
    "in another format": lambda slow, w, _: (w, _in_halves(slow, w)),
}
"""The next weights and average, of the average, the new weights and the number of the step."""


@EVERY_NAMING
@pytest.mark.parametrize("is_read", [False, True], ids=["", "target-network"])
@pytest.mark.parametrize("how", sorted(AVERAGES))
def test_new_weights_are_no_gradient_of_their_average(
    how: str, is_read: bool, *, stripped: bool
) -> None:
    def step(w: Any, slow: Any, slower: Any, k: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            target = role_models.mlp(slow, x) if is_read else 1.0
            return jnp.mean((role_models.mlp(w, x) - target) ** 2)

        value, gradients = jax.value_and_grad(loss)(w)
        moved = jax.tree.map(lambda w, g: w - 0.1 * g, w, gradients)
        both = jax.tree.map(lambda a, w: AVERAGES[how](a, w, k), slow, moved)
        new, after = zip(*both, strict=True)
        slower = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, slower, list(after))
        return list(new), list(after), slower, k + 1, value

    params = role_models.mlp_params(DISTINCT)
    x, _ = role_models.mlp_batch(DISTINCT)
    given = (params, params, params, jnp.zeros((), jnp.int32), x)
    module, _ = with_roles(exported(step, given), stripped=stripped)
    found = state_gradients(module)
    assert {op.name for op in found} <= {"stablehlo.dot_general", "stablehlo.transpose"}
    assert len(found) == len(params)


@pytest.mark.parametrize("how", ["bfloat16", "float8_e4m3fn"])
def test_weights_that_the_model_reads_in_another_format_are_weights(how: str) -> None:
    def cast(w: Any, scale: Any) -> Any:
        if how == "bfloat16":
            return w.astype(how)
        return (jnp.clip(w / scale, -448, 448).astype(how).astype(w.dtype)) * scale

    def step(w: Any, x: Any, y: Any, scale: Any) -> Any:
        def loss(w: Any) -> Any:
            hidden = jnp.tanh(x @ cast(w[0], scale).astype(x.dtype))
            return jnp.mean((hidden @ cast(w[1], scale).astype(x.dtype) - y) ** 2)

        return jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w))

    args = [jnp.ones((16, 32)), jnp.ones((32, 24))], jnp.ones((8, 16)), jnp.ones((8, 24))
    made = stablehlo_of(step, *args, jnp.ones(1))
    text = str(with_roles(made, stripped=False)[0])
    assert text.count('scalify.role = "weight"') >= 2


def test_what_adafactor_adds_is_no_gradient() -> None:
    """It is the gradient over what its moments say, which is no longer of a gradient's size."""
    module, _ = with_roles(step_text("adafactor"), stripped=True)
    assert not state_gradients(module)


def state_gradients(module: ir.Module) -> list[ir.Operation]:
    return ops_in(module.operation, where=lambda op: attributes.STATE_GRADIENT in op.attributes)


@EVERY_NAMING
@pytest.mark.parametrize("order", ["psg", "gsp"])
def test_updates_alone_tell_state_from_gradients(order: str, *, stripped: bool) -> None:
    """A gradient that is an argument goes into both moments, a moment into one."""
    optimizer = optax.adam(1e-3)
    params = {"w": shaped(6, 8), "b": shaped(8)}
    state = jax.eval_shape(optimizer.init, params)

    def update(*arguments: Any) -> Any:
        given = dict(zip(order, arguments, strict=True))
        updates, state = optimizer.update(given["g"], given["s"], given["p"])
        return optax.apply_updates(given["p"], updates), state

    arguments = {"p": params, "s": state, "g": params}
    found = argument_roles(exported(update, [arguments[key] for key in order]), stripped=stripped)
    kinds = {"p": ["weight"] * 2, "g": [""] * 2}
    kinds["s"] = ["", *["first_moment"] * 2, *["second_moment"] * 2]
    assert found == [role for key in order for role in kinds[key]]


@pytest.mark.parametrize("settings", [{}, {"state.weight": "keep", "state.gradient": "keep"}])
@pytest.mark.parametrize("recipe", ["unit", "fp8"])
@pytest.mark.parametrize("described", [True, False])
def test_results_have_the_attributes_again_that_they_had(
    described: bool, recipe: str, settings: dict[str, object]
) -> None:
    """What was said of state on them is gone, and what jax says of them is there."""
    module = parse(step_text("adamw"))
    function = main_of(module)
    with module.context:
        if described:
            marks = attributes.result_attributes(function)
            marks[1]["mhlo.sharding"] = ir.StringAttr.get("{replicated}")
            attributes.set_result_attributes(function, marks)
        else:
            del function.attributes["res_attrs"]
        before = attributes.result_attributes(function)
        names = attributes.result_names(before)
        passes = make_options(recipe, settings=SMALL | settings).passes()
        report = run_passes(module, passes)
        assert attributes.result_attributes(function) == before
    assert [value.name for value in report.results] == names
    assert set(report.roles.values()) == {"weight", "first_moment", "second_moment"}


def test_inspect_shows_roles_and_how_sure_they_are(tmp_path: Path) -> None:
    path = tmp_path / "step.mlir"
    path.write_text(step_text("adamw"))
    narrow = ["--recipe", "fp8", "--set", "matmul.smallest=4", "--input-scale", "*=1"]
    lines = inspected(str(path), "--arguments", *narrow)
    assert ["0", "params[0]", "tensor<12x8xf32>", "plain", "2^0", "weight"] in lines
    roles = {line[1]: line[-1] for line in lines if len(line) == 6}
    assert roles["state[0].mu[2]"] == "first_moment"
    assert roles["state[0].nu[2]"] == "second_moment"
    lines = inspected(str(path), *narrow)
    assert ["forward", "activation", "x", "weight", "names", "3"] in lines
    assert ["backward", "gradient", "x", "weight", "names", "2"] in lines
    assert any(line[:6] == ["fp8:", "8", "of", "8", "matmuls", "in"] for line in lines)
    plain = inspected(str(path), "--recipe", "propagate", "--arguments")
    assert not any("weight" in line for line in plain)


def inspected(*arguments: str) -> list[list[str]]:
    result = call("inspect", *arguments, code=0)
    return [line.split() for line in result.output.splitlines()]


Array = jax.Array
Program = tuple[Callable[..., Any], tuple[Any, ...]]

SQUARE = shaped(8, 8)
QKV = dict.fromkeys(("q", "k", "v"), SQUARE)


def projected(x: Array, w: Any) -> tuple[Array, Array, Array]:
    return x @ w["q"], x @ w["k"], x @ w["v"]


def linear_attention(state: Any, x: Array, w: Any) -> Any:
    q, k, v = projected(x, w)
    sums = 0.9 * state["sums"] + k[:, :, None] * v[:, None, :]
    norm = 0.9 * state["norm"] + k
    y = jnp.einsum("bi,bij->bj", q, sums) / jnp.einsum("bi,bi->b", q, norm)[:, None]
    return {"sums": sums, "norm": norm}, y


def delta_rule(state: Array, x: Array, w: Any) -> Any:
    """Fast weights: the state is multiplied with, and has a product added."""
    q, k, v = projected(x, w)
    return state + jnp.outer(k, v - k @ state), q @ state


def batch_norm(state: Any, x: Array, w: Array) -> Any:
    h = x @ w
    mean, var = h.mean(0), h.var(0)
    moved = {"mean": 0.9 * state["mean"] + 0.1 * mean, "var": 0.9 * state["var"] + 0.1 * var}
    return moved, (h - mean) * lax.rsqrt(var + 1e-5)


def chosen_cache(state: Any, x: Array, w: Any, at: Array) -> Any:
    q, k, v = projected(x, w)
    here = (jnp.arange(16) == at)[:, None]
    keys, values = jnp.where(here, k, state["k"]), jnp.where(here, v, state["v"])
    return {"k": keys, "v": values}, jax.nn.softmax(q @ keys.T) @ values


def masked_cache(state: Any, x: Array, w: Any, at: Array) -> Any:
    q, k, v = projected(x, w)
    here = (jnp.arange(16) == at).astype(jnp.float32)[:, None]
    y = jax.nn.softmax(q @ state["k"].T) @ state["v"]
    return {n: state[n] * (1 - here) + new * here for n, new in (("k", k), ("v", v))}, y


def gru(h: Array, x: Array, w: Any) -> Any:
    z, r = jax.nn.sigmoid(x + h @ w["q"]), jax.nn.sigmoid(x + h @ w["k"])
    return (1 - z) * jnp.tanh(x + (r * h) @ w["v"]) + z * h


def lstm(state: Any, x: Array, w: Array) -> Any:
    i, f, g, o = jnp.split(x + state["h"] @ w, 4, -1)
    c = jax.nn.sigmoid(f) * state["c"] + jax.nn.sigmoid(i) * jnp.tanh(g)
    return {"c": c, "h": jax.nn.sigmoid(o) * jnp.tanh(c)}


def sampler(x: Array, w: Any) -> Any:
    return x - 0.1 * jnp.tanh(x @ w["q"]) @ w["k"]


CACHE = {"k": shaped(16, 8), "v": shaped(16, 8)}
AT = shaped(dtype="int32")

INFERENCE: dict[str, Program] = {
    "linear attention": (
        linear_attention,
        ({"sums": shaped(4, 8, 8), "norm": shaped(4, 8)}, shaped(4, 8), QKV),
    ),
    "delta rule": (delta_rule, (SQUARE, shaped(8), QKV)),
    "batch norm": (batch_norm, ({"mean": shaped(8), "var": shaped(8)}, shaped(4, 6), shaped(6, 8))),
    "chosen cache": (chosen_cache, (CACHE, shaped(1, 8), QKV, AT)),
    "masked cache": (masked_cache, (CACHE, shaped(1, 8), QKV, AT)),
    "gru": (gru, (shaped(4, 8), shaped(4, 8), QKV)),
    "lstm": (lstm, ({"c": shaped(4, 8), "h": shaped(4, 8)}, shaped(4, 32), shaped(8, 32))),
    "sampler": (sampler, (shaped(4, 8), QKV)),
}


def roles(program: Program, *, stripped: bool) -> dict[str, str]:
    text = exported(*program)
    found = argument_roles(text, stripped=stripped)
    return {name: role for name, role in zip(names_of(text), found, strict=True) if role}


@pytest.mark.parametrize("stripped", [False, True])
@pytest.mark.parametrize("name", INFERENCE)
def test_inference_has_no_moments(name: str, *, stripped: bool) -> None:
    assert roles(INFERENCE[name], stripped=stripped) == {}


def in_turns(program: Program) -> Program:
    """Several tokens, or steps, in a loop."""
    function, (state, *rest) = program

    def run(state: Any, *given: Any) -> Any:
        def turn(state: Any, _: None) -> tuple[Any, None]:
            found = function(state, *given)
            return (found[0] if isinstance(found, tuple) else found), None

        return lax.scan(turn, state, length=3)[0]

    return run, (state, *rest)


@pytest.mark.parametrize("name", INFERENCE)
def test_inference_in_a_loop_has_none_either(name: str) -> None:
    assert roles(in_turns(INFERENCE[name]), stripped=True) == {}


@pytest.mark.slow
def test_state_of_inference_stays_wide() -> None:
    """Weights that are given, and not returned, are no state."""
    state = jsa.as_scaled_array({"sums": jnp.zeros((4, 8, 8)), "norm": jnp.zeros((4, 8))})
    x, w = jnp.ones((4, 8)), {name: jnp.eye(8) for name in QKV}
    run = jsa.scalify(linear_attention, recipe="fp8-state")
    found, _ = run(state, *jsa.as_scaled_array((x, w)))
    assert {leaf.dtype for leaf in found.values()} == {jnp.dtype("float32")}


def loss(params: Any, x: Array) -> Array:
    penalty = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
    return jnp.mean(jnp.tanh(x @ params["w"] + params["b"]) ** 2) + 0.01 * penalty


PARAMS = {"w": shaped(6, 8), "b": shaped(8)}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_with_a_penalty_are_no_next_weights(dtype: str) -> None:
    def gradients(params: Any, x: Array) -> Any:
        return jax.tree.map(lambda g: 0.5 * g.astype(dtype), jax.grad(loss)(params, x))

    assert roles((gradients, (PARAMS, shaped(4, 6))), stripped=False) == {}


def test_weights_with_a_penalty_are_weights() -> None:
    def step(params: Any, x: Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))

    for stripped in (False, True):
        found = roles((step, (PARAMS, shaped(4, 6))), stripped=stripped)
        assert found == {f"params['{name}']": "weight" for name in PARAMS}


def test_gradients_that_are_written_out_make_weights() -> None:
    """Without any name of jax's that says so."""

    def step(w: Array, x: Array, y: Array) -> Array:
        return w - 0.1 * (x.T @ (x @ w - y))

    program = step, (shaped(6, 8), shaped(4, 6), shaped(4, 8))
    assert roles(program, stripped=True) == {"w": "weight"}
