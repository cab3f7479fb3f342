"""Programs in dialects that have a conversion to StableHLO, and those of others, which are refused.

Text in MHLO, the dialect of XLA's compiler, and in VHLO, that of portable artifacts, is converted
by passes that come with jaxlib. A fusion of MHLO, which these do not take, is the ops in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from scalify_hlo._compat import ir, load_mhlo, new_context, register_passes, stablehlo
from scalify_hlo.errors import InputError
from scalify_hlo.ir.value_map import replace_by_block, run_native
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.byte_source import Buffer

MHLO, VHLO = "mhlo", "vhlo"
_OPS: Final = {name: re.compile(name.encode() + rb'\.\w+"?[\s(<](?!\s*=)') for name in (MHLO, VHLO)}
"""Ops, and not the attributes ``mhlo.NAME = VALUE`` of modules and functions."""
_UNKNOWN: Final = re.compile(r"'([\w.]+)'$")
_QUOTED: Final = re.compile(r'"([A-Za-z_]\w*(?:\.\w+)+)"')

NO_PROGRAM: Final = "give StableHLO as MLIR text, as exported.mlir_module() gives it"
_CONVERTERS: Final[Mapping[str, str]] = {
    "tf": "convert the SavedModel with TensorFlow's own converter to StableHLO",
    "tfl": "convert the model to StableHLO before it becomes a TFLite file",
    "torch": "convert it with torch-mlir's pipeline torch-backend-to-stablehlo-backend-pipeline",
    "onnx": "convert it with onnx-mlir's --convert-onnx-to-stablehlo",
    "ttir": "give the StableHLO from which tt-mlir made it",
    "mpmd": "give one of the SPMD programs into which Shardy's mpmd passes split it",
    "lmhlo": "give the program before XLA lowers it to buffers",
    **dict.fromkeys(
        ("tosa", "linalg", "scf", "affine"),
        "no tool raises it to StableHLO: give the program before it was lowered",
    ),
}
"""The tool that converts each dialect, or what to give in its place."""


def other_dialect(data: Buffer) -> str:
    """Returns the dialect of text that is converted to StableHLO; empty if there is none."""
    for dialect, ops in _OPS.items():
        if any(_begins(data, found.start()) for found in ops.finditer(data)):
            return dialect
    return ""


def _begins(data: Buffer, start: int) -> bool:
    """Whether an op may begin at a position of text."""
    before = bytes(data[max(0, start - _INDENT) : start]).rstrip(b' \t"')
    return not before or before[-1:] in (b"\n", b"=", b"{", b"(")


_INDENT: Final = 256
"""The most bytes of indentation that are skipped."""


def converted(module: ir.Module, dialect: str, name: str) -> ir.Module:
    """Converts a module to StableHLO in place, and returns it.

    Args:
        module: The module, in a context of `context_for`.
        dialect: `MHLO` or `VHLO`.
        name: The name of the program in diagnostics.

    Raises:
        InputError: StableHLO has no counterpart of an op.
    """
    version = stablehlo.get_current_version()
    pipeline = {
        MHLO: "hlo-legalize-to-stablehlo",
        VHLO: f"vhlo-to-version{{target={version}}},vhlo-legalize-to-stablehlo",
    }[dialect]
    for fusion in ops_in(module.operation, {"mhlo.fusion"}):
        replace_by_block(fusion, fusion.regions[0].blocks[0])
    try:
        with module.context:
            run_native(f"builtin.module({pipeline})", module.operation)
    except ir.MLIRError as error:
        message = error.error_diagnostics[0].message if error.error_diagnostics else ""
        found = re.search(r"'([\w.]+)'", message)
        raise InputError(
            f"StableHLO has no op for {found[1]!r}"
            if found
            else f"StableHLO lacks an op of {dialect}",
            location=name,
            hint="give the program as jax.export writes it, before XLA's own passes run",
        ) from None
    return module


def context_for(dialect: str) -> ir.Context:
    """Returns a context for a program in StableHLO, or in a dialect that is converted."""
    context = new_context()
    if dialect:
        register_passes()
    if dialect == MHLO:
        load_mhlo(context)
    return context


def unknown_dialect(message: str, line: str) -> tuple[str, str] | None:
    """Returns a sentence and a hint for an op of a dialect that is not known.

    Args:
        message: The diagnostic of MLIR's parser.
        line: The line of the text up to its place.

    Returns:
        None if the diagnostic says something else.
    """
    if "unregistered dialect" in message:
        named = _QUOTED.findall(line)
        op = named[-1] if named else ""
    elif "not found for custom op" in message and (found := _UNKNOWN.search(message)):
        op = found[1]
    else:
        return None
    dialect = op.partition(".")[0]
    what = f"{op!r} is not an op of StableHLO" if op else "there is an op of an unknown dialect"
    return what, _CONVERTERS.get(dialect, NO_PROGRAM)
