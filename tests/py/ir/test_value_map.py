"""Tables of values and ops forget those that are erased."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from typing import Any

import pytest

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir import value_map
from scalify_hlo.ir.value_map import (
    OpMap,
    OpSet,
    ValueCache,
    ValueMap,
    ValueSet,
    erase,
    erase_argument,
    function_tables,
    replace_op,
    replace_uses,
    run_native,
)
from scalify_hlo.program.program import read_text
from scalify_hlo.rules.huge import largest_constant
from tests.py.dialect.test_structure import LOOP
from tests.py.shared.judge import body_of

PROGRAM = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2xf32>
  %2 = stablehlo.add %1, %x : tensor<2xf32>
  return %x : tensor<2xf32>
}"""


@pytest.fixture
def block() -> Iterator[ir.Block]:
    program = read_text(PROGRAM)
    with program.module.context, ir.Location.unknown():
        yield body_of(program.module)


def added(block: ir.Block) -> ir.Operation:
    """A new op at the end of a block."""
    end = block.operations[-1].operation
    x = block.arguments[0]
    return stablehlo.add(x, x, ip=ir.InsertionPoint(end)).owner.operation


def renewed(block: ir.Block) -> Iterator[tuple[ir.Value, ir.Value]]:
    """An erased value and a new one at its address, if the allocator gives it out again."""
    for _ in range(100):
        old = added(block)
        value = old.results[0]
        yield value, value
        erase(old)
        made = [added(block) for _ in range(3)]
        for op in made:
            if hash(op.results[0]) == hash(value):
                yield value, op.results[0]
        for op in made:
            erase(op)


class TestTables:
    @pytest.mark.parametrize("kind", [ValueMap, ValueCache, OpMap])
    def test_a_stale_entry_is_never_found(self, kind: type[Any], block: ir.Block) -> None:
        table, met = kind(), 0
        for old, new in renewed(block):
            key = new.owner if kind is OpMap else new
            if new is old:
                table[key] = 1
                assert table.get(key) == 1
            else:
                met += 1
                assert table.get(key) is None
        assert met, "no address was given out again"

    def test_what_is_inside_of_regions_is_forgotten(self) -> None:
        program = read_text(LOOP)
        with program.module.context:
            loop = next(
                op.operation
                for function in program.module.body.operations
                for op in function.regions[0].blocks[0].operations
                if op.operation.name == "stablehlo.while"
            )
            copy = loop.clone(ip=ir.InsertionPoint(loop)).operation
            body = copy.regions[1].blocks[0]
            inner = body.operations[0].operation
            values = ValueMap([(inner.results[0], 1), (body.arguments[0], 2), (body, 3)])
            ops = OpSet([inner, body.operations[-1].operation, loop])
            cache: ValueCache[int] = ValueCache()
            cache["made", inner.results[0]] = 1
            assert (len(values), len(ops), len(cache)) == (3, 3, 1)
            erase(copy)
            assert (len(values), len(cache), list(ops)) == (0, 0, [loop])

    def test_ops_are_found_when_they_were_edited(self, block: ir.Block) -> None:
        op, end = added(block), block.operations[-1].operation
        table = OpMap([(op, 1), (end, 2)])
        op.attributes["scalify.mark"] = ir.UnitAttr.get()
        op.operands[0] = block.arguments[1]
        assert table[block.operations[len(block.operations) - 2].operation] == 1
        assert table[block.operations[-1].operation] == 2
        assert end in table
        assert added(block) not in table
        with pytest.raises(KeyError):
            table[added(block)]

    def test_terminators_are_forgotten(self, block: ir.Block) -> None:
        end = block.operations[-1].operation
        table = OpMap([(end, 1)])
        again = end.clone(ip=ir.InsertionPoint(end)).operation
        assert again not in table
        erase(end)
        assert len(table) == 0
        assert again not in table

    def test_caches_follow_replaced_values(self, block: ir.Block) -> None:
        first, second = added(block), added(block)
        x = block.arguments[0]
        cache: ValueCache[ir.Value] = ValueCache()
        cache[x, "f16"] = first.results[0]
        cache[first.results[0], "f32"] = x
        replace_uses(first.results[0], second.results[0])
        assert cache[x, "f16"] == second.results[0]
        erase(first)
        assert list(cache) == [(x, "f16")]
        erase(second)
        assert not cache

    def test_replace_op_replaces_and_erases(self, block: ir.Block) -> None:
        op = block.operations[0].operation
        table = ValueMap([(op.results[0], 1)])
        replace_op(op, [block.arguments[0]])
        assert not table
        assert block.operations[0].operands[0] == block.arguments[0]

    def test_arguments_are_forgotten(self, block: ir.Block) -> None:
        new = block.add_argument(block.arguments[0].type, ir.Location.unknown())
        table = ValueMap([(new, 1), (block.arguments[0], 2)])
        erase_argument(block, 2)
        assert list(table.values()) == [2]

    def test_native_passes_leave_no_entry(self, block: ir.Block) -> None:
        table = ValueSet(block.arguments)
        module = block.owner.operation.parent
        run_native("builtin.module(symbol-dce)", module, apart=True)
        assert len(table) == 2
        run_native("builtin.module(symbol-dce)", module)
        assert not table

    def test_tables_of_a_function_end_with_it(self, block: ir.Block) -> None:
        outer = ValueMap([(block.arguments[0], 1)])
        with function_tables():
            around = ValueMap([(block.arguments[0], 1)])
            with function_tables():
                own = ValueMap([(added(block).results[0], 1)])
                (value,) = own
                outer[value] = around[value] = 2
                erase(value.owner)
                assert not own
                assert len(outer) == 1
                assert len(around) == 2  # which hears nothing meanwhile
                own[block.arguments[0]] = 1
            assert not own
            assert around
        assert not around
        assert outer

    def test_tables_go_when_nothing_has_them(self, block: ir.Block) -> None:
        live = value_map._live(ir.Context.current)
        before = len(live._module._references)
        tables = [ValueMap([(block.arguments[0], 1)]) for _ in range(100)]
        assert len(live._module._references) == before + 100
        del tables
        assert len(live._module._references) == before

    def test_contexts_go_when_nothing_has_them(self) -> None:
        gc.collect()
        before = len(value_map._LIVE)
        for _ in range(3):
            program = read_text(PROGRAM)
            with program.module.context:
                ValueMap()
            del program
        gc.collect()
        assert len(value_map._LIVE) <= before

    def test_no_table_is_made_outside_of_a_context(self) -> None:
        with pytest.raises(RuntimeError, match="context"):
            ValueMap()

    def test_places_are_values_in_frames(self, block: ir.Block) -> None:
        frame = Frame.of(block.owner)
        inside = frame.inside(block.operations[0].operation)
        op = added(block)
        place = frame.place(op.results[0])
        assert place is frame.place(op.results[0])
        assert inside.place(op.results[0]) is inside.place(op.results[0])
        assert inside.place(op.results[0]) != place
        assert Place(place.value, place.frame) != place
        erase(op)
        assert place.value not in frame.places


def test_a_search_for_masks_leaves_no_table() -> None:
    # Its frames hold themselves, and the tables of a frame hear of each erasure while it is there.
    module = read_text(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %m = stablehlo.constant dense<-3.0e38> : tensor<4xf32>
          %0 = stablehlo.add %x, %m : tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    ).module
    mask = body_of(module).operations[0].results[0]
    gc.disable()
    try:
        with module.context:
            before = len(value_map._live(module.context).filled())
            assert largest_constant(mask) > 120
            assert len(value_map._live(module.context).filled()) == before
    finally:
        gc.enable()


def test_scales_that_a_loop_will_carry_have_no_constants() -> None:
    module = read_text(
        """func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
          %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<f32>, tensor<i32>
          cond {
            %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            stablehlo.return %a, %i : tensor<f32>, tensor<i32>
          }
          return %0#0 : tensor<f32>
        }"""
    ).module
    loop = body_of(module).operations[0]
    with module.context:
        body = loop.regions[1].blocks[0]
        scale = body.add_argument(body.arguments[0].type, loop.location)
        assert largest_constant(scale) == -math.inf
