"""Programs for the rules of collectives, each run by a group of one device.

What several devices exchange is tested with the programs of `test_sharding`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tests.py.programs.program import ABSENT, Program, read

Judge = Literal["xla", "report"]
_GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"


def _reduced(op: str, region: str, moves: str, more: str = "", span: int = 20) -> Program:
    """An all_reduce or a reduce_scatter by a region that is one op."""
    (program,) = read(f"""
{op}_{region} | stablehlo.{op} | any any | aa | {moves} | span={span} | judge=xla
%x: $mn, %y: $mn
  %0 = "stablehlo.{op}"(%x) <{{{more}{_GROUPS}}}> ({{
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.{region} %a, %b : $s
    stablehlo.return %r : $s
  }}) : ($mn) -> $mn
  %1 = stablehlo.add %0, %y : $mn
""")
    return program


def _moved(op: str, attributes: str, judge: Judge = "xla") -> Program:
    """One operand that a device gets from another, itself here."""
    (program,) = read(f"""
{op} | stablehlo.{op} | any any | aa | a:1 | judge={judge} | scales=s0
%x: $mn, %y: $mn
  %0 = "stablehlo.{op}"(%x) <{{{attributes}}}> : ($mn) -> $mn
  %1 = stablehlo.maximum %0, %y : $mn
""")
    return program


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


def _constant(op: str, attributes: str) -> Program:
    """A constant that some devices receive, and others do not: it is none any more."""
    (program,) = read(f"""
{op}_of_constant | stablehlo.{op} | any | a | read | span=12 | judge=xla
%x: $mn
  %c = stablehlo.constant dense<3.0> : $mn
  %0 = "stablehlo.{op}"(%c) <{{{attributes}}}> : ($mn) -> $mn
  %1 = stablehlo.add %0, %x : $mn
""")
    return program


_SUM = """ ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.add %b, %a : $s
    stablehlo.return %r : $s
  })"""
_DIMENSION = "scatter_dimension = 0 : i64, "
_SPLIT = "split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 1 : i64, "
_PAIRS = "source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>"
_NOWHERE = "source_target_pairs = dense<> : tensor<0x2xi64>"

PROGRAMS = (
    *(
        replace(
            _reduced("collective_reduce", region, "a:1"),
            judge="report",
            scales=("s0",),
        )
        for region in ("add", "maximum")
        if "stablehlo.collective_reduce" not in ABSENT
    ),
    _reduced("all_reduce", "add", "a:1"),
    _reduced("all_reduce", "maximum", "a:1"),
    _reduced("all_reduce", "minimum", "a:1"),
    _reduced("all_reduce", "multiply", "read", span=12),
    _of_two("all_reduce", "", _SUM),
    _reduced("reduce_scatter", "add", "a:1", _DIMENSION),
    _reduced("reduce_scatter", "maximum", "a:1", _DIMENSION),
    _reduced("reduce_scatter", "multiply", "read", _DIMENSION, span=12),
    _moved("cross-replica-sum", _GROUPS),
    _moved("all_gather", f"all_gather_dim = 1 : i64, {_GROUPS}"),
    _of_two("all_gather", "all_gather_dim = 1 : i64, "),
    _moved("all_to_all", f"{_SPLIT}{_GROUPS}"),
    _of_two("all_to_all", _SPLIT, judge="report"),
    _moved("collective_broadcast", _GROUPS, "report"),
    _moved("collective_permute", _PAIRS),
    _constant("collective_permute", _NOWHERE),
    *read("""
for NAME in partition_id; replica_id
NAME | stablehlo.NAME | any | a | read | judge=xla
%x: $mn
  %0 = stablehlo.NAME : $s_ui32
  %1 = stablehlo.convert %0 : ($s_ui32) -> $s
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : ($s) -> $mn
  %3 = stablehlo.add %2, %x : $mn
"""),
)
