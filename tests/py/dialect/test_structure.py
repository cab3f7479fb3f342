"""The hash by which programs are told apart."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
from jax import export

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_program, read_text
from tests.py.commands.test_calibration import SQUARE, integers
from tests.py.devices.sharded_steps import CASES, step
from tests.py.shared.commands import python
from tests.py.shared.judge import body_of, normal, program_of
from tests.py.shared.lifted import calls, nested

ROOT = Path(__file__).resolve().parents[3]


def forms(exported: export.Exported) -> Iterator[ir.Module]:
    """One program in every form in which users have it."""
    text = exported.mlir_module()
    module = read_text(text).module
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    yield module
    yield read_program(bytecode.getvalue()).module
    yield read_program(write_artifact(module, "compatible", "p")).module
    yield read_program(bytes(exported.serialize())).module
    yield read_program(bytes(exported.mlir_module_serialized)).module
    with module.context:
        yield read_text(module.operation.get_asm(print_generic_op_form=True)).module


def with_weights(seed: int) -> export.Exported:
    w = normal(8, 8, seed=seed)
    return program_of(lambda x: jax.nn.softmax(x @ w), normal(2, 8))


LOOP = """func.func private @step(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<2x3xf32>
  %0 = stablehlo.multiply %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<2x3xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = func.call @step(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<2x3xf32>
    }
  %4 = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%0#1 init: %4) applies stablehlo.add across dimensions = [1]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}"""


COMPLEX = """func.func @main() -> TYPE {
  %0 = stablehlo.constant ATTRIBUTES dense<VALUE> : TYPE
  return %0 : TYPE
}"""


def complex_hash(value: str, type_: str = "tensor<2xcomplex<f32>>", attributes: str = "") -> str:
    text = COMPLEX.replace("TYPE", type_).replace("VALUE", value)
    return structural_hash(read_text(text.replace("ATTRIBUTES", attributes)).module)


class TestComplexConstants:
    """The bindings of MLIR cannot read their attributes."""

    def test_small_ones_and_those_of_one_number_count(self) -> None:
        pair, splat = "[(0.5, 1.0), (2.0, 0.0)]", "(0.5, 1.0)"
        values = [pair, splat, "(0.5, 2.0)"]
        assert len(set(map(complex_hash, values))) == len(values)
        large = [complex_hash(value, "tensor<99x99xcomplex<f32>>") for value in values[1:]]
        assert large[0] != large[1]
        assert complex_hash(splat, "tensor<2xcomplex<f64>>") != complex_hash(splat)

    def test_elements_of_large_ones_do_not(self) -> None:
        hashes = {
            complex_hash(str([(x, 1.0)] * 4000 + [(9.0, 9.0)]), "tensor<4001xcomplex<f32>>")
            for x in (0.5, 0.25)
        }
        assert len(hashes) == 1

    def test_attributes_of_others_do_not(self) -> None:
        marked = complex_hash("(0.5, 1.0)", attributes='{mhlo.sharding = "{replicated}"}')
        assert marked == complex_hash("(0.5, 1.0)")


class TestHash:
    def test_its_digits_are_kept(self) -> None:
        """Profiles have them: who changes them makes those that were taken before useless."""
        assert structural_hash(read_text(LOOP).module) == "ce0a1feaafefe1dbd7acae271c6499de"

    @pytest.mark.parametrize(
        "exported",
        [
            lambda: program_of(nested, *integers()),
            lambda: program_of(calls, *integers()[:2]),
            lambda: with_weights(0),
            lambda: program_of(step, *CASES[0].arguments()),
        ],
        ids=["loops", "calls", "weights", "step"],
    )
    def test_every_form_of_a_program_has_the_same(self, exported: Any) -> None:
        assert len(set(map(structural_hash, forms(exported())))) == 1

    @pytest.mark.parametrize("text", [LOOP, SQUARE], ids=["loop", "square"])
    def test_it_is_the_same_if_the_ops_of_main_are_listed(self, text: str) -> None:
        module = read_text(text).module
        with module.context:
            listing = Listing(body_of(module))
        assert structural_hash(module, listing.ops) == structural_hash(module)
        without_last = listing.ops[:-1]
        assert not without_last or structural_hash(module, without_last) != structural_hash(module)

    def test_weights_and_names_do_not_count(self) -> None:
        def hash_of(text: str) -> str:
            return structural_hash(read_text(text).module)

        same = structural_hash(next(forms(with_weights(0))))
        assert structural_hash(next(forms(with_weights(1)))) == same
        typed = "%x: tensor<2x2xf32>"
        assert hash_of(SQUARE.replace(typed, typed + ' {jax.arg_info = "a"}')) == hash_of(SQUARE)
        plain = SQUARE.replace('loc("dot")', "").replace("%x", "%y")
        assert hash_of(plain) == hash_of(SQUARE)

    def test_attributes_of_others_do_not_count(self) -> None:
        """The placement of values does not matter either."""
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x ATTRIBUTES : tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
        others = ["", '{mhlo.sharding = "{replicated}"}', "{jax.a = 1, scalify.b, xla.c}"]
        hashes = [structural_hash(read_text(text.replace("ATTRIBUTES", o)).module) for o in others]
        assert len(set(hashes)) == 1
        counted = read_text(text.replace("ATTRIBUTES", "{mine = 1}")).module
        assert structural_hash(counted) not in hashes

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("2x2xf32", "3x3xf32"),
            ("2x2xf32", "2x2xf16"),
            ("[1] x [0]", "[0] x [0]"),
            ("%x, %w,", "%w, %x,"),
            ("%x, %w,", "%x, %x,"),
            ("return %0", "return %x"),
        ],
    )
    def test_what_is_computed_counts(self, old: str, new: str) -> None:
        modules = [read_text(text).module for text in (SQUARE, SQUARE.replace(old, new))]
        assert structural_hash(modules[0]) != structural_hash(modules[1])

    def test_small_constants_and_callees_count(self) -> None:
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = call @a(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @a(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func private @b(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"""
        others = [text.replace("2.0", "3.0"), text.replace("call @a", "call @b")]
        hashes = {structural_hash(read_text(t).module) for t in (text, *others)}
        assert len(hashes) == 3
        renamed = text.replace("@a", "@c")
        assert structural_hash(read_text(renamed).module) in hashes

    def test_it_is_the_same_in_another_process(self) -> None:
        code = (
            "from scalify_hlo.dialect.structure import structural_hash\n"
            "from scalify_hlo.program.program import read_text\n"
            f"print(structural_hash(read_text({SQUARE!r}).module))"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
        assert python("-c", code, env=env).stdout.strip() == structural_hash(
            read_text(SQUARE).module
        )
