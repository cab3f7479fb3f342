"""The page of statistics: its data, that names are only text, and that nothing else is loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import jax
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.algebra.limits import FIGURE_ROWS
from scalify_hlo.commands.stats import figures
from scalify_hlo.commands.stats.page import PAGE_FORMATS, levels, losses, page_data, stats_page
from scalify_hlo.commands.stats.record import OctaveCounts, StatsRecord
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
    rows = list(record.rows())
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
    rows = [tuple(None if v is None else v.id for v in row) for row in record.rows()]
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
