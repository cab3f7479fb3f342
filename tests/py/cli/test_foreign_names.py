"""Names that others chose reach no terminal as they are: in a module, and in the files beside it.

A name may hold sequences that set a title or clear the screen, a line break with a forged error, or
characters that turn text around.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.errors import InputError, Remark, ScalifyWarning
from scalify_hlo.profile.file import dump_profile
from scalify_hlo.program.program import read_program
from scalify_hlo.recipes.toml import preset_text, to_literal
from scalify_hlo.run.runner import compiled
from tests.py.shared.commands import FP8, call

HOSTILE = "forged.mlir:1: error: \x1b]0;t\x07\x1b[2J\r\nforged\0\x85\u2028\u202e\u2066\U000e0001"
FILE = HOSTILE.replace("\0", "").replace("/", "")
PROGRAM = """\
module @<> attributes {mhlo.frontend_attributes = {name = <>}, jax.x = <>} {
  func.func public @main(%x: tensor<32x32xf32> {jax.arg_info = <>} loc(<>),
      %w: tensor<32x32xf32> loc(<>))
      -> (tensor<32x32xf32> {jax.result_info = <>}, tensor<32x32xf32>) {
    %0 = call @<function>(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      loc(callsite(<> at <>:1:2))
    %1 = stablehlo.subtract %0, %0 : tensor<32x32xf32> loc(<>(<>:1:2))
    %2 = stablehlo.divide %1, %1 {jax.x = [<>, {<> = 1}]} : tensor<32x32xf32> loc(<>)
    %3 = stablehlo.add %2, %0 : tensor<32x32xf32> loc(fused<<>>[<>, <>])
    return %3, %0 : tensor<32x32xf32>, tensor<32x32xf32> loc(<>:1:2)
  }
  func.func private @<function>(%a: tensor<32x32xf32> loc(<>), %b: tensor<32x32xf32> loc(<>))
      -> tensor<32x32xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc(<>(<>:3:4))
    %1 = stablehlo.tanh %0 : tensor<32x32xf32> loc(<>(<>:5:6))
    return %1 : tensor<32x32xf32>
  } loc(<>)
} loc(<>)
"""
REFUSED = """\
module @<> {
  sdy.mesh @<mesh> = <["a"=1]>
  func.func @main(%x: tensor<4xf32> loc(<>)) -> (tensor<4xf32> {mhlo.sharding = <>}) {
    %0 = stablehlo.custom_call @<>(%x) {mhlo.x = <>} : (tensor<4xf32>) -> tensor<4xf32>
      loc(<>(<>:1:2))
    return %0 : tensor<4xf32>
  }
}
"""
LINES = (
    "rewrite m.mlir",
    "rewrite m.mlir -o out.mlir --recipe fp8",
    "rewrite m.mlir -o out.mlir --recipe fp8 --strict",
    "rewrite refused.mlir -o out.mlir",
    "rewrite broken.mlir",
    "rewrite FILE -o out.mlir",
    "rewrite m.mlir -o out.mlir --recipe base.toml",
    "rewrite m.mlir -o out.mlir --input-scale HOSTILE=2^2",
    "inspect m.mlir --recipe fp8",
    "inspect FILE --arguments --matmuls --lint --sites --recipe fp8",
    "inspect scaled.mlir --arguments",
    "inspect refused.mlir",
    "inspect m.mlir --name HOSTILE",
    "inspect m.mlir --profile p.json",
    "opt m.mlir --pass-pipeline=builtin.module(scalify-normalize) -o out.mlir",
    "opt refused.mlir --pass-pipeline=builtin.module(scalify-propagate{strict}) -o out.mlir",
    "recipes r.toml",
    "recipes key.toml",
    "check m.mlir fp8.mlir --inputs x.npz",
    "check m.mlir fp8.mlir --per-value --max-ulp 0",
    "check m.mlir m.mlir --inputs named.npz",
    "check refused.mlir refused.mlir",
    "check refused.mlir refused.mlir --backend interpreter",
    "calibrate m.mlir --inputs x.npz -o p2.json",
    "stats m.mlir --inputs x.npz --recipe fp8 -o stats.json",
    "stats refused.mlir --inputs one.npz",
    "bisect-nan m.mlir --inputs x.npz",
    "compare m.mlir --inputs x.npz --recipes fp8,r.toml",
    "blame m.mlir --inputs x.npz --recipe fp8",
    "search m.mlir --inputs x.npz --recipe fp8 --budget wide<=1",
    "compile refused.mlir --target cpu -o out",
    "explain m.mlir --target cpu --recipe fp8",
    "state scaled.mlir named.npz -o out.npz",
)
"""Commands, with the name of a hostile file and a hostile name."""


def planted(text: str, name: str = HOSTILE) -> str:
    """A module with a hostile name at each place for one."""
    numbers = itertools.count()
    escaped = "".join(f"\\{byte:02X}" for byte in name.encode())
    text = re.sub("<(mesh|function)>", lambda found: f'"{escaped}{found[1]}"', text)
    return re.sub("<>", lambda _: f'"{escaped}{next(numbers)}"', text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile program, its rewrites, and hostile files beside it."""
    folder = tmp_path_factory.mktemp("hostile")
    text = planted(PROGRAM)
    (folder / "m.mlir").write_text(text)
    (folder / FILE).write_text(text)
    (folder / "refused.mlir").write_text(planted(REFUSED))
    (folder / "broken.mlir").write_text(text.replace("dot_general", f"dot_general {HOSTILE}"))
    x = np.zeros((32, 32), np.float32)
    np.savez(folder / "x.npz", x, x)
    np.savez(folder / "one.npz", np.zeros(4, np.float32))
    named: dict[str, Any] = {HOSTILE.replace("\0", ""): x}
    np.savez(folder / "named.npz", **named)
    literal = to_literal(HOSTILE)
    (folder / "r.toml").write_text(f"base = 'fp8'\n[matmul]\nexclude = [{literal}]\n")
    (folder / "key.toml").write_text(f"base = 'fp8'\n[matmul]\n{literal} = 1\n")
    (folder / "base.toml").write_text(f"base = {literal}\n")
    (folder / "p.json").write_text(json.dumps({"format": "scalify-hlo profile", HOSTILE: 1}))
    for out, signature in (("fp8.mlir", "same"), ("scaled.mlir", "scaled")):
        names = (folder / "m.mlir", "-o", folder / out, "--signature", signature)
        call("rewrite", *names, *FP8, "--set", "matmul.smallest=1", code=0)
    return folder


def output_of(folder: Path, line: str, patch: pytest.MonkeyPatch) -> str:
    """Returns the output of a command that runs in the folder."""
    patch.chdir(folder)
    named = {"HOSTILE": HOSTILE, "FILE": FILE}
    return call(*(named.get(each, each) for each in line.split())).output


def unprintable(text: str) -> set[str]:
    return {each for each in text if not each.isprintable()}


@pytest.mark.parametrize("line", LINES)
def test_no_name_reaches_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], line: str
) -> None:
    output = output_of(folder, line, monkeypatch) + "".join(capfd.readouterr())
    assert unprintable(output) <= {"\n"}
    assert not re.search("^forged", output, re.MULTILINE)
    assert "defect" not in output


@pytest.mark.parametrize(
    "line",
    [
        "rewrite \udcff.mlir -o \udcff.out --report \udcff.json",
        "stats \udcff.mlir --inputs \udcff.npz -o \udcff.html",
        "calibrate \udcff.mlir --inputs \udcff.npz -o \udcff.json",
        "compare \udcff.mlir --inputs \udcff.npz --recipes fp8 -o \udcff.txt",
        "rewrite \udcff.mlir --recipe \udcff.toml --input-values \udcff.npz -o \udcff.out",
        "rewrite \udcff.mlir --profile \udcff.profile -o \udcff.out",
    ],
)
def test_names_of_files_need_not_be_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (tmp_path / "\udcff.mlir").write_text(planted(PROGRAM))
    x = np.zeros((32, 32), np.float32)
    np.savez(tmp_path / "\udcff.npz", x, x)
    profile = dump_profile(scalify_hlo.calibrate(planted(PROGRAM), [(x, x)]))
    (tmp_path / "\udcff.profile").write_text(profile)
    (tmp_path / "\udcff.toml").write_text(preset_text("unit"))
    monkeypatch.chdir(tmp_path)
    assert unprintable(call(*line.split(), code=0).output) <= {"\n"}
    assert (tmp_path / line.split()[-1]).stat().st_size


@pytest.mark.parametrize(
    ("mesh", "sharding"),
    [
        (r'sdy.mesh @"\C3\A9" = <["a"=1]>', ""),
        (r'sdy.mesh @m = <["a"=1, "\C3\A9"=1]>', ""),
        ("", r'{sdy.sharding = #sdy.sharding<mesh<["a"=1, "\C3\A9"=1]>, [{}]>}'),
        ('sdy.mesh @m = <["a"=1]>', r'{jax.arg_info = "mesh<[\22\C3\A9\22=1]>"}'),
    ],
)
def test_names_of_meshes_that_end_xla(mesh: str, sharding: str) -> None:
    main = f"@main(%x: tensor<4xf32> {sharding}) -> tensor<4xf32> {{ return %x : tensor<4xf32> }}"
    program = read_program(f"{mesh} func.func {main}".encode(), "m")
    if "{jax" in sharding:
        compiled(program)
        return
    with pytest.raises(InputError, match="XLA reads no names of meshes"):
        compiled(program)


@pytest.mark.parametrize("command", ["blame", "search --budget wide<=1"])
def test_names_with_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(planted(PROGRAM, "my layer"))
    np.savez("x.npz", *np.ones((2, 32, 32), np.float32))
    call(*command.split(), "m.mlir", "--inputs", "x.npz", *FP8, code=0)


def test_json_has_the_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = output_of(folder, "inspect m.mlir --format json", monkeypatch)
    assert text.isascii()
    assert json.loads(text)["arguments"][0]["name"] == f"{HOSTILE}4"


def test_a_recipe_has_the_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = output_of(folder, "recipes r.toml", monkeypatch)
    assert tomllib.loads(text)["matmul"]["exclude"] == [HOSTILE]


def decoded(data: str) -> str:
    """The strings of a JSON document, as a script has them."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            for each in value.values() if isinstance(value, dict) else value:
                yield from strings(each)

    return "".join(strings(json.loads(data)))


@pytest.mark.parametrize("page", ["stats m.mlir --inputs x.npz", "explain m.mlir --target cpu"])
def test_pages_turn_no_text_around(
    folder: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    output_of(folder, f"{page} --recipe fp8 -o page.html", monkeypatch)
    text = (folder / "page.html").read_text()
    assert r"\u202e" in text
    data = re.findall(r'id="data">(.*?)</script>', text)
    assert unprintable("".join([text, *map(decoded, data)])) == {"\n"}


def test_figures_take_names_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as formulas nor, with a matplotlibrc of the working folder, as LaTeX."""
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    (folder / "math.mlir").write_text(planted(PROGRAM, r"$\frac{$"))
    output_of(folder, "stats math.mlir --inputs x.npz -o figure.png", monkeypatch)
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_errors_and_warnings_of_python() -> None:
    error = InputError(HOSTILE, location=HOSTILE, hint=HOSTILE)
    remark = Remark(HOSTILE, HOSTILE, "op")
    with pytest.warns(ScalifyWarning) as caught:
        scalify_hlo.rewrite(planted(REFUSED), recipe="fp8")
    for text in (str(error).replace("\nnote: ", ""), str(remark), str(caught[0].message)):
        assert text.isprintable()
        assert not text.startswith("forged")
