"""Programs as users keep them: MLIR text or bytecode, portable artifacts, jax.export files.

The kind is recognised by content, never by a file's suffix, and a program is written in the kind
in which it came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from scalify_hlo import guard
from scalify_hlo._compat import ir, new_context
from scalify_hlo.artifact import (
    ARTIFACT_KIND,
    MAGIC,
    PRODUCER,
    collect,
    damaged,
    parse_artifact,
    producer_of,
    read_guarded,
    version_of,
    write_artifact,
    write_bytecode,
)
from scalify_hlo.diagnostics import InputError, UsageError
from scalify_hlo.flatbuffer import looks_like_flatbuffer
from scalify_hlo.wellformed import check_module, has_debug_locations, place, quantised

if TYPE_CHECKING:
    from jax.export import Exported

_NOT_A_PROGRAM = (
    "give MLIR text or bytecode, a StableHLO portable artifact, or the bytes of a jax.export file"
)
_QUANTISED = '`!"quant"'
"""How MLIR starts its complaint where the dialect of quantised types is not loaded."""
_DEEP = 256
"""Nesting that no exported program has, and that MLIR's parser can do."""


class Kind(Enum):
    """What a program is stored as."""

    TEXT = "MLIR text"
    BYTECODE = "MLIR bytecode"
    ARTIFACT = ARTIFACT_KIND
    EXPORTED = "jax.export file"


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and how to write it back.

    Attributes:
        module: StableHLO with a public function `main`.
        kind: What it is stored as.
        name: How diagnostics call it.
        debug_info: Whether text is written with locations.
        version: Of a portable artifact, the StableHLO version it was written at.
        exported: Of a jax.export file, its contents; `module` is a copy of what it holds.
        vjp_order: Of a jax.export file, how many orders of the vjp it holds.
    """

    module: ir.Module
    kind: Kind
    name: str = "<program>"
    debug_info: bool = False
    version: str | None = None
    exported: Exported | None = None
    vjp_order: int = 0


def recognise(data: bytes, name: str) -> Kind:
    """The kind of a program, by content.

    Raises:
        InputError: It is none of them.
    """
    if data.startswith(MAGIC):
        return Kind.ARTIFACT if producer_of(data).startswith(PRODUCER) else Kind.BYTECODE
    if b"\0" not in data:
        _require_text(data, name)
        return Kind.TEXT
    if looks_like_flatbuffer(data):
        return Kind.EXPORTED
    raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM)


def read_program(
    data: bytes, name: str = "<program>", *, guarded: bool = False, checked: bool = True
) -> Program:
    """Reads a program of any kind.

    Args:
        data: The whole file.
        name: How diagnostics call it.
        guarded: Whether native readers are tried in a child process first, so that no bytes
            whatever can crash this one.
        checked: Whether it has to be StableHLO with a public `main`, and not just MLIR.

    Raises:
        InputError: It is no program, or not one that can be rewritten.
    """
    program = _READERS[recognise(data, name)](data, name, guarded)
    if checked:
        check_module(program.module, name)
    return program


def read_text(text: str, name: str = "<program>", *, guarded: bool = False) -> Program:
    """Reads MLIR text; see `read_program`."""
    return read_program(text.encode(), name, guarded=guarded)


def write_program(program: Program, target_version: str | None = None) -> str | bytes:
    """A program in the kind in which it came; the module is left as it is.

    Args:
        program: What to write.
        target_version: StableHLO version of a portable artifact: ``X.Y.Z``, ``current`` or
            ``minimum``. MLIR text and bytecode become a portable artifact if it is given. By
            default an artifact keeps the version it had.

    Returns:
        Text for MLIR text, else bytes.

    Raises:
        UsageError: The version is not one that this jaxlib can write.
        InputError: The program has ops that the version does not know.
    """
    if program.kind is Kind.EXPORTED:
        return _write_exported(program, target_version)
    with program.module.context:
        if program.kind is Kind.ARTIFACT or target_version is not None:
            version = target_version or program.version or "compatible"
            return write_artifact(program.module, version, program.name)
        if program.kind is Kind.BYTECODE:
            return write_bytecode(program.module)
        # Whatever made the module has verified it: the parser, or the last pass of a rewrite.
        text: str = program.module.operation.get_asm(
            enable_debug_info=program.debug_info, assume_verified=True
        )
        return text if text.endswith("\n") else text + "\n"


def _require_text(data: bytes, name: str) -> None:
    if not data.strip():
        raise InputError("the file is empty", location=name, hint=_NOT_A_PROGRAM)
    try:
        data.decode()
    except UnicodeDecodeError:
        raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM) from None


def _read_text(data: bytes, name: str, guarded: bool) -> Program:
    deep = guarded and (guard.nesting(data) > _DEEP or guard.counts_far(data))
    module = _read_module(data.decode(), Kind.TEXT, name, guarded=deep)
    return Program(module, Kind.TEXT, name, debug_info=has_debug_locations(module))


def _read_bytecode(data: bytes, name: str, guarded: bool) -> Program:
    return Program(_read_module(data, Kind.BYTECODE, name, guarded=guarded), Kind.BYTECODE, name)


def _read_module(source: str | bytes, kind: Kind, name: str, *, guarded: bool) -> ir.Module:
    return read_guarded(
        lambda: _parse(source, new_context(), name), len(source), kind.value, name, guarded=guarded
    )


def _read_artifact(data: bytes, name: str, guarded: bool) -> Program:
    module = parse_artifact(data, name, guarded=guarded)
    return Program(module, Kind.ARTIFACT, name, version=version_of(data))


def _read_exported(data: bytes, name: str, guarded: bool) -> Program:
    from scalify_hlo import exported_file

    artifacts = exported_file.artifacts_of(data, name)
    modules = [parse_artifact(artifact, name, guarded=guarded) for artifact in artifacts]
    orders = exported_file.read_exported_file(data, name)
    for exported, module in zip(orders, modules, strict=True):
        exported_file.check_consistent(exported, module, name)
    if guarded:
        # The modules as they were read, so that nothing reads those of the file again.
        versions = map(version_of, artifacts)
        artifacts = [write_artifact(m, v, name) for m, v in zip(modules, versions, strict=True)]
    exported = exported_file.with_modules(orders, artifacts)
    return Program(modules[0], Kind.EXPORTED, name, exported=exported, vjp_order=len(orders) - 1)


_READERS = {
    Kind.TEXT: _read_text,
    Kind.BYTECODE: _read_bytecode,
    Kind.ARTIFACT: _read_artifact,
    Kind.EXPORTED: _read_exported,
}


def _parse(source: str | bytes, context: ir.Context, name: str) -> ir.Module:
    context.attach_diagnostic_handler(collect([]))
    try:
        return ir.Module.parse(source, context)
    except (ValueError, MemoryError) as error:
        raise damaged(Kind.BYTECODE.value, name, str(error)) from None
    except ir.MLIRError as error:
        diagnostic = next(iter(error.error_diagnostics), None)
        if isinstance(source, bytes) or diagnostic is None:
            message = diagnostic.message if diagnostic else None
            raise damaged(Kind.BYTECODE.value, name, message) from None
        raise _unparsable(diagnostic, name) from None


def _unparsable(diagnostic: ir.DiagnosticInfo, name: str) -> InputError:
    location = place(diagnostic.location, name)
    if diagnostic.message.startswith(_QUANTISED):
        return quantised("a type of the program", location)
    return InputError(
        diagnostic.message.strip().replace("\n", " "),
        location=location,
        hint="give StableHLO as MLIR text, as exported.mlir_module() gives it",
    )


def _write_exported(program: Program, target_version: str | None) -> bytes:
    from scalify_hlo.export_trees import serialize

    if program.exported is None:
        raise UsageError("a jax.export file needs the Exported it is to hold")
    exported = program.exported
    if target_version is not None:
        artifact = write_artifact(program.module, target_version, program.name)
        exported = replace(exported, mlir_module_serialized=artifact)
    return serialize(exported, vjp_order=program.vjp_order)
