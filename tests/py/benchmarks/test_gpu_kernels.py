"""The benchmark of GPU kernels, on HLO written by hand: it counts what should not be there."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import scalify_hlo
from benchmarks import gpu_kernels
from benchmarks.common import export_text
from benchmarks.gpu_kernels import FP8_MATMUL, Kernels, f8_dots, kernels, without_algorithms
from benchmarks.targets import H200
from tests.py.shared.judge import shaped

_hlo: Any = importlib.import_module("jaxlib._hlo")  # private: the one way from text to HLO

X, SCALAR = "f32[4,8]", "f32[]"
SPLAT = f"p = {X} parameter(0)\n c = {SCALAR} constant(2)\n b = {X} broadcast(c), dimensions={{}}\n"

BODIES = {
    "a multiplication by a scalar": (X, X, SPLAT + f"ROOT r = {X} multiply(p, b)"),
    "a division by a scalar": (X, X, SPLAT + f"ROOT r = {X} divide(p, b)"),
    "a scalar on the left": (X, X, SPLAT + f"ROOT r = {X} multiply(b, p)"),
    "a product of tensors": (X, X, f"p = {X} parameter(0)\n ROOT r = {X} multiply(p, p)"),
    "a multiplication and more": (
        X,
        X,
        SPLAT + f"q = {X} multiply(p, b)\n ROOT r = {X} tanh(q)",
    ),
    "a cast": (
        X,
        "f8e4m3fn[4,8]",
        SPLAT + f"q = {X} multiply(p, b)\n ROOT r = f8e4m3fn[4,8] convert(q)",
    ),
    "a scalar of a scalar": (
        SCALAR,
        SCALAR,
        f"p = {SCALAR} parameter(0)\n ROOT r = {SCALAR} multiply(p, p)",
    ),
    "a count": ("s32[]", "s32[]", "p = s32[] parameter(0)\n ROOT r = s32[] add(p, p)"),
    "a scalar spread": (
        SCALAR,
        X,
        f"p = {SCALAR} parameter(0)\n q = {SCALAR} multiply(p, p)\n"
        f" ROOT r = {X} broadcast(q), dimensions={{}}",
    ),
    "a transpose of f8": (
        "f8e4m3fn[4,8]",
        "f8e4m3fn[8,4]",
        "p = f8e4m3fn[4,8] parameter(0)\n ROOT r = f8e4m3fn[8,4] transpose(p), dimensions={1,0}",
    ),
    "a transpose of f32": (
        X,
        "f32[8,4]",
        f"p = {X} parameter(0)\n ROOT r = f32[8,4] transpose(p), dimensions={{1,0}}",
    ),
}
"""Name -> the type of the parameter, of the result, and what a kernel does."""

COUNTED = {
    "a multiplication by a scalar": "factors",
    "a division by a scalar": "factors",
    "a scalar on the left": "factors",
    "a scalar of a scalar": "scalars",
    "a transpose of f8": "transposed",
}

MATMUL = (
    "a = f8e4m3fn[16,16] parameter(0)\n"
    " m = (f32[16,16], s8[64]) custom-call(a, a), "
    f'custom_call_target="{FP8_MATMUL}"\n'
    " ROOT r = f32[16,16] get-tuple-element(m), index=0"
)


def module(entry: str, body: str = "") -> Any:
    kernel = f"kernel {{\n {body}\n}}\n\n" if body else ""
    return _hlo.hlo_module_from_text(f"HloModule m\n\n{kernel}ENTRY main {{\n {entry}\n}}\n")


def one_kernel(name: str) -> Any:
    source, result, body = BODIES[name]
    call = f"ROOT f = {result} fusion(x), kind=kLoop, calls=kernel"
    return module(f"x = {source} parameter(0)\n {call}", body)


def matmul() -> str:
    shapes = [shaped(*shape) for shape in ((16, 32), (32, 64))]
    return export_text(lambda x, w: x @ w, *shapes)


def program() -> str:
    return str(scalify_hlo.rewrite(matmul(), recipe="fp8"))


@pytest.mark.parametrize("name", BODIES)
def test_a_kernel_is_counted_by_what_it_does(name: str) -> None:
    nothing = {"launched": 1, "fp8_matmuls": 0, "transposed": 0, "scalars": 0}
    nothing |= {"factors": 0, "reducing": 0}
    expected = {**nothing, **({COUNTED[name]: 1} if name in COUNTED else {})}
    assert kernels(one_kernel(name)) == Kernels(**expected)


def test_a_call_of_the_matmul_is_one_kernel() -> None:
    assert kernels(module(MATMUL)) == Kernels(1, 1, 0, 0, 0, 0)


def test_kernels_in_loops_are_seen() -> None:
    text = f"""HloModule m

    kernel {{
      p = {SCALAR} parameter(0)
      ROOT r = {SCALAR} multiply(p, p)
    }}

    body {{
      s = {SCALAR} parameter(0)
      ROOT f = {SCALAR} fusion(s), kind=kLoop, calls=kernel
    }}

    more {{
      s = {SCALAR} parameter(0)
      c = {SCALAR} constant(9)
      ROOT l = pred[] compare(s, c), direction=LT
    }}

    ENTRY main {{
      x = {SCALAR} parameter(0)
      ROOT w = {SCALAR} while(x), condition=more, body=body
    }}
    """
    found = kernels(_hlo.hlo_module_from_text(text))
    assert (found.launched, found.scalars) == (2, 1)


def test_dots_of_f8_are_counted_and_no_others() -> None:
    assert (f8_dots(program()), f8_dots(matmul())) == (1, 0)


def test_algorithms_are_left_out_and_the_dots_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    # Newer versions of jaxlib leave them out of all programs with E4M3.
    monkeypatch.setattr("scalify_hlo.ir.algorithms._travels", lambda *_: True)
    text = without_algorithms(program())
    assert "algorithm" in program()
    assert "algorithm" not in text
    assert f8_dots(text) == 1


def failing(monkeypatch: pytest.MonkeyPatch, signature: str, compiled: Any) -> list[str]:
    monkeypatch.setattr(gpu_kernels, "compile_for", lambda *_: compiled)
    original = Kernels(1, 0, 0, 0, 0, 0)
    return [
        r.what
        for r in gpu_kernels.rows(signature, program(), H200, original, sites=False)
        if not r.holds
    ]


def test_a_dot_that_became_another_kernel_misses_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert failing(monkeypatch, "scaled", module(MATMUL)) == []
    missed = failing(monkeypatch, "scaled", one_kernel("a product of tensors"))
    assert missed == ["scaled: f8 dots of other kernels"]


@pytest.mark.parametrize("name", ["a scalar of a scalar", "a multiplication by a scalar"])
def test_arithmetic_on_scales_misses_a_bound_where_scales_are_static(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert len(failing(monkeypatch, "same", one_kernel(name))) == 2
    assert len(failing(monkeypatch, "scaled", one_kernel(name))) == 1


def test_a_program_that_xla_refuses_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> Any:
        raise RuntimeError("no plugin")

    monkeypatch.setattr(gpu_kernels, "compile_for", refuse)
    monkeypatch.setattr(gpu_kernels, "use_no_device", lambda: None)
    monkeypatch.setattr(gpu_kernels, "gpt2_step", lambda _: program())
    monkeypatch.setattr(sys, "argv", ["gpu_kernels"])
    assert gpu_kernels.main() == 2
    assert "no plugin" in capsys.readouterr().err
