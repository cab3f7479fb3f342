"""Reading and writing the binary forms of a StableHLO module: portable artifacts and bytecode."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.program import sandbox as guard
from scalify_hlo.program.byte_source import Part, Sink, Source, head, size_of, viewed, whole
from scalify_hlo.program.utf8 import has_utf8_strings, require_utf8_strings
from scalify_hlo.transforms.chlo import legalize
from scalify_hlo.transforms.ragged import raise_composites

MAGIC = b"ML\xefR"
"""The first bytes of MLIR bytecode, and so of portable artifacts."""
ARTIFACT_KIND = "StableHLO portable artifact"
PRODUCER = b"StableHLO_v"
"""The prefix of the producer of a portable artifact; the version follows."""
_LONGEST_PRODUCER = 256
_SHORT = 16
"""The most elements of a constant that are printed to check the strings of a module."""


def write_bytecode(module: ir.Module) -> bytes:
    """Returns the MLIR bytecode of a module."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def copy_module(module: ir.Module) -> ir.Module:
    """Returns a copy of a module in the same context, which shares its constants."""
    operation = module.operation
    with module.context:
        copy = ir.Module.create(operation.location)
        for key, attribute in attributes.all_of(operation).items():
            copy.operation.attributes[key] = attribute
        place = ir.InsertionPoint(copy.body)
        for op in module.body.operations:
            op.operation.clone(place)
    return copy


def write_artifact(module: ir.Module, version: str, name: str = "<program>") -> bytes:
    """Returns the portable artifact of a module, which is not changed.

    Args:
        module: A StableHLO module.
        version: ``X.Y.Z``, ``current``, ``minimum``, or ``compatible`` for the version of four
            weeks ago, which jax.export writes.
        name: The name of the module in diagnostics.

    Raises:
        UsageError: This jaxlib cannot write the version.
        InputError: The program has ops that the version does not know.
    """
    target = _resolve_version(version)
    messages: list[str] = []
    handler = module.context.attach_diagnostic_handler(collect(messages))
    try:
        # A portable artifact may have sdy attributes, which are shardings. It may also have CHLO
        # ops, but few readers know them.
        copy = copy_module(module)
        with module.context, ir.Location.unknown():
            raise_composites(copy.operation, every=True)
            legalize(copy.operation)
        data: bytes = stablehlo.serialize_portable_artifact(copy, target, allow_other_dialects=True)
    except ValueError:
        reason = messages[0].partition(":")[0] if messages else "failed to serialize"
        raise InputError(
            f"the program cannot be written as StableHLO {target}: {reason}",
            location=name,
            hint="choose a newer --target-version, such as current; f8 matmuls need none with the "
            "recipe's target=portable",
        ) from None
    finally:
        handler.detach()
    return data


def write_artifact_since(module: ir.Module, version: str, name: str) -> bytes:
    """Writes a portable artifact at a version, or at the current one if that cannot represent it.

    Old versions lack formats and dot algorithms. See `write_artifact` for the arguments.
    """
    try:
        return write_artifact(module, version, name)
    except InputError:
        return write_artifact(module, "current", name)


def parse_artifact(source: Source | Part, name: str, *, guarded: bool = False) -> ir.Module:
    """Reads a portable artifact into a new context.

    Raises:
        InputError: The artifact is damaged, or of a version that this jaxlib cannot read.
    """
    _require_readable(version_of(source), name)
    read = partial(_deserialize, source, name)
    return read_guarded(read, source, ARTIFACT_KIND, name, guarded=guarded)


def producer_of(source: Source | Part) -> bytes:
    """Returns the producer of MLIR bytecode, which follows the magic number and a version byte."""
    start = len(MAGIC) + 1
    return head(source, start + _LONGEST_PRODUCER)[start:].partition(b"\0")[0]


def version_of(source: Source | Part) -> str:
    """Returns the StableHLO version at which a portable artifact was written."""
    return producer_of(source).removeprefix(PRODUCER).decode(errors="replace")


def _deserialize(source: Source | Part, name: str) -> ir.Module:
    context = new_context()
    messages: list[str] = []
    context.attach_diagnostic_handler(collect(messages))
    try:
        module = stablehlo.deserialize_portable_artifact(context, whole(source))
        if module is not None and module.operation.verify():
            return module
    except (ValueError, MemoryError, ir.MLIRError):
        pass
    raise damaged(ARTIFACT_KIND, name, messages[0] if messages else None)


def _require_readable(version: str, name: str) -> None:
    """Refuses artifacts that were written by a newer StableHLO than this jaxlib's."""
    number, current = map(_version_number, (version, stablehlo.get_current_version()))
    if number is not None and current is not None and number > current:
        raise InputError(
            f"the artifact is of StableHLO {version}, and this jaxlib reads up to "
            f"{stablehlo.get_current_version()}",
            location=name,
            hint="write it with an older --target-version, or install a newer jaxlib",
        )


def _resolve_version(version: str) -> str:
    """Returns the version number for a word or a number."""
    words = {
        "current": stablehlo.get_current_version(),
        "minimum": stablehlo.get_minimum_version(),
        "compatible": stablehlo.get_version_from_compatibility_requirement(
            stablehlo.StablehloCompatibilityRequirement.WEEK_4
        ),
    }
    target: str = words.get(version, version)
    number = _version_number(target)
    lowest, highest = (_version_number(words[w]) for w in ("minimum", "current"))
    if number is None or lowest is None or highest is None or not lowest <= number <= highest:
        raise UsageError(
            f"{version!r} is not a StableHLO version that can be written",
            hint=f"give one from {words['minimum']} to {words['current']}, current, or minimum",
        )
    return target


def _version_number(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if len(parts) != 3 or not all(p.isascii() and p.isdigit() for p in parts):
        return None
    return tuple(map(int, parts))


def damaged(kind: str, name: str, reason: str | None = None) -> InputError:
    """Returns the error for a program that cannot be read completely."""
    because = f": {reason.strip().splitlines()[0]}" if reason and reason.strip() else ""
    return InputError(
        f"this {kind} is damaged{because}",
        location=name,
        hint="write the file again, whole, and check that it was copied as binary",
    )


def read_guarded(
    read: Callable[[], ir.Module], source: Source | Part, kind: str, name: str, *, guarded: bool
) -> ir.Module:
    """Reads a module from bytes, in a child process if that is asked for.

    Bytes with strings that are not UTF-8 are always read in a child process: a diagnostic that
    quotes such a string would abort this process.

    Args:
        read: The native reader, with its arguments bound.
        source: The source that it reads.
        kind: The kind of the input in diagnostics.
        name: The name of the input in diagnostics.
        guarded: Whether the reader has to run in a child process.

    Raises:
        InputError: `read` raises it, crashes or does not end, or a name is not UTF-8.
    """
    legible = not guarded and _has_utf8_strings(source)
    if legible or not guard.available():
        module = read()
        if not legible:
            require_legible(module, name)
        return module
    clean = guard.in_child(partial(_write_clean, read, name), size_of(source), name)
    if clean is None:
        raise damaged(kind, name)
    try:
        return ir.Module.parse(clean, new_context())
    except ir.MLIRError as error:  # The native reader accepts types that bytecode cannot hold.
        raise damaged(kind, name, error.error_diagnostics[0].message) from None


def _has_utf8_strings(source: Source | Part) -> bool:
    part = source if isinstance(source, Part) else Part(source, 0, 0)
    with viewed(part.source) as data:
        return has_utf8_strings(data, part.start)


def _write_clean(read: Callable[[], ir.Module], name: str, stream: BinaryIO) -> None:
    module = read()
    require_legible(module, name)
    module.operation.write_bytecode(stream)


def require_legible(module: ir.Module, name: str) -> None:
    """Refuses a module with names that are not UTF-8, on which the bindings fail or abort.

    The module is printed in generic form, which is safe and has all its strings and locations.

    Raises:
        InputError: A name is not UTF-8.
    """
    text = io.BytesIO()
    with module.context, Sink(text) as sink:
        module.operation.print(
            file=sink,
            binary=True,
            enable_debug_info=True,
            large_elements_limit=_SHORT,
            large_resource_limit=_SHORT,
            assume_verified=True,
            print_generic_op_form=True,
        )
    require_utf8_strings(text.getvalue(), name, lines=False)


def collect(messages: list[str]) -> object:
    """Returns a diagnostic handler that appends messages to a list, and prints none."""

    def handle(diagnostic: ir.Diagnostic) -> bool:
        messages.append(diagnostic.message)
        return True

    return handle
