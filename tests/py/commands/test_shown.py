"""A Python prompt shows a result as one line, however large the program is."""

from __future__ import annotations

import html
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.results.shown import flattened
from tests.py.shared.judge import program_of

TARGET: Any = SimpleNamespace(name="h100")
MANY: Any = (None,) * 1000
TRIALS: Any = tuple(SimpleNamespace(name=name) for name in ("fp8", "unit"))
NAMES = tuple(f"result[{i}]" for i in range(1000))


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (
            jsa.Report(recipe="fp8", matmuls=list(MANY), narrowed=900, remarks=list(MANY[:2])),
            "Report(recipe='fp8', matmuls=1000, narrowed=900, remarks=2)",
        ),
        (
            jsa.Comparison("f", "1f", 3, True, 20.0, 0.02, (), "", (), TRIALS, "fp8", "take fp8"),
            "Comparison(program='f', trials=['fp8', 'unit'], suggested='fp8')",
        ),
        (
            jsa.NanReport("f", "1f", "", 1, 0, 1000, NAMES, (), MANY),
            "NanReport(program='f', results that are not finite: result[0], result[1], result[2] "
            "and 997 more with NaN)",
        ),
        (
            jsa.Explanation(TARGET, "fp8", None, None, MANY, ()),  # type: ignore[arg-type]
            "Explanation(target='h100', recipe='fp8', matmuls=1000)",
        ),
        (
            jsa.Profile("1f", 4, dict.fromkeys(NAMES)),  # type: ignore[arg-type]
            "Profile(program='1f', samples=4, tensors=1000)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_is_shown_as_one_line(shown: object, line: str) -> None:
    assert repr(shown) == line


def program() -> Any:
    x = jnp.ones((32, 32))
    return program_of(lambda x, w: jnp.tanh(x @ w) @ w + jnp.exp(x * 1000), x, x)


def results() -> dict[str, Any]:
    """A result of each function that returns one."""
    made, x = program(), np.ones((32, 32), np.float32)
    x[16:] = 0
    inputs = [{"x": x, "w": x}]
    options: dict[str, Any] = {"recipe": "fp8-current"}
    return {
        "rewrite": jsa.rewrite(made, report=True, **options)[1],
        "compare": jsa.compare_recipes(made, inputs, "fp8-current"),
        "blame": jsa.blame(made, inputs, "fp8-current"),
        "search": jsa.search(made, inputs, "fp8-current", "wide<=1"),
        "explain": jsa.explain(made, "cpu", **options),
        "find_nan": jsa.find_nan(made, inputs),
        "calibrate": jsa.calibrate(made, inputs),
        "collect_stats": jsa.collect_stats(made, inputs),
    }


def test_results_are_printed_as_tables_and_have_rows() -> None:
    for name, result in results().items():
        text = str(result)
        assert 1 < len(text.splitlines()) <= 40, name
        assert max(map(len, repr(result).splitlines())) < 300, name
        assert result._repr_html_() == f"<pre>{html.escape(text)}</pre>"
        assert result.to_dict()["format"], name
        rows = result.rows()
        assert rows or name == "blame", name
        columns = [key for row in rows for key in row]
        assert not any(f"{key}." in " ".join(columns) for key in columns), name
        cells = [cell for row in rows for key, cell in row.items() if key != "histogram"]
        assert not any(isinstance(cell, dict) for cell in cells), name


def test_rows_are_those_of_a_data_frame() -> None:
    """A missing object has no column beside its own, and each record of a run is a row."""
    rows = flattened(
        [
            {"name": "a", "wide": None, "snr_db": "exact", "histogram": {"12": 1}},
            {"name": "b", "wide": {"kind": "small"}, "snr_db": "lost", "histogram": {"7": 2}},
            {"name": "c", "wide": None, "snr_db": 3.5, "histogram": {}},
        ]
    )
    assert rows == [
        {"name": "a", "snr_db": np.inf, "histogram": {"12": 1}},
        {"name": "b", "wide.kind": "small", "snr_db": -np.inf, "histogram": {"7": 2}},
        {"name": "c", "snr_db": 3.5, "histogram": {}},
    ]
    ones = np.ones((32, 32), np.float32)
    inputs = [{"x": ones, "w": ones}]
    found = jsa.collect_stats(program(), inputs, recipe="fp8-current", steps=2)
    rows = found.rows()
    for row in rows:
        assert isinstance(row["rms"], float)
        assert isinstance(row["count"], int)
    of_x = [row for row in rows if row["id"] == "arg0"]
    assert [(row["variant"], row["step"]) for row in of_x] == [
        (name, step) for name in ("original", "fp8-current") for step in (0, 1)
    ]
    assert [row["scales"] for row in of_x[:2]] == [None, None]


def test_the_table_of_a_report_has_ten_rows() -> None:
    def deep(x: Any, w: Any) -> Any:
        for _ in range(16):
            x = x @ w
        return x

    x = jnp.ones((32, 32))
    _, report = jsa.rewrite(program_of(deep, x, x), recipe="fp8-current", report=True)
    assert str(report).endswith("6 more; rows() returns all")
    assert len(report.rows()) == 16
    assert report.rows()[0]["formats.lhs"] == "f8E4M3FN"


def test_the_report_of_a_rewrite_is_short() -> None:
    x = jnp.ones((64, 64))
    program = program_of(lambda x, w: jnp.tanh(x @ w) @ w, x, x)
    _, report = jsa.rewrite(program, recipe="fp8-current", report=True)
    assert repr(report) == "Report(recipe='fp8-current', matmuls=2, narrowed=2, remarks=0)"
