"""Passes and pipelines: what is read and printed, and what rewritten programs never contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import jax  # noqa: F401  (registers the passes of MLIR itself)
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scalify_hlo as sh
from scalify_hlo._compat import ir, new_context
from scalify_hlo.errors import UsageError
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.passes.propagate import PropagatePass
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.passes.text import PASSES, parse_pipeline, run_pipeline
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.toml import preset_names
from tests.py.programs import PROGRAMS, Program
from tests.py.shared import judge
from tests.py.shared.judge import floats, parse, propagated, rewritten

EVERY_PROGRAM = pytest.mark.parametrize("program", PROGRAMS, ids=str)
ARITHMETIC = (
    "add",
    "bitcast_convert",
    "clamp",
    "divide",
    "maximum",
    "multiply",
    "sqrt",
    "subtract",
)


def pipeline(passes: list[Pass | str]) -> str:
    return f"builtin.module({','.join(map(str, passes))})"


class TestText:
    @pytest.mark.parametrize("name", PASSES)
    def test_a_name_is_the_pass_with_its_defaults(self, name: str) -> None:
        assert parse_pipeline(name) == [PASSES[name]()]
        assert str(PASSES[name]()) == name

    @given(
        recipe=st.sampled_from(preset_names()),
        annotate=st.booleans(),
        strict=st.booleans(),
        signature=st.sampled_from(("same", "scaled")),
        scales=st.lists(st.sampled_from(("*=2^-4", "p['w']=0.5", "arg0=8")), max_size=2),
        pairs=st.text("01", max_size=3),
    )
    def test_printing_and_reading_again(
        self,
        recipe: str,
        annotate: bool,
        strict: bool,
        signature: str,
        scales: list[str],
        pairs: str,
    ) -> None:
        passes: list[Pass | str] = [
            SignaturePass(signature, tuple(scales), pairs),  # type: ignore[arg-type]
            PropagatePass(load_recipe(recipe), annotate=annotate, strict=strict),
            "cse",
        ]
        assert parse_pipeline(pipeline(passes)) == passes

    def test_the_passes_of_a_rewrite_are_a_pipeline(self) -> None:
        options = Options(signature="scaled", input_scale={"x*": 2.0**-4}, pairs_in=[True, False])
        passes: list[Pass | str] = [*options.passes()]
        assert parse_pipeline(pipeline(passes)) == passes

    def test_brackets_may_be_left_out(self) -> None:
        assert parse_pipeline("scalify-verify, cse") == parse_pipeline(
            "builtin.module(scalify-verify,cse)"
        )

    def test_passes_of_mlir_keep_their_options(self) -> None:
        text = "func.func(chlo-legalize-to-stablehlo),symbol-dce"
        assert parse_pipeline(text) == text.split(",")

    @pytest.mark.parametrize("name", PASSES)
    def test_each_says_what_it_is_for(self, name: str) -> None:
        assert (PASSES[name].__doc__ or "").splitlines()[0].endswith(".")
        for field in fields(PASSES[name]):
            assert f"{field.name}:" in (PASSES[name].__doc__ or "")


def test_each_pass_has_lit_tests_of_its_name() -> None:
    """The file or the folder of a test begins with the name of the pass that it is of."""
    folder = Path(__file__).resolve().parents[2] / "lit" / "passes"
    entries = [e for e in folder.iterdir() if e.name != "Inputs"]
    tested = set()
    for entry in entries:
        of = [name for name in PASSES if f"{entry.stem}_".startswith(f"{file_of(name)}_")]
        assert of, f"{entry.name} is of no pass"
        name = max(of, key=len)
        for file in [entry] if entry.is_file() else entry.glob("*.mlir"):
            assert re.search(rf"[(, ]{name}[){{,]", file.read_text()), file
        tested.add(name)
    assert tested == set(PASSES)


def file_of(name: str) -> str:
    """The name of a pass as that of a file."""
    return name.removeprefix("scalify-").replace("-", "_")


class TestMisuse:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("scalify-propagat", r"no pass is named 'scalify-propagat' .*'scalify-propagate'"),
            ("scalify-propagate{recip=fp8}", "has no option 'recip' .*'recipe'"),
            ("scalify-signature{signature=sclaed}", "'sclaed' is not a value .*'scaled'"),
            ("scalify-propagate{annotate=maybe}", "takes true or false, and not 'maybe'"),
            ("builtin.module(scalify-verify", "brackets"),
            ("scalify-propagate{recipe=fp8", "brackets"),
        ],
    )
    def test_is_one_sentence_with_a_cure(self, text: str, message: str) -> None:
        with pytest.raises(UsageError, match=message) as caught:
            parse_pipeline(text)
        assert caught.value.hint
        assert caught.value.exit_code == 2

    @pytest.mark.parametrize("scale", ["x=nan", "x=2^", "x", "=2^4", "x=0", "x=-2"])
    def test_input_scale_is_a_positive_number(self, scale: str) -> None:
        module = parse(PROGRAMS[0].text())
        with pytest.raises(UsageError, match="is not PATTERN=2"):
            run_pipeline(module, f"scalify-signature{{input-scale={scale}}}")


def plain(program: Program, *, expand: bool = False) -> ir.Module:
    """A program without tuples that are taken apart again, and maybe without CHLO."""
    module = parse(program.text())
    passes = "scalify-normalize,scalify-legalize" if expand else "scalify-normalize{expand=false}"
    run_pipeline(module, passes)
    return module


@EVERY_PROGRAM
def test_unscaled_programs_stay_as_they_are(program: Program) -> None:
    module, _ = rewritten(program.text())
    assert str(module) == str(plain(program))


@EVERY_PROGRAM
def test_static_scales_leave_no_scale_arithmetic(program: Program) -> None:
    """Scales are numbers of the rewriter: no op computes with constants alone."""
    text = program.text()
    static = {f"arg{i}": 2.0 ** (3 - i) for i, f in enumerate(floats(text)) if f}
    module, _ = rewritten(text, "same", input_scale=static)
    assert arithmetic_of_constants(module) <= arithmetic_of_constants(plain(program, expand=True))


def test_dynamic_scales_need_some() -> None:
    """The same count sees scale arithmetic where there is some, even without the scales."""
    text = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.multiply %c, %c : tensor<f32>
  %1 = stablehlo.multiply %0, %x : tensor<f32>
  return %1 : tensor<f32>
}"""
    assert arithmetic_of_constants(parse(text)) == 1


def arithmetic_of_constants(module: ir.Module) -> int:
    """Returns the number of ops of rank 0 whose operands are constants, or such ops."""
    names = {f"stablehlo.{name}" for name in ARITHMETIC}
    known: set[ir.Value] = set()
    count = 0
    for op in walk(module.operation):
        if op.name == "stablehlo.constant":
            known.add(op.results[0])
        elif op.name in names and not op.results[0].type.rank and known.issuperset(op.operands):
            known.add(op.results[0])
            count += 1
    return count


def walk(operation: ir.Operation) -> Iterator[ir.Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


@pytest.mark.slow
@EVERY_PROGRAM
def test_every_op_has_a_location(program: Program) -> None:
    """An op that the rewriter builds has the location of the op that needs it."""
    for options in (Options(signature="scaled"), Options(input_scale={"*": 2.0**-3})):
        module = located(program.text())
        rewrite_module(module, options)
        for op in walk(module.operation):
            assert not is_unknown(op.location), f"{op.name}: {module}"


def located(text: str) -> ir.Module:
    """A program whose ops all have a location, which `parse` gives them by line."""
    with new_context():
        return ir.Module.parse(text)


def is_unknown(location: ir.Location) -> bool:
    return "unknown" in str(location)


@EVERY_PROGRAM
def test_nothing_of_the_tool_s_own_is_left(program: Program) -> None:
    module, _ = rewritten(program.text(), "scaled")
    assert "scalify." not in str(module).replace(" {scalify.is_scale}", "")


def test_annotations_are_left_on_request() -> None:
    module = parse(PROGRAMS[0].text())
    rewrite_module(module, Options(signature="scaled", annotate=True))
    assert "scalify.forms" in str(module)


def test_print_ir_after_all_and_timing(capfd: pytest.CaptureFixture[str]) -> None:
    module = parse(PROGRAMS[0].text())
    text = "scalify-signature{signature=scaled},scalify-propagate"
    run_pipeline(module, text, print_ir_after_all=True, timing=True)
    printed = capfd.readouterr().err
    assert printed.count("IR Dump After") == 2
    assert "scalify.pair" in printed
    assert "Execution time report" in printed


M = "tensor<64x64xf32>"
BODY = f"""(%x: {M}, %w: {M}) -> {M} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({M}, {M}) -> {M}
  return %0 : {M}
}}"""
TEXT = f"""func.func public @main(%x: {M}, %w: {M}) -> {M} {{
  %0 = call @outer(%x, %w) : ({M}, {M}) -> {M}
  %1 = stablehlo.multiply %0, %0 : {M}
  %2 = call @inner(%1, %w) : ({M}, {M}) -> {M}
  return %2 : {M}
}}
func.func public @outer(%x: {M}, %w: {M}) -> {M} {{
  %0 = call @inner(%x, %w) : ({M}, {M}) -> {M}
  return %0 : {M}
}}
func.func @inner{BODY}
func.func private @inner_0{BODY}
"""
SCALES = {"arg0": 1.0, "arg1": 1.0}
PUBLIC = "@inner(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>) -> tensor<64x64xf32> {"


@pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp8-current", "fp16", "unit"])
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_calls_of_public_functions_are_rewritten(recipe: str, signature: str) -> None:
    given = SCALES if signature == "same" else None
    text = sh.rewrite(TEXT, recipe=recipe, signature=signature, input_scale=given)
    assert f"func.func public {PUBLIC}" in text or f"func.func {PUBLIC}" in text
    main = text[text.index("@main") : text.index("return")]
    if recipe != "propagate":
        assert "@inner(" not in main
        assert "@outer(" not in main


def test_the_result_is_the_same() -> None:
    x = np.random.RandomState(0).randn(64, 64).astype(np.float32)
    (plain,) = judge.evaluate(judge.parse(TEXT), [x, x])
    text = propagated(TEXT, input_scale={"arg0": 8.0, "arg1": 0.25})
    (found,) = judge.evaluate(judge.parse(text), [x, x])
    assert np.array_equal(plain, found)
