"""The recipe's ``compute``: models that compute in f16 or bf16 what is no matmul."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo
from examples.training import training_step
from scalify_hlo.ir.traits import WRAPPED
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.run.runner import compile_module
from tests.py.casts.test_low_precision import step_text
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import draw
from tests.py.shared.judge import (
    evaluate,
    parse,
    program_of,
    rewritten,
    run_scaled,
    shaped,
    stablehlo_of,
)
from tests.py.shared.role_models import Model, Sizes
from tests.py.shared.role_programs import MODELS

FORMATS = ("f16", "bf16")
BITS = {"f16": 10, "bf16": 7}
"""Of the mantissas."""


def narrowed(text: str, format_: str, **settings: str) -> Any:
    settings["compute"] = format_
    near_unit = {"*": 1.0}
    return scalify_hlo.rewrite(text, recipe="propagate", settings=settings, input_scale=near_unit)


def results(text: str, *names: str) -> list[tuple[str, str]]:
    """Format and location's name of the results of some ops."""
    aliases = dict(re.findall(r'^(#loc\d*) = loc\("([^"]*)"', text, re.MULTILINE))
    pattern = re.compile(
        r"stablehlo\.(\w+)[^\n]*tensor<(?:[0-9?]+x)*(\w+)>[^\n]*loc\((#loc\d*)\)$", re.MULTILINE
    )
    return [
        (element, aliases.get(location, ""))
        for name, element, location in pattern.findall(text)
        if name in names
    ]


ARITHMETIC = ("add", "subtract", "exponential", "tanh", "divide", "select")


class TestTrainingStep:
    def test_makes_the_forward_pass_of_f16_and_the_backward_of_f32(self) -> None:
        # Casts to f16 keep infinities by a select of f32, which is no activation.
        found = results(narrowed(step_text(), "f16"), *(set(ARITHMETIC) - {"select"}))
        forward = {e for e, name in found if "jvp(" in name and "transpose(" not in name}
        assert "f16" in forward
        # Statistics of normalizations are sums, and the loss is f32: no activation stays f32.
        kept = [n for e, n in found if e == "f32" and "jvp(" in n and "transpose(" not in n]
        assert {name.rpartition("/")[2] for name in kept} <= {
            *("add", "div", "exp", "log", "neg", "select_n", "sub")
        }
        # The loss has the only exponentials in f32; those of attention are f16.
        assert sum(name.endswith("/exp") for name in kept) == 1
        assert any(e == "f32" and "transpose(" in n and "/add_any" in n for e, n in found)

    def test_makes_both_of_bf16(self) -> None:
        found = results(narrowed(step_text(), "bf16"), *ARITHMETIC)
        assert any(e == "bf16" and "transpose(" in n for e, n in found)

    @pytest.mark.parametrize("format_", FORMATS)
    def test_leaves_the_optimizer_alone(self, format_: str) -> None:
        found = results(narrowed(step_text(), format_), "add", "multiply", "sqrt", "divide")
        optimizer = {element for element, name in found if "jvp(" not in name and "jit" in name}
        assert optimizer - {"i32"} == {"f32"}


def normalize(x: jax.Array) -> jax.Array:
    centerd = x - x.mean(-1, keepdims=True)
    return centerd * jax.lax.rsqrt((centerd**2).mean(-1, keepdims=True) + 1e-12)


def entropy(x: jax.Array) -> jax.Array:
    return -jax.nn.log_softmax(x)[:, 3].mean()


LAYERS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax,
    "logsumexp": jax.nn.logsumexp,
    "cross-entropy": entropy,
    "normalization": normalize,
    "variance": lambda x: x.var(-1),
    "variance-of-squares": lambda x: (x * x).mean(-1) - x.mean(-1) ** 2,
    "second-moment": lambda x: 0.95 * x**2 + 0.05 * (0.5 * x) ** 2,
    "norm": jnp.linalg.norm,
    "long-sum": lambda x: (x + 3 * jnp.abs(x)).sum(),
    "long-product-sum": lambda x: (x * x).sum(),
    "gelu": lambda x: jax.nn.gelu(x),
    "masked": lambda x: jax.nn.softmax(jnp.where(x > x.mean(), x, -jnp.inf)),
    "masked-by-number": lambda x: jax.nn.softmax(jnp.where(x > x.mean(), x, -1e30)),
}


@pytest.mark.parametrize("name", sorted(WRAPPED))
def test_narrows_what_functions_of_narrow_values_are_read_by(name: str) -> None:
    """As it does if they are composites of a polynomial."""
    matrix = "tensor<64x64xf32>"
    dot = f"contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}"
    text = f"""func.func @main(%x: {matrix}, %w: {matrix}) -> {matrix} {{
      %0 = stablehlo.dot_general %x, %w, {dot}
      %1 = {name} %0 : {matrix} -> {matrix}
      %2 = stablehlo.negate %1 : {matrix}
      %3 = stablehlo.dot_general %2, %w, {dot}
      return %3 : {matrix}
    }}"""
    assert re.search(r"stablehlo.negate %\w+ : tensor<64x64xf16>", narrowed(text, "f16"))


SHARP = {"softmax", "masked", "masked-by-number"}
"""At 2^20 an error of a value is a factor of its exponential; but they still add up to one."""


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("exponent", [-20, 0, 20])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_stay_finite_and_right(name: str, exponent: int, format_: str) -> None:
    """Of data near unit whose values are anywhere: f16 overflows at 2^16, 2^14 terms sooner."""
    data = np.abs(np.random.default_rng(0).standard_normal((8, 2048))).astype(np.float32)
    text = stablehlo_of(LAYERS[name], data)
    value = data.astype(np.float64) * 2.0**exponent
    (expected,) = compile_module(parse(text))([value.astype(np.float32)])
    (actual,) = run_scaled(text, [data], [exponent], recipe=Recipe(compute=format_), run=_compiled)
    actual = np.asarray(getattr(actual, "value", actual), np.float64)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(actual), finite)
    if name in SHARP and exponent > 0:
        actual, expected = actual.sum(-1), np.ones(len(data))
        finite = np.isfinite(expected)
    most = np.abs(expected[finite]).max()
    assert np.abs(actual - expected)[finite].max() <= 8 * 2.0 ** -BITS[format_] * most


def _compiled(module: Any, arrays: Any) -> Any:
    return compile_module(module)(arrays)


ILL = {"remainder_large_left", "horner", "ninth_power", "call_that_meets", "shared_callee"}
"""What amplifies the rounding of its arguments, or leaves f16 with values of its own."""


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.judge == "interpreter"], ids=str)
def test_programs_of_every_op(program: Program) -> None:
    """They are valid, run, and give what they gave, as nearly as the format can."""
    format_ = "f16"
    sizes = (4, 3, 2)
    text, arrays = program.text(sizes), draw(program, sizes, 0, wild=False)
    module, _ = rewritten(text, recipe=Recipe(compute=format_))
    pairs: Any = zip(evaluate(module, arrays), evaluate(parse(text), arrays), strict=True)
    for actual, expected in pairs:
        assert actual.dtype == expected.dtype
        if expected.dtype.kind in "biu":
            np.testing.assert_array_equal(actual, expected)
        elif str(program) not in ILL:
            finite = np.isfinite(expected)
            np.testing.assert_array_equal(np.isfinite(actual), finite)
            most = np.abs(expected[finite]).max(initial=0)
            error = np.abs(actual[finite] - expected[finite]).max(initial=0)
            assert error <= 2.0 ** (4 - BITS[format_]) * most


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
@pytest.mark.parametrize(("format_", "stripped"), [("f16", False), ("bf16", True)])
def test_models(model: Model, stripped: bool, format_: str) -> None:
    function, shapes = model.build(Sizes(16, 16, 32, 16, 24, 2, 3, 3))
    exported = program_of(function, *shapes)
    text = str(exported.mlir_module())
    if stripped:
        text = parse(text).operation.get_asm(enable_debug_info=False)
    rng = np.random.default_rng(0)
    leaves = [_filled(leaf, rng) for leaf in jax.tree.leaves(shapes)]
    arrays = [leaves[i] for i in exported.module_kept_var_idx]
    module, report = rewritten(text, recipe=load_recipe("fp16", [f"compute={format_}"]))
    assert report.narrowed
    for actual, expected in zip(
        compile_module(module)(arrays), compile_module(parse(text))(arrays), strict=True
    ):
        most = np.abs(expected).max()
        assert np.abs(actual - expected).max() <= 2.0 ** (4 - BITS[format_]) * most


def _filled(leaf: Any, rng: np.random.Generator) -> Any:
    if jnp.issubdtype(leaf.dtype, jnp.floating):
        return (0.3 * rng.standard_normal(leaf.shape)).astype(leaf.dtype)
    return rng.integers(0, 4, leaf.shape).astype(leaf.dtype)


class TestStructure:
    def test_what_loops_carry_is_narrow_and_what_they_add_up_is_not(self) -> None:
        def function(weights: jax.Array, x: jax.Array) -> Any:
            def body(carry: Any, weight: jax.Array) -> Any:
                h, total = carry
                h = h + jnp.tanh(h @ weight)
                return (h, total + jnp.exp(h)), h

            (_, total), every = jax.lax.scan(body, (x, jnp.zeros_like(x)), weights)
            return total, every

        text = narrowed(stablehlo_of(function, np.ones((5, 4, 4)), np.ones((3, 4))), "f16")
        (types,) = re.findall(r"stablehlo\.while\(.*\) : (.*)", text)
        carried = re.findall(r"tensor<3x4x(\w+)>", types)
        assert sorted(carried) == ["f16", "f32"]
        assert "tensor<5x3x4xf16>" in types

    def test_functions_are_copied_for_the_widths_they_are_called_with(self) -> None:
        text = """
        func.func @main(%x: tensor<4x4xf32>, %i: tensor<4x4xi32>) -> tensor<4x4xf32> {
          %p = stablehlo.convert %i : (tensor<4x4xi32>) -> tensor<4x4xf32>
          %0 = call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
          %1 = call @f(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
          %2 = stablehlo.multiply %0, %1 : tensor<4x4xf32>
          return %2 : tensor<4x4xf32>
        }
        func.func private @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
          %0 = stablehlo.cosine %x : tensor<4x4xf32>
          return %0 : tensor<4x4xf32>
        }"""
        found = narrowed(text, "bf16")
        assert re.findall(r"cosine %\w+ : tensor<4x4x(\w+)>", found) == ["bf16", "f32"]
        assert "@f(" not in found

    def test_positions_stay_wide(self) -> None:
        """Angles of rotary embeddings: f16 has no 4097."""

        def function(x: jax.Array) -> jax.Array:
            angles = jnp.arange(x.shape[0], dtype=jnp.float32)[:, None] / 7.0
            return x * jnp.sin(angles)

        x = np.ones((5000, 2), np.float32)
        text = stablehlo_of(function, x)
        module, _ = rewritten(text, recipe=Recipe(compute="f16"))
        (actual,), (expected,) = compile_module(module)([x]), compile_module(parse(text))([x])
        np.testing.assert_allclose(actual, expected, atol=2.0**-10)

    @pytest.mark.parametrize("number", [1e-30, 1e-6, 1e30, -1e30])
    def test_constants_beyond_the_format_are_met_in_f32(self, number: float) -> None:
        def function(x: jax.Array) -> jax.Array:
            return jnp.exp(-jnp.abs(x)) / (jnp.maximum(x, number) if number > 0 else x + number)

        x = np.abs(np.random.default_rng(1).standard_normal((4, 4))).astype(np.float32)
        x[0, 0] = 0
        text = stablehlo_of(function, x)
        module, _ = rewritten(text, recipe=Recipe(compute="bf16"))
        (actual,), (expected,) = compile_module(module)([x]), compile_module(parse(text))([x])
        np.testing.assert_allclose(actual, expected, rtol=0.05)

    def test_a_large_table_is_not_rounded_to_take_rows_of_it(self) -> None:
        def function(table: jax.Array, i: jax.Array) -> jax.Array:
            return jnp.tanh(table[i])

        text = narrowed(stablehlo_of(function, np.ones((1000, 8)), np.ones(3, np.int32)), "f16")
        assert "tensor<1000x8xf16>" not in text
        assert re.search(r"tanh %\w+ : tensor<3x8xf16>", text)

    def test_what_has_sixteen_bits_already_is_left_as_it_is(self) -> None:
        def function(x: jax.Array) -> jax.Array:
            return jnp.tanh(x.astype(jnp.bfloat16) * 2)

        text = stablehlo_of(function, np.ones((4, 4), np.float32))
        assert re.search(r"tanh %\w+ : tensor<4x4xbf16>", narrowed(text, "f16"))

    def test_steps_inside_of_loops(self) -> None:
        """Several steps in one program: the optimizer is inside of the loop, and stays f32."""

        def function(w: jax.Array, xs: jax.Array) -> jax.Array:
            def step(w: jax.Array, x: jax.Array) -> Any:
                # What follows the last matmul is the loss, and stays f32.
                gradient = jax.grad(lambda w: jnp.square(jnp.tanh(x @ w) @ w).sum())(w)
                return w - 0.1 * gradient, None

            return jax.lax.scan(step, w, xs)[0]

        w, xs = np.full((16, 16), 0.1, np.float32), np.ones((3, 16, 16), np.float32)
        text = stablehlo_of(function, w, xs)
        found = narrowed(text, "f16")
        assert re.search(r"tanh %\w+ : tensor<16x16xf16>", found)
        assert re.search(r"subtract %\w+, %\w+ : tensor<16x16xf32>", found)

    def test_symbolic_shapes(self) -> None:
        shape = jax.export.symbolic_shape("n, 8")
        exported = program_of(lambda x: jax.nn.softmax(jnp.tanh(x) * 2), shaped(*shape))
        rewritten = scalify_hlo.rewrite(
            exported, recipe="propagate", settings={"compute": "f16"}, signature="same"
        )
        x = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
        np.testing.assert_allclose(rewritten.call(x), exported.call(x), rtol=0.01)


def test_momentum_and_clipping_keep_their_precision() -> None:
    """What is made of gradients is the optimizer, global norms too."""
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))

    def loss(params: Any, x: jax.Array) -> jax.Array:
        return jnp.square(jnp.tanh(x @ params["a"]) @ params["b"]).mean()

    params = {"a": np.full((16, 16), 0.1, np.float32), "b": np.full((16, 16), 0.2, np.float32)}
    step = training_step(loss, optimizer)
    text = stablehlo_of(step, params, optimizer.init(params), np.ones((16, 16), np.float32))
    found = results(narrowed(text, "bf16"), "add", "reduce", "sqrt")
    assert {e for e, name in found if "jvp(" not in name and "jit" in name} == {"f32"}
    assert "bf16" in narrowed(text, "bf16")


FP8_PRESETS = ("fp8", "unit", "fp8-current", "fp8-delayed")


@pytest.mark.parametrize("recipe", FP8_PRESETS)
def test_fp8_matmuls_return_the_dtype_of_the_model(recipe: str) -> None:
    """Also those of attention, whose gradients are predicted to grow."""

    def loss(query: Any, key: Any, weight: Any) -> Any:
        scores = jnp.einsum("bqd,bkd->bqk", query @ weight, key @ weight) / 32.0
        return jnp.sum(jax.nn.softmax(scores) ** 2)

    data = shaped(4, 64, 64)
    text = stablehlo_of(jax.grad(loss, argnums=(0, 1, 2)), data, data, shaped(64, 64))
    made = scalify_hlo.rewrite(text, recipe=recipe, settings={"compute": "bf16"})
    small = [line for line in made.splitlines() if "dot_general %" in line and "xf8" in line]
    assert len(small) == 9
    assert all(re.search(r"-> tensor<[0-9x]+xbf16>", line) for line in small)
    # A product in f8 rounds again: it flushes what the cast has kept.
    assert not [element for element, _ in results(made, "multiply") if "f8" in element]


MIXED = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xbf16>)
    -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = stablehlo.convert %1 : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0]
    : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %4 = stablehlo.convert %3 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}"""
"""One matmul in f32, and one in bf16."""


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("preset", ["propagate", "fp16", "bf16"])
def test_a_program_in_mixed_formats_keeps_them_with_a_remark(preset: str, format_: str) -> None:
    module, report = rewritten(MIXED, recipe=load_recipe(preset, [f"compute={format_}"]))
    (remark,) = (r for r in report.remarks if "compute" in r.message)
    assert report.compute is None
    assert remark.message == (
        f"compute is {format_}, and the program has matmuls in bf16, so all formats are kept"
    )
    assert remark.op == "stablehlo.dot_general"
    assert not re.search(r"scalify\.(matmul|part|roles)", str(module))
    rewrite = partial(scalify_hlo.rewrite, MIXED, recipe=preset, input_scale={"*": 1.0})
    with pytest.raises(scalify_hlo.InputError, match="all formats are kept"):
        rewrite(settings={"compute": format_}, strict=True)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("preset", ["propagate", "fp16", "bf16", "fp8"])
def test_matmuls_that_the_recipe_casts_to_16_bits_are_not_the_programs(
    preset: str, format_: str
) -> None:
    module, report = rewritten(step_text(), recipe=load_recipe(preset, [f"compute={format_}"]))
    assert report.compute == format_
    assert set(re.findall(r"tanh %\w+ : tensor<[0-9x]+x(\w+)>", str(module))) == {format_}


@pytest.mark.parametrize("format_", FORMATS)
def test_calls_without_results_take_the_formats_of_their_functions(format_: str) -> None:
    text = """
func.func public @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.tanh %y : tensor<8x4xf32>
  %z = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  call @f(%t) : (tensor<8x4xf32>) -> ()
  return %z : tensor<8x4xf32>
}
func.func private @f(%a: tensor<8x4xf32>) {
  stablehlo.custom_call @check(%a) {has_side_effect = true} : (tensor<8x4xf32>) -> ()
  return
}"""
    made = narrowed(text, format_)
    assert re.search(rf"call @f\w+\(%\w+\) : \(tensor<8x4x{format_}>\) -> \(\)", made)
    assert "custom_call @check(%0)" in made  # It reads the value in f32.
