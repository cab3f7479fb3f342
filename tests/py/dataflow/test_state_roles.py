"""State is what programs have as state by construction: weights, moments, and their gradients."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

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
            attributes.set_encoded_result_attributes(function, None)
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
