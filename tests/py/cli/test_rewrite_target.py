"""`rewrite --target`: the target of the recipe, and the estimate on standard error."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from click.testing import Result
from jax import export

import scalify_hlo
from scalify_hlo import InputError, UsageError
from scalify_hlo.commands.explain import compiled
from scalify_hlo.commands.explain.device import chosen_target
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import load_target
from tests.py.shared.commands import call
from tests.py.shared.compiling import require_plugin
from tests.py.shared.schemas import faults

FP8 = ("--recipe", "fp8-current")


def mlp(x: Any, w: Any, v: Any) -> Any:
    """A matmul that is large enough for FP8, and one that is not."""
    return jnp.tanh(x @ w) @ v


def program(rows: int = 8192) -> Any:
    sizes = (rows, 4096), (4096, 8192), (8192, 16)
    shapes = [jax.ShapeDtypeStruct(size, jnp.bfloat16) for size in sizes]
    return export.export(jax.jit(mlp), platforms=("cuda",))(*shapes)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> str:
    (tmp_path / "in.export").write_bytes(program().serialize())
    return str(tmp_path / "in.export")


def rewrite(path: str, *arguments: object, code: int = 0) -> tuple[Result, Path]:
    out = Path(path).with_name("out.export")
    return call("rewrite", path, "-o", out, *arguments, code=code), out


@pytest.fixture(name="no_plugin")
def _no_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)


@pytest.fixture(name="plugin")
def _plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler of the CPU stands for that of the device, and the peaks are the device's."""

    def compile_for_cpu(module: Any, target: Any, **options: Any) -> Any:
        assert target.name == "h200"
        return compile_program(module, load_target("cpu"), **options)

    monkeypatch.setattr(compiled, "plugin_versions", lambda _: {})
    monkeypatch.setattr(compiled, "compile_program", compile_for_cpu)


def test_the_cost_rule_of_the_device_decides() -> None:
    text = program().mlir_module()
    chosen, report = scalify_hlo.rewrite(text, recipe="fp8-current", target="h200", report=True)
    assert [matmul.wide and matmul.wide.kind for matmul in report.matmuls] == [None, "not faster"]
    same = scalify_hlo.rewrite(text, recipe="fp8-current", settings={"target": "h200"})
    assert chosen == same != scalify_hlo.rewrite(text, recipe="fp8-current")


@pytest.mark.parametrize(
    ("device", "target"), [("tpu7x", "tpu"), ("tpu-v6e", "tpu"), ("cpu", "cpu")]
)
def test_a_device_without_estimates_has_the_target_of_its_platform(
    device: str, target: str
) -> None:
    text = program().mlir_module()
    chosen = scalify_hlo.rewrite(text, recipe="fp8-current", target=device)
    assert chosen == scalify_hlo.rewrite(text, recipe="fp8-current", settings={"target": target})
    assert "algorithm" not in chosen


def test_an_unknown_target_names_the_nearest(path: str) -> None:
    done, out = rewrite(path, *FP8, "--target", "h20", code=1)
    assert "no target is named 'h20' (did you mean 'h200'" in done.stderr
    assert not out.exists()
    with pytest.raises(InputError, match="no target is named"):
        scalify_hlo.rewrite("", target="h20")


def test_two_targets_are_refused(path: str) -> None:
    done, out = rewrite(path, *FP8, "--target", "h200", "--set", "target=gpu", code=2)
    assert "is set to 'gpu', and the device is h200" in done.stderr
    assert not out.exists()
    with pytest.raises(UsageError, match="is set to 'gpu'"):
        scalify_hlo.rewrite("", target="h200", settings={"target": "gpu"})


@pytest.mark.usefixtures("no_plugin")
def test_without_a_compiler_one_line_has_the_command(path: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done, out = rewrite(path, *FP8, "--target", "h200", "--report", report)
    assert out.exists()
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("h200: no estimate")]
    assert 'pip install "scalify-hlo[cuda]"' in line
    assert json.loads(report.read_text())["estimate"] is None
    assert not rewrite(path, *FP8, "--target", "h200", "-q")[0].stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--target", "cpu", *FP8), "the target cpu describes no speeds"),
        (("--target", "h200", "--recipe", "propagate"), "the recipe propagate changes no format"),
    ],
)
def test_a_rewrite_that_has_no_estimate_says_why(
    path: str, arguments: tuple[str, ...], reason: str
) -> None:
    done, _ = rewrite(path, *arguments)
    assert f"no estimate: {reason}" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_the_estimate_is_that_of_explain(path: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done, _ = rewrite(path, *FP8, "--target", "h200", "--report", report)
    content = json.loads(report.read_text())
    assert faults(content, "rewrite") == []
    found = scalify_hlo.explain(program(), "h200", recipe="fp8-current")
    assert found.speedup
    assert content["estimate"]["speedup"] == round(found.speedup, 4)
    assert content["estimate"]["us_in_bf16"] > 0
    told = f"h200: estimated at {found.speedup:.2f} times the speed of bf16"
    assert told in done.stderr
    assert ("slower than bf16" in done.stderr) == (found.speedup < 1)


@pytest.mark.usefixtures("plugin")
def test_a_program_that_xla_refuses_has_no_estimate(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise InputError("XLA cannot compile the program for h200: no")

    monkeypatch.setattr(compiled, "compile_program", refuse)
    done, out = rewrite(path, *FP8, "--target", "h200")
    assert "h200: no estimate: XLA cannot compile the program for h200: no" in done.stderr
    assert out.exists()
    out.unlink()
    _, out = rewrite(path, *FP8, "--target", "h200", "--strict", code=1)
    assert not out.exists()


def test_a_device_that_is_described(path: str) -> None:
    require_plugin("h200")
    done, _ = rewrite(path, *FP8, "--target", "h200")
    assert "h200: estimated at 1." in done.stderr


def test_a_device_sets_the_target_of_a_recipe_that_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`explain` with `matmul.slower` was refused, as the recipe had no target yet."""
    monkeypatch.setattr(compiled, "explain_module", lambda *arguments, **_: arguments[2])
    own = {"matmul.slower": "narrow"}
    options: Any = compiled.explain(program(), "h200", recipe="mxfp8", settings=own)
    assert (options.recipe.target, options.recipe.matmul.slower) == ("h200", "narrow")
    device = load_target("h200")
    assert chosen_target(device, "mxfp8", ["target"]) == {}
    file = tmp_path / "recipe.toml"
    file.write_text('base = "mxfp8"\ntarget = "b200"\n')
    assert chosen_target(device, str(file), []) == {}
    assert chosen_target(device, load_recipe(str(file)), []) == {}
