"""The page of statistics in a headless Chromium.

Run them with `python -m pytest -m slow tests/py/commands/test_stats_browser.py`. They are skipped
only on a machine without a Chromium; `BROWSER_FOR_TESTS` is the path of one that is not on the
PATH.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from scalify_hlo.commands.stats.page import stats_page
from tests.py.shared.stats_page import BROWSER, HOSTILE, hostile, large, opened, sample

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not BROWSER, reason="no Chromium on this machine; install one or set BROWSER_FOR_TESTS"
    ),
]

PHONE = "500,900"


def asked(text: str, folder: Path, script: str, **options: str) -> Any:
    """Runs a script in an opened page that may write nothing to the console; returns its result."""
    reply = f"document.documentElement.dataset.reply = JSON.stringify((() => {{{script}}})())"
    document, console = opened(text, folder, script=reply, **options)
    assert not console
    found = re.search(r'data-reply="([^"]*)"', document)
    assert found
    return json.loads(unescape(found[1]))


PRESS = """
const press = (key) => (document.activeElement || document.body).dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const input = (id, value) => {
  const control = document.getElementById(id);
  control.value = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
};
const shown = () => [...document.querySelectorAll("#rows tr.item")];
const names = () => shown().map((row) => row.querySelector(".name").textContent);
const chosen = () => document.querySelector('tr[aria-selected="true"]')?.rowIndex;
"""


def test_a_page_opens_under_its_policy(tmp_path: Path) -> None:
    document, console = opened(stats_page(sample()), tmp_path)
    assert not console
    assert re.search(r'data-ready="\d+"', document)
    assert "params['v']" in unescape(document)


def test_ten_thousand_rows_are_drawn_in_part(tmp_path: Path) -> None:
    found = asked(
        stats_page(large(10_000)),
        tmp_path,
        PRESS
        + """
        const before = shown().length;
        press("End");
        const end = names();
        input("filter", "layer_7/ mul299");
        return { before, end, filtered: names(), count: table.getAttribute("aria-rowcount") };
        """,
    )
    assert 8 <= found["before"] < 40
    assert found["end"][-1].endswith("/mul9999")
    assert found["filtered"] == ["jit(step)/jvp(Transformer)/layer_7/attention/mul299"]
    assert found["count"] == "2"


def test_names_are_texts(tmp_path: Path) -> None:
    found = asked(
        stats_page(hostile()),
        tmp_path,
        PRESS
        + """
        press("Enter");
        const details = document.getElementById("details-title").textContent;
        const images = document.querySelectorAll("img").length;
        return { title: document.title, names: names(), details, images };
        """,
    )
    assert found["title"] == f"{HOSTILE}: statistics"
    assert set(found["names"]) == {HOSTILE}
    assert found["details"] == HOSTILE
    assert found["images"] == 0


def test_keys_move_filter_and_open(tmp_path: Path) -> None:
    found = asked(
        stats_page(sample()),
        tmp_path,
        PRESS
        + """
        const list = [];
        press("ArrowDown"); press("ArrowDown");
        list.push(document.activeElement.getAttribute("aria-rowindex"));
        press("ArrowUp");
        list.push(document.activeElement.getAttribute("aria-rowindex"));
        press("Enter");
        list.push(details.open, document.getElementById("details-title").textContent);
        list.push(location.hash);
        details.close();
        press("/");
        list.push(document.activeElement.id);
        return list;
        """,
    )
    assert found == ["4", "3", True, "params['w']", "#arg1", "filter"]


def test_values_are_sorted_by_loss_and_by_ratio(tmp_path: Path) -> None:
    found = asked(
        stats_page(sample()),
        tmp_path,
        PRESS
        + """
        const losses = [];
        for (const variant of [0, 1]) {
          input("order", `loss ${variant}`);
          losses.push(page.table.shown.map((row) => lossOf(row.of[variant], 0) ?? -1));
        }
        input("order", "snr");
        const ratios = page.table.shown.map((row) => snrOf(row, "f8E4M3FN"));
        input("order", "program");
        input("role", "weight");
        return { losses, ratios, roles: page.table.shown.map((row) => row.role) };
        """,
    )
    for losses in found["losses"]:
        assert losses == sorted(losses, reverse=True)
        assert losses[0] > 0
    assert found["ratios"] == sorted(found["ratios"])
    assert found["ratios"]
    assert set(found["roles"]) == {"weight"}


def test_details_have_the_numbers(tmp_path: Path) -> None:
    record = sample()
    operand = record.operands[0]
    rows = enumerate(record.beside())
    place = next(i for i, row in rows if row[0] and row[0].id == operand.value)
    text = asked(
        stats_page(record),
        tmp_path,
        f'page.open(rows[{place}]); return document.getElementById("details-body").textContent;',
    )
    value = next(v for v in record.variants[0].values if v.id == operand.value)
    assert f"{value.rms[-1]:.3g}" in text
    worst = min(db for db in operand.formats[0].snr_db if db is not None)
    assert f"{worst:.1f} dB" in text


@pytest.mark.parametrize("size", [PHONE, "1280,900"])
def test_nothing_is_wider_than_the_window(tmp_path: Path, size: str) -> None:
    found = asked(
        stats_page(sample()),
        tmp_path,
        "page.open(rows[0]); return [innerWidth, document.documentElement.scrollWidth, "
        'document.getElementById("details").scrollWidth];',
        size=size,
    )
    width, whole, details = found
    assert whole <= width
    assert details <= width


def test_a_strip_is_drawn_where_its_octaves_are(tmp_path: Path) -> None:
    """The pixels of the first row at octaves with elements differ from those without."""
    record = sample()
    first = record.variants[0].values[0].histogram
    drawn, empty = first.first + len(first.counts) - 2, first.first + len(first.counts) + 2
    found = asked(
        stats_page(record),
        tmp_path,
        PRESS
        + f"""
        const canvas = shown()[0].querySelector("canvas");
        const ratio = canvas.width / canvas.clientWidth;
        const line = canvas.getContext("2d").getImageData(0, 12 * ratio, canvas.width, 1).data;
        const at = (octave) => {{
          const x = Math.round(place(octave + 0.5, page.span, canvas.clientWidth) * ratio);
          return [...line.slice(4 * x, 4 * x + 4)];
        }};
        return [at({drawn}), at({empty})];
        """,
    )
    assert found[0] != found[1]
