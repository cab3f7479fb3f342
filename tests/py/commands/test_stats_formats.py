"""The effect of formats on operands of matmuls, against casts of the same operands."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from scalify_hlo.api import collect_stats, scalify
from scalify_hlo.commands.stats.formats import SCALINGS, TARGETS, Target, effects
from scalify_hlo.commands.stats.record import FormatStats, OperandStats
from scalify_hlo.commands.stats.run import Stats
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import program_of

Array = np.ndarray[Any, np.dtype[Any]]

CLOSE_DB = 0.2
CASTS: dict[str, Any] = {
    "f8E4M3FN": (448.0, lambda x: x.astype(ml_dtypes.float8_e4m3fn)),
    "f8E5M2": (57344.0, lambda x: x.astype(ml_dtypes.float8_e5m2)),
    "f16": (65504.0, lambda x: x.astype(np.float16)),
    "i8": (127.0, lambda x: np.rint(x).astype(np.int8)),
}
BLOCKS = {"1x128": 128, "mx32": 32, "nv16": 16}


def scale_of(blocks: Array, scaling: str, largest: float, amax: float) -> Any:
    """The scale of each block, in f64: written again, apart from the package."""
    each = np.abs(blocks).max(axis=-1, keepdims=True)
    if scaling == "tensor":
        return np.full_like(each, amax / largest)
    if scaling == "mx32":
        powers = np.floor(np.log2(np.where(each > 0, each, 1))) - math.floor(math.log2(largest))
        return np.where(each > 0, 2.0**powers, 1)
    if scaling == "nv16":
        whole = amax / (448 * largest)
        rounded = (each / largest / whole).clip(max=448).astype(ml_dtypes.float8_e4m3fn)
        return rounded.astype(np.float64) * whole
    return np.where(each > 0, each / largest, 1)


def snr(rows: Array, format_: str, scaling: str) -> float:
    """The signal-to-noise ratio of a cast of all rows, in dB."""
    x = rows.astype(np.float64)
    size = BLOCKS.get(scaling, x.shape[1])
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % size))).reshape(-1, size)
    largest, cast = CASTS[format_]
    scale = scale_of(padded, scaling, largest, np.abs(x).max())
    data = np.divide(padded, scale, out=np.zeros_like(padded), where=scale > 0)
    rounded = cast(data.clip(-largest, largest)).astype(np.float64) * scale
    return float(10 * np.log10((x**2).sum() / ((rounded - padded) ** 2).sum()))


def operand(kind: str, shape: tuple[int, int]) -> Array:
    """Rows of a matmul's operand: normal, with outlier channels, or of many sizes."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    if kind == "outliers":
        x[:, ::37] *= 60
    elif kind == "lognormal":
        x = x * np.exp(2 * rng.standard_normal(shape))
    elif kind == "tiny":
        x = x * 1e-30
    return x.astype(np.float32)


def by_name(stats: OperandStats) -> dict[tuple[str, str], FormatStats]:
    return {(each.format, each.scaling): each for each in stats.formats}


@pytest.mark.parametrize("kind", ["normal", "outliers", "lognormal", "tiny"])
def test_signal_to_noise_is_that_of_a_cast(kind: str) -> None:
    """Both operands of X @ W: a row of X is summed over, and a column of W."""
    x, w = operand(kind, (300, 200)), operand(kind, (72, 200)).T.copy()
    exported = program_of(jnp.matmul, x, w)
    record = collect_stats(exported, [(x, w)])
    assert [o.contracted for o in record.operands] == [200, 200]
    for stats, rows in zip(record.operands, (x, w.T), strict=True):
        assert stats.sample == rows.size
        found = by_name(stats)
        assert set(found) == {(t.name, s) for t in TARGETS for s in SCALINGS}
        for (format_, scaling), each in found.items():
            (db,) = each.snr_db
            assert db == pytest.approx(snr(rows, format_, scaling), abs=CLOSE_DB), each


def test_an_operand_whose_dimensions_a_rewrite_joins() -> None:
    """Attention with one head: each projection is one matrix before it is an operand."""
    rng = np.random.default_rng(0)
    x, query, key = (rng.standard_normal(s, np.float32) for s in ((2, 9, 64), (64, 64), (64, 64)))

    def scores(x: jax.Array, query: jax.Array, key: jax.Array) -> jax.Array:
        return jnp.einsum("btd,bsd->bts", x @ query, x @ key)

    exported = program_of(scores, x, query, key)
    original = collect_stats(exported, [(x, query, key)], recipe="fp8-current")
    stats = Stats()
    recipe = load_recipe("fp8-current", {"matmul.smallest": 1})
    scalify(scores, recipe=recipe, stats=stats)(x, query, key)
    for before, after in zip(original.operands, stats.records[-1].operands, strict=True):
        assert (after.name, after.sample) == (before.name, before.sample)
        for one, other in zip(before.formats, after.formats, strict=True):
            assert one.snr_db == pytest.approx(other.snr_db, abs=3)


def test_a_sample_of_rows_stands_for_a_large_operand() -> None:
    x, w = operand("normal", (4096, 256)), operand("normal", (256, 8))
    record = collect_stats(program_of(jnp.matmul, x, w), [(x, w)])
    stats = record.operands[0]
    assert 1 << 16 <= stats.sample < x.size
    for (format_, scaling), each in by_name(stats).items():
        assert each.snr_db[0] == pytest.approx(snr(x, format_, scaling), abs=CLOSE_DB), each


def test_operands_in_a_loop_have_the_amax_of_each_turn() -> None:
    xs = np.stack([operand("normal", (64, 64)) * 4.0**i for i in range(3)])
    w = operand("normal", (64, 64))

    def step(xs: jax.Array, w: jax.Array) -> Any:
        return lax.scan(lambda c, x: (c + x @ w, None), jnp.zeros((64, 64)), xs)[0]

    record = collect_stats(program_of(step, xs, w), [(xs, w)])
    stats = by_name(record.operands[0])["i8", "tensor"]
    # The last turn has nearly all of the signal and of the noise.
    assert stats.snr_db[0] == pytest.approx(snr(xs[2], "i8", "tensor"), abs=CLOSE_DB)
    assert record.operands[0].sample == xs.size


def test_shares_of_flushed_and_clipped_elements() -> None:
    rows = np.ones((4, 64), np.float32)
    rows[0, :8] = 1e-8  # is flushed at the scale of the row in all but f16 with blocks
    rows[1, 0] = 0
    rows[2, :4] = np.nan
    found = effects(rows)
    flushed = found["i8", "channel"]
    assert (flushed.flushed, flushed.nonzero, flushed.count) == (8, 4 * 64 - 5, 4 * 64 - 4)
    assert flushed.clipped == 0
    assert effects(np.array([[1.9, 1.0]], np.float32))["f8E4M3FN", "mx32"].clipped == 1


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_numbers_are_rounded_as_by_a_cast(target: Target) -> None:
    """Magnitudes of all exponents, and the ties between neighbours of the format."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, np.float32(target.largest).view(np.uint32), 1 << 16, np.uint32)
    found = np.unique(target.cast(bits.view(np.float32)))
    ties = (found[1:] + found[:-1]) / 2
    data = np.concatenate([bits.view(np.float32), ties, [np.float32(target.largest)]])
    _, cast = CASTS[target.name]
    np.testing.assert_array_equal(target.cast(data), cast(data).astype(np.float32))


def test_exact_casts_and_zeros_have_no_ratio() -> None:
    assert effects(np.zeros((2, 16), np.float32))["f16", "tensor"].snr_db is None
    assert effects(np.full((2, 16), 448.0, np.float32))["f8E4M3FN", "tensor"].snr_db is None
