"""A rewritten program says so, in every form, and is not rewritten again by mistake."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo import InputError, __version__
from scalify_hlo._compat import ir
from scalify_hlo.program.artifact import parse_artifact, write_artifact
from scalify_hlo.program.program import read_program, read_text, recognize
from scalify_hlo.program.record import REWRITTEN, rewrites_of
from scalify_hlo.run.runner import compile_module
from tests.py.recipes.test_recipe import assert_one_sentence
from tests.py.shared import samples
from tests.py.shared.commands import call
from tests.py.shared.judge import evaluate, normals, parse, program_of, propagated, shaped

TEXT = samples.TEXT
SCALED = f"scalify-hlo {__version__}, recipe propagate, signature scaled"


def fn(w: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


def exported() -> jax.export.Exported:
    spec = shaped(32, 32)
    return program_of(fn, spec, spec)


def forms() -> dict[str, Any]:
    """One program in every form that `rewrite` takes."""
    program = exported()
    text = str(program.mlir_module())
    return {
        "text": text,
        "bytecode": _bytecode(text),
        "artifact": program.mlir_module_serialized,
        "jax.export": bytes(program.serialize(vjp_order=1)),
        "exported": program,
        "module": parse(text),
    }


def _bytecode(text: str) -> bytes:
    file = io.BytesIO()
    parse(text).operation.write_bytecode(file)
    return file.getvalue()


def recorded(program: Any) -> list[str]:
    if isinstance(program, str):
        return rewrites_of(read_text(program).module)
    if isinstance(program, bytes):
        return rewrites_of(read_program(program).module)
    if isinstance(program, jax.export.Exported):
        return rewrites_of(read_program(bytes(program.mlir_module_serialized)).module)
    return rewrites_of(program)


FORMS = ["text", "bytecode", "artifact", "jax.export", "exported", "module"]


@pytest.mark.parametrize("form", FORMS)
class TestForms:
    def test_the_rewrite_is_recorded_and_refused_again(self, form: str) -> None:
        program = forms()[form]
        assert recorded(program) == []
        new = propagated(program, signature="scaled")
        assert recorded(new) == [SCALED]
        assert recorded(program) == []
        assert type(new) is type(program)
        if isinstance(program, bytes):
            assert recognize(new, "new") is recognize(program, "program")
        with pytest.raises(InputError, match="was rewritten before, by scalify-hlo") as caught:
            jsa.rewrite(new, recipe="fp8")
        assert "again" in str(caught.value.hint)
        assert caught.value.location
        assert SCALED in caught.value.message

    def test_same_then_scaled_on_purpose(self, form: str) -> None:
        new = propagated(forms()[form], input_scale={"*": 2.0**-4})
        twice = propagated(new, signature="scaled", again=True)
        first, second = recorded(twice)
        assert first.endswith("signature same, input scale *=0.0625")
        assert second == SCALED
        assert recorded(new) == [first]


def test_values_of_a_program_rewritten_twice() -> None:
    w, x = normals(*[(32, 32)] * 2)
    text = exported().mlir_module()
    same = propagated(text, input_scale={"*": 2.0**-4})
    twice = propagated(same, signature="scaled", again=True)
    one = np.ones((), np.float32)
    data, scale = compile_module(twice)((w, one, x, one))
    expected = compile_module(text)((w, x))[0]
    np.testing.assert_allclose(data * scale, expected, rtol=1e-5, atol=1e-5)
    assert np.array_equal(evaluate(parse(same), (w, x))[0], evaluate(parse(text), (w, x))[0])


def test_the_vjp_is_recorded_too() -> None:
    new = propagated(exported(), signature="scaled")
    assert recorded(new.vjp()) == [SCALED]
    again = jsa.rewrite(propagated(exported(), input_scale={"*": 0.5}), again=True, recipe="bf16")
    assert len(recorded(again.vjp())) == 2


def test_options_are_recorded() -> None:
    text = exported().mlir_module()
    settings = {"meet": "max", "matmul.smallest": 8}
    new = jsa.rewrite(text, recipe="fp8", settings=settings)
    (only,) = recorded(new)
    assert only == (
        f"scalify-hlo {__version__}, recipe fp8, signature same, "
        'meet = "max", matmul.smallest = [8, 8, 8]'
    )


def test_a_program_that_is_left_as_it_was_says_nothing() -> None:
    new = propagated(TEXT)
    assert REWRITTEN not in new
    assert propagated(new) == new


@pytest.mark.parametrize(
    ("attribute", "text"), [('"by hand"', "by hand"), ("[3 : i64]", "3"), ("unit", "unit")]
)
def test_what_somebody_else_wrote_there(attribute: str, text: str) -> None:
    module = TEXT.replace("@tiny", f"@tiny attributes {{{REWRITTEN} = {attribute}}}")
    with pytest.raises(InputError, match=f"before, by {text}"):
        propagated(module)
    twice = propagated(module, signature="scaled", again=True)
    assert recorded(twice)[1:] == [SCALED]


def test_older_versions_hold_it() -> None:
    given = ("--recipe", "propagate", "--signature", "scaled")
    result = call("rewrite", "-", *given, text=TEXT)
    assert REWRITTEN in result.stdout
    module = parse(result.stdout)
    with module.context, ir.Location.unknown():
        data = write_artifact(module, "0.17.0", "p")
        assert rewrites_of(parse_artifact(data, "p")) == [SCALED]


class TestCommands:
    def scaled(self, tmp_path: Path) -> Path:
        path = tmp_path / "scaled.mlir"
        path.write_text(propagated(TEXT, signature="scaled"))
        return path

    def test_rewrite_refuses_and_takes_again(self, tmp_path: Path) -> None:
        path, out = self.scaled(tmp_path), tmp_path / "out.mlir"
        result = call("rewrite", path, "-o", out, "--recipe", "fp8", code=1)
        assert_one_sentence(result, "the program was rewritten before, by", str(path))
        assert not out.exists()
        given = ("--recipe", "propagate", "--signature", "scaled", "--again")
        call("rewrite", path, "-o", out, *given, code=0)
        assert recorded(out.read_text()) == [SCALED, SCALED]

    def test_inspect_and_check_show_it(self, tmp_path: Path) -> None:
        path, original = self.scaled(tmp_path), tmp_path / "original.mlir"
        original.write_text(TEXT)
        line = f"{path}: rewritten by {SCALED}"
        assert call("inspect", path).stdout.splitlines()[1] == line
        checked = call("check", original, path, "--backend", "interpreter", code=0)
        assert checked.stdout.splitlines()[-2] == line
        assert "rewritten by" not in call("inspect", original).stdout


def test_a_profile_of_a_rewritten_program_fits_it() -> None:
    arrays = tuple(normals(*[(32, 32)] * 2))
    same = propagated(exported(), input_scale={"*": 2.0**-4})
    profile = jsa.calibrate(same, [arrays])
    new = jsa.rewrite(same, profile=profile, again=True)
    assert "f8E4M3FN" in new.mlir_module()


@pytest.mark.parametrize("text", ["any", "v, recipe fp8, signature same, a.b = [", "v, recipe fp8"])
@pytest.mark.parametrize("options", [["--per-value"], ["--inputs", "x.npz"]])
def test_a_record_that_no_rewrite_wrote(tmp_path: Path, text: str, options: list[str]) -> None:
    path, inputs = tmp_path / "m.mlir", tmp_path / "x.npz"
    path.write_text(f'module attributes {{scalify.rewritten = "{text}"}} {{ {IDENTITY} }}')
    np.savez(inputs, np.zeros(4, np.float32))
    given = [str(inputs) if each == "x.npz" else each for each in options]
    error, note = call("check", path, path, *given, code=1).stderr.splitlines()
    assert error == f"{path}: error: the attribute scalify.rewritten records no rewrite"
    assert "note: give the program as" in note


IDENTITY = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
