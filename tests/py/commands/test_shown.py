"""A Python prompt shows a result as one line, however large the program is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import pytest

import scalify_hlo as jsa
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
            jsa.Comparison("f", "1f", 3, True, 20.0, (), "", (), TRIALS, "fp8", "take fp8"),
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
    assert repr(shown) == str(shown) == line


def test_the_report_of_a_rewrite_is_short() -> None:
    x = jnp.ones((64, 64))
    program = program_of(lambda x, w: jnp.tanh(x @ w) @ w, x, x)
    _, report = jsa.rewrite(program, recipe="fp8-current", report=True)
    assert repr(report) == "Report(recipe='fp8-current', matmuls=2, narrowed=2, remarks=0)"
