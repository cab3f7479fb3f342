"""Loops, branches and calls inside of each other, hundreds of levels deep."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import deep
from scalify_hlo._compat import ir, new_context
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.deep import DEEPEST, SHALLOW, run_deep
from scalify_hlo.errors import InputError
from tests.py.shared.commands import call
from tests.py.shared.judge import assert_invariant, propagated

HEAD = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
CONSTANTS = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
"""


def loops(depth: int) -> str:
    """Loops of one step, each in the body of the other."""
    inner = f"%y{depth} = stablehlo.add %x{depth - 1}, %x : tensor<4xf32>"
    for i in reversed(range(depth)):
        outer = f"%x{i - 1}" if i else "%x"
        inner = f"""
        %r{i}:2 = stablehlo.while(%i{i} = %zero, %x{i} = {outer}) : tensor<i32>, tensor<4xf32>
        cond {{
          %p{i} = stablehlo.compare LT, %i{i}, %one, SIGNED
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p{i} : tensor<i1>
        }} do {{
          {inner}
          stablehlo.return %one, %y{i + 1} : tensor<i32>, tensor<4xf32>
        }}
        %y{i} = stablehlo.abs %r{i}#1 : tensor<4xf32>"""
    return f"{HEAD}{CONSTANTS}{inner}\n return %y0 : tensor<4xf32> }}"


def branches(depth: int) -> str:
    """Choices, each in the only branch of the other."""
    inner = f"%y{depth} = stablehlo.add %x, %x : tensor<4xf32>"
    for i in reversed(range(depth)):
        inner = f"""
        %y{i} = "stablehlo.case"(%zero) ({{
          {inner}
          stablehlo.return %y{i + 1} : tensor<4xf32>
        }}) : (tensor<i32>) -> tensor<4xf32>"""
    return f"{HEAD}{CONSTANTS}{inner}\n return %y0 : tensor<4xf32> }}"


def calls(depth: int) -> str:
    """Functions, each of which calls the next."""
    type_ = "tensor<4xf32>"
    functions = [
        f"""func.func private @f{i}(%x: {type_}) -> {type_} {{
          %0 = stablehlo.abs %x : {type_}
          %1 = call @f{i + 1}(%0) : ({type_}) -> {type_}
          return %1 : {type_}
        }}\n"""
        for i in range(depth)
    ]
    return f"""{HEAD} %0 = call @f0(%x) : ({type_}) -> {type_} return %0 : {type_} }}
    {"".join(functions)}
    func.func private @f{depth}(%x: {type_}) -> {type_} {{
      %0 = stablehlo.add %x, %x : {type_}
      return %0 : {type_}
    }}"""


PROGRAMS = pytest.mark.parametrize("program", [loops, branches, calls])


def levels(text: str) -> int:
    module = ir.Module.parse(text, new_context())
    with module.context:
        return levels_of(module.operation)


@PROGRAMS
@pytest.mark.parametrize("depth", [1, 50])
def test_levels_are_counted(program: Callable[[int], str], depth: int) -> None:
    assert levels(program(depth)) == depth + (program is calls)


@pytest.mark.slow
@PROGRAMS
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_a_thousand_levels_are_rewritten(program: Callable[[int], str], signature: str) -> None:
    # Of loops there are fewer: each is looked through for every one around it.
    text = program(1000 if program is not loops or signature == "same" else 300)
    rewritten = propagated(text, signature=signature)
    levels(rewritten)


@pytest.mark.slow
@PROGRAMS
def test_every_command_reads_them(program: Callable[[int], str]) -> None:
    text = program(1000 if program is not loops else 300)
    for command in (["inspect", "-"], ["rewrite", "-", "--recipe", "fp8", "--signature", "scaled"]):
        call(*command, text=text, code=0)


@pytest.mark.slow
def test_statistics_are_taken_of_them() -> None:
    record = scalify_hlo.collect_stats(calls(1000), [[np.ones(4, np.float32)]])
    assert len(record.variants[0].values) > 1000


@PROGRAMS
def test_deep_programs_compute_the_same(program: Callable[[int], str]) -> None:
    assert_invariant(program(SHALLOW + 5), [np.array([0.5, 1, -2, 3], np.float32)], [3])


@PROGRAMS
def test_more_levels_than_mlir_can_do_are_refused(program: Callable[[int], str]) -> None:
    text = program(3 * DEEPEST)
    for command in ("rewrite", "inspect"):
        result = call(command, "-", text=text)
        error, note = result.stderr.splitlines()
        assert result.exit_code == 1
        assert error.startswith("<stdin>: error: ")
        assert "is the most" in error
        assert " note: write the nested loops" in note
    with pytest.raises(InputError, match="is the most"):
        propagated(text)


def recurse(depth: int) -> int:
    return 0 if not depth else 1 + max(recurse(depth - 1) for _ in range(1))


def test_deep_work_has_a_stack_of_its_own() -> None:
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    assert run_deep(lambda: recurse(4_000), 1000) == 4_000
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)
    with pytest.raises(ZeroDivisionError):
        run_deep(lambda: 1 // 0, 1000)
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_deep_work_may_ask_for_more_of_it() -> None:
    assert run_deep(lambda: run_deep(lambda: recurse(4_000), 1500), 1000) == 4_000


def test_shallow_work_is_done_in_the_same_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep, "_in_thread", None)
    assert run_deep(threading.current_thread, SHALLOW) is threading.current_thread()


def test_modules_inside_have_functions_of_their_own() -> None:
    """One has the name of its function, which calls another; neither is the outer one."""
    type_ = "tensor<4xf32>"
    text = f"""module {{
      func.func @main(%x: {type_}) -> {type_} {{
        %0 = call @f(%x) : ({type_}) -> {type_} return %0 : {type_}
      }}
      func.func private @f(%x: {type_}) -> {type_} {{ return %x : {type_} }}
      module @g {{
        func.func @f(%x: {type_}) -> {type_} {{
          %0 = call @g(%x) : ({type_}) -> {type_} return %0 : {type_}
        }}
        func.func private @g(%x: {type_}) -> {type_} {{
          %0 = call @h(%x) : ({type_}) -> {type_} return %0 : {type_}
        }}
        func.func private @h(%x: {type_}) -> {type_} {{ return %x : {type_} }}
      }}
    }}"""
    assert levels(text) == 3
    assert "module @g" in propagated(text)
