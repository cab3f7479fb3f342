"""Moments in 8 bits, with a scale for each block: compared with NumPy bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo._compat import func, ir
from scalify_hlo.casts.blocks.moments import packed, salt_of, unpacked
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.dialect.attributes import set_function_type
from scalify_hlo.ir.functions import terminator
from scalify_hlo.jax_api.block_scales import from_blocks, to_blocks
from scalify_hlo.run.runner import compile_module
from tests.py.shared import moments_numpy as model
from tests.py.shared.judge import main_of, normals, parse

FORMATS = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E3M4", "f8E4M3")
SHAPES = [(1,), (7,), (128,), (129,), (300,), (3, 5), (4, 200), (2, 3, 130)]
ROOTS = pytest.mark.parametrize("root", [False, True], ids=["first", "second"])


def sample(shape: tuple[int, ...], *, root: bool) -> Any:
    """Moments over many octaves, with zeros, signs, tiny numbers and numbers that are not finite.

    One block in three has only zeros, or numbers of one size.
    """
    rng = np.random.default_rng(sum(shape))
    spread = rng.normal(size=shape) * np.exp2(rng.integers(-30, 5, shape))
    x = (spread * np.abs(spread) if root else spread).astype(np.float32)
    flat = x.reshape(-1)
    flat[::5] = 0
    flat[1::17] = 2.0**-120
    if flat.size > 20:
        flat[2], flat[3], flat[4] = np.inf, -np.inf, np.nan
        flat[5], flat[6] = np.float32(3e38), -0.0
    if len(shape) > 1:
        x[0] = 0
    return x


def return_instead(main: ir.OpView, values: list[ir.Value]) -> None:
    """Makes a function return other values."""
    old = terminator(main.regions[0].blocks[0])
    func.return_(values, loc=old.location, ip=ir.InsertionPoint(old))
    old.operation.erase()
    inputs = [argument.type for argument in main.regions[0].blocks[0].arguments]
    set_function_type(main, inputs, [value.type for value in values])


def compiled(shape: tuple[int, ...], format_: str, *, root: bool) -> Callable[..., Any]:
    """A program that packs a moment, and unpacks it again, with its salt as second argument."""
    sizes = "x".join(map(str, shape))
    wide = f"tensor<{sizes}xf32>"
    module = parse(
        f"func.func @main(%x: {wide}, %s: tensor<ui32>) -> {wide} {{ return %x : {wide} }}"
    )
    with module.context, ir.Location.unknown():
        main = main_of(module)
        x, salt = main.regions[0].blocks[0].arguments
        at = terminator(main.regions[0].blocks[0]).operation
        moment = packed(x, format_, salt, at, root=root)
        return_instead(main, [*moment, unpacked(moment, ir.F32Type.get(), at, root=root)])
    return compile_module(module)


@ROOTS
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_moment_is_stored_as_in_numpy(shape: tuple[int, ...], format_: str, root: bool) -> None:
    x, salt = sample(shape, root=root), 0xDEADBEEF
    data, scale, values = compiled(shape, format_, root=root)([x, np.uint32(salt)])
    expected = model.blocks(x, format_, root=root, salt=salt)
    assert data.dtype == dtype_of(format_)
    assert scale.dtype == ml_dtypes.float8_e8m0fnu
    np.testing.assert_array_equal(np.log2(scale.astype(np.float64)), expected.exponents)
    np.testing.assert_array_equal(data.astype(np.float32), expected.data.astype(np.float32))
    np.testing.assert_array_equal(values, expected.values(root=root))


@pytest.mark.slow
@ROOTS
@pytest.mark.parametrize("format_", FORMATS)
def test_jax_stores_it_with_the_same_bits(format_: str, root: bool) -> None:
    for shape in SHAPES:
        x, dtype = sample(shape, root=root), dtype_of(format_)
        data, scale = to_blocks(x, dtype, 1 + root)
        expected = model.blocks(x, format_, root=root)
        np.testing.assert_array_equal(
            np.asarray(data).astype(np.float32), expected.data.astype(np.float32)
        )
        np.testing.assert_array_equal(
            np.log2(np.asarray(scale).astype(np.float64)), expected.exponents
        )
        np.testing.assert_array_equal(
            from_blocks(data, scale, 1 + root), expected.values(root=root)
        )


@pytest.mark.parametrize("format_", FORMATS)
def test_a_second_moment_is_never_much_too_small(format_: str) -> None:
    x = np.abs(np.nan_to_num(sample((4, 200), root=True), nan=0, posinf=0, neginf=0))
    x = np.where(x < 2.0**-60, 0, x).astype(np.float32)
    data, scale = to_blocks(x, dtype_of(format_), 2)
    found = np.asarray(from_blocks(data, scale, 2), np.float64)
    assert ((found > 0) == (x > 0)).all()
    used = x > 0
    bits = jsa.load_recipe("fp8-state8", {"state.second_moment": format_}).state.second_moment
    digits = {"f8E5M2": 2, "f8E3M4": 4}.get(bits, 3)
    assert (np.sqrt(x[used] / found[used]) <= 1 + 2.0**-digits).all()


@ROOTS
def test_roundings_are_right_on_average(root: bool) -> None:
    x = np.full((64, 128), 1.03, np.float32)
    x[:, 0] = 4.0
    run = compiled(x.shape, "f8E4M3FN", root=root)
    means = [run([x, np.uint32(salt)])[2][:, 1:].mean(dtype=np.float64) for salt in range(8)]
    assert np.mean(means) == pytest.approx(1.03, rel=5e-3 if root else 2e-3)
    assert len(set(means)) == len(means)


def test_the_salt_differs_from_state_to_state() -> None:
    module = parse(
        "func.func @main(%x: tensor<3x40xf8E4M3FN>) -> tensor<3x40xf8E4M3FN> "
        "{ return %x : tensor<3x40xf8E4M3FN> }"
    )
    with module.context, ir.Location.unknown():
        main = main_of(module)
        at = terminator(main.regions[0].blocks[0]).operation
        return_instead(main, [salt_of(at.operands[0], at)])
    run = compile_module(module)
    data = normals(*[(3, 40)] * 4, dtype=ml_dtypes.float8_e4m3fn)
    salts = [int(run([each])[0]) for each in data]
    assert salts == [model.salt_of(each) for each in data]
    assert len(set(salts)) == len(salts)
