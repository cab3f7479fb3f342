"""The commands, as their users call them."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest

from scalify_hlo.cli.main import main
from scalify_hlo.program.program import Kind, read_program, recognize
from tests.py.shared import samples
from tests.py.shared.commands import call, python

COMMANDS = ("rewrite", "opt", "check", "calibrate", "inspect", "rules", "recipes")


def done(*arguments: object, text: bytes | str | None = None) -> str:
    return call(*arguments, text=text, code=0).stdout


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for kind, data in samples.stored().items():
        (tmp_path / kind).write_bytes(data)
    (tmp_path / "tiny.mlir").write_text(samples.TEXT)
    return tmp_path


def test_help_shows_an_example_of_each_command() -> None:
    overview = done("--help")
    for name in COMMANDS:
        assert name in overview
        assert "Example: scalify-hlo " + name in " ".join(done(name, "--help").split())
    assert done("--version").startswith("scalify-hlo, version ")


def test_without_arguments_the_help_is_printed() -> None:
    done = call(code=2)
    assert not done.stdout
    assert done.stderr == call("--help", code=0).stdout


def test_a_missing_file_is_named_like_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "step.export").touch()
    told = "no such file or directory (did you mean 'step.export'?)\n"
    assert told in call("rewrite", tmp_path / "step.expert", code=1).stderr
    assert "did you mean" not in call("rewrite", tmp_path / "absent" / "step.expert").stderr


def test_each_option_is_described() -> None:
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert [each.name for each in options if not each.help] == [], name


def test_commands_without_need_of_jax_do_not_import_it(files: Path) -> None:
    calls = [
        ["--help"],
        ["rules", "add"],
        ["rewrite", str(files / "tiny.mlir"), "--signature", "scaled"],
        ["rewrite", str(files / "artifact"), "-o", str(files / "out")],
        ["opt", str(files / "tiny.mlir"), "--pass-pipeline=scalify-verify"],
        ["inspect", str(files / "text")],
    ]
    code = (
        "import sys\nfrom scalify_hlo.cli.main import main\n"
        f"for call in {calls!r}:\n"
        "    try: main(call)\n"
        "    except SystemExit as end: assert end.code == 0, call\n"
        "assert 'jax' not in sys.modules"
    )
    python("-c", code)


def test_the_first_command_imports_little_and_collects_nothing_meanwhile(files: Path) -> None:
    def after(*arguments: str) -> list[str]:
        code = (
            f"import atexit, gc, sys\nsys.argv[1:] = {arguments!r}\n"
            "found = lambda: (gc.get_stats()[2]['collections'], gc.isenabled(), *sys.modules)\n"
            "atexit.register(lambda: print(*found()))\n"
            "from scalify_hlo.__main__ import run\nrun()"
        )
        return python("-c", code).stdout.splitlines()[-1].split()

    for_help, slow = after("--help"), {"email.message", "importlib.metadata", "hmac"}
    assert not {"tomllib", "json", *slow} & set(for_help)
    rewriting = after("rewrite", str(files / "tiny.mlir"), "-o", str(files / "out"))
    assert not {"scalify_hlo.targets.hlo", *slow} & set(rewriting)
    assert rewriting[:2] == ["0", "True"], "read enables the collector"


@pytest.mark.slow
@pytest.mark.parametrize("kind", samples.KINDS)
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_rewrite_then_check(files: Path, kind: str, signature: str) -> None:
    before, after = str(files / kind), str(files / "out")
    scale = ["--input-scale", "*=2^-4"] if signature == "same" and kind != "bytecode" else []
    how = ("--recipe", "propagate", "--signature", signature, *scale)
    done("rewrite", before, "-o", after, *how)
    assert recognize(Path(after).read_bytes(), "f") is recognize(samples.stored()[kind], "f")
    table = done("check", before, after, "--rtol", "1e-5")
    assert "DIFFERS" not in table
    *rows, summary = [line for line in table.splitlines()[1:] if "rewritten by" not in line]
    assert len(rows) == 2
    assert summary.startswith("2 of 2 results within")


def test_standard_streams() -> None:
    out = done("rewrite", "-", "--recipe", "propagate", text=samples.TEXT)
    assert out.split() == samples.TEXT.split()
    assert done("opt", text=samples.TEXT).split() == samples.TEXT.split()
    result = call("rewrite", "-", "-o", "-", text=samples.stored()["artifact"])
    assert recognize(result.stdout_bytes, "f") is Kind.ARTIFACT


def test_target_version() -> None:
    result = call("rewrite", "-", "--target-version", "1.0.0", text=samples.TEXT)
    assert read_program(result.stdout_bytes).version == "1.0.0"


def test_check_on_the_interpreter_is_bit_exact(files: Path) -> None:
    tiny, out = str(files / "tiny.mlir"), str(files / "out")
    done("rewrite", tiny, "-o", out, "--recipe", "propagate", "--signature", "scaled")
    options = ["--backend", "interpreter", "--max-ulp", "0", "--scale", "2^7", "--seed", "3"]
    assert "equal" in done("check", tiny, out, *options)


def test_check_notices_another_program(files: Path) -> None:
    other = files / "other.mlir"
    other.write_text(samples.TEXT.replace("stablehlo.add %0, %0", "stablehlo.multiply %0, %0"))
    result = call("check", files / "tiny.mlir", other, code=1)
    assert "DIFFERS" in result.stdout
    assert "1 of 1 results are not within 64 epsilon" in result.stderr
    assert done("check", str(files / "tiny.mlir"), str(other), "--min-snr", "-99")


def test_check_refuses_a_program_of_another_shape(files: Path) -> None:
    result = call("check", files / "text", files / "tiny.mlir", code=1)
    assert "do not fit those of the original" in result.stderr


def test_check_with_given_inputs(files: Path) -> None:
    tiny, inputs = str(files / "tiny.mlir"), files / "inputs.npz"
    a, b = np.ones((4, 3), np.float32), np.full((3, 2), np.inf, np.float32)
    np.savez(inputs, a, b)
    assert "8 / 8" in done("check", tiny, tiny, "--inputs", str(inputs))
    np.savez(inputs, arg0=a, arg1=b)
    assert "8 / 8" in done("check", tiny, tiny, "--inputs", str(inputs))
    inputs.write_text("not a zip")
    result = call("check", tiny, tiny, "--inputs", inputs, code=1)
    assert "this is not an .npz file" in result.stderr


def test_inspect_shows_names_types_and_scales(files: Path) -> None:
    out = done("inspect", str(files / "text"), "--arguments", "--input-scale", "params*=2^-4")
    assert "params['w']  tensor<4x4xf32>  plain  2^-4" in out
    assert "x            tensor<8x4xf32>  plain  unscaled" in out
    assert "stablehlo.dot_general" not in out
    assert "stablehlo.dot_general" in done("inspect", str(files / "text"), "--rows", "0")
    out = done("inspect", str(files / "exported"), "--arguments", "--signature", "scaled")
    assert "data and scale  s0" in out
    assert "jax.export file" in out
    assert "StableHLO portable artifact 1." in done("inspect", str(files / "artifact"))


def test_rules() -> None:
    table = done("rules", "--rows", "0")
    assert "stablehlo.dot_general" in table
    entry = done("rules", "dot_general")
    assert "formula:" in entry
    assert "lit test: tests/lit/rules/" in entry
    place = next(line.split()[-1] for line in entry.splitlines() if line.startswith("rule:"))
    path, _, line = place.partition(":")
    root = Path(__file__).parents[3]
    source = (root / path).read_text().splitlines()[int(line) - 1 : int(line) + 2]
    assert "product(" in "".join(source)
    assert done("rules", "stablehlo.add") == done("rules", "add")


def test_recipes() -> None:
    assert "propagate" in done("recipes")
    assert 'meet = "anchor"' in done("recipes", "propagate", "--all")


def test_opt_runs_pipelines_and_prints_locations_when_asked(files: Path) -> None:
    path = str(files / "text")
    pipeline = (
        "--pass-pipeline=builtin.module(scalify-signature{signature=scaled},scalify-propagate)"
    )
    plain = done("opt", path, pipeline)
    assert "loc(" not in plain
    assert "tensor<4xf32>, %arg1: tensor<f32>" in plain
    assert "loc(" in done("opt", path, pipeline, "--mlir-print-debuginfo")
    assert "scalify-propagate" in done("opt", "--pass-pipeline=help")
    assert "dot_general" in done("opt", path, "--pass-pipeline=builtin.module(canonicalize,cse)")


def test_opt_prints_ir_and_timing_to_standard_error(files: Path) -> None:
    arguments = ["opt", str(files / "tiny.mlir"), "--pass-pipeline=scalify-verify"]
    more = ["--print-ir-after-all", "--mlir-timing"]
    result = python("-m", "scalify_hlo", *arguments, *more)
    assert "IR Dump After" in result.stderr
    assert "Total" in result.stderr
    assert result.stdout == done(*arguments)


TWO = """\
func.func @main() { return }
// -----
func.func @main() {
  // expected-error@+1 {{'foo.bar' is not an op of StableHLO}}
  foo.bar
  return
}
"""


def test_opt_splits_its_input_and_verifies_diagnostics() -> None:
    flags = ["--split-input-file", "--verify-diagnostics"]
    assert done("opt", "-", *flags, text=TWO) == ""
    result = call("opt", "-", "--split-input-file", text=TWO, code=1)
    assert result.stderr.startswith("<stdin>:5:3: error: ")
    for wrong in (TWO.replace("+1", "+2"), TWO.replace("foo.bar'", "bar.foo'")):
        result = call("opt", "-", *flags, text=wrong, code=1)
        assert "<stdin>:5: error: unexpected error" in result.stderr
    result = call("opt", "-", *flags, text=TWO.replace("  foo.bar\n", ""))
    assert "expected error was not given" in result.stderr
    parts = done("opt", "-", "--split-input-file", text="module {}\n// -----\nmodule {}\n")
    assert parts.count("// -----") == 1


def test_no_colours_but_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from scalify_hlo.cli import console

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in console._style("error", Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert console._style("error", Terminal()) == "error"
    assert "\x1b[" not in call("rewrite", "missing").stderr


def test_a_defect_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from scalify_hlo.program import rewriting

    def broken(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(rewriting, "rewrite_program", broken)
    result = call("rewrite", "-", text=samples.TEXT, code=1)
    assert "this is a defect of scalify-hlo: KeyError: 'oops'" in result.stderr
    monkeypatch.setenv("SCALIFY_HLO_DEBUG", "1")
    assert isinstance(call("rewrite", "-", text=samples.TEXT).exception, KeyError)


def test_inspect_tells_functions_from_ops_without_a_scaled_form(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    file.write_text("""
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}""")
    given = (str(file), "--recipe", "propagate", "--signature", "scaled")
    overview = done("inspect", *given)
    assert (
        "read at scale 1 (2): stablehlo.custom_call (--strict refuses) 1, stablehlo.tanh 1"
        in overview
    )
    lines = done("inspect", *given, "--rows", "0").splitlines()
    rows = [line.split() for line in lines[lines.index("read at scale 1 (2)") :]]
    assert ["stablehlo.tanh", "1", "read", "accepts"] in rows
    assert ["stablehlo.custom_call", "1", "opaque", "refuses"] in rows
    result = call("rewrite", *given, "--strict", code=1)
    assert "stablehlo.custom_call" in result.stderr
    assert "tanh" not in result.stderr
