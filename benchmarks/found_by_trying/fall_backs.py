"""Points 6 to 12: what stays wide is made narrow, or told."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import export

import scalify_hlo
from benchmarks.found_by_trying.checks import (
    Check,
    command,
    expect,
    exported,
    folder,
    quiet,
    refused,
    require,
    text_of,
)
from scalify_hlo import Report, ScalifyError

_F8 = ("fp8", "fp8-current", "unit")


def _array(*shape: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _report(program: Any, recipe: str, **options: Any) -> Report:
    with quiet():
        options = {"input_scale": {"*": 1.0}, **options}
        _, report = scalify_hlo.rewrite(program, recipe=recipe, report=True, **options)
    return report


def _narrow(program: Any, recipe: str, **options: Any) -> None:
    report = _report(program, recipe, **options)
    wide = [matmul for matmul in report.matmuls if matmul.wide]
    require(report.matmuls, f"{recipe} finds no matmul")
    require(not wide, f"{recipe} leaves wide: {wide}")


def _nothing_narrow() -> None:
    for text in (text_of(jnp.sin, _array(4)), text_of(jnp.matmul, _array(4, 4), _array(4, 4))):
        for recipe in (*_F8, "fp16"):
            given = ("rewrite", "-", "--recipe", recipe, "--input-scale", "*=2^0")
            if recipe != "fp16" or "dot_general" not in text:  # f16 has no bound on sizes
                expect(command(*given, text=text), 0, "no matmul")
                expect(command(*given, "--strict", text=text), 1)


def _dynamic_batch() -> None:
    (b,) = export.symbolic_shape("b")
    for rows in (b, 16 * b):
        program = exported(lambda x, w: jnp.tanh(x @ w), _array(rows, 64), _array(64, 64))
        for recipe in _F8:
            _narrow(program, recipe)


def _decode() -> None:
    for rows in (2, 15):
        _narrow(text_of(jnp.matmul, _array(rows, 256), _array(256, 256)), "fp8")


def _experts() -> None:
    groups = jax.ShapeDtypeStruct((4,), jnp.int32)
    types = _array(64, 64), _array(4, 64, 64), groups
    program = exported(jax.lax.ragged_dot, *types, platforms=["cuda"])
    with quiet():
        scales = {"*": 1.0}
        text = scalify_hlo.rewrite(program, recipe="fp8-current", input_scale=scales).mlir_module()
    require(text.count('composite "chlo.ragged_dot"') == 1, "it is not one op")
    main = text.partition("func.func private")[0]
    require("stablehlo.dot_general" not in main, "dense matmuls were added")


def _idle_options() -> None:
    refused(lambda: scalify_hlo.load_recipe("fp8", {"scaling.margin": 2}), ScalifyError, "margin")
    with folder() as path:
        file = path / "mine.toml"
        file.write_text('base = "fp8"\n\n[inputs]\nscale = ["*=2^999999999999"]\n')
        refused(lambda: scalify_hlo.load_recipe(str(file)), ScalifyError, "mine.toml:4")
    x = _array(64, 64)
    settings = {"matmul.output": "bf16"}
    with quiet():
        text = scalify_hlo.rewrite(
            text_of(jnp.matmul, x, x), recipe="fp8-current", settings=settings
        )
    require("-> tensor<64x64xbf16>" in text, "matmul.output has no effect")


def _last_matmul() -> None:
    def logits(params: Any, tokens: Any) -> Any:
        return jnp.tanh(params["e"][tokens] @ params["w"]) @ params["e"].T

    def loss(params: Any, tokens: Any) -> Any:
        return -jnp.mean(jax.nn.log_softmax(logits(params, tokens))[:, 0])

    params = {"e": _array(512, 64), "w": _array(64, 64)}
    tokens = jax.ShapeDtypeStruct((32,), jnp.int32)
    for function in (logits, jax.grad(loss)):
        report = _report(text_of(function, params, tokens), "fp8")
        forward = [m for m in report.matmuls if m.part == "forward"]
        require([m.vocabulary for m in forward] == [False, True], f"{forward}")


def _undeclared() -> None:
    text = text_of(jnp.matmul, _array(64, 64), _array(64, 64))
    for recipe in ("fp8", "unit"):
        done = command("rewrite", "-", "--recipe", recipe, text=text)
        expect(done, 0, "2 inputs measured at run time", "--input-scale", "--input-values")


CHECKS = {
    6: [Check("a recipe that narrows nothing says so", _nothing_narrow)],
    7: [Check("matmuls of dynamic batches are narrow", _dynamic_batch)],
    8: [Check("so are those of 2 to 15 rows with a weight", _decode)],
    9: [Check("a ragged matmul stays one op", _experts)],
    10: [Check("options have an effect or are refused", _idle_options)],
    11: [Check("the last matmul is told apart in training and inference", _last_matmul)],
    12: [Check("inputs without a declared scale are told", _undeclared)],
}
