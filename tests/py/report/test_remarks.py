"""A remark names the layer, and the line of the user's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.errors import callers_of_text, name_of_text, place_of_text, shown_place
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of

LIBRARIES = (
    "/env/lib/python3.12/site-packages/flax/linen/linear.py",
    "/usr/lib/python3/dist-packages/keras/ops.py",
    "/usr/lib/python3.11/contextlib.py",
    "/home/me/jax/jax/_src/numpy/einsum.py",
    "/home/me/flax/flax/nnx/nn/linear.py",
)
USERS = ("/home/me/jax/train.py", "train.py", "/home/me/flax/model.py", "/srv/sites/packages.py")
DENSE = "def dense(x, w):\n    return x @ w\n"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("user", USERS)
def test_the_innermost_line_of_the_user_is_named(library: str, user: str) -> None:
    chain = f'loc("f/dot"("{library}":9:2 at "{user}":3:7 to :9 at "main.py":1:1))'
    assert place_of_text(chain, "step") == f"{user}:3:7"
    assert name_of_text(chain) == "f/dot"
    assert callers_of_text(chain, "step") == [f"{library}:9", f"{user}:3", "main.py:1"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_without_a_line_of_the_user_the_innermost_one_is_named(library: str) -> None:
    assert place_of_text(f'loc("{library}":9:2 at "{library}":3:1)', "x") == f"{library}:9:2"


def test_places_in_the_program_keep_their_column() -> None:
    assert shown_place(place_of_text('loc("-":3:7)', "step.mlir"), "step.mlir") == "step.mlir:3:7"
    assert place_of_text("loc(unknown)", "step.mlir") == "step.mlir"
    assert shown_place(str(Path.cwd() / "a" / "b.py") + ":3:7", "step.mlir") == "a/b.py:3"


def program(folder: Path) -> Any:
    """A program with a matmul that is too small for FP8, in a function of a library."""
    path = folder / "site-packages" / "layers.py"
    known: dict[str, Any] = {}
    exec(compile(DENSE, str(path), "exec"), known)

    def step(x: Any, w: Any, v: Any) -> Any:
        y = x @ w
        with jax.named_scope("head"):
            return known["dense"](y, v)  # The line of the remark.

    return program_of(step, jnp.ones((32, 32)), jnp.ones((32, 32)), jnp.ones((32, 4)))


def line() -> str:
    text = Path(__file__).read_text().split("# The line of the remark")[0]
    return f"tests/py/report/test_remarks.py:{text.count(chr(10)) + 1}"


def test_remarks_and_warnings_name_the_layer(tmp_path: Path) -> None:
    exported = program(tmp_path)
    told = f"{line()}: remark: head: stablehlo.dot_general: stays wide"
    _, report = scalify_hlo.rewrite(exported, recipe="fp8", report=True)
    (small,) = report.remarks
    assert str(small).startswith(told)
    assert len(repr(small)) < 200
    with pytest.warns(scalify_hlo.ScalifyWarning, match=f"{line()}: remark: head: "):
        scalify_hlo.rewrite(exported, recipe="fp8")


def test_commands_print_the_chain_if_asked(tmp_path: Path) -> None:
    path, out = tmp_path / "step.export", tmp_path / "out.export"
    path.write_bytes(program(tmp_path).serialize())
    result = call("rewrite", path, "--recipe", "fp8", "-o", out, code=0)
    assert f"{line()}: remark: head: stablehlo.dot_general: stays wide" in result.stderr
    assert "layers.py" not in result.stderr
    result = call("rewrite", path, "--recipe", "fp8", "-o", out, "-v", code=0)
    assert f"the op is in {tmp_path}/site-packages/layers.py:2, called in {line()}" in result.stderr


def test_a_warning_names_the_line_of_the_call() -> None:
    """Between the call and the rewrite stand frames of jax."""
    step = scalify_hlo.scalify(lambda x, w: x @ w, recipe="fp8-current")
    with pytest.warns(scalify_hlo.ScalifyWarning) as found:
        step(jnp.ones((32, 8)), jnp.ones((8, 32)))
    assert found[0].filename == __file__
