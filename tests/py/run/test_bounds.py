"""Programs that would run for years, or need more memory than any machine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalify_hlo.errors import InputError
from scalify_hlo.program.program import read_text
from scalify_hlo.run.runner import Backend, compiled
from tests.py.shared.commands import call

LARGE = 1 << 50
VALUE = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %c = stablehlo.constant dense<1.5> : tensor<{LARGE}xf32>
  %e = stablehlo.exponential %c : tensor<{LARGE}xf32>
  %s = stablehlo.slice %e [0:4] : (tensor<{LARGE}xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}}"""
ARGUMENT = f"func.func @main(%x: tensor<{LARGE}xf32>) {{ return }}"
TURNS = """%z = stablehlo.constant dense<0> : tensor<i64>
%n = stablehlo.constant dense<1152921504606846976> : tensor<i64>
%o = stablehlo.constant dense<1> : tensor<i64>
%{0}:2 = stablehlo.while(%i = %z, %{1} = %{2}) : tensor<i64>, tensor<4xf32> cond {{
  %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
}} do {{
  %j = stablehlo.add %i, %o : tensor<i64>
  {3}
  stablehlo.return %j, {4} : tensor<i64>, tensor<4xf32>
}}
"""


def loops(depth: int) -> str:
    """Loops of 2^60 turns inside of each other, in functions."""
    functions = []
    for level in range(depth):
        inner, result = "", "%a"
        if level:
            inner = f"%b = func.call @f{level - 1}(%a) : (tensor<4xf32>) -> tensor<4xf32>"
            result = "%b"
        name = "main" if level == depth - 1 else f"f{level}"
        functions.append(
            f"func.func {'public' if name == 'main' else 'private'} @{name}"
            f"(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
            f"{TURNS.format('r', 'a', 'x', inner, result)} return %r#1 : tensor<4xf32>\n}}"
        )
    return "\n".join(functions)


MEMORY = "GiB of memory, and the machine has"
ENDLESS = "ops or more, those of loops in each turn"
PROGRAMS = {
    VALUE: MEMORY,
    ARGUMENT: MEMORY,
    loops(1): ENDLESS,
    loops(20): "1,000,000,000,000,000,000 ops or more",
}


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("backend", ["xla", "interpreter"])
def test_what_cannot_be_run_is_refused_before_it_is_compiled(text: str, backend: Backend) -> None:
    with pytest.raises(InputError, match=PROGRAMS[text]):
        compiled(read_text(text), backend)


@pytest.mark.parametrize("text", PROGRAMS)
def test_commands_refuse_it_in_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(text)
    np.savez(tmp_path / "x.npz", np.ones(4, np.float32))
    check = call("check", path, path, code=1)
    assert PROGRAMS[text] in check.stderr
    assert "program.mlir" in check.stderr
    if text != ARGUMENT:
        find = call("bisect-nan", path, "--inputs", tmp_path / "x.npz", code=1)
        assert " note: " in find.stderr


def test_loops_of_many_turns_are_run() -> None:
    text = loops(1).replace(str(1 << 60), "4")
    (array,) = compiled(read_text(text))([np.ones(4, np.float32)])
    assert array.tolist() == [1.0] * 4


def test_a_rewrite_of_what_cannot_be_run_is_no_fault() -> None:
    for text in (VALUE, loops(2)):
        call("rewrite", "-", "--recipe", "fp8", "--signature", "scaled", text=text, code=0)
