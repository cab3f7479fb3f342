"""Programs for the rules of collectives, each run by a group of one device.

What several devices exchange is tested with the programs of `test_sharding`.
"""

from __future__ import annotations

from typing import Literal

from tests.py.programs.program import ABSENT, Program, read

Judge = Literal["xla", "report"]
_GROUPS = "replica_groups=dense<[[0]]> : tensor<1x1xi64>"


def _of_two(op: str, attributes: str, region: str = "", judge: Judge = "xla") -> Program:
    """A collective of several operands, each of which keeps its own scale; the constant keeps 1."""
    (program,) = read(f"""
{op}_of_two | stablehlo.{op} | any any | aa | read | judge={judge} | scales=s0*s1 2^0
%x: $mn, %y: $mn
  %c = stablehlo.constant dense<0.5> : $mn
  %0:3 = "stablehlo.{op}"(%x, %y, %c) <{{{attributes}{_GROUPS}}}>{region}
    : ($mn, $mn, $mn) -> ($mn, $mn, $mn)
  %1 = stablehlo.multiply %0#0, %0#1 : $mn
  %2 = stablehlo.add %0#0, %0#2 : $mn
  return %1, %2 : $mn, $mn
""")
    return program


_SUM = """ ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.add %b, %a : $s
    stablehlo.return %r : $s
  })"""
_SPLIT = "split_dimension=0 : i64, concat_dimension=1 : i64, split_count=1 : i64, "

_REDUCED = read(
    f"""
for OP = EACH = MOVES = SPAN = MORE = JUDGE in
  collective_reduce = add = a:1 = 20 =  = report | scales=s0;
  collective_reduce = maximum = a:1 = 20 =  = report | scales=s0;
  all_reduce = add = a:1 = 20 =  = xla; all_reduce = maximum = a:1 = 20 =  = xla;
  all_reduce = minimum = a:1 = 20 =  = xla; all_reduce = multiply = read = 12 =  = xla;
  reduce_scatter = add = a:1 = 20 = scatter_dimension=0 : i64, = xla;
  reduce_scatter = maximum = a:1 = 20 = scatter_dimension=0 : i64, = xla;
  reduce_scatter = multiply = read = 12 = scatter_dimension=0 : i64, = xla
OP_EACH | stablehlo.OP | any any | aa | MOVES | span=SPAN | judge=JUDGE
x y: $mn
  %0 = "stablehlo.OP"(%x) <{{MORE {_GROUPS}}}> ({{
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.EACH %a, %b : $s
    return r
  }}) : ($mn) -> $mn
  1 = add 0 y; return 1
"""
)
"""Sums and extremes, by a region that is one op."""
_MOVED = read(
    f"""
for OP = ATTRIBUTES = JUDGE in cross-replica-sum = GROUPS = xla;
  all_gather = all_gather_dim=1 : i64, GROUPS = xla; all_to_all = {_SPLIT}GROUPS = xla;
  collective_broadcast = GROUPS = report; collective_permute = source_target_pairs=PAIRS = xla
OP | stablehlo.OP | any any | aa | a:1 | judge=JUDGE | scales=s0
x y: $mn
  %0 = "stablehlo.OP"(%x) <{{ATTRIBUTES}}> : ($mn) -> $mn
  1 = maximum 0 y; return 1

collective_permute_of_constant | stablehlo.collective_permute | any | a | read | span=12 | judge=xla
x: $mn
  c = const 3.0 : $mn
  %0 = "stablehlo.collective_permute"(%c) <{{
    source_target_pairs = dense<> : tensor<0x2xi64>
  }}> : ($mn) -> $mn
  1 = add 0 x; return 1
""".replace("GROUPS", _GROUPS).replace("PAIRS", "dense<[[0, 0]]> : tensor<1x2xi64>")
)
"""Operands that a device gets from another, itself here, and a constant that it does not get."""

PROGRAMS = (
    *(program for program in _REDUCED if program.op not in ABSENT),
    *_MOVED,
    _of_two("all_reduce", "", _SUM),
    _of_two("all_gather", "all_gather_dim = 1 : i64, "),
    _of_two("all_to_all", _SPLIT, judge="report"),
    *read("""
for NAME in partition_id; replica_id
NAME | stablehlo.NAME | any | a | read | judge=xla
%x: $mn
  %0 = stablehlo.NAME : $s_ui32
  %1 = stablehlo.convert %0 : ($s_ui32) -> $s
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : ($s) -> $mn
  %3 = stablehlo.add %2, %x : $mn
  return %3 : $mn
"""),
)
