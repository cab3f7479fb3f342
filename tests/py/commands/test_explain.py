"""`explain`: the kernels of each matmul, and the estimate against the original in bf16."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo import InputError, UsageError
from scalify_hlo._compat import ir
from scalify_hlo.commands.explain import compiled
from scalify_hlo.commands.explain.compiled import kernels_by_number
from scalify_hlo.commands.explain.page import explain_page
from scalify_hlo.commands.explain.record import CHECKS, QUANTITIES, warnings_of
from scalify_hlo.dataflow.sizes import Size
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import Target, load_target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import Kernel, kernels_of
from tests.py.shared import commands
from tests.py.shared.judge import parse, program_of, shaped
from tests.py.shared.schemas import faults


def loss(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    with jax.named_scope("encoder"):
        hidden = jax.nn.relu(x @ params["up"])
    with jax.named_scope("head"):
        return jnp.sum((hidden @ params["down"]) ** 2)


def exported(dtype: Any = jnp.float32) -> Any:
    sizes = {"up": (32, 64), "down": (64, 32)}
    params = {name: jax.ShapeDtypeStruct(size, dtype) for name, size in sizes.items()}
    return program_of(jax.grad(loss), params, shaped(48, 32, dtype=dtype))


@pytest.fixture(autouse=True, scope="module")
def _once() -> Iterator[None]:
    """Each program is compiled once, as a process that compiles takes seconds to start."""
    known: dict[str, Any] = {}

    def compile_once(module: ir.Module, target: Target, **options: Any) -> Any:
        key = f"{target.name} {module.operation.get_asm(enable_debug_info=True)}"
        if key not in known:
            known[key] = compile_program(module, target, **options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "compile_program", compile_once)
        yield


@pytest.fixture(scope="module")
def explained() -> Any:
    """A step in FP8, compiled for the CPU."""
    return scalify_hlo.explain(exported(), "cpu", recipe="fp8-current")


def equal_layers() -> Any:
    """The gradients of two layers of one size."""

    def loss(layers: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
        for layer in layers:
            x = x + jnp.tanh(x @ layer["up"]) @ layer["down"]
        return jnp.mean(x**2)

    sizes = {"up": (64, 128), "down": (128, 64)}
    layer = {name: shaped(*size) for name, size in sizes.items()}
    x = shaped(32, 64)
    return program_of(jax.grad(loss), [layer] * 2, x)


call = partial(commands.call, "explain")


def test_each_matmul_has_its_kernels(explained: Any) -> None:
    """The sizes of the source, which the flops of the kernels equal."""
    assert len(explained.matmuls) == 5
    for each in explained.matmuls:
        assert sum(each.flops.values()) == each.matmul.flops, each.matmul
        assert [kernel.label for kernel in each.kernels] == ["XLA f32"]
    names = [kernel.name for each in explained.matmuls for kernel in each.kernels]
    assert len(set(names)) == 5


@pytest.mark.parametrize("recipe", ["mxfp8", "fp8-block", "nvfp4"])
def test_each_matmul_with_block_scales_has_its_kernel(recipe: str) -> None:
    """Matmuls of equal types too, whose composites would share a decomposition."""
    found = scalify_hlo.explain(equal_layers(), "cpu", recipe=recipe)
    assert [len(each.kernels) for each in found.matmuls] == [1] * 11
    names = [kernel.name for each in found.matmuls for kernel in each.kernels]
    assert len(set(names)) == 11
    assert all(each.falls_back for each in found.matmuls)
    assert sum("widens them" in told for told in warnings_of(found)) == 11


def test_matmuls_of_equal_types_have_names_of_their_own() -> None:
    """XLA names a matmul as the decomposition does, of which there is one for each type else."""
    text = str(equal_layers().mlir_module())
    counts = []
    for named in (True, False):
        module = parse(text)
        rewrite_module(module, Options(load_recipe("nvfp4"), named=named))
        counts.append(str(module).count("func.func private @xla.scaled_dot"))
    assert counts[0] == 11 > counts[1]


SCALED_DOT = """HloModule m, is_scheduled=true

%fused_scales (p: f32[8,2]) -> (f8e8m0fnu[8,2], f8e4m3fn[8,2]) {
  %p = f32[8,2] parameter(0)
  %s = f8e8m0fnu[8,2] convert(%p), metadata={op_name="scalify.matmul.5"}
  %o = f8e4m3fn[8,2] convert(%p), metadata={op_name="another"}
  ROOT %t = (f8e8m0fnu[8,2], f8e4m3fn[8,2]) tuple(%s, %o)
}

%fused_dot (a: f8e4m3fn[8,64], b: f8e4m3fn[8,64], c: f8e8m0fnu[8,2], d: f8e8m0fnu[8,2]) -> f32[] {
  %a = f8e4m3fn[8,64] parameter(0)
  %b = f8e4m3fn[8,64] parameter(1)
  %c = f8e8m0fnu[8,2] parameter(2)
  %d = f8e8m0fnu[8,2] parameter(3)
  ROOT %dot = f32[8,8] scaled-dot(%a, %b, %c, %d), lhs_contracting_dims={1}
}

ENTRY %main (x: f8e4m3fn[8,64], y: f32[8,2]) -> f32[8,8] {
  %x = f8e4m3fn[8,64] parameter(0), metadata={op_name="scalify.matmul.9"}
  %y = f32[8,2] parameter(1), metadata={op_name="y"}
  %f = (f8e8m0fnu[8,2], f8e4m3fn[8,2]) fusion(%y), kind=kLoop, calls=%fused_scales
  %g = f8e8m0fnu[8,2] get-tuple-element(%f), index=0
  %c = f8e8m0fnu[8,2] convert(%y), metadata={op_name="scalify.matmul.3"}
  ROOT %k = f32[8,8] fusion(%x, %x, %g, %c), kind=kCustom, calls=%fused_dot
}
"""


def test_a_kernel_without_the_name_of_its_matmul() -> None:
    """XLA drops it where it makes one kernel of a composite."""
    kernel = kernels_of(read_hlo(SCALED_DOT))[-1]
    assert kernel.products == ("",)
    assert kernel.sources == ("scalify.matmul.5", "scalify.matmul.3")
    assert list(kernels_by_number([kernel])) == [5]


def test_a_matmul_that_the_target_widens_is_named_with_the_cause(explained: Any) -> None:
    assert all(each.falls_back for each in explained.matmuls)
    assert dict(explained.shares())["all"] == 0
    told = list(warnings_of(explained))
    assert len(told) == 5
    assert told[0] == (
        "encoder@forward: the matmul of f8E4M3FN and f8E4M3FN became XLA f32, which widens them: "
        "cpu multiplies no f8e4m3fn"
    )


def test_a_wide_matmul_is_no_fall_back() -> None:
    settings = {"matmul.exclude": ["*head*"]}
    found = scalify_hlo.explain(exported(), "cpu", recipe="fp8-current", settings=settings)
    assert [each.falls_back for each in found.matmuls] == [True, False, False, False, True]
    assert [each.matmul.wide is None for each in found.matmuls] == [True, False, False, False, True]


def test_the_causes_of_fall_backs(explained: Any) -> None:
    """As on a GPU: E5M2 with E5M2, foreign formats, and sizes below those of its kernels."""
    first = explained.matmuls[0]

    def told(lhs: str, rhs: str, extent: Any = first.matmul.extent) -> str:
        matmul = replace(first.matmul, formats=(lhs, rhs, "f32"), extent=extent)
        changed = replace(explained, matmuls=(replace(first, matmul=matmul),))
        return next(warnings_of(replace(changed, target=load_target("h200"))))

    assert told("f8E5M2", "f8E5M2").endswith("there is no kernel for E5M2 with E5M2")
    assert told("f8E4M3FN", "f8E4M3FNUZ").endswith("h200 multiplies no f8e4m3fnuz")
    assert told("f8E4M3FN", "f8E4M3FN").endswith("which widens them")
    small = first.matmul.extent._replace(m=Size(8))
    assert told("f8E4M3FN", "f8E4M3FN", small).endswith("M, N or K is below 16")
    for scales in ("e4m3", "f32"):
        wide = replace(explained, target=load_target("h200"), blocks=scales)
        cause = f"XLA has no kernel for block scales in {scales}"
        assert cause in " ".join(warnings_of(wide))


@pytest.mark.parametrize(("recipe", "blocks"), [("fp8-block", "f32"), ("fp8-current", "")])
def test_the_format_of_block_scales_is_that_of_the_recipe(recipe: str, blocks: str) -> None:
    assert scalify_hlo.explain(exported(), "cpu", recipe=recipe).blocks == blocks


def test_the_original_is_the_program_in_bf16(explained: Any) -> None:
    assert explained.original is not None
    assert "bf16" in explained.original.compiled.hlo
    assert "f8e4m3fn" in explained.program.compiled.hlo
    assert "f8e4m3fn" not in explained.original.compiled.hlo


def test_a_program_in_bf16_is_its_own_original() -> None:
    found = scalify_hlo.explain(exported(jnp.bfloat16), "cpu", recipe="fp8-current")
    alone = scalify_hlo.explain(exported(jnp.bfloat16), "cpu")
    assert found.original is not None
    assert found.original.compiled.temporaries == alone.program.compiled.temporaries


def test_a_rewritten_program_and_its_original() -> None:
    program = scalify_hlo.rewrite(exported(), recipe="fp8-current")
    found = scalify_hlo.explain(program, "cpu", against=exported())
    assert found.recipe == ""
    assert found.original is not None
    assert all(each.falls_back for each in found.matmuls)
    assert scalify_hlo.explain(program, "cpu").original is None


def test_numbers_of_kernels() -> None:
    kernel = Kernel(
        name="a",
        op_name="",
        products=(),
        sources=(),
        kernel="__cublas$lt$matmul$f8",
        cause="gemm",
        times=1,
        flops={"f8": 2},
        read=0,
        written=0,
        result="f32",
        exchanged=0,
    )
    both = replace(kernel, products=("x/scalify.matmul.3", "scalify.matmul.12"))
    plain = replace(kernel, products=("jit(f)/dot_general",))
    assert kernels_by_number([plain, both]) == {3: [both], 12: [both]}
    # Two matmuls of shared scales, the casts of which have the name of either.
    alone = replace(kernel, sources=("a/scalify.matmul.4",))
    shared = replace(kernel, sources=("scalify.matmul.4", "", "scalify.matmul.2/convert"))
    assert kernels_by_number([shared, alone]) == {4: [alone], 2: [shared]}
    later = replace(shared, sources=("scalify.matmul.4", "scalify.matmul.7"))
    assert kernels_by_number([later, alone]) == {4: [alone], 7: [later]}
    assert kernels_by_number([replace(kernel, sources=("jit(f)",))]) == {}
    assert kernel.label == "cuBLASLt f8"
    assert replace(kernel, kernel="__triton_nested_gemm_fusion").label == "Triton f8"
    assert replace(kernel, kernel="__cudnn$convForwardGraph").label == "cuDNN f8"
    assert replace(kernel, kernel="fusion", flops={"bf16": 1, "f8": 1}).label == "XLA bf16 f8"


def test_the_json_fits_its_schema(explained: Any) -> None:
    record = json.loads(scalify_hlo.dump_explanation(explained))
    assert not faults(record, "explain")
    assert record["figures"].keys() == QUANTITIES.keys() - {"warnings"}
    alone = json.loads(scalify_hlo.dump_explanation(replace(explained, original=None)))
    assert not faults(alone, "explain")
    assert faults({**record, "more": 1}, "explain")


def test_the_page_has_all_matmuls_and_loads_nothing(explained: Any) -> None:
    page = explain_page(explained, "a<b>.mlir")
    assert page.startswith("<!doctype html>")
    assert "a&lt;b&gt;.mlir" in page
    assert "<b>" not in page
    assert "prefers-color-scheme: dark" in page
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|src=|href=|url\(|@import", page)
    table = page[page.index("Matmuls and convolutions") : page.index("Kernels by cause")]
    assert table.count("<tr>") == 1 + len(explained.matmuls)
    assert table.count('class="bad"') == 5  # all fall back
    for each in explained.matmuls:
        assert all(kernel.name in table for kernel in each.kernels)
    for text in warnings_of(explained):
        assert escape(text) in page
    assert "multiplies without a conversion: f32, f64" in page
    assert "in bf16" in explain_page(replace(explained, original=None))


def test_the_output_is_a_page_by_its_suffix(tmp_path: Path) -> None:
    program, page = tmp_path / "step.mlir", tmp_path / "out.html"
    program.write_text(exported().mlir_module())
    options = ["--target", "cpu", "--recipe", "fp8-current"]
    call(program, *options, "-o", page, "--check", "fallbacks==0", code=1)
    assert page.read_text().startswith("<!doctype html>")
    done = call(program, *options, "-o", tmp_path / "out.htm", code=2)
    assert "cannot be written as .htm (did you mean '.html'" in done.stderr


@pytest.mark.parametrize(
    ("checks", "fault"),
    [
        ("fallbacks<=0", "the number of FP8 matmuls that the compiler widens is 5"),
        ("fp8-flops>=0.5", "floating-point operations in FP8 kernels is 0"),
        ("speedup>=1", "speedup is undefined"),
        ("memory<=0.01", "the peak of memory over that of bf16 is"),
    ],
)
def test_checks_that_do_not_hold(explained: Any, checks: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        CHECKS.check(explained, CHECKS.parse(checks), "step")


def test_checks_that_hold(explained: Any) -> None:
    CHECKS.check(explained, CHECKS.parse("fallbacks==5,temporaries>0,warnings>=5"), "step")
    with pytest.raises(UsageError, match=r"'spedup'.*did you mean 'speedup'"):
        CHECKS.parse("spedup>=1")


def test_the_command(tmp_path: Path) -> None:
    program, report = tmp_path / "step.mlir", tmp_path / "report.json"
    program.write_text(exported().mlir_module())
    options = ["--target", "cpu", "--recipe", "fp8-current", "-o", str(report)]
    done = call(program, *options, "--check", "fallbacks==0", code=1)
    assert "fallbacks==0 is required" in done.stderr
    assert "f8E5M2 f8E4M3FN -> f32" in done.stdout
    assert "warning: encoder@forward: the matmul of f8E4M3FN" in done.stdout
    assert json.loads(report.read_text())["recipe"] == "fp8-current"
    again = call(program, *options, "--format", "json")
    assert json.loads(again.stdout)["program"] == str(program)


@pytest.mark.parametrize(
    "given", [{"signature": "scaled"}, {"input_scale": {"x": 1.0}}, {"settings": {"meet": "max"}}]
)
def test_options_of_a_rewrite_that_is_not_done(given: dict[str, Any]) -> None:
    """They would have no effect, here and in the other functions with an optional recipe."""
    with pytest.raises(UsageError, match="is for a rewrite, and there is no recipe"):
        scalify_hlo.explain(exported(), "cpu", **given)
    with pytest.raises(UsageError, match="is for a rewrite, and there is no recipe"):
        scalify_hlo.collect_stats(exported(), [], **given)
