"""`inspect`: each matmul in a line, its JSON, and the ops that `--strict` refuses."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from click.testing import Result

from scalify_hlo import rewrite
from scalify_hlo.cli import console
from scalify_hlo.cli.inspected import Inspected
from scalify_hlo.cli.matmul_table import ROLES, SORTS, Selection
from scalify_hlo.dialect.attributes import scale_numbers
from scalify_hlo.errors import InputError
from scalify_hlo.ir.functions import entry
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.program.program import read_program, read_text
from tests.py.programs import PROGRAMS, Program
from tests.py.shared import commands
from tests.py.shared.judge import parse, propagated, shaped
from tests.py.shared.schemas import faults


def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    with jax.named_scope("encoder"):
        h = jax.nn.relu(x @ params["encoder"])
    with jax.named_scope("head"):
        return jnp.mean((h @ params["head"] - y) ** 2)


def step(params: Any, x: jax.Array, y: jax.Array) -> Any:
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))


@pytest.fixture(scope="module")
def text() -> str:
    params = {"encoder": shaped(32, 64), "head": shaped(64, 8)}
    types = params, shaped(16, 32), shaped(16, 8)
    return str(jax.export.export(jax.jit(step), platforms=["cpu"])(*types).mlir_module())


def call(text: str, *arguments: object, code: int | None = None) -> Result:
    return commands.call("inspect", "-", *arguments, text=text, code=code)


def rows(text: str, *arguments: str) -> list[str]:
    result = call(text, *arguments, code=0)
    lines = result.stdout.splitlines()
    (start,) = [i for i, line in enumerate(lines) if "M x N x K" in line]
    return [line for line in lines[start + 1 :] if " x " in line]


def test_propagate_shows_the_formats_of_the_program(text: str) -> None:
    assert all(" f32 " in row for row in rows(text, "--recipe", "propagate", "--matmuls"))


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--name", "*head*"], 3),
        (["--name", "*HEAD*", "--name", "encoder"], 5),
        (["--name", "params['encoder']"], 2),
        (["--name", "params['encoder']@wgrad"], 1),
        (["--role", "wgrad"], 2),
        (["--role", "backward"], 3),
        (["--role", "backward", "--role", "weight"], 1),
        (["--role", "gradient"], 3),
        (["--wide"], 3),
        (["--wide", "--role", "forward"], 1),
    ],
)
def test_matmuls_are_selected(text: str, arguments: list[str], count: int) -> None:
    assert len(rows(text, "--recipe", "fp8-current", *arguments)) == count


def test_why_matmuls_stay_wide_is_below(text: str) -> None:
    out = call(text, "--recipe", "fp8-current", "--wide").stdout
    assert "matmuls (3 of 5)" in out
    assert "1 wide: too small: the free size of its weight is below 16" in out


def test_matmuls_are_sorted(text: str) -> None:
    sizes = [row.split()[4:9] for row in rows(text, "--sort", "size")]
    assert sizes[0] in (["16", "x", "64", "x", "32"], ["64", "x", "32", "x", "16"])
    parts = [row.split()[0] for row in rows(text, "--sort", "part")]
    assert parts == sorted(parts)
    for key in SORTS:
        assert len(rows(text, "--matmuls", "--sort", key, "--recipe", "unit")) == 5


def test_patterns_have_tags(text: str) -> None:
    given = ["--matmuls", "--recipe", "fp8-current"]
    (dgrad,) = rows(text, *given, "--name", "head@dgrad")
    (wgrad,) = rows(text, *given, "--name", "head@wgrad")
    assert "grad x weight" in dgrad
    assert "grad x act" in wgrad
    failed = call(text, *given, "--exclude", "*head*@weight", code=2)
    assert "what follows @ is one of: forward, dgrad" in failed.stderr


def test_patterns_of_exclude_are_tried(text: str) -> None:
    given = ["--recipe", "fp8-current", "--set", "matmul.smallest=4"]
    out = call(text, *given, "--exclude", "*head*").stdout
    marked = [line for line in out.splitlines() if line.startswith("out ")]
    excluded = rows(text, *given, "--wide", "--set", "matmul.exclude=*head*")
    assert len(excluded) == len(marked) == 3


def test_the_help_has_all_roles_and_keys() -> None:
    help_ = " ".join(commands.call("inspect", "--help").stdout.split())
    for word in (*ROLES, *SORTS):
        assert word in help_


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr(console, "_is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")


def test_names_are_cut_to_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "model.py:12 jit(step)/jvp(encoder)/layers/0/attention/dot_general params['attention']"
    table = [("forward", "16 x 64 x 32", name)]
    header = ("part", "M x N x K", "where")
    assert console.table(header, table)[1:] == [f"forward  16 x 64 x 32  {name}"]
    monkeypatch.setenv("COLUMNS", "80")
    piped = console.table(header, table)
    assert piped[2:] == [f"cut to 80 columns; COLUMNS={23 + len(name)} prints all of each row"]
    on_terminal(monkeypatch, 80)
    _, line = console.table(header, table)
    assert line == piped[1]
    assert len(line) == 80
    assert "model.py:12 jit(" in line
    assert line.endswith("params['attention']")
    assert "…" in line


def test_sentences_in_a_list_are_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = commands.call("recipes").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    effect = "master weights and optimizer state stay FP32. fp16-state As fp16"
    assert effect in " ".join(" ".join(lines).split())


def test_what_fits_no_terminal_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = tuple(f"recipe {i:02}" for i in range(16))
    on_terminal(monkeypatch, 80)
    table = console.table((*columns, "name"), [(*columns, "a" * 60)] * 12, 10)
    lines = console.printed(table).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[11] == "2 more; --rows 0 prints all"
    assert lines[12].startswith("wider terminals have: recipe ")
    assert lines[0].startswith(columns[0])
    assert lines[0].endswith("name")


def test_lines_are_wrapped_where_there_is_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "a word " * 40
    assert console.printed([line]) == f"{line}\n"
    on_terminal(monkeypatch, 60)
    text = console.printed([line])
    assert max(map(len, text.splitlines())) <= 60
    assert text.split() == line.split()


def test_tables_fit_100_columns_but_for_names(text: str) -> None:
    for recipe in ("unit", "fp8-current", "fp8-delayed"):
        out = call(text, "--matmuls", "--recipe", recipe).stdout
        (header,) = [line for line in out.splitlines() if "M x N x K" in line]
        assert header.index("where") <= 84


def test_arguments_are_listed_if_asked_for(text: str) -> None:
    overview = call(text, "--recipe", "propagate").stdout
    assert "4 arguments (0 scaled), 2 results; --arguments lists them" in overview
    assert "tensor<32x64xf32>" not in overview
    listed = call(text, "--recipe", "propagate", "--arguments").stdout
    assert "params['encoder']  tensor<32x64xf32>  plain" in listed
    assert "layers" not in listed


def test_json(text: str) -> None:
    given = ["--recipe", "fp8-current", "--format", "json", "--exclude", "*head*"]
    content = json.loads(call(text, *given, "--role", "forward").stdout)
    assert faults(content, "inspect") == []
    assert (content["format"], content["version"]) == ("scalify-hlo inspect", 1)
    assert [m["excluded"] for m in content["matmuls"]] == [False, True]
    assert content["program"] == {"name": "<stdin>", "kind": "MLIR text"}
    assert [a["role"] for a in content["arguments"]] == ["weight", "weight", "", ""]


class TestRewritten:
    """A program that was rewritten is recognized."""

    @pytest.fixture(scope="class")
    def rewritten(self, text: str) -> str:
        settings = {"matmul.smallest": [2, 8, 8]}
        new: str = rewrite(text, recipe="fp8", signature="scaled", settings=settings)
        return new

    def test_the_overview(self, rewritten: str) -> None:
        lines = call(rewritten).stdout.splitlines()
        assert "recipe fp8, signature scaled, matmul.smallest = [2, 8, 8]" in lines[1]
        assert "are found anew in the rewritten program" in lines[2]
        assert lines[4] == (
            "4 pairs of data and scale among the arguments, the first of which is "
            "params['encoder'] (arguments 0 and 1)"
        )

    def test_the_arguments(self, rewritten: str) -> None:
        out = call(rewritten, "--recipe", "propagate", "--arguments").stdout
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert "0 params['encoder'] tensor<32x64xf16> data, scale is 1 unscaled" in lines
        assert "1 params['encoder'].scale tensor<f32> scale of 0 unscaled" in lines

    def test_the_json(self, rewritten: str) -> None:
        content = json.loads(call(rewritten, "--format", "json").stdout)
        assert faults(content, "inspect") == []
        assert content["pairs"][0] == {"name": "params['encoder']", "data": 0, "scale": 1}
        assert len(content["rewrites"]) == 1

    def test_pairs_without_names(self) -> None:
        plain = "func.func @main(%x: tensor<4xf32>, %n: tensor<i32>, %y: tensor<f32>) { return }"
        new = propagated(plain, signature="scaled")
        assert scale_numbers(entry(read_text(new).module)) == {0: 1, 3: 4}

    def test_an_original_has_no_pairs(self, text: str) -> None:
        assert scale_numbers(entry(read_text(text).module)) == {}
        for more in ((), ("--matmuls",)):
            assert "pairs" not in call(text, *more).stdout
            assert "found anew" not in call(text, *more).stdout

    def test_the_matmuls(self, rewritten: str) -> None:
        for each in ("--matmuls", "--arguments"):  # The roles of arguments may be others too.
            assert "are found anew in" in call(rewritten, each).stdout.splitlines()[2]
        assert "found anew" not in call(rewritten, "--lint").stdout


def refusal_of(program: Program) -> str:
    """The error of a strict rewrite, or nothing."""
    try:
        rewrite_module(parse(program.text()).operation, Options(signature="scaled", strict=True))
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_inspect_marks_what_strict_refuses(program: Program) -> None:
    loaded = read_program(program.text().encode())
    inspected = Inspected.of(loaded, Options(signature="scaled"), Selection())
    refused = [each.op for each in inspected.reads if each.refused]
    refusal = refusal_of(program)
    asked = "since the author asked for scales" in refusal  # A cast of data, and no read.
    assert bool(refused) == (bool(refusal) and not asked)
    assert not refused or any(op in refusal for op in refused)
