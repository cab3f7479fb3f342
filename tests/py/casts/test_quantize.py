"""Constants that a recipe casts: worked out while rewriting, as the program would at run time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scalify_hlo import Recipe, load_recipe
from scalify_hlo._compat import ir, new_context
from scalify_hlo.casts import encoding
from scalify_hlo.casts.encoding import bound, dtype_of, encode, exponent_below_rms, rounded
from scalify_hlo.ir.formats import FORMATS
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.run.interpreter import evaluate
from tests.py.shared.judge import shaped, stablehlo_of

Array = npt.NDArray[Any]

FP8 = load_recipe("fp8", {"state.weight": "keep", "state.gradient": "keep"})
TARGETS = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4", "f16", "bf16")
SOURCES = ("f32", "f16", "bf16", "f64")
SIZE = 32
EXTREMES = (0.0, -0.0, 1e-45, -1e-40, 1e-30, 3e-8, 448.0, 464.0, 465.0, -57344.0, 1e30, -3e38)
SPECIALS = (np.nan, np.inf, -np.inf)


def dense(array: Array) -> str:
    """An array as MLIR writes it."""
    element = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
    shape = "x".join(map(str, array.shape))
    return f'dense<"0x{array.tobytes().hex()}"> : tensor<{shape}x{element[array.dtype.name]}>'


def normal(*shape: int, scale: float = 1.0, dtype: Any = np.float32, seed: int = 0) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return np.asarray(values.astype(dtype))


def program(weight: Array, path: str = "", *, baked: bool, element: str = "f32") -> str:
    """A linear layer whose weight is a constant or an argument."""
    shape = "x".join(map(str, weight.shape))
    argument = "" if baked else f", %w: tensor<{shape}x{element}>"
    constant = f"%w = stablehlo.constant {dense(weight)}" if baked else ""
    moved = path or f"%m = stablehlo.reshape %w : (tensor<{shape}x{element}>) -> tensor<S>"
    type_ = f"tensor<{SIZE}x{SIZE}x{element}>"
    return f"""
func.func @main(%x: {type_}{argument}) -> {type_} {{
  {constant}
  {moved}
  %y = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0] : ({type_}, {type_}) -> {type_}
  return %y : {type_}
}}""".replace("tensor<S>", type_)


def program_of_splat(number: str) -> str:
    """A product with a matrix all of whose elements are one number."""
    type_ = f"tensor<{SIZE}x{SIZE}xf32>"
    return f"""
func.func @main(%x: {type_}) -> {type_} {{
  %w = stablehlo.constant dense<{number}> : {type_}
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({type_}, {type_}) -> {type_}
  return %y : {type_}
}}"""


def parse(text: str) -> ir.Module:
    with new_context(), ir.Location.unknown():
        return ir.Module.parse(text)


def quantized(text: str, recipe: Recipe = FP8, **options: Any) -> ir.Module:
    module = parse(text)
    rewrite_module(module, Options(recipe=recipe, **options))
    assert "scalify." not in str(module)
    return module


def same_bits(actual: Array, expected: Array) -> None:
    """Equality of bits; a NaN is any NaN."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    nan = np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(actual.astype(np.float64)), nan)
    bits = f"u{actual.itemsize}"
    np.testing.assert_array_equal(
        np.ascontiguousarray(actual).view(bits)[~nan],
        np.ascontiguousarray(expected).view(bits)[~nan],
    )


def without_algorithm(module: ir.Module) -> ir.Module:
    """The program without what the interpreter cannot follow, which says nothing of values."""
    for op in ops_in(module.operation, where=lambda op: "algorithm" in op.attributes):
        del op.attributes["algorithm"]
    return module


def run(module: ir.Module, *arguments: Array) -> Array:
    (result,) = evaluate(without_algorithm(module), arguments)
    return np.asarray(result)


def constants(module: ir.Module) -> list[str]:
    """The element types of the constants that are no splats."""
    return [
        str(op.results[0].type.element_type)
        for op in ops_in(module.operation, {"stablehlo.constant"})
        if not op.attributes["value"].is_splat
    ]


def ops(module: ir.Module) -> list[str]:
    return [op.name.removeprefix("stablehlo.") for op in ops_in(module.operation)]


def over(weight: Array, exponent: int) -> Array:
    """Data of a weight over 2^exponent, in its own dtype."""
    wide = weight.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.ldexp(wide, -exponent).astype(weight.dtype)


def assert_as_argument(weight: Array, recipe: Recipe = FP8, path: str = "") -> None:
    """The result is that of the weight as an argument, data X / X_s with the scale X_s."""
    element = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}[
        weight.dtype.name
    ]
    exponent = exponent_below_rms(weight.reshape(-1))
    x = normal(SIZE, SIZE, dtype=weight.dtype, seed=7)
    baked = quantized(program(weight, path, baked=True, element=element), recipe)
    given_ = parse(program(weight, path, baked=False, element=element))
    rewrite_module(
        given_, Options(recipe=recipe, signature="scaled", pairs_in=[True, True], input_scale={})
    )
    scale = np.float64 if weight.dtype == np.float64 else np.float32
    data, out = evaluate(
        without_algorithm(given_),
        [x, np.asarray(1, scale), over(weight, exponent), np.asarray(2.0**exponent, scale)],
    )
    with np.errstate(over="ignore"):
        expected = (data.astype(np.float64) * float(out)).astype(data.dtype)
    same_bits(run(baked, x), expected)


class TestRounding:
    """One value at a time, against the run-time cast on the reference interpreter."""

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("source", SOURCES)
    def test_is_that_of_the_cast_at_run_time(self, source: str, target: str) -> None:
        if source == target:
            return
        rng = np.random.default_rng(3)
        spread = rng.standard_normal(400) * 2.0 ** rng.integers(-24, 18, 400)
        ties = 1 + np.arange(64) / 64
        values = np.concatenate([spread, ties, -ties / 1024, EXTREMES, SPECIALS])
        with np.errstate(over="ignore"):
            values = values.astype(dtype_of(source))
        same_bits(self.in_place(values, source, target), self.at_run_time(values, source, target))

    def test_of_f64_is_to_the_nearest_once(self) -> None:
        for target in TARGETS:
            unit = 2.0 ** -(FORMATS[target].mantissa_bits + 1)
            values = np.array([1 + unit + 2.0**-50, 1 + unit - 2.0**-50, -1 - unit - 2.0**-50])
            data = self.in_place(values, "f64", target).astype(np.float64)
            np.testing.assert_array_equal(data, [1 + 2 * unit, 1, -1 - 2 * unit])

    @given(arrays(np.float32, 64, elements=st.floats(width=32)), st.integers(-60, 60))
    def test_is_that_of_ml_dtypes(self, values: Array, exponent: int) -> None:
        data = rounded(values, exponent, FORMATS["f8E4M3FN"], 448.0)
        with np.errstate(all="ignore"):
            unit = np.clip(values.astype(np.float64) * 2.0**-exponent, -448, 448)
            unit = np.where(np.isinf(values), np.nan, unit)
            expected = unit.astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
        same_bits(data, expected)

    @staticmethod
    def in_place(values: Array, source: str, target: str) -> Array:
        wide = values if source == "f64" else values.astype(np.float32)
        most = bound(FORMATS[source], FORMATS[target])
        return rounded(wide, 0, FORMATS[target], most)

    @staticmethod
    def at_run_time(values: Array, source: str, target: str) -> Array:
        if source == "bf16" and target == "f16":  # whose largest number is none of bf16
            source, values = "f32", values.astype(np.float32)
        from_, to = FORMATS[source], FORMATS[target]
        saturates = to.max_finite < from_.max_finite and to.exponent_bits < from_.exponent_bits
        type_, mask = f"tensor<{values.size}x{source}>", f"tensor<{values.size}xi1>"
        clamp = f"(tensor<{source}>, {type_}, tensor<{source}>) -> {type_}"
        if not saturates:
            held = f"%d = stablehlo.multiply %x, %one : {type_}"
        elif to.small:
            held = f"""%z = stablehlo.subtract %x, %x : {type_}
  %f = stablehlo.subtract %x, %z : {type_}
  %d = stablehlo.clamp %low, %f, %high : {clamp}"""
        else:
            held = f"""%f = stablehlo.is_finite %x : ({type_}) -> {mask}
  %c = stablehlo.clamp %low, %x, %high : {clamp}
  %d = stablehlo.select %f, %c, %x : {mask}, {type_}"""
        module = parse(f"""
func.func @main(%x: {type_}) -> tensor<{values.size}x{target}> {{
  %low = stablehlo.constant dense<{-to.max_finite:.6e}> : tensor<{source}>
  %high = stablehlo.constant dense<{to.max_finite:.6e}> : tensor<{source}>
  %one = stablehlo.constant dense<1.0> : {type_}
  {held}
  %y = stablehlo.convert %d : ({type_}) -> tensor<{values.size}x{target}>
  return %y : tensor<{values.size}x{target}>
}}""")
        return run(module, values)


class TestScale:
    @pytest.mark.parametrize(
        ("values", "exponent"),
        [
            ([0.0, 0.0], 0),
            ([1.0, -1.0], 0),
            ([0.999, -0.999], -1),
            ([3.0, 4.0, 5.0], 2),
            ([1e-40, 1e-40], -133),
            ([3e38, -3e38], 127),
            ([2.0, np.inf, 2.0], 1),
            ([np.nan, 0.25], -2),
            ([np.nan, -np.inf], 0),
        ],
    )
    def test_is_the_power_of_two_below_the_rms(self, values: list[float], exponent: int) -> None:
        assert exponent_below_rms(np.array(values, np.float32)) == exponent

    def test_is_that_of_the_whole_of_a_large_constant(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values = normal(1000) * np.float32(2) ** np.arange(1000, dtype=np.float32).clip(0, 20)
        whole = exponent_below_rms(values)
        monkeypatch.setattr(encoding, "ENCODED_CHUNK", 7)
        assert exponent_below_rms(values) == whole


class TestAsArgument:
    @pytest.mark.parametrize("scale", [2.0**-20, 0.02, 1.0, 3000.0])
    @pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
    def test_computes_what_a_scaled_argument_does(self, scale: float, dtype: Any) -> None:
        assert_as_argument(normal(SIZE, SIZE, scale=scale, dtype=dtype))

    @pytest.mark.parametrize("preset", ["fp16", "bf16", "fp8", "fp8-state"])
    def test_under_each_preset(self, preset: str) -> None:
        keep = ("weight", "gradient", "first_moment", "second_moment")
        recipe = load_recipe(preset, {f"state.{key}": "keep" for key in keep})
        assert_as_argument(normal(SIZE, SIZE, scale=0.02), recipe)

    def test_of_infinities_and_nan(self) -> None:
        weight = normal(SIZE, SIZE, scale=1e-3)
        weight[3, 4], weight[5, 6], weight[7, 8] = np.inf, -np.inf, np.nan
        module = quantized(program(weight, baked=True))
        result = run(module, np.eye(SIZE, dtype=np.float32))
        lost = np.isin(np.arange(SIZE), (4, 6, 8))
        assert np.isnan(result[:, lost]).all()
        np.testing.assert_allclose(result[:, ~lost], weight[:, ~lost], rtol=2.0**-4, atol=2.0**-18)

    def test_without_saturation(self) -> None:
        weight = normal(SIZE, SIZE, scale=2.0**-6)
        weight[0, 0] = np.inf
        module = quantized(program(weight, baked=True), replace(FP8, saturate=False))
        assert np.isnan(run(module, np.eye(SIZE, dtype=np.float32))[0, 0])

    @pytest.mark.parametrize("dtype", [np.float16, np.float64])
    def test_of_other_formats(self, dtype: Any) -> None:
        assert_as_argument(normal(SIZE, SIZE, scale=0.02, dtype=dtype))


MOVES = {
    "reshape": ((SIZE * SIZE,), "stablehlo.reshape %w : (W) -> M"),
    "transpose": ((SIZE, SIZE), "stablehlo.transpose %w, dims = [1, 0] : (W) -> M"),
    "broadcast": ((SIZE,), "stablehlo.broadcast_in_dim %w, dims = [1] : (W) -> M"),
    "slice": ((SIZE, 3 * SIZE), f"stablehlo.slice %w [0:{SIZE}, {SIZE}:{2 * SIZE}] : (W) -> M"),
    "reverse": ((SIZE, SIZE), "stablehlo.reverse %w, dims = [0] : M"),
}


def moved(name: str) -> tuple[tuple[int, ...], str]:
    """The shape of a constant, and how it comes to be the operand of a matmul."""
    shape, text = MOVES[name]
    wide = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return shape, "%m = " + text.replace("W", wide).replace("M", "tensor<S>")


class TestMovement:
    @pytest.mark.parametrize("name", MOVES)
    def test_moves_the_narrow_constant(self, name: str) -> None:
        shape, path = moved(name)
        weight = normal(*shape, scale=0.1)
        assert_as_argument(weight, path=path)
        module = quantized(program(weight, path, baked=True))
        assert constants(module) == ["f8E4M3FN"]

    def test_a_model_s_own_convert_rounds_before(self) -> None:
        weight = normal(SIZE, SIZE, scale=0.1)
        path = """
  %h = stablehlo.convert %w : (tensor<S>) -> tensor<32x32xbf16>
  %m = stablehlo.convert %h : (tensor<32x32xbf16>) -> tensor<S>"""
        rounded_before = weight.astype(ml_dtypes.bfloat16).astype(np.float32)
        x = normal(SIZE, SIZE, seed=1)
        twice = quantized(program(weight, path, baked=True))
        once = quantized(program(rounded_before, "", baked=True))
        same_bits(run(twice, x), run(once, x))
        assert constants(twice) == ["f8E4M3FN"]

    def test_a_model_s_own_f8_is_left_to_run_time(self) -> None:
        path = """
  %h = stablehlo.convert %w : (tensor<S>) -> tensor<32x32xf8E5M2>
  %m = stablehlo.convert %h : (tensor<32x32xf8E5M2>) -> tensor<S>"""
        module = quantized(program(normal(SIZE, SIZE), path, baked=True))
        assert constants(module) == ["f32"]

    @pytest.mark.parametrize("preset", ["fp8", "unit", "fp16", "fp8-current"])
    @pytest.mark.parametrize("number", [2.0**-20, 0.3 * 2.0**-12, 0.3, 3.0e3, -1.0e9])
    def test_splats_take_a_scale_where_the_format_ends(self, number: float, preset: str) -> None:
        """A matrix of means, say, is full of 1/n."""
        module = quantized(program_of_splat(f"{number:.9e}"), load_recipe(preset))
        result = run(module, np.ones((SIZE, SIZE), np.float32))
        assert np.all(np.abs(result - SIZE * number) <= 2.0**-4 * abs(SIZE * number))

    @pytest.mark.parametrize("preset", ["fp8", "unit", "fp8-current"])
    def test_splats_of_infinities_become_nan(self, preset: str) -> None:
        module = quantized(program_of_splat("0xFF800000"), load_recipe(preset))
        result = run(module, np.ones((SIZE, SIZE), np.float32))
        assert np.isnan(result).all()

    def test_splats_of_zero_are_not_clamped(self) -> None:
        """One clamp is of the other operand, and one of its measured size."""
        module = quantized(program_of_splat("0.0"))
        assert len(ops_in(module.operation, {"stablehlo.clamp"})) == 2

    def test_what_computes_is_left_to_run_time(self) -> None:
        module = quantized(
            program(normal(SIZE, SIZE), "%m = stablehlo.tanh %w : tensor<S>", baked=True)
        )
        assert constants(module) == ["f32"]


X = shaped(SIZE, SIZE)


class TestSharing:
    def test_forward_and_backward_share_a_constant(self) -> None:
        weight = normal(SIZE, SIZE, scale=0.1)
        text = stablehlo_of(jax.grad(lambda x: jnp.sum(jnp.tanh(jnp.tanh(x @ weight) @ weight))), X)
        module = quantized(text)
        assert len([op for op in ops(module) if op == "dot_general"]) > 2
        assert constants(module) == ["f8E4M3FN"]

    def test_a_constant_that_something_else_reads_stays_beside(self) -> None:
        weight = normal(SIZE, SIZE, scale=0.1)
        module = quantized(stablehlo_of(lambda x: x @ weight + weight, X))
        assert sorted(constants(module)) == ["f32", "f8E4M3FN"]

    def test_equal_constants_are_worked_out_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        weight = normal(SIZE, SIZE, scale=0.1)
        calls: list[str] = []

        def counted(*arguments: Any, **options: Any) -> Any:
            calls.append(str(arguments[2]))
            return encode(*arguments, **options)

        monkeypatch.setattr("scalify_hlo.casts.constant_folding.encode", counted)
        quantized(stablehlo_of(lambda x: (x @ weight) @ weight.copy(), X))
        assert calls == ["f8E4M3FN"]

    def test_locations_are_kept(self) -> None:
        text = stablehlo_of(lambda x: x @ normal(SIZE, SIZE).T, X)
        (before,), (after,) = self.places(parse(text)), self.places(quantized(text))
        assert before == after != "loc(unknown)"

    @staticmethod
    def places(module: ir.Module) -> list[str]:
        """Returns the locations of the constants that are not splats."""
        found = ops_in(module.operation, {"stablehlo.constant"})
        return [str(op.location) for op in found if not op.attributes["value"].is_splat]
