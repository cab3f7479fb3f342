"""Programs for the rules of collectives, each run by a group of one device.

What several devices exchange is tested with the programs of `test_sharding`.
"""

from __future__ import annotations

from tests.py.programs.program import ABSENT, read

_TABLE = """
for OP = REGION = MOVES = ATTRIBUTES in
  collective_reduce = add = a:1 | judge=report | scales=s0 = GROUPS;
  collective_reduce = maximum = a:1 | judge=report | scales=s0 = GROUPS;
  all_reduce = add = a:1 | judge=xla = GROUPS; all_reduce = maximum = a:1 | judge=xla = GROUPS;
  all_reduce = minimum = a:1 | judge=xla = GROUPS;
  all_reduce = multiply = read | span=12 | judge=xla = GROUPS;
  reduce_scatter = add = a:1 | judge=xla = scatter_dimension = 0 : i64, GROUPS;
  reduce_scatter = maximum = a:1 | judge=xla = scatter_dimension = 0 : i64, GROUPS;
  reduce_scatter = multiply = read | span=12 | judge=xla = scatter_dimension = 0 : i64, GROUPS
OP_REGION | stablehlo.OP | any any | aa | MOVES
%x: $mn, %y: $mn
  %0 = "stablehlo.OP"(%x) <{ATTRIBUTES}> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.REGION %a, %b : $s
    stablehlo.return %r : $s
  }) : ($mn) -> $mn
  %1 = stablehlo.add %0, %y : $mn

for OP = JUDGE = ATTRIBUTES in cross-replica-sum = xla = GROUPS;
  all_gather = xla = all_gather_dim = 1 : i64, GROUPS; all_to_all = xla = SPLIT, GROUPS;
  collective_broadcast = report = GROUPS;
  collective_permute = xla = PAIRS<[[0, 0]]> : tensor<1x2xi64>
OP | stablehlo.OP | any any | aa | a:1 | judge=JUDGE | scales=s0
%x: $mn, %y: $mn
  %0 = "stablehlo.OP"(%x) <{ATTRIBUTES}> : ($mn) -> $mn
  %1 = stablehlo.maximum %0, %y : $mn

for OP = JUDGE = ATTRIBUTES in all_reduce = xla = {GROUPS}> SUM;
  all_gather = xla = {all_gather_dim = 1 : i64, GROUPS}>; all_to_all = report = {SPLIT, GROUPS}>
OP_of_two | stablehlo.OP | any any | aa | read | judge=JUDGE | scales=s0*s1 2^0
%x: $mn, %y: $mn
  %c = stablehlo.constant dense<0.5> : $mn
  %0:3 = "stablehlo.OP"(%x, %y, %c) <ATTRIBUTES
    : ($mn, $mn, $mn) -> ($mn, $mn, $mn)
  %1 = stablehlo.multiply %0#0, %0#1 : $mn
  %2 = stablehlo.add %0#0, %0#2 : $mn
  return %1, %2 : $mn, $mn

collective_permute_of_constant | stablehlo.collective_permute | any | a | read | span=12 | judge=xla
%x: $mn
  %c = stablehlo.constant dense<3.0> : $mn
  %0 = "stablehlo.collective_permute"(%c) <{PAIRS<> : tensor<0x2xi64>}> : ($mn) -> $mn
  %1 = stablehlo.add %0, %x : $mn

for NAME in partition_id; replica_id
NAME | stablehlo.NAME | any | a | read | judge=xla
%x: $mn
  %0 = stablehlo.NAME : $s_ui32
  %1 = stablehlo.convert %0 : ($s_ui32) -> $s
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : ($s) -> $mn
  %3 = stablehlo.add %2, %x : $mn
"""
"""A device of `collective_permute` that receives nothing has no constant any more."""
_WORDS = {
    "GROUPS": "replica_groups = dense<[[0]]> : tensor<1x1xi64>",
    "SPLIT": "split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 1 : i64",
    "PAIRS": "source_target_pairs = dense",
    "SUM": """({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.add %b, %a : $s
    stablehlo.return %r : $s
  })""",
}
"""Attributes and a region."""

PROGRAMS = tuple(program for program in read(_TABLE, _WORDS) if program.op not in ABSENT)
