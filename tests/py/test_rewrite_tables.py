"""No table is keyed by values or ops while programs are rewritten, and none has erased values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import pytest

import scalify_hlo
from benchmarks.common import gpt2_step
from examples import gpt2
from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import Place
from scalify_hlo.dialect import value_map
from scalify_hlo.dialect.value_map import OpMap, ValueCache, ValueMap
from scalify_hlo.io.program import read_text
from tests.py.fuzzing import programs
from tests.py.judge import body_of
from tests.py.programs.short import mlir
from tests.py.test_structure import LOOP

PROGRAM = mlir("""x y: 2
  0 = add x y; 1 = multiply 0 0; 2 = add 1 x; return x""")


class Watch:
    """Looks for tables keyed by handles wherever one is hashed.

    It looks at what the functions can reach that are being run, when a place of the code hashes a
    handle for the second time and for the ninth: then the table has an entry.
    """

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.sites: dict[tuple[CodeType, int], int] = {}

    def hashed(self, frame: FrameType | None) -> None:
        while frame is not None and "scalify_hlo" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None:
            return
        site = frame.f_code, frame.f_lasti
        count = self.sites[site] = self.sites.get(site, 0) + 1
        if count in (2, 9):
            self.look(frame)

    def look(self, frame: FrameType) -> None:
        where = Path(frame.f_code.co_filename)
        if where.name == "value_map.py" and frame.f_back is not None:
            self.look(frame.f_back)
            return
        for name, held in list(frame.f_locals.items()):
            self.reach(held, f"{where.name}:{frame.f_code.co_name}: {name}", 4, set())

    def reach(self, held: object, name: str, depth: int, seen: set[int]) -> None:
        if id(held) in seen or not depth:
            return
        seen.add(id(held))
        if isinstance(held, value_map._Table | OpMap):
            return
        if isinstance(held, dict | set | frozenset):
            if any(map(is_raw, list(held)[:5])):
                self.found.add(name)
            held = list(held.values())[:5] if isinstance(held, dict) else []
        if isinstance(held, list | tuple):
            for each in held[:5]:
                self.reach(each, f"{name}[...]", depth - 1, seen)
        elif type(held).__module__.startswith("scalify_hlo"):
            parts = dict(getattr(held, "__dict__", {}))
            for kind in type(held).__mro__:
                for slot in getattr(kind, "__slots__", ()):
                    parts[slot] = getattr(held, slot, None)
            for key, part in parts.items():
                self.reach(part, f"{name}.{key}", depth - 1, seen)


def is_raw(key: object) -> bool:
    """Whether the hash of a key is that of a handle, or made of it."""
    if type(key) is tuple or (isinstance(key, tuple) and not isinstance(key, Place)):
        return any(map(is_raw, key))
    return isinstance(key, ir.Value | ir.OpView | ir.Operation | ir.Block)


def hashing_classes() -> list[type]:
    waiting: list[type] = [ir.Value, ir.Operation, ir.OpView, ir.Block]
    found: dict[type, None] = {}
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found[kind] = None
            waiting += kind.__subclasses__()
    return [kind for kind in found if kind.__dict__.get("__hash__") is not None]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    for kind in hashing_classes():
        own = kind.__hash__

        def hashed(self: object, own: Any = own) -> int:
            made.hashed(sys._getframe(1))
            return int(own(self))

        monkeypatch.setattr(kind, "__hash__", hashed)
    return made


def texts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Programs and options that come to most tables."""
    step = gpt2_step(gpt2.Config(layers=1, width=32, heads=2, sequence=8, vocab=64, batch=2))
    for recipe in ("bf16", "fp16", "fp16-state", "fp8", "fp8-current", "fp8-delayed", "propagate"):
        yield step, {"recipe": recipe, "signature": "scaled"}
    yield LOOP, {"recipe": "propagate", "signature": "scaled"}


class TestRewrites:
    def test_the_watch_sees_raw_tables(self, watch: Watch) -> None:
        program = read_text(PROGRAM)
        op = body_of(program.module).operations[0].operation
        code = compile(
            "def f(op, t):\n  for v in (*op.operands, op.results[0]): t[v] = 1", "x", "exec"
        )
        space: dict[str, Any] = {}
        exec(code.replace(co_filename="scalify_hlo/x.py"), space)
        f = space["f"]
        f.__code__ = f.__code__.replace(co_filename="scalify_hlo/x.py")
        with program.module.context:
            f(op, ValueMap())
        assert not watch.found
        f(op, {})
        f(op, {})
        assert watch.found

    def test_no_table_is_keyed_by_values_or_ops(self, watch: Watch) -> None:
        for text, options in texts():
            scalify_hlo.rewrite(text, **options)
        assert len(watch.sites) > 50
        assert watch.found == set()

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
