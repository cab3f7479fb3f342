"""No table is keyed by values or ops while programs are rewritten, and none has erased values."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import scalify_hlo
from benchmarks.common import gpt2_step
from examples import gpt2
from scalify_hlo._compat import ir
from scalify_hlo.ir import value_map
from scalify_hlo.ir.value_map import ValueCache
from tests.py.dialect.test_structure import LOOP
from tests.py.fuzzing import programs


def texts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Programs and options that come to most tables."""
    step = gpt2_step(gpt2.Config(layers=1, width=32, heads=2, sequence=8, vocab=64, batch=2))
    for recipe in ("bf16", "fp16", "fp16-state", "fp8", "fp8-current", "fp8-delayed", "propagate"):
        yield step, {"recipe": recipe, "signature": "scaled"}
    yield LOOP, {"recipe": "propagate", "signature": "scaled"}


class TestRewrites:
    @pytest.mark.slow
    def test_no_table_has_an_erased_value(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also those of functions around the one that is edited, which do not hear of it."""
        count = 0
        for kind in (ir.Operation, ir.OpView):
            own = kind.erase

            def checked(self: Any, own: Any = own) -> None:
                nonlocal count
                live = value_map._live(self.operation.context)
                every = [live._module, *live.functions]
                tables = [table for some in every for table in some.filled()]
                for value in value_map._defined_in(self.operation):
                    count += 1
                    for table in tables:
                        assert not any(_has(key, value) for key in _keys_near(table, value))
                own(self)

            monkeypatch.setattr(kind, "erase", checked)
        for text, options in (*texts(), *fuzzed(40)):
            try:
                scalify_hlo.rewrite(text, **options)
            except scalify_hlo.ScalifyError:
                continue
        assert count > 1000


def _keys_near(table: Any, value: Any) -> list[Any]:
    """The keys of a table that may be a value or have it."""
    if isinstance(table, ValueCache):
        table._index()
        return list(table._keys.get(value, ()))
    return [value] if value in table else []


def _has(key: Any, value: Any) -> bool:
    return value in key if isinstance(key, tuple) else bool(key == value)


def fuzzed(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(count):
        try:
            text = programs.draw(Random(f"tables {number}")).text()
        except (NotImplementedError, TypeError, ValueError):
            continue
        yield text, {"recipe": ("fp8", "propagate", "fp16")[number % 3], "signature": "scaled"}
