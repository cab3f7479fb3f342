"""The traits of ops are sets of ops that exist, and other modules repeat none of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from math import prod
from pathlib import Path

import pytest

from scalify_hlo._compat import chlo, func, ir, sdy, stablehlo
from scalify_hlo.dataflow import dims, origins, widths
from scalify_hlo.ir import traits, walk
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.through import data_in
from scalify_hlo.rules.table import RULES
from tests.py.programs import PROGRAMS, Program
from tests.py.shared.judge import parse

PACKAGE = Path(__file__).resolve().parents[3] / "scalify_hlo"
TRAITS = {name: ops for name, ops in vars(traits).items() if isinstance(ops, frozenset)}
ALIASES = {"chlo.broadcast", "mhlo.copy"}
"""Names that programs have and the bindings do not."""

NEWER = {"stablehlo.collective_reduce"}
"""Ops that not all supported versions of jax have."""

SHORT = {op.partition(".")[2] for op in RULES}
REGISTERING = {"chlo", "elementwise", "integer", "movement"}
"""The files of rules with tables of the ops that have one rule."""


@pytest.mark.parametrize("name", TRAITS)
def test_all_names_are_ops(name: str) -> None:
    assert TRAITS[name]
    assert TRAITS[name] <= traits.OPS.keys()


def test_an_op_stands_in_one_row() -> None:
    rows = ast.walk(ast.parse((PACKAGE / "ir" / "traits.py").read_text()))
    calls = [node for node in rows if isinstance(node, ast.Call)]
    of = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "of"]
    assert sum(len(call.args) for call in of) == len(traits.OPS)


def test_traits_that_exclude_each_other_share_no_op() -> None:
    moving = traits.COPIES | traits.RESHAPES | traits.REORDERS | traits.BROADCASTS | traits.SLICES
    assert moving.isdisjoint(traits.ELEMENTWISE)
    assert traits.ELEMENTWISE.isdisjoint(traits.CONTRACTIONS | traits.REDUCTIONS)
    assert traits.BOUNDED_FROM_ZERO.isdisjoint(traits.BOUNDED_THROUGH_ZERO)


def tables(file: Path) -> int:
    """Returns the number of literals of a file with three or more names of ops.

    The arguments of queries are kinds, some of which have names of ops.
    """
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "where"
        ):
            found.append(node)
        if not isinstance(node, ast.Tuple | ast.Set | ast.List | ast.Dict):
            continue
        if len(ops_in(node)) >= 3 and not any(node in ast.walk(outer) for outer in found):
            found.append(node)
    return sum(not isinstance(node, ast.Call) for node in found)


def ops_in(node: ast.expr) -> set[str]:
    """The ops that the elements of a literal name; of a dict, its keys."""
    elements = node.keys if isinstance(node, ast.Dict) else ast.walk(node)
    texts = [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    names = {text.removeprefix("stablehlo.").removeprefix("chlo.") for text in texts}
    return names & SHORT


def test_no_other_module_lists_ops() -> None:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    del files["ir/traits.py"]
    for name in ("kernels", "peak"):  # They name opcodes of HLO, which are spelled like ops.
        del files[f"targets/{name}.py"]
    for name in REGISTERING:
        del files[f"rules/{name}.py"]
    assert not {name: count for name, file in files.items() if (count := tables(file))}


def test_an_op_has_one_function_in_a_table() -> None:
    table: Dispatch[Callable[[], int]] = Dispatch()

    @table.on("stablehlo.add", "stablehlo.subtract")
    def one() -> int:
        return 1

    assert table == dict.fromkeys(traits.SUMS, one)
    with pytest.raises(ValueError, match=r"stablehlo\.subtract has a function already"):
        table.on("stablehlo.multiply", "stablehlo.subtract")(one)


APART: dict[str, frozenset[str]] = {
    "expanded before rules are applied": frozenset(
        {
            *("chlo.conj", "chlo.constant", "chlo.constant_like", "chlo.is_inf", "chlo.is_neg_inf"),
            *("chlo.is_pos_inf", "chlo.mulhi", "chlo.next_after", "chlo.polygamma", "chlo.scan"),
            *("chlo.square", "chlo.top_k", "chlo.zeta"),
        }
    ),
    "functions, and calls that no program has": frozenset(
        {
            *("func.call_indirect", "func.constant", "func.func"),
        }
    ),
    "placement of values on devices": frozenset(
        {
            *("sdy.all_gather", "sdy.all_reduce", "sdy.all_slice", "sdy.all_to_all"),
            *("sdy.collective_permute", "sdy.constant", "sdy.data_flow_edge", "sdy.mesh"),
            *("sdy.func_data_flow_edge", "sdy.propagation_barrier", "sdy.reduce_scatter"),
            *("sdy.replicated_to_unreduced", "sdy.reshard", "sdy.sharded_to_unreduced"),
            *("sdy.sharding_group", "stablehlo.partition_id", "stablehlo.replica_id"),
        }
    ),
    "integers, flags, shapes and tokens": frozenset(
        {
            *("stablehlo.after_all", "stablehlo.count_leading_zeros"),
            *("stablehlo.create_token", "stablehlo.dynamic_iota", "stablehlo.get_dimension_size"),
            *("stablehlo.popcnt", "stablehlo.rng_bit_generator"),
            *("stablehlo.shift_left", "stablehlo.shift_right_arithmetic"),
            "stablehlo.shift_right_logical",
        }
    ),
    "one of a kind": frozenset(
        {
            "stablehlo.async_done",
            *("stablehlo.cross-replica-sum", "stablehlo.einsum"),
            *("stablehlo.fft", "stablehlo.get_tuple_element", "stablehlo.tuple"),
            *("stablehlo.set_dimension_size", "stablehlo.unary_einsum"),
            *("stablehlo.uniform_dequantize", "stablehlo.uniform_quantize"),
        }
    ),
}
"""The ops of the dialects of which no facts are stated, by reason."""


def ops_of_dialects() -> dict[str, type[ir.OpView]]:
    modules = (chlo, func, sdy, stablehlo)
    kinds = (kind for module in modules for kind in vars(module).values())
    classes = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, ir.OpView)]
    return {kind.OPERATION_NAME: kind for kind in classes if hasattr(kind, "OPERATION_NAME")}


def test_each_op_of_the_dialects_has_facts_or_a_reason_to_have_none() -> None:
    """A version of jax that has a new op fails here: the op needs a row of facts, or a reason."""
    apart = frozenset().union(*APART.values())
    every = ops_of_dialects().keys()
    without = {op for op in every - traits.OPS.keys() if not op.startswith("chlo.broadcast_")}
    assert without == apart
    assert traits.OPS.keys() <= every | ALIASES | NEWER


def test_ops_with_regions_are_those_of_the_dialect() -> None:
    found = {
        op
        for op, kind in ops_of_dialects().items()
        if op.startswith("stablehlo.") and getattr(kind, "_ODS_REGIONS", (0,))[0] > 0
    }
    assert traits.WITH_REGIONS - found <= {"stablehlo.case", *NEWER}  # case has any number
    assert found <= traits.WITH_REGIONS


FACTS = [program for program in PROGRAMS if program.op in traits.OPS]


@pytest.mark.parametrize("program", FACTS, ids=str)
def test_facts_hold_in_the_programs_of_the_rules(program: Program) -> None:
    module = parse(program.text()).operation
    for op in walk.ops_in(module, {program.op}):
        kind, results = traits.OPS[op.name].kind, list(op.results)
        if op.name in traits.MOVES:
            moved = data_in(op)[: len(results)] if kind in BY_NUMBER else data_in(op)[:1]
            assert [element_type(v.type) for v in moved] == [element_type(v.type) for v in results]
        if op.name in traits.VIEWS | traits.REORDERS:
            assert prod(sizes(op.operands[0])) == prod(sizes(results[0]))
        if op.name in traits.ELEMENTWISE | traits.where("special", "kernel") | traits.ROUNDS:
            assert all(sizes(v) == sizes(results[0]) for v in data_in(op))
        assert (kind == "source") <= (not len(op.operands))
        assert traits.OPS[op.name].captures <= bool(len(op.regions))


BY_NUMBER = {"copy", "gather", "exchange"}


def sizes(value: ir.Value) -> list[int]:
    return list(value.type.shape)


FOLLOWED: dict[str, tuple[Set[str], Set[str]]] = {
    "roles": (origins.MOVING, {"join", "lookup"}),
    "formats": (widths.NARROWED, set()),
    "dimensions": (dims._RULES.keys(), {"broadcast", "lookup"}),
    "infinities": (traits.PASSES, set()),
}
"""The ops that analyses follow, and the kinds of moves that they do not: the result of those is a
tensor of its own."""


@pytest.mark.parametrize("name", FOLLOWED)
def test_analyses_follow_each_op_that_moves_elements(name: str) -> None:
    """An op that is added to the table is followed, unless its shape is known at run time only."""
    followed, apart = FOLLOWED[name]
    static = {op for op in traits.MOVES if not traits.OPS[op].dynamic}
    assert {traits.OPS[op].kind for op in static - followed} <= apart
