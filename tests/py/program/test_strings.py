"""Strings of a program that are not UTF-8, wherever MLIR takes one, in every form of a file.

The bindings abort the process on some of them: each command and `rewrite` either works, or refuses
the program in one located sentence.
"""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo import _compat
from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.errors import InputError
from scalify_hlo.program.utf8 import has_utf8_strings, require_utf8_strings
from tests.py.shared.commands import call, python
from tests.py.shared.judge import program_of

TEXT = """\
module @<module> attributes {mhlo.frontend_attributes = {name = <frontend>}, jax.x = <attribute>} {
  sdy.mesh @<mesh> = <[<axis>=1]>
  func.func public @main(%x: tensor<4xf32> {jax.arg_info = <arg_info>} loc(<argument>),
      %c: tensor<4xf32> loc("a"(<argument child>)))
      -> (tensor<4xf32> {jax.result_info = <result_info>, mhlo.sharding = <sharding>}) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.add %x, %c {jax.x = [<array>, {jax.y = <table>, <key> = 1}]}
      : tensor<4xf32> loc(<name>(<file>:1:2))
    %1 = stablehlo.custom_call @<target>(%0) {
      has_side_effect = true, mhlo.x = <call attribute>, backend_config = <config>}
      : (tensor<4xf32>) -> tensor<4xf32> loc(fused<<metadata>>[<fused>, "b"])
    %2 = call @<symbol>(%1) : (tensor<4xf32>) -> tensor<4xf32>
      loc(callsite(<callee> at <caller>:1:2))
    %3 = "stablehlo.case"(%i) ({
      stablehlo.return %2 : tensor<4xf32> loc(<nested>)
    }) : (tensor<i32>) -> tensor<4xf32>
    %4, %5 = stablehlo.while(%a = %i, %b = %3) : tensor<i32>, tensor<4xf32> cond {
      %6 = stablehlo.compare LT, %a, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      stablehlo.return %a, %b : tensor<i32>, tensor<4xf32>
    }
    %7 = "stablehlo.reduce"(%5, %z) ({
    ^bb0(%p: tensor<f32> loc(<block argument>), %q: tensor<f32> loc(<block file>:3:4)):
      %8 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %8 : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %5 : tensor<4xf32> loc(<return>:1:2)
  } loc(<function>)
  func.func private @<symbol>(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
} loc(<whole>)
"""
PLACES = (
    *("module", "frontend", "attribute", "mesh", "axis", "arg_info", "argument", "argument child"),
    *("result_info", "sharding", "array", "table", "key", "name", "file", "target"),
    *("call attribute", "config", "metadata", "fused", "symbol", "callee", "caller", "nested"),
    *("block argument", "block file", "return", "function", "whole"),
)
SPARED = "config"
"""The place of bytes that the tool never takes for text."""
BAD = (r"\FF", r"a\C3", r"\ED\A0\80")
FORMS = ("text", "bytecode", "artifact", "exported", "vjp")


def text_of(place: str, string: str) -> str:
    """The program with a string in one place, and names of their own in all others."""
    text = TEXT
    for number, each in enumerate(PLACES):
        written = string if each == place else f"n{number}"
        text = text.replace(f"<{each}>", f'"{written}"')
    assert string in text
    return text


@cache
def exported() -> jax.export.Exported:
    """A function with the arguments and the result of the program."""
    return program_of(jnp.add, jnp.ones(4), jnp.ones(4))


@cache
def differentiable() -> jax.export.Exported:
    """A function whose vjp has the arguments and the result of the program."""
    return program_of(jnp.sin, jnp.ones(4))


def stored(text: str, form: str) -> bytes:
    """A program in one of the forms of a file."""
    if form == "text":
        return text.encode()
    module = ir.Module.parse(text, new_context())
    if form == "bytecode":
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()
    version = stablehlo.get_current_version()
    artifact: bytes = stablehlo.serialize_portable_artifact(
        module, version, allow_other_dialects=True
    )
    if form == "artifact":
        return artifact
    if form == "exported":
        return bytes(_compat.with_module(exported(), artifact, None).serialize())
    program = differentiable()
    vjp = _compat.with_module(program.vjp(), artifact, None)
    whole = _compat.with_module(program, program.mlir_module_serialized, vjp)
    return bytes(whole.serialize(vjp_order=1))


def assert_refused(stderr: str, form: str) -> None:
    error, note = stderr.splitlines()
    assert "is not UTF-8" in error
    assert ": note: write it in UTF-8" in note
    place = error.partition(": error: ")[0]
    assert place.count(":") == (2 if form == "text" else 0)
    assert place.startswith("<stdin>")


def test_the_program_is_whole_before() -> None:
    for form in FORMS:
        call("rewrite", "-", text=stored(text_of("name", "n"), form), code=0)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_bytes_in_any_place_are_refused(place: str, form: str) -> None:
    program = stored(text_of(place, BAD[0]), form)
    for command in ("rewrite", "inspect"):
        result = call(command, "-", text=program)
        if place == SPARED:
            assert result.exit_code == 0, result.stderr
        else:
            assert result.exit_code == 1, result.stderr
            assert_refused(result.stderr, form)
    given = program.decode() if form == "text" else program
    if place == SPARED:
        scalify_hlo.rewrite(given)
        return
    with pytest.raises(InputError, match="is not UTF-8"):
        scalify_hlo.rewrite(given)


@pytest.mark.parametrize("place", PLACES)
def test_a_module_and_an_exported_are_refused_alike(place: str) -> None:
    text = text_of(place, BAD[0])
    module = ir.Module.parse(text, new_context())
    function = _compat.with_module(exported(), stored(text, "artifact"), None)
    for program in (module, function):
        if place == SPARED:
            scalify_hlo.rewrite(program)
            continue
        with pytest.raises(InputError, match="is not UTF-8"):
            scalify_hlo.rewrite(program)


@pytest.mark.slow
@pytest.mark.parametrize("string", [r"\00", r"\C3\A9", "é", r"\\FF", r"\22\\FF", ""])
@pytest.mark.parametrize("place", ["name", "argument", "arg_info", "config", "return"])
def test_other_strings_are_taken(place: str, string: str) -> None:
    for form in FORMS:
        program = stored(text_of(place, string), form)
        call("rewrite", "-", text=program, code=0)


@pytest.mark.parametrize("string", BAD)
def test_the_place_of_a_string_in_a_text(string: str) -> None:
    text = f'// a "\nmodule {{\n  "op" {{b = "{string}"}}\n}}'.encode()
    with pytest.raises(InputError) as caught:
        require_utf8_strings(text, "f")
    assert caught.value.location == "f:3:13"
    assert caught.value.message == f'the string "{string}" is not UTF-8'


@pytest.mark.parametrize(
    "text",
    [
        r'{backend_config = "\FF"}',
        r'{"mhlo.backend_config" = {a = "\FF", b = {c = ["\FF"]}}}',
        r"// a \FF",
        r"// a quote: \" \FF",
        r'"a // \C3\A9" // "\FF"',
    ],
)
def test_bytes_that_nothing_reads_are_left_alone(text: str) -> None:
    require_utf8_strings(text.encode(), "f")


@pytest.mark.parametrize(
    "text",
    [
        r'{backend_config = "\FF", a = "\FF"}',
        r'{backend_config = {b = {c = "\FF"}}, a = "\FF"}',
        r'{a = "\FF", backend_config = "b"}',
        r'{a = "// \FF"}',
        r'{a = "\\\FF"}',
        r'{a = "\"\FF"}',
    ],
)
def test_bytes_beside_them_are_not(text: str) -> None:
    with pytest.raises(InputError, match="is not UTF-8"):
        require_utf8_strings(text.encode(), "f")


def test_the_strings_of_bytecode() -> None:
    for place in PLACES:
        for form in ("bytecode", "artifact"):
            assert has_utf8_strings(stored(text_of(place, "é"), form), 0)
    good, bad = (stored(text_of("name", s), "bytecode") for s in ("é", BAD[0]))
    assert not has_utf8_strings(bad, 0)
    assert has_utf8_strings(b"12345" + good, 5)
    for end in range(0, good.index("é".encode()), 7):
        assert not has_utf8_strings(good[:end], 0)
    assert not has_utf8_strings(b"ML\xefR" + b"\1" * 64, 0)


def test_a_vjp_of_another_function_is_refused() -> None:
    program = differentiable()
    whole = _compat.with_module(program, program.mlir_module_serialized, exported().vjp())
    result = call("rewrite", "-", text=bytes(whole.serialize(vjp_order=1)), code=1)
    assert "this jax.export file is damaged" in result.stderr


def test_a_diagnostic_that_quotes_a_string_aborts_nothing() -> None:
    program = r'func.func @main() { call @"\FF"() : () -> () return }'
    with pytest.raises(InputError, match="is not UTF-8"):
        scalify_hlo.rewrite(program)
    result = call("rewrite", "-", text=program)
    assert_refused(result.stderr, "text")


@pytest.mark.parametrize("place", ["target", "symbol", "mesh", "module"])
def test_a_symbol_without_a_name_is_refused(place: str) -> None:
    """MLIR prints it as no parser takes it."""
    with pytest.raises(InputError, match=r"<program>:\d+:\d+: error: a symbol has no name"):
        scalify_hlo.rewrite(text_of(place, ""))


def test_an_empty_target_in_the_generic_form_is_refused() -> None:
    program = """func.func @main(%x: tensor<4xf32> loc("@\\22\\22")) -> tensor<4xf32> {
      %0 = "stablehlo.custom_call"(%x) TARGET : (tensor<4xf32>) -> tensor<4xf32> // @""
      return %0 : tensor<4xf32>
    }"""
    scalify_hlo.rewrite(program.replace("TARGET", '{call_target_name = "n"}'))
    with pytest.raises(InputError, match=r"<program>:2:61: error: a symbol has no name"):
        scalify_hlo.rewrite(program.replace("TARGET", '<{call_target_name = ""}>'))


def test_text_that_cannot_be_encoded() -> None:
    with pytest.raises(InputError, match="this is not a program"):
        scalify_hlo.rewrite("module {} // \udcff")


@pytest.mark.slow
def test_the_file_of_a_command_is_refused(tmp_path: Path) -> None:
    """As the tests above, in a process without threads."""
    for form in FORMS:
        (tmp_path / form).write_bytes(stored(text_of("block argument", BAD[0]), form))
        done = python("-m", "scalify_hlo", "rewrite", tmp_path / form, code=1)
        assert_refused(done.stderr.replace(str(tmp_path / form), "<stdin>"), form)
