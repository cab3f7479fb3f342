"""The page and figures of statistics, and the effects of formats that they show."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.algebra.limits import FIGURE_ROWS
from scalify_hlo.api import collect_stats, scalify
from scalify_hlo.commands.stats import figures
from scalify_hlo.commands.stats.formats import SCALINGS, TARGETS, Target, effects
from scalify_hlo.commands.stats.page import PAGE_FORMATS, levels, losses, page_data, stats_page
from scalify_hlo.commands.stats.record import FormatStats, OctaveCounts, OperandStats, StatsRecord
from scalify_hlo.commands.stats.run import Stats
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import program_of
from tests.py.shared.stats_page import HOSTILE, hostile, large, sample

MOST_BYTES = 15_000_000


class Parsed(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open, []).append(data)

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def record() -> StatsRecord:
    return sample()


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


def test_the_data_are_those_of_the_record(record: StatsRecord) -> None:
    data = data_of(stats_page(record))
    assert data == json.loads(json.dumps(page_data(record)))
    rows = list(record.beside())
    assert [row["id"] for row in data["rows"]] == [(a or b).id for a, b in rows]  # type: ignore[union-attr]
    assert len(data["operands"]) == len(record.operands)
    value, row = rows[0][0], data["rows"][0]
    assert value is not None
    assert data["texts"][row["name"]] == value.name
    cell = row["of"][0]
    assert cell["rms"] == pytest.approx(value.rms, rel=1e-3)
    assert cell["count"] == sum(value.count)


def test_a_page_loads_nothing_else(record: StatsRecord) -> None:
    text = stats_page(record)
    parsed = Parsed(text)
    for _, attributes in parsed.elements:
        assert not {"src", "href", "srcset", "action"} & set(attributes)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|fetch\(|import\(", text)


def test_the_policy_allows_one_script(record: StatsRecord) -> None:
    text = stats_page(record)
    parsed = Parsed(text)
    (policy,) = [m["content"] for m in parsed.tags("meta") if "http-equiv" in m]
    script = parsed.texts["script"][-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert re.findall(r"script-src ([^;]*)", policy) == [f"'sha256-{digest}'"]


def test_names_are_no_markup() -> None:
    text = stats_page(hostile())
    parsed = Parsed(text)
    assert not parsed.tags("img")
    assert len(parsed.tags("script")) == 2
    data = data_of(text)
    assert data["program"] == HOSTILE
    assert HOSTILE in data["texts"]
    assert parsed.texts["title"] == [f"{HOSTILE}: statistics"]


def test_a_page_is_a_table_with_labels(record: StatsRecord) -> None:
    parsed = Parsed(stats_page(record))
    assert ("html", {"lang": "en"}) in parsed.elements
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(a.get("scope") == "col" for a in parsed.tags("th"))
    assert parsed.tags("caption")
    labels = [tag for tag, _ in parsed.elements].count("label")
    assert labels == len(parsed.tags("input")) + len(parsed.tags("select"))
    for _, attributes in parsed.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name, ids[0]) in ids


def test_rows_of_a_rewrite_alone_follow_those_before_them(record: StatsRecord) -> None:
    rows = [tuple(None if v is None else v.id for v in row) for row in record.beside()]
    for column, variant in enumerate(record.variants):
        found = [row[column] for row in rows if row[column] is not None]
        assert found == [value.id for value in variant.values]
    alone = [i for i, row in enumerate(rows) if row[0] is None]
    assert alone
    assert alone != list(range(len(rows) - len(alone), len(rows)))


def test_the_largest_numbers_are_shown() -> None:
    with jax.enable_x64(True):
        exported = program_of(lambda x: -x, np.zeros(3))
    largest = float(np.finfo(np.float64).max)
    record = scalify_hlo.collect_stats(exported, [(np.full(3, largest),)])
    assert page_data(record)["rows"][0]["of"][0]["amax"] == [largest]
    assert "<html" in stats_page(record)


def test_ten_thousand_rows_are_small() -> None:
    assert len(stats_page(large(10_000)).encode()) < MOST_BYTES


def share(found: list[float], label: str) -> tuple[float, float]:
    number = 2 * list(PAGE_FORMATS).index(label)
    return found[number], found[number + 1]


def test_a_value_outside_of_the_format_of_its_cast_raises_an_alarm() -> None:
    """Values that the recipe leaves wide raise none, whatever a cast would do to them."""

    def step(w: jax.Array, v: jax.Array, x: jax.Array) -> Any:
        return jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) @ v) ** 2))(w)

    w, x = np.full((64, 64), 0.1, np.float32), np.ones((64, 64), np.float32)
    x[:, :32] = 1e-12
    record = collect_stats(program_of(step, w, w, x), [(w, w, x)], recipe="fp8-current")
    original, rewritten = record.variants
    assert not any(value.cast for value in original.values)
    assert {value.cast for value in rewritten.values} == {"", "f8E4M3FN", "f8E5M2"}
    cells = [cell for row in page_data(record)["rows"] for cell in row["of"] if cell]
    assert [cell["outside"] for cell in cells if "outside" in cell] == [0.5]
    assert any(cell.get("loss") and "outside" not in cell for cell in cells)


def test_losses_by_octaves() -> None:
    """E4M3 has 2^-9 to 448, and rounds to 2^-9 from 2^-10 on."""
    assert share(losses(OctaveCounts(-12, (1, 1, 1, 1), 4)), "E4M3") == (0.5, 0)
    assert share(losses(OctaveCounts(7, (1, 1, 1, 1), 4)), "E4M3") == (0, 0.5)
    found = losses(OctaveCounts(-40, (3, *[0] * 60, 1), 4))
    assert share(found, "E5M2") == (0.75, 0.25)
    assert share(found, "f16") == (0.75, 0.25)
    assert share(found, "bf16") == (0, 0)
    assert not any(losses(OctaveCounts(0, (), 4)))


def test_levels_are_quarters_of_octaves() -> None:
    assert levels((8, 0, 8)) == "7A7"
    assert levels((1,)) == "_"
    assert levels((1, 1 << 40))[0] == "B"
    assert not levels(())


# Figures


PNG = b"\x89PNG\r\n\x1a\n"


def test_operands_of_matmuls_are_drawn() -> None:
    record = sample()
    found = {next(v.id for v in row if v is not None) for row in figures.chosen(record)}
    assert found == {operand.value for operand in record.operands}


def test_tensors_are_drawn_if_there_are_no_operands() -> None:
    record = replace(sample(), operands=())
    shapes = [next(v.shape for v in row if v is not None) for row in figures.chosen(record)]
    assert shapes
    assert () not in shapes


def test_some_of_many_values_are_drawn() -> None:
    found = [row[0] for row in figures.chosen(large(1000))]
    assert len(found) == FIGURE_ROWS
    assert [v.id for v in (found[0], found[-1]) if v is not None] == ["0.0", "999.0"]


def test_shares_of_octaves() -> None:
    """Those beyond the ends are drawn at the ends."""
    value = sample().variants[0].values[0]
    octaves = replace(value.histogram, first=-3, counts=(1, 0, 1, 1, 1))
    cells = figures._cells([replace(value, histogram=octaves), None], -2, 1)
    np.testing.assert_allclose(cells, np.array([[0.25, 0.25, 0.5], [0, 0, 0]]))


@pytest.mark.parametrize("record", [sample(), hostile(), large(3)], ids=["two", "hostile", "large"])
def test_a_figure_is_a_picture(record: StatsRecord) -> None:
    pytest.importorskip("matplotlib", reason="in the development group and in scalify-hlo[plot]")
    picture = figures.histograms(record)
    assert picture.startswith(PNG)
    assert len(picture) > 10_000


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
