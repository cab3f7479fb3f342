"""Text in MHLO and VHLO is converted; ops of other dialects are refused with what converts them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo import InputError
from scalify_hlo._compat import load_mhlo, new_context, passmanager, register_passes
from scalify_hlo.program.dialects import other_dialect
from scalify_hlo.program.program import read_text
from tests.py.shared.judge import parse, shaped, stablehlo_of, unrecorded

TYPE = "tensor<32x32xf32>"


def body(op: str) -> str:
    return f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n  %0 = {op}\n  return %x : {TYPE}\n}}\n"


def model(params: Any, x: Any) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return jax.nn.softmax(jnp.tanh(x @ w)), None

    return jax.lax.scan(layer, x, params)[0]


def lowered(text: str, *passes: str) -> str:
    """A program in another dialect, as the passes of jaxlib write it."""
    register_passes()
    context = new_context()
    load_mhlo(context)
    module = parse(text)
    with context:
        module = type(module).parse(str(module), context)
        passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    return str(module)


@pytest.mark.parametrize("dialect", ["mhlo", "vhlo"])
def test_a_program_in_another_dialect_is_rewritten_as_that_in_stablehlo(dialect: str) -> None:
    text = stablehlo_of(model, shaped(4, 32, 32), shaped(16, 32))
    written = lowered(
        text, {"mhlo": "stablehlo-legalize-to-hlo"}.get(dialect, f"stablehlo-legalize-to-{dialect}")
    )
    assert f"{dialect}." in written
    assert "stablehlo." not in written
    one, other = (scalify_hlo.rewrite(each, recipe="fp8-current") for each in (written, text))
    assert unrecorded(one) == unrecorded(other)
    assert "f8E4M3FN" in one


@pytest.mark.parametrize(("arguments", "inner"), [(f"^bb0(%a: {TYPE}):", "%a"), ("", "%x")])
def test_a_fusion_is_the_ops_in_it(arguments: str, inner: str) -> None:
    negated = f'"mhlo.negate"({inner}) : ({TYPE}) -> {TYPE}'
    fusion = f'"mhlo.fusion"(%x) ({{ {arguments} %n = {negated} mhlo.return %n : {TYPE} }})'
    outer = f'"mhlo.fusion"(%x) ({{ %m = {fusion} : ({TYPE}) -> {TYPE} mhlo.return %m : {TYPE} }})'
    one = scalify_hlo.rewrite(body(f"{outer} : ({TYPE}) -> {TYPE}"), recipe="propagate")
    other = scalify_hlo.rewrite(body(f"stablehlo.negate %x : {TYPE}"), recipe="propagate")
    assert unrecorded(one) == unrecorded(other)


def test_attributes_of_mhlo_are_kept() -> None:
    function = body(f"stablehlo.negate %x : {TYPE}")
    text = f"module attributes {{mhlo.num_partitions = 1 : i32}} {{ {function} }}"
    assert not other_dialect(text.encode())
    assert "mhlo.num_partitions = 1" in scalify_hlo.rewrite(text, recipe="propagate")


@pytest.mark.parametrize(
    ("op", "sentence", "hint"),
    [
        (
            f'"mhlo.bitcast"(%x) : ({TYPE}) -> {TYPE}',
            "StableHLO has no op for 'mhlo.bitcast'",
            "as jax.export writes it",
        ),
        (f'"tf.Neg"(%x) : ({TYPE}) -> {TYPE}', "'tf.Neg' is not an op of StableHLO", "TensorFlow"),
        (f"mpmd.fragment %x : {TYPE}", "'mpmd.fragment' is not an op of", "Shardy"),
        (f'"torch.aten.neg"(%x) : ({TYPE}) -> {TYPE}', "'torch.aten.neg' is not", "torch-mlir"),
        (f'"onnx.Neg"(%x) : ({TYPE}) -> {TYPE}', "'onnx.Neg' is not", "onnx-mlir"),
        (f"tosa.negate %x : {TYPE}", "'tosa.negate' is not", "before it was lowered"),
        (f'"my.op"(%x) : ({TYPE}) -> {TYPE}', "'my.op' is not", "MLIR text"),
    ],
)
def test_ops_without_a_conversion_are_refused(op: str, sentence: str, hint: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read_text(body(op), "it.mlir")
    assert hint in (caught.value.hint or "")
    assert (caught.value.location or "").startswith("it.mlir")
