"""Reading and writing programs: MLIR text or bytecode, portable artifacts, jax.export files.

The kind of a program is recognized by content, never by the suffix of a file. A program is written
as the kind as which it was read, or as the kind that the suffix of the output names. The program of
a SavedModel is the portable artifact in it.
"""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, Final

from scalify_hlo._compat import ir
from scalify_hlo.deep import DEEPEST
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.program import sandbox as guard
from scalify_hlo.program.artifact import (
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
from scalify_hlo.program.byte_source import Buffer, OnDisk, Part, Sink, Source, head, viewed
from scalify_hlo.program.dialects import (
    NO_PROGRAM,
    context_for,
    converted,
    other_dialect,
    unknown_dialect,
)
from scalify_hlo.program.entry import AS_IT_IS, MAIN, Entry, as_main, under_own_names
from scalify_hlo.program.flatbuffer import looks_like_flatbuffer, with_vector_behind
from scalify_hlo.program.printing import text_of
from scalify_hlo.program.saved_model import SAVED_MODEL_KIND, START, program_in
from scalify_hlo.program.utf8 import require_symbols, require_utf8_strings
from scalify_hlo.program.wellformed import (
    check_calls,
    check_main,
    has_debug_locations,
    place,
    quantized,
)

if TYPE_CHECKING:
    from jax.export import Exported

_NOT_A_PROGRAM = (
    "give MLIR text or bytecode, a StableHLO portable artifact, a SavedModel, or the bytes of a "
    "jax.export file"
)
_QUANTIZED = '`!"quant"'
"""The start of MLIR's message on a quantized type, whose dialect is not loaded."""
_PLACE = b"scalify-hlo: the program's module stands behind."
"""A placeholder that marks the place of the module in a jax.export file."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 20
_DEEP = 256
"""A depth of nesting that no exported program has, and that MLIR's parser can handle."""
_DEEPEST = 2 * DEEPEST
"""The deepest nesting that is parsed; MLIR's parser crashes a little above it.

A level of regions has two brackets.
"""


class Kind(Enum):
    """The format of a file or the kind of object from which a program was read."""

    TEXT = "MLIR text"
    BYTECODE = "MLIR bytecode"
    ARTIFACT = ARTIFACT_KIND
    EXPORTED = "jax.export file"
    SAVED_MODEL = SAVED_MODEL_KIND
    MODULE = "ir.Module"
    OBJECT = "jax.export.Exported"


@dataclass(frozen=True, slots=True)
class Program:
    """A program, with the information needed to write it in its format.

    Attributes:
        module: A StableHLO module with a public function `main`, the entry.
        kind: What it was read from.
        name: The name of the program in diagnostics.
        debug_info: Whether text is written with locations.
        version: For a portable artifact or a jax.export file, the StableHLO version at which it was
            written.
        exported: For a jax.export file, its contents without the module, which may be large. For
            an Exported, that.
        vjp_order: For a jax.export file, the number of orders of the vjp in it.
        entry: The name under which the entry is written.
    """

    module: ir.Module
    kind: Kind
    name: str = "<program>"
    debug_info: bool = False
    version: str | None = None
    exported: Exported | None = None
    vjp_order: int = 0
    entry: Entry = AS_IT_IS

    @property
    def called(self) -> Exported | None:
        """The Exported if the program is one that may be called; None for a file that has one."""
        return self.exported if self.kind is Kind.OBJECT else None


def recognize(source: Source, name: str) -> Kind:
    """Returns the kind of a program, by content.

    Raises:
        InputError: The source is not a program.
    """
    if head(source, len(MAGIC)) == MAGIC:
        return Kind.ARTIFACT if producer_of(source).startswith(PRODUCER) else Kind.BYTECODE
    with viewed(source) as data:
        return _recognize(data, name)


def require_known(start: bytes, name: str) -> None:
    """Refuses a source whose first bytes cannot be those of a program.

    Raises:
        InputError: The source is not a program, whatever follows the first bytes.
    """
    _refuse_order_mark(start, name)
    if start.startswith((MAGIC, START)) or looks_like_flatbuffer(start):
        return
    if b"\0" in start:
        raise _no_program(name)
    _require_text(start, name, whole=False)


def _recognize(data: Buffer, name: str) -> Kind:
    _refuse_order_mark(data, name)
    if data[: len(START)] == START:
        return Kind.SAVED_MODEL
    if data.find(b"\0") < 0:
        _require_text(data, name)
        return Kind.TEXT
    if looks_like_flatbuffer(data):
        return Kind.EXPORTED
    raise _no_program(name)


def read_program(
    source: Source,
    name: str = "<program>",
    *,
    guarded: bool = False,
    checked: bool = True,
    entry: str | None = None,
) -> Program:
    """Reads a program of any kind.

    Args:
        source: The bytes of the file, or the file itself, which takes less memory.
        name: The name of the program in diagnostics.
        guarded: Whether native readers run in a child process, so that no input can crash this
            process.
        checked: Whether the program has to be StableHLO with an entry, and not only MLIR.
        entry: The name of the function at which the program starts. By default it is `main`, or the
            only public function. In a SavedModel, it is that of TensorFlow that has the program.

    Raises:
        InputError: The source is not a program, or not one that can be rewritten. Functions call
            themselves, or each other so often that the program cannot be written out.
    """
    kind = recognize(source, name)
    if kind is Kind.SAVED_MODEL:
        program = _read_artifact(program_in(source, name, entry), name, guarded)
        entry = None
    else:
        program = _READERS[kind](source, name, guarded)
    check_calls(program.module, name)
    return checked_entry(program, entry) if checked else program


def checked_entry(program: Program, entry: str | None) -> Program:
    """Returns a program whose entry function is named `main` and can be rewritten.

    Args:
        program: The program; its module is edited.
        entry: The name of the entry; see `read_program`.

    Raises:
        InputError: There is no such function, or the module cannot be rewritten.
    """
    if entry not in (None, MAIN) and program.exported is not None:
        raise InputError(
            "a jax.export file starts at its function `main`",
            location=program.name,
            hint="leave the name of an entry out",
        )
    with program.module.context:
        if not list(program.module.body.operations):
            hint = "export a program that has a main"
            raise InputError("the module is empty", location=program.name, hint=hint)
    found = as_main(program.module, entry, program.name)
    check_main(program.module, program.name, found.name)
    return replace(program, entry=found)


def read_text(
    text: str, name: str = "<program>", *, guarded: bool = False, entry: str | None = None
) -> Program:
    """Reads MLIR text; see `read_program`."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise _no_program(name) from None
    return read_program(data, name, guarded=guarded, entry=entry)


def of_kind(program: Program, path: str, target_version: str | None) -> Program:
    """Returns a program of the kind that the name of an output file asks for.

    Args:
        program: The program.
        path: The path of the file; with other suffixes, the kind stays as it is.
        target_version: As for `write_program`.

    Raises:
        UsageError: The program cannot be written as this kind.
        InputError: It has no arguments or results of which a jax.export file could say the types.
    """
    suffix = PurePath(path).suffix.lower()
    kind = _SUFFIXES.get(suffix, program.kind)
    if target_version is not None and kind in (Kind.TEXT, Kind.BYTECODE) and suffix in _SUFFIXES:
        raise UsageError(
            f"a file that ends in {suffix} is {kind.value}, and --target-version writes a "
            f"{ARTIFACT_KIND}",
            hint="name the file .vhlo, or leave --target-version out",
        )
    if kind is Kind.EXPORTED and program.exported is None:
        from scalify_hlo.program.exported import with_flat_trees

        return with_flat_trees(program)
    return program if kind is program.kind else replace(program, kind=kind)


_SUFFIXES: Final = {
    ".mlir": Kind.TEXT,
    ".mlirbc": Kind.BYTECODE,
    ".vhlo": Kind.ARTIFACT,
    ".export": Kind.EXPORTED,
    ".jax_export": Kind.EXPORTED,
}
"""The kinds of files by their suffixes."""


def write_program(program: Program, target_version: str | None = None) -> str | bytes:
    """Returns a program in its own file format; the module is not changed.

    Args:
        program: The program.
        target_version: The StableHLO version of a portable artifact: ``X.Y.Z``, ``current`` or
            ``minimum``. If it is given, MLIR text and bytecode are written as a portable artifact.
            By default an artifact keeps its version.

    Returns:
        A str for MLIR text, else bytes.

    Raises:
        UsageError: This jaxlib cannot write the version.
        InputError: The program has ops that the version does not know.
    """
    if program.kind is Kind.EXPORTED:
        return b"".join(_exported_pieces(program, target_version))
    if is_text(program, target_version):
        with under_own_names(program.module, program.entry):
            return text_of(program.module, debug_info=program.debug_info)
    buffer = io.BytesIO()
    _stream(program, buffer, target_version)
    return buffer.getvalue()


def is_text(program: Program, target_version: str | None = None) -> bool:
    """Whether a program is written as text."""
    return program.kind is Kind.TEXT and target_version is None


def save_program(program: Program, file: BinaryIO, target_version: str | None = None) -> None:
    """Writes a program to an open file; see `write_program`.

    The program is written piece by piece if MLIR supports that, to save memory.
    """
    if program.kind is Kind.EXPORTED:
        for piece in _exported_pieces(program, target_version):
            file.write(piece)
    else:
        _stream(program, file, target_version)


def _stream(program: Program, file: BinaryIO, target_version: str | None) -> None:
    """Writes a program that is not a jax.export file."""
    with under_own_names(program.module, program.entry):
        if program.kind is Kind.ARTIFACT or target_version is not None:
            version = target_version or program.version or "compatible"
            file.write(write_artifact(program.module, version, program.name))
        else:
            _stream_module(program, file)


def _stream_module(program: Program, file: BinaryIO) -> None:
    """Writes a module as text or as bytecode."""
    operation = program.module.operation
    with program.module.context, Sink(file) as sink:
        if program.kind is Kind.BYTECODE:
            operation.write_bytecode(sink)
            return
        # The module has been verified, by the parser or after the last pass of a rewrite.
        operation.print(
            file=sink, binary=True, enable_debug_info=program.debug_info, assume_verified=True
        )
        if sink.last != b"\n":
            sink.write(b"\n")


def _no_program(name: str) -> InputError:
    return InputError("this is not a program", location=name, hint=_NOT_A_PROGRAM)


def _refuse_order_mark(data: Buffer, name: str) -> None:
    """Refuses text with a byte order mark, which MLIR does not accept."""
    if data[: len(codecs.BOM_UTF8)] == codecs.BOM_UTF8 or data[:2] in _UTF_16:
        raise InputError(
            "the text begins with a byte order mark",
            location=name,
            hint="save it as UTF-8 without a byte order mark",
        )


def _require_text(data: Buffer, name: str, *, whole: bool = True) -> None:
    """Refuses bytes that are not UTF-8; reads in chunks, since a text may be large.

    Args:
        data: The bytes.
        name: The name of the program in diagnostics.
        whole: Whether they are the whole text, which is not blank, and not the start of one.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    blank = True
    try:
        for start in range(0, len(data), _CHUNK):
            piece = data[start : start + _CHUNK]
            decoder.decode(piece, final=whole and start + _CHUNK >= len(data))
            blank = blank and not piece.strip()
    except UnicodeDecodeError:
        raise _no_program(name) from None
    if blank and whole:
        raise InputError("the file is empty", location=name, hint=_NOT_A_PROGRAM)


def _read_text(source: Source, name: str, guarded: bool) -> Program:
    with viewed(source) as data:
        require_utf8_strings(data, name)
        require_symbols(data, name)
        nesting, dialect = guard.nesting(data), other_dialect(data)
        deep = guard.unfolds(data) or (guarded and (nesting > _DEEP or guard.counts_far(data)))
    if nesting > _DEEPEST:
        raise InputError(
            f"brackets nest {nesting} deep, and {_DEEPEST} is the most",
            location=name,
            hint="write the nested loops, branches or attributes as one, or call functions",
        )
    read = partial(_parse, source, Kind.TEXT, name, dialect)
    apart = deep or bool(dialect)  # The passes that convert dialects were not written for any file.
    module = read_guarded(read, source, Kind.TEXT.value, name, guarded=True) if apart else read()
    debug_info = has_debug_locations(module, name)
    return Program(module, Kind.TEXT, name, debug_info=debug_info)


def _read_bytecode(source: Source, name: str, guarded: bool) -> Program:
    read = partial(_parse, source, Kind.BYTECODE, name)
    module = read_guarded(read, source, Kind.BYTECODE.value, name, guarded=guarded)
    return Program(module, Kind.BYTECODE, name)


def _read_artifact(source: Source | Part, name: str, guarded: bool) -> Program:
    module = parse_artifact(source, name, guarded=guarded)
    return Program(module, Kind.ARTIFACT, name, version=version_of(source))


def _read_exported(source: Source, name: str, guarded: bool) -> Program:
    from scalify_hlo.program import exported_file

    parts = exported_file.artifacts_of(source, name)
    with viewed(source) as data:
        # This copies the modules, so it is done before they are parsed, to save memory.
        orders = exported_file.read_exported_file(data, name)
    exported_file.check_vjps(orders, name)
    modules = [parse_artifact(part, name, guarded=guarded) for part in parts]
    for exported, module in zip(orders, modules, strict=True):
        exported_file.check_consistent(exported, module, name)
    versions = list(map(version_of, parts))
    # The checked modules of vjps replace those of the file, so that those are not read again.
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


def _parse(source: Source, kind: Kind, name: str, dialect: str = "") -> ir.Module:
    context = context_for(dialect)
    context.attach_diagnostic_handler(collect([]))
    try:
        if isinstance(source, OnDisk):
            module = ir.Module.parseFile(source.path, context)
        else:
            module = ir.Module.parse(source, context)
        return converted(module, dialect, name) if dialect else module
    except (ValueError, MemoryError) as error:
        raise damaged(Kind.BYTECODE.value, name, str(error)) from None
    except ir.MLIRError as error:
        diagnostic = next(iter(error.error_diagnostics), None)
        if kind is Kind.BYTECODE or diagnostic is None:
            message = diagnostic.message if diagnostic else None
            raise damaged(Kind.BYTECODE.value, name, message) from None
        raise _unparsable(diagnostic, source, name) from None


def _unparsable(diagnostic: ir.DiagnosticInfo, source: Source, name: str) -> InputError:
    location = place(diagnostic.location, name)
    if diagnostic.message.startswith(_QUANTIZED):
        return quantized("a type of the program", location)
    message = diagnostic.message.strip().replace("\n", " ")
    told = unknown_dialect(message, _line_before(diagnostic.location, source))
    sentence, hint = told or (message, NO_PROGRAM)
    return InputError(sentence, location=location, hint=hint)


def _line_before(location: ir.Location, source: Source) -> str:
    """Returns the line of text that a location is in, up to it; empty if it is in none."""
    if location.typeid != ir.FileLineColLoc.static_typeid:
        return ""
    at = ir.FileLineColLoc(location)
    with viewed(source) as data:
        end = -1
        for _ in range(at.start_line - 1):
            end = data.find(b"\n", end + 1)
        return bytes(data[end + 1 : end + at.start_col]).decode("utf-8", "replace")


def _exported_pieces(program: Program, target_version: str | None) -> tuple[bytes, bytes]:
    """Returns the two parts of a jax.export file: all but the program's module, and the module.

    jax.export itself would hold four copies of the module in memory.
    """
    from scalify_hlo.jax_api.export_trees import serialize

    if program.exported is None:
        raise UsageError("a jax.export file needs the Exported it is to hold")
    if target_version is not None:
        artifact = write_artifact(program.module, target_version, program.name)
    else:
        version = program.version or "compatible"
        artifact = write_artifact_since(program.module, version, program.name)
    frame = serialize(replace(program.exported, mlir_module_serialized=_PLACE), program.vjp_order)
    return with_vector_behind(frame, frame.index(_PLACE), len(artifact)), artifact
