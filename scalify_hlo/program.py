"""Programs as users keep them: MLIR text or bytecode, portable artifacts, jax.export files.

The kind is recognised by content, never by a file's suffix, and a program is written in the kind
in which it came.
"""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

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
    write_artifact_since,
)
from scalify_hlo.deep import DEEPEST
from scalify_hlo.diagnostics import InputError, UsageError
from scalify_hlo.flatbuffer import looks_like_flatbuffer, with_vector_behind
from scalify_hlo.printing import text_of
from scalify_hlo.stored import Buffer, OnDisk, Sink, Source, head, viewed
from scalify_hlo.utf8 import require_symbols, require_utf8_strings
from scalify_hlo.wellformed import check_module, has_debug_locations, place, quantised

if TYPE_CHECKING:
    from jax.export import Exported

_NOT_A_PROGRAM = (
    "give MLIR text or bytecode, a StableHLO portable artifact, or the bytes of a jax.export file"
)
_QUANTISED = '`!"quant"'
"""How MLIR starts its complaint where the dialect of quantised types is not loaded."""
_PLACE = b"scalify-hlo: the program's module stands behind."
"""Where jax.export writes a module."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 20
_DEEP = 256
"""Nesting that no exported program has, and that MLIR's parser can do."""
_DEEPEST = 2 * DEEPEST
"""Nesting at which MLIR's parser crashes soon; a level of regions has two brackets."""


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
        version: Of a portable artifact or a jax.export file, the StableHLO version it was written
            at.
        exported: Of a jax.export file, its contents but for the module, which is large if weights
            are in it.
        vjp_order: Of a jax.export file, how many orders of the vjp it holds.
    """

    module: ir.Module
    kind: Kind
    name: str = "<program>"
    debug_info: bool = False
    version: str | None = None
    exported: Exported | None = None
    vjp_order: int = 0


def recognise(source: Source, name: str) -> Kind:
    """The kind of a program, by content.

    Raises:
        InputError: It is none of them.
    """
    if head(source, len(MAGIC)) == MAGIC:
        return Kind.ARTIFACT if producer_of(source).startswith(PRODUCER) else Kind.BYTECODE
    with viewed(source) as data:
        return _recognise(data, name)


def require_known(start: bytes, name: str) -> None:
    """Refuses what does not begin as a program does, when only its first bytes are known.

    Raises:
        InputError: It is no program, whatever follows.
    """
    _refuse_order_mark(start, name)
    if start.startswith(MAGIC) or looks_like_flatbuffer(start):
        return
    if b"\0" in start:
        raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM)
    _require_utf8(start, name)


def _recognise(data: Buffer, name: str) -> Kind:
    _refuse_order_mark(data, name)
    if data.find(b"\0") < 0:
        _require_text(data, name)
        return Kind.TEXT
    if looks_like_flatbuffer(data):
        return Kind.EXPORTED
    raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM)


def read_program(
    source: Source, name: str = "<program>", *, guarded: bool = False, checked: bool = True
) -> Program:
    """Reads a program of any kind.

    Args:
        source: The bytes of the whole file, or where it lies, which saves the memory for them.
        name: How diagnostics call it.
        guarded: Whether native readers are tried in a child process first, so that no bytes
            whatever can crash this one.
        checked: Whether it has to be StableHLO with a public `main`, and not just MLIR.

    Raises:
        InputError: It is no program, or not one that can be rewritten.
    """
    program = _READERS[recognise(source, name)](source, name, guarded)
    if checked:
        check_module(program.module, name)
    return program


def read_text(text: str, name: str = "<program>", *, guarded: bool = False) -> Program:
    """Reads MLIR text; see `read_program`."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM) from None
    return read_program(data, name, guarded=guarded)


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
        return b"".join(_exported_pieces(program, target_version))
    if is_text(program, target_version):
        return text_of(program.module, debug_info=program.debug_info)
    buffer = io.BytesIO()
    _stream(program, buffer, target_version)
    return buffer.getvalue()


def is_text(program: Program, target_version: str | None = None) -> bool:
    """Whether a program is written as text."""
    return program.kind is Kind.TEXT and target_version is None


def save_program(program: Program, file: BinaryIO, target_version: str | None = None) -> None:
    """Writes a program into a file that is open; see `write_program`.

    They go there piece by piece, as far as MLIR does that, so that they are not in memory whole.
    """
    if program.kind is Kind.EXPORTED:
        for piece in _exported_pieces(program, target_version):
            file.write(piece)
    else:
        _stream(program, file, target_version)


def _stream(program: Program, file: BinaryIO, target_version: str | None) -> None:
    """Writes all that is no jax.export file."""
    if program.kind is Kind.ARTIFACT or target_version is not None:
        version = target_version or program.version or "compatible"
        file.write(write_artifact(program.module, version, program.name))
        return
    operation = program.module.operation
    with program.module.context, Sink(file) as sink:
        if program.kind is Kind.BYTECODE:
            operation.write_bytecode(sink)
            return
        # Whatever made the module has verified it: the parser, or the last pass of a rewrite.
        operation.print(
            file=sink, binary=True, enable_debug_info=program.debug_info, assume_verified=True
        )
        if sink.last != b"\n":
            sink.write(b"\n")


def _require_utf8(start: bytes, name: str) -> None:
    """Refuses bytes that UTF-8 text does not begin with."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM) from None


def _refuse_order_mark(data: Buffer, name: str) -> None:
    """Refuses text whose first bytes say in which encoding it is; MLIR takes none of them."""
    if data[: len(codecs.BOM_UTF8)] == codecs.BOM_UTF8 or data[:2] in _UTF_16:
        raise InputError(
            "the text begins with a byte order mark",
            location=name,
            hint="save it as UTF-8 without a byte order mark",
        )


def _require_text(data: Buffer, name: str) -> None:
    """Refuses what is no UTF-8, or blank; in pieces, since a copy of the text is large."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    blank = True
    try:
        for start in range(0, len(data), _CHUNK):
            piece = data[start : start + _CHUNK]
            decoder.decode(piece, final=start + _CHUNK >= len(data))
            blank = blank and not piece.strip()
    except UnicodeDecodeError:
        raise InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM) from None
    if blank:
        raise InputError("the file is empty", location=name, hint=_NOT_A_PROGRAM)


def _read_text(source: Source, name: str, guarded: bool) -> Program:
    with viewed(source) as data:
        require_utf8_strings(data, name)
        require_symbols(data, name)
        nesting = guard.nesting(data)
        deep = guarded and (nesting > _DEEP or guard.counts_far(data))
    if nesting > _DEEPEST:
        raise InputError(
            f"brackets nest {nesting} deep, and {_DEEPEST} is the most",
            location=name,
            hint="write the nested loops, branches or attributes as one, or call functions",
        )
    read = partial(_parse, source, Kind.TEXT, name)
    module = read_guarded(read, source, Kind.TEXT.value, name, guarded=True) if deep else read()
    debug_info = has_debug_locations(module, name)
    return Program(module, Kind.TEXT, name, debug_info=debug_info)


def _read_bytecode(source: Source, name: str, guarded: bool) -> Program:
    read = partial(_parse, source, Kind.BYTECODE, name)
    module = read_guarded(read, source, Kind.BYTECODE.value, name, guarded=guarded)
    return Program(module, Kind.BYTECODE, name)


def _read_artifact(source: Source, name: str, guarded: bool) -> Program:
    module = parse_artifact(source, name, guarded=guarded)
    return Program(module, Kind.ARTIFACT, name, version=version_of(source))


def _read_exported(source: Source, name: str, guarded: bool) -> Program:
    from scalify_hlo import exported_file

    parts = exported_file.artifacts_of(source, name)
    with viewed(source) as data:
        # Before the modules are: it copies them.
        orders = exported_file.read_exported_file(data, name)
    exported_file.check_vjps(orders, name)
    modules = [parse_artifact(part, name, guarded=guarded) for part in parts]
    for exported, module in zip(orders, modules, strict=True):
        exported_file.check_consistent(exported, module, name)
    versions = list(map(version_of, parts))
    # Those of vjps as they were read, so that nothing reads the ones of the file again.
    artifacts = [write_artifact(m, v, name) for m, v in zip(modules[1:], versions[1:], strict=True)]
    exported = exported_file.with_modules(orders, [b"", *artifacts])
    return Program(
        modules[0],
        Kind.EXPORTED,
        name,
        version=versions[0],
        exported=exported,
        vjp_order=len(orders) - 1,
    )


_READERS = {
    Kind.TEXT: _read_text,
    Kind.BYTECODE: _read_bytecode,
    Kind.ARTIFACT: _read_artifact,
    Kind.EXPORTED: _read_exported,
}


def _parse(source: Source, kind: Kind, name: str) -> ir.Module:
    context = new_context()
    context.attach_diagnostic_handler(collect([]))
    try:
        if isinstance(source, OnDisk):
            return ir.Module.parseFile(source.path, context)
        return ir.Module.parse(source, context)
    except (ValueError, MemoryError) as error:
        raise damaged(Kind.BYTECODE.value, name, str(error)) from None
    except ir.MLIRError as error:
        diagnostic = next(iter(error.error_diagnostics), None)
        if kind is Kind.BYTECODE or diagnostic is None:
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


def _exported_pieces(program: Program, target_version: str | None) -> tuple[bytes, bytes]:
    """A jax.export file: all but the module of the program, then that.

    jax.export would hold the module four times while it writes it.
    """
    from scalify_hlo.export_trees import serialize

    if program.exported is None:
        raise UsageError("a jax.export file needs the Exported it is to hold")
    if target_version is not None:
        artifact = write_artifact(program.module, target_version, program.name)
    else:
        version = program.version or "compatible"
        artifact = write_artifact_since(program.module, version, program.name)
    frame = serialize(replace(program.exported, mlir_module_serialized=_PLACE), program.vjp_order)
    return with_vector_behind(frame, frame.index(_PLACE), len(artifact)), artifact
