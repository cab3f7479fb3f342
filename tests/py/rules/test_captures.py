"""Regions that read values from outside of them: what they read is the value, not its data.

XLA takes no such region of a reduction, and the interpreter runs no collective, whose lit test has
one: the others are judged by their results, bit for bit.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from scalify_hlo._compat import chlo, sdy, stablehlo
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.moments import flow_of
from scalify_hlo.errors import InputError
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.traits import WITH_REGIONS
from scalify_hlo.program.program import read_text
from tests.py.programs.program import ABSENT
from tests.py.shared.judge import Array, assert_invariant, main_of

FUNCTIONS = {
    "sum": "%r = stablehlo.add %v, %y : $s",
    "if": """%p = stablehlo.compare GT, %v, %y : ($s, $s) -> $b
    %r = "stablehlo.if"(%p) ({
      %e = stablehlo.minimum %v, %yz : $s
      stablehlo.return %e : $s
    }, {
      stablehlo.return %y : $s
    }) : ($b) -> $s""",
    "while": """%r, %j = stablehlo.while(%c = %v, %k = %none) : $s, $i
    cond {
      %e = stablehlo.compare LT, %k, %one : ($i, $i) -> $b
      stablehlo.return %e : $b
    } do {
      %e = stablehlo.add %c, %y : $s
      %g = stablehlo.add %k, %one : $i
      stablehlo.return %e, %g : $s, $i
    }""",
    "reduction of a tensor from outside": """%r = "stablehlo.reduce"(%w, %v) <{
      dimensions = array<i64: 0>
    }> ({
    ^bb0(%c: $s, %d: $s):
      %e = stablehlo.maximum %c, %yz : $s
      %g = stablehlo.minimum %e, %d : $s
      stablehlo.return %g : $s
    }) : ($n, $s) -> $s""",
    "call": "%r = func.call @f(%v, %y) : ($s, $s) -> $s",
}
"""Statements that make %r of %v and of what stands around the region."""

_WINDOWS = "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>"
_COMBINE = """{
  ^bb0(%a: $s, %v: $s):
    FUNCTION
    %end = stablehlo.maximum %a, %r : $s
    stablehlo.return %end : $s
  }"""
_ORDER = """{
  ^bb0(%v: $s, %other: $s):
    FUNCTION
    OTHER
    %end = stablehlo.compare GE, %r, %r_ : ($s, $s) -> $b
    stablehlo.return %end : $b
  }"""
_SIMPLE_ORDER = """{
  ^bb0(%a: $s, %b: $s):
    %end = stablehlo.compare GE, %a, %b : ($s, $s) -> $b
    stablehlo.return %end : $b
  }"""
_SIMPLE_SUM = """{
  ^bb0(%a: $s, %b: $s):
    %end = stablehlo.add %a, %b : $s
    stablehlo.return %end : $s
  }"""
OPS = {
    "reduce": f"""%0 = "stablehlo.reduce"(%x, %half) <{{dimensions = array<i64: 0>}}> ({_COMBINE})
    : ($n, $s) -> $s""",
    "reduce_window": f"""%0 = "stablehlo.reduce_window"(%x, %half) <{{{_WINDOWS}}}> ({_COMBINE})
    : ($n, $s) -> $m""",
    "scatter": f"""%0 = "stablehlo.scatter"(%x, %rows, %u) <{{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }}> ({_COMBINE}) : ($n, tensor<2x1xi32>, $m) -> $n""",
    "select_and_scatter, selecting": f"""%0 = "stablehlo.select_and_scatter"(%x, %u, %zero) <{{
    {_WINDOWS}
  }}> ({_ORDER}, {_SIMPLE_SUM}) : ($n, $m, $s) -> $n""",
    "select_and_scatter, scattering": f"""%0 = "stablehlo.select_and_scatter"(%x, %u, %zero) <{{
    {_WINDOWS}
  }}> ({_SIMPLE_ORDER}, {_COMBINE}) : ($n, $m, $s) -> $n""",
    "sort": f"""%0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> (
  {_ORDER.replace("GE", "LT")}) : ($n) -> $n""",
    "map": """%0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%v: $s):
    FUNCTION
    stablehlo.return %r : $s
  }) : ($n) -> $n""",
}
_RESULTS = {"reduce": "$s", "reduce_window": "$m"}
_HEAD = """
func.func private @f(%a: $s, %b: $s) -> $s {
  %0 = stablehlo.subtract %a, %b : $s
  return %0 : $s
}
func.func @main(ARGUMENTS) -> (RESULTS) {
  %none = stablehlo.constant dense<0> : $i
  %one = stablehlo.constant dense<1> : $i
  %rows = stablehlo.constant dense<[[3], [1]]> : tensor<2x1xi32>
  %zero = stablehlo.constant dense<0.0> : $s
  %half = stablehlo.constant dense<0.5> : $s
  %yz = stablehlo.multiply %y, %z : $s
  %q = stablehlo.compare GT, %yz, %y : ($s, $s) -> $b
"""
_FLOATS = "%x: $n, %u: $m, %w: $n, %y: $s, %z: $s"
_SHAPES = ((4,), (2,), (4,), (), ())
_TYPES = {
    "$s": "tensor<f32>",
    "$n": "tensor<4xf32>",
    "$m": "tensor<2xf32>",
    "$i": "tensor<i32>",
    "$l": "tensor<2xi32>",
    "$k": "tensor<4xi32>",
    "$b": "tensor<i1>",
}


def typed(text: str) -> str:
    for short, type_ in _TYPES.items():
        text = text.replace(short, type_)
    return text


def applying(op: str, function: str) -> str:
    """An op whose region applies a function with captures."""
    other = re.sub(r"%([c-ehgjkpr])\b", r"%\1_", function).replace("%v", "%other")
    return op.replace("FUNCTION", function).replace("OTHER", other)


def program(statements: str, results: str, arguments: str = _FLOATS, end: str = "%0") -> str:
    head = _HEAD.replace("ARGUMENTS", arguments).replace("RESULTS", results)
    return typed(f"{head}  {statements}\n  return {end} : {results}\n}}")


def values(seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, shape).astype(np.float32) for shape in _SHAPES]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("op", OPS)
def test_a_region_reads_the_values_that_it_captures(op: str, function: str) -> None:
    text = program(applying(OPS[op], FUNCTIONS[function]), _RESULTS.get(op, "$n"))
    for seed, exponents in enumerate([(3, -2, 1, 4, -1), (-1, 2, 5, -3, 2)]):
        assert_invariant(text, values(seed), exponents)
    assert_invariant(text, values(2), (0, 0, 2, 3, -4), pairs=(False, False, True, True, True))


WHERE = {
    "in the body of a loop": """%done, %carry, %out = stablehlo.while(
      %t = %none, %cc = %y, %acc = %x) : $i, $s, $n
    cond {
      %go = stablehlo.compare LE, %t, %one : ($i, $i) -> $b
      stablehlo.return %go : $b
    } do {
      OP
      %next = stablehlo.add %t, %one : $i
      %scaled = stablehlo.multiply %cc, %half : $s
      %sum = stablehlo.add %acc, %0 : $n
      stablehlo.return %next, %scaled, %sum : $i, $s, $n
    }""",
    "in a branch": """%out = "stablehlo.if"(%q) ({
      %cc = stablehlo.multiply %yz, %y : $s
      OP
      stablehlo.return %0 : $n
    }, {
      stablehlo.return %x : $n
    }) : ($b) -> $n""",
    "in a function": """%out = func.call @g(%x, %yz) : ($n, $s) -> $n""",
}
_G = """
func.func private @g(%x: $n, %cc: $s) -> $n {
  OP
  return %0 : $n
}"""
_CAPTURING = """%0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%v: $s):
    %e = stablehlo.maximum %v, %cc : $s
    %g = stablehlo.subtract %v, %cc : $s
    %r = stablehlo.add %e, %g : $s
    stablehlo.return %r : $s
  }) : ($n) -> $n"""


@pytest.mark.parametrize("where", WHERE)
def test_regions_inside_of_regions_capture_values_of_both(where: str) -> None:
    text = program(WHERE[where].replace("OP", _CAPTURING), "$n, $s", end="%out, %yz")
    text += typed(_G.replace("OP", _CAPTURING))
    for seed, exponents in enumerate([(3, -2, 1, 4, -1), (-1, 2, 5, -3, 2)]):
        assert_invariant(text, values(seed), exponents)


def test_what_a_narrow_format_moves_is_captured_where_it_was_moved_to() -> None:
    """A sum in f16 pays its level at once, for all of its uses."""
    text = program(
        """%big = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : ($n, $n) -> $s
  %bigger = stablehlo.add %big, %y : $s
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%v: $s):
    %e = stablehlo.maximum %v, %bigger : $s
    %r = stablehlo.minimum %e, %big : $s
    stablehlo.return %r : $s
  }) : ($n) -> $n""",
        "$n, $s",
        end="%0, %big",
    ).replace("f32", "f16")
    rng = np.random.default_rng(5)
    data = [rng.integers(1, 9, shape).astype(np.float16) / np.float16(4) for shape in _SHAPES]
    assert_invariant(text, data, (1, -2, -1, 2, 1))


_COUNTED = """%e = stablehlo.compare GT, %y, %yz : ($s, $s) -> $b
    %g = stablehlo.add %v, %one : $i
    %r = stablehlo.select %e, %g, %v : $b, $i"""
_INTEGERS = {"$s": "$i", "$n": "$k", "$m": "$l", "%half": "%one", "%zero": "%none"}


@pytest.mark.parametrize("op", OPS)
def test_a_region_of_integers_reads_the_values_that_it_captures(op: str) -> None:
    """No operand of the op itself has a scale."""
    template = OPS[op]
    for float_, integer in _INTEGERS.items():
        template = template.replace(float_, integer)
    result = _INTEGERS[_RESULTS.get(op, "$n")]
    arguments = "%x: $k, %u: $l, %w: $n, %y: $s, %z: $s"
    text = program(applying(template, _COUNTED), result, arguments)
    rng = np.random.default_rng(0)
    whole = [rng.integers(-9, 9, shape).astype(np.int32) for shape in _SHAPES[:2]]
    for y, z in ((1.5, 8.0), (1.5, 0.5)):
        data = [*whole, np.ones(4, np.float32), np.float32(y), np.float32(z)]
        assert_invariant(text, [np.asarray(a) for a in data], (0, 0, 1, 3, -2))


ISOLATED = {
    "stablehlo.async_start": """%f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: $n):
    %0 = "stablehlo.all_gather"(%w) <{
      all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
    }> : ($n) -> $n
    stablehlo.return %0 : $n
  }) : ($n) -> !stablehlo.future<$n>
  %out = "stablehlo.async_done"(%f) : (!stablehlo.future<$n>) -> $n""",
    "chlo.scan": """%out, %last = "chlo.scan"(%x, %y) ({
  ^bb0(%a: $s, %b: $s):
    %0 = stablehlo.add %a, %z : $s
    "stablehlo.return"(%0, %0) : ($s, $s) -> ()
  }) {
    dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : ($n, $s) -> ($n, $s)""",
    "sdy.named_computation": """%out = sdy.named_computation<"f">(%x) (%a: $n) {
    %0 = stablehlo.add %a, %w : $n
    sdy.return %0 : $n
  } : ($n) -> $n""",
    "sdy.manual_computation": """%out = sdy.manual_computation(%x)
    in_shardings = [<@mesh, [{}]>] out_shardings = [<@mesh, [{}]>] manual_axes={} (%a: $n) {
    %0 = stablehlo.add %a, %w : $n
    sdy.return %0 : $n
  } : ($n) -> $n""",
}
"""Ops whose regions can capture nothing, and a program that tries."""

CALLS = {"stablehlo.composite"}
"""Ops that are calls, of what their decomposition says."""


@pytest.mark.parametrize("op", ISOLATED)
def test_a_capture_of_an_isolated_region_is_an_input_error(op: str) -> None:
    text = 'sdy.mesh @mesh = <["a"=1]>' + program(ISOLATED[op], "$n", end="%out")
    with pytest.raises(InputError, match="outside the region"):
        read_text(text)


def test_every_op_with_regions_that_can_capture_is_visited() -> None:
    """Also where nothing is known of its operands."""
    classes = [op for dialect in (stablehlo, chlo, sdy) for op in vars(dialect).values()]
    with_regions = {
        op.OPERATION_NAME for op in classes if getattr(op, "_ODS_REGIONS", (0, True)) != (0, True)
    }
    assert with_regions - set(ISOLATED) - CALLS == WITH_REGIONS - set(ISOLATED) - ABSENT


CAPTURED_AND_RETURNED = """
func.func public @main(%w: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = call @turns(%w, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func private @turns(%w: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %start, %c = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    stablehlo.return %end, %w : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}
"""


def test_what_a_loop_returns_of_a_captured_value_is_followed() -> None:
    module = read_text(CAPTURED_AND_RETURNED).module
    main = main_of(module)
    with module.context:
        frame = Frame(functions_in(module.operation))
        (returned,) = main.regions[0].blocks[0].operations[-1].operands
        flow = flow_of({frame.place(main.arguments[0]): 1})
        assert flow[frame.place(returned)] == 1
