"""Weights that are constants, and scales of output channels, compared with NumPy exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from scalify_hlo._compat import ir
from scalify_hlo.casts.encoding import Scales, encode
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.run.runner import compile_module
from tests.py.shared import own_scales
from tests.py.shared.fp8_numpy import F32, Array, quantized
from tests.py.shared.judge import assert_all_equal, parse, program_of, stablehlo_of

E4M3 = "f8E4M3FN"


class Case(NamedTuple):
    """A product with a weight.

    Attributes:
        fn: Takes the input and the weight.
        x: The input's shape.
        w: The weight's shape.
        summed: The axes of the weight that have one scale: all others have one for each index.
    """

    fn: Callable[[Any, Any], Any]
    x: tuple[int, ...]
    w: tuple[int, ...]
    summed: tuple[int, ...]


def einsum(how: str) -> Callable[[Any, Any], Any]:
    return lambda x, w: jnp.einsum(how, x, w)


def convolution(**how: Any) -> Callable[[Any, Any], Any]:
    names = how.pop("names", ("NHWC", "HWIO", "NHWC"))
    return lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", None, None, names, **how)


def layers(x: Any, w: Any) -> Any:
    """Each layer's product; what is carried stays as it is."""
    return lax.scan(lambda carry, w: (carry, carry @ w), x, w)[1]


CASES = {
    "matrix": Case(lambda x, w: x @ w, (16, 32), (32, 16), (0,)),
    "transposed": Case(lambda x, w: x @ w.T, (16, 32), (16, 32), (1,)),
    "left": Case(einsum("kj,ij->ki"), (16, 32), (16, 32), (1,)),
    "several axes": Case(einsum("aij,ijkl->akl"), (16, 4, 8), (4, 8, 8, 4), (0, 1)),
    "batched": Case(einsum("bij,bjk->bik"), (4, 16, 32), (4, 32, 16), (1,)),
    "batched behind": Case(einsum("bij,jkb->bki"), (4, 16, 32), (32, 16, 4), (0,)),
    "batched on the left": Case(einsum("bij,kbj->bki"), (4, 16, 32), (16, 4, 32), (2,)),
    "batched and transposed": Case(
        lambda x, w: jnp.einsum("bij,bjk->bik", x, jnp.transpose(w, (2, 1, 0))),
        (4, 16, 32),
        (16, 32, 4),
        (1,),
    ),
    "reshaped": Case(lambda x, w: x @ w.reshape(32, 16), (16, 32), (4, 8, 16), (0, 1)),
    "reshaped and transposed": Case(
        lambda x, w: x @ w.transpose(2, 1, 0).reshape(32, 16), (16, 32), (16, 4, 8), (1, 2)
    ),
    "rows of a table": Case(lambda x, w: x @ w[8:40], (16, 32), (64, 16), (0,)),
    "reversed": Case(lambda x, w: x @ w[::-1], (16, 32), (32, 16), (0,)),
    "layers": Case(layers, (16, 32), (5, 32, 16), (0, 1)),
    "convolution": Case(convolution(), (2, 4, 4, 16), (3, 3, 16, 24), (0, 1, 2)),
    "feature groups": Case(
        convolution(feature_group_count=2), (2, 4, 4, 32), (3, 3, 16, 24), (0, 1, 2)
    ),
    "batch groups": Case(
        convolution(batch_group_count=2), (4, 4, 4, 16), (3, 3, 16, 24), (0, 1, 2)
    ),
    "channels first": Case(
        convolution(names=("NCHW", "OIHW", "NCHW")), (2, 16, 4, 4), (24, 16, 3, 3), (1, 2, 3)
    ),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def input_of(case: Case) -> Array:
    """Small whole numbers, which E4M3 has: sums of products with weights are exact in f32."""
    return np.random.default_rng(0).integers(-7, 8, case.x).astype(F32)


def weight_of(case: Case) -> Array:
    """Whole numbers, with a power of two for each output channel; NumPy rounds them."""
    rng = np.random.default_rng(1)
    channels = [1 if d in case.summed else n for d, n in enumerate(case.w)]
    powers = 2.0 ** (4 * rng.integers(0, 5, channels))
    return np.asarray(rng.integers(-127, 128, case.w) * powers, F32)


def rounded(w: Array, axes: tuple[int, ...] | None) -> Array:
    data, scale = quantized(w, E4M3, axes=axes)
    return np.asarray(data.astype(F32) * scale)


def rewritten(text: str, *arguments: Array, recipe: str, scales: str) -> str:
    settings = {"scaling.weight_scales": scales, "matmul.smallest": 1}
    settings |= {"inputs.weight": ["w"]} if len(arguments) == 2 else {}
    new: str = own_scales.rewritten(recipe, text, *arguments, **settings)
    assert E4M3 in new
    return new


def run(text: str, *arguments: Array) -> Any:
    return compile_module(text)(arguments)[0]


@pytest.mark.slow
@EVERY_CASE
@pytest.mark.parametrize("scales", ["tensor", "channel"])
class TestNumerics:
    @pytest.mark.parametrize("recipe", ["fp8-current", "fp8-calibrated"])
    def test_constants(self, case: Case, scales: str, recipe: str) -> None:
        x, w = input_of(case), weight_of(case)
        text = stablehlo_of(lambda x: case.fn(x, jnp.asarray(w)), x)
        new = rewritten(text, x, recipe=recipe, scales=scales)
        assert elements(new) == {"f8E4M3FN": w.size}
        values = rounded(w, case.summed if scales == "channel" else None)
        np.testing.assert_array_equal(run(new, x), case.fn(x, values))

    def test_arguments(self, case: Case, scales: str) -> None:
        x, w = input_of(case), weight_of(case)
        new = rewritten(stablehlo_of(case.fn, x, w), x, w, recipe="fp8-current", scales=scales)
        summed = case.summed if scales == "channel" else None
        if case.fn is layers and summed is not None:
            summed = (1,)  # each turn measures its own
        np.testing.assert_array_equal(run(new, x, w), case.fn(x, rounded(w, summed)))


def elements(text: str) -> Counter[str]:
    """Returns the number of elements of constants of more than 64, by format."""
    module, found = parse(text), Counter[str]()
    for op in ops_in(module.operation, {"stablehlo.constant"}):
        type_ = op.results[0].type
        size = math.prod(type_.shape)
        if size > 64 and not ir.DenseElementsAttr(op.attributes["value"]).is_splat:
            found[str(type_.element_type)] += size
    return found


class TestSharing:
    def test_one_weight_with_the_channels_of_two_matmuls(self) -> None:
        case = Case(lambda x, w: (x @ w, x @ w.T, 2 * x @ w), (16, 32), (32, 32), (0,))
        rng = np.random.default_rng(4)
        rows, columns = (2.0 ** rng.integers(0, 4, 32) for _ in range(2))
        x, w = input_of(case), rng.integers(-127, 128, case.w) * rows[:, None] * columns
        w = w.astype(F32)  # sums are exact both ways
        text = stablehlo_of(lambda x: case.fn(x, jnp.asarray(w)), x)
        new = rewritten(text, x, recipe="fp8-calibrated", scales="channel")
        assert elements(new) == {E4M3: 2 * w.size}
        found = compile_module(new)([x])
        expected = [x @ rounded(w, (0,)), x @ rounded(w, (1,)).T, 2 * x @ rounded(w, (0,))]
        assert_all_equal(found, expected)

    @pytest.mark.parametrize("scales", ["tensor", "channel"])
    def test_a_constant_that_the_model_widens(self, scales: str) -> None:
        """Its convert is dead as soon as the matmul takes the narrow constant."""
        case = CASES["matrix"]
        x, w = input_of(case), weight_of(case).astype(ml_dtypes.bfloat16)

        def fn(x: jax.Array) -> Any:
            wide = lax.convert_element_type(jnp.asarray(w), jnp.float32)
            return x @ wide, 2 * x @ wide

        text = stablehlo_of(fn, x)
        assert "xbf16" in text
        for recipe in ("fp8-current", "fp8-calibrated"):
            new = rewritten(text, x, recipe=recipe, scales=scales)
            assert elements(new) == {E4M3: w.size}
            values = rounded(w.astype(F32), (0,) if scales == "channel" else None)
            found = compile_module(new)([x])
            np.testing.assert_array_equal(found[0], x @ values)
            np.testing.assert_array_equal(found[1], 2 * x @ values)

    def test_a_weight_that_something_else_reads_is_kept_too(self) -> None:
        case = CASES["matrix"]
        x, w = input_of(case), weight_of(case)
        text = stablehlo_of(lambda x: x @ jnp.asarray(w) + jnp.sin(jnp.asarray(w))[:16], x)
        new = rewritten(text, x, recipe="fp8-calibrated", scales="tensor")
        assert elements(new) == {E4M3: w.size, "f32": w.size}


@pytest.mark.parametrize("scales", ["tensor", "channel"])
def test_constants_take_a_quarter_of_the_bytes(scales: str) -> None:
    rng = np.random.default_rng(3)
    w, v = (rng.standard_normal(s).astype(F32) / 16 for s in ((6, 128, 128), (128, 256)))

    def fn(x: jax.Array) -> jax.Array:
        h = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, jnp.asarray(w))[0]
        return h @ jnp.asarray(v)

    x = rng.standard_normal((16, 128)).astype(F32)
    program = program_of(fn, x)
    new = own_scales.rewritten("fp8-calibrated", program, x, **{"scaling.weight_scales": scales})
    sizes = [len(p.mlir_module_serialized) for p in (program, new)]
    assert sizes[1] < 0.27 * sizes[0]


@pytest.mark.slow
@pytest.mark.parametrize(("log2", "margin"), [(118, 0), (118, 4), (-100, 0), (-112, 1)])
def test_scales_of_constants_far_from_one(log2: int, margin: int) -> None:
    """The scale of the input takes the result back; a row of zeros stays that."""
    case = CASES["matrix"]
    x, w = input_of(case), weight_of(case) * F32(2.0**-16)
    x, w = x * F32(2.0 ** min(100, -log2)), np.ldexp(w, log2)
    x[0] = 0
    text = stablehlo_of(lambda x: case.fn(x, jnp.asarray(w)), x)
    for scales, recipe in (("tensor", "fp8-current"), ("channel", "fp8-calibrated")):
        settings = {"scaling.weight_scales": scales, "scaling.margin": margin}
        new = own_scales.rewritten(recipe, text, x, **settings)
        found, wanted = run(new, x), case.fn(x.astype(np.float64), w.astype(np.float64))
        assert (found[0] == 0).all()
        assert np.linalg.norm(found - wanted) < 0.05 * np.linalg.norm(wanted)


def test_largest_magnitudes_of_parts_of_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large constants are read some rows at a time."""
    w = weight_of(CASES["several axes"])
    monkeypatch.setattr("scalify_hlo.casts.encoding.ENCODED_CHUNK", 64)
    with parse("").context, ir.Location.unknown():
        element = ir.Type.parse(E4M3)
        attribute = ir.DenseElementsAttr.get(w)
        for axes in ((), (0,), (1,), (0, 3), (2, 3), (0, 1, 2, 3)):
            others = tuple(d for d in range(w.ndim) if d not in axes)
            scale = quantized(w, E4M3, axes=others)[1]
            scale = np.where(np.max(np.abs(w), axis=others, keepdims=True) > 0, scale, 1)
            _, exponents = encode(attribute, [], element, Scales("max", axes=axes))
            np.testing.assert_array_equal(np.ldexp(1.0, exponents), np.squeeze(scale, others))
