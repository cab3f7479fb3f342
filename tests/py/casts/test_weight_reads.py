"""The ways of stored weights to matmuls, through loops and calls, and the evidence for each."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.casts.stored_weights import WeightReads
from scalify_hlo.ir.calls import Calls
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from tests.py.shared.judge import parse
from tests.py.shared.stored_weights import SETTINGS, SQUARE, batch, converts, dtypes, rewritten

OTHERS = {"stack": SQUARE, "one": SQUARE[0], "two": SQUARE[1]}


def scanned(params: Any, x: jax.Array) -> Any:
    """Layers with their weights in one array, which a loop slices."""
    return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, params["stack"])[0]


@jax.jit
def layer(weight: jax.Array, h: jax.Array) -> jax.Array:
    return jnp.tanh(h @ weight)


def called(params: Any, x: jax.Array) -> Any:
    """Two calls of one function, each with a weight of its own."""
    return layer(params["one"], layer(params["two"], x))


def repeated(params: Any, x: jax.Array) -> Any:
    """A loop that reads one weight in each turn, and calls a function with it."""
    return jax.lax.fori_loop(0, 3, lambda _, h: layer(params["one"], h), x)


def halved(params: Any, x: jax.Array) -> Any:
    """A loop that changes its weight."""

    def turn(_: Any, carry: Any) -> Any:
        weight, h = carry
        return weight / 2, layer(weight, h)

    return jax.lax.fori_loop(0, 3, turn, (params["one"], x))[1]


def computed(params: Any, x: jax.Array) -> Any:
    """Two calls of one function, one of them with a weight that is computed."""
    return layer(params["one"], layer(params["two"] + 1, x))


def rounded(params: Any, x: jax.Array) -> Any:
    """Two calls of one function, one of them with a weight that is rounded before."""
    two = params["two"].astype(jnp.bfloat16).astype(jnp.float32)
    return layer(params["one"], layer(two, x))


def exchanged(params: Any, x: jax.Array) -> Any:
    """A loop whose weights change places in each turn; they have different scales."""

    def turn(_: Any, carry: Any) -> Any:
        one, two, h = carry
        return two, one, layer(one, h)

    return jax.lax.fori_loop(0, 3, turn, (params["one"], params["two"], x))[2]


@pytest.mark.parametrize(
    ("function", "names"),
    [(scanned, {"stack"}), (called, {"one", "two"}), (repeated, {"one"})],
)
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current"])
def test_they_reach_matmuls_through_loops_and_calls(
    recipe: str, function: Any, names: set[str]
) -> None:
    params, x = {name: OTHERS[name] for name in names}, batch()
    program, _ = rewritten(function, params, x, recipe=recipe)
    assert set(dtypes(program).values()) == {"float8_e4m3fn"}
    (state,) = jsa.scaled_state(program, (params,))
    casting, _ = rewritten(function, params, x, recipe=recipe, settings={})
    wide = {k: jsa.ScaledArray(v.data.astype(jnp.float32), v.scale) for k, v in state.items()}
    scaled = jsa.as_scaled_array(x)
    one, other = (jsa.asarray(p.call(w, scaled)) for p, w in ((program, state), (casting, wide)))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("function", [halved, computed, rounded, exchanged])
@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_values_that_are_not_weights_are_not_stored(recipe: str, function: Any) -> None:
    program, _ = rewritten(function, OTHERS, batch(), recipe=recipe)
    found = dtypes(program)
    assert found["two"] == found["stack"] == "float32"
    if (
        function in (halved, exchanged) or recipe == "fp8"
    ):  # Current scaling has a copy of each call.
        assert found["one"] == "float32"


class TestEvidence:
    """Both operands of a matmul are arguments: which one is the weight?"""

    def stored(self, function: Any, *arguments: Any, **settings: Any) -> list[bool]:
        program, _ = rewritten(function, *arguments, settings={**SETTINGS, **settings})
        leaves = jax.tree.leaves(program.in_avals)[::2]
        return [str(leaf.dtype) == "float8_e4m3fn" for leaf in leaves]

    def test_a_leaf_of_a_pytree_is_one(self) -> None:
        params = {"w": SQUARE[0]}
        assert self.stored(lambda params, x: x @ params["w"], params, batch()) == [True, False]

    def test_what_is_second_may_be_none(self) -> None:
        def function(params: Any, x: jax.Array) -> Any:
            return params["w"] @ x.T

        params = {"w": SQUARE[0]}
        program, report = rewritten(function, params, batch())
        assert dtypes(program)["w"] == "float32"
        assert self.stored(function, params, batch()) == [False, False]
        assert any("state.weight is f8E4M3FN" in each.message for each in report.remarks)
        assert self.stored(function, params, batch(), **{"inputs.weight": ["params*"]})[0]

    def test_plain_arguments_are_none_unless_declared(self) -> None:
        def function(x: jax.Array, w: jax.Array) -> Any:
            return x @ w

        assert self.stored(function, batch(), SQUARE[0]) == [False, False]
        settings = {**SETTINGS, "inputs.weight": ["w"]}
        program, _ = rewritten(function, batch(), SQUARE[0], settings=settings)
        assert not converts(program, '"w"')

    def test_leaves_of_one_pytree_are_none(self) -> None:
        def function(params: Any, x: jax.Array) -> Any:
            return jnp.tanh(x @ params["one"]) @ params["two"], params["one"] @ params["three"]

        params = dict(zip(("one", "two", "three"), SQUARE, strict=True))
        assert self.stored(function, params, batch()) == [False, False, True, False]
        _, report = rewritten(function, params, batch())
        (remark,) = [each.message for each in report.remarks if "may be the weight" in each.message]
        assert remark.startswith("casts params['three'] in each call")

    def test_another_leaf_that_is_one_is_evidence(self) -> None:
        def function(params: Any, inputs: Any) -> Any:
            return jnp.tanh(inputs["x"] @ params["one"]) @ params["two"]

        params, inputs = {"one": SQUARE[0], "two": SQUARE[1]}, {"x": batch()}
        assert self.stored(function, params, inputs) == [True, True, False]
        alone = {"one": SQUARE[0]}
        assert self.stored(lambda p, i: i["x"] @ p["one"], alone, inputs) == [False, False]


LOOP = """
func.func public @main(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %x: tensor<16x16xf32>) {
  %0:3 = stablehlo.while(%w = %a, %v = %b, %h = %x)
      : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    stablehlo.return RETURNED, %y : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  return
}
"""


@pytest.mark.parametrize(("returned", "stored"), [("%w, %v", True), ("%v, %w", False)])
def test_a_loop_passes_a_weight_on_as_it_is(returned: str, *, stored: bool) -> None:
    """If it does not, the next turn reads another value at another scale."""
    module = parse(LOOP.replace("RETURNED", returned))
    with module.context:
        main = module.body.operations[0]
        block = main.regions[0].blocks[0]
        body = block.operations[0].regions[1].blocks[0]
        sides = ValueMap([(body.operations[0].results[0], {1})])
        allowed = ValueSet(block.arguments)
        reads = WeightReads(block.arguments[0], allowed, sides, Calls(main.operation.parent))
        assert reads.stored == stored


REFERRED = """
func.func public @main(%w: tensor<64x64xf32>, %x: tensor<32x64xf32>)
    -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = call @layer(%w, %x) : (tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.composite "a.layer" %w, %x {decomposition = @layer}
      : (tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0, %1 : tensor<32x64xf32>, tensor<32x64xf32>
}
func.func private @layer(%w: tensor<64x64xf32>, %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
"""


def test_a_function_to_which_a_composite_refers_keeps_its_types() -> None:
    module = parse(REFERRED)
    with module.context:
        main, layer_of = module.body.operations
        calls = Calls(main.operation.parent)
        assert not calls.only(layer_of)
        matmul = layer_of.regions[0].blocks[0].operations[0]
        arguments = main.regions[0].blocks[0].arguments
        sides = ValueMap([(matmul.results[0], {1})])
        reads = WeightReads(arguments[0], ValueSet(arguments), sides, calls)
        assert not reads.stored
