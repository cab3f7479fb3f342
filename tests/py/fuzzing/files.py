"""Damaged files: each is rewritten, or refused in one sentence, and nothing else happens."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random

import jax
from jax.export import Exported

from scalify_hlo.api import make_options
from scalify_hlo.errors import InputError, ScalifyError, UsageError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_program, write_program
from scalify_hlo.program.rewriting import rewrite_program
from tests.py.fuzzing import jax_programs, mlir_programs
from tests.py.fuzzing.edits import damaged, edited
from tests.py.fuzzing.finding import FindingError
from tests.py.programs import PROGRAMS
from tests.py.shared.judge import parse

FORMS = ("text", "bytecode", "artifact", "exported")
OPTIONS: tuple[tuple[str, ...], ...] = (
    ("--recipe", "propagate", "--signature", "scaled"),
    ("--recipe", "propagate", "--input-scale", "*=2^3"),
    ("--recipe", "propagate", "--signature", "scaled", "--set", "meet=max"),
    ("--recipe", "fp8", "--set", "matmul.smallest=1"),
    ("--recipe", "fp16-state", "--signature", "scaled"),
)
"""The options of the command line with which files are rewritten."""

_SECONDS = 120
_SAMPLE = 50
"""One of so many files goes through the command line."""
_DRAWN = 60
"""The number of random functions of jax that are damaged; an export takes long."""
_FRAMES = 1
"""The number of Python frames of locations: those of the generator alone."""
_PROMISES = ("Traceback", "this is a defect", "fault of the rewriter")
"""Texts that no message to a user may have."""


def check(random: Random, number: int) -> str:
    """Damages a file and has it rewritten.

    Args:
        random: What to draw from.
        number: Of the case; some go through the command line.

    Returns:
        What became of it.

    Raises:
        FindingError: Something that must not be.
    """
    form = random.choices(FORMS, (3, 1, 1, 1))[0]
    data = _damaged(form, random)
    options = random.choice(OPTIONS)
    before = _left_behind()
    try:
        outcome = (_by_command if number % _SAMPLE == 0 else _by_library)(data, options)
    except FindingError as finding:
        raise FindingError(
            finding.kind, f"{finding.message}\n{_described(form, options, data)}"
        ) from None
    if litter := _left_behind() - before:
        raise FindingError("litter", f"{sorted(litter)}\n{_described(form, options, data)}")
    return f"{form}, {outcome}"


def _described(form: str, options: tuple[str, ...], data: bytes) -> str:
    shown = data.decode(errors="backslashreplace") if form == "text" else f"{len(data)} bytes"
    return f"{form}, {' '.join(options)}\n{shown}"


def _damaged(form: str, random: Random) -> bytes:
    data, other = _whole(form, random), _whole(form, random)
    if form == "text" and random.random() < 0.7:
        return edited(data.decode(), random).encode(errors="surrogateescape")
    return damaged(data, other, random)


def _whole(form: str, random: Random) -> bytes:
    """A file without damage."""
    if form == "exported":
        return _exported(random.randrange(_DRAWN))
    if random.random() < 0.1:
        text = _exported_text(random.randrange(_DRAWN))
    elif random.random() < 0.5:
        text = random.choice(_catalogue())
    else:
        text = mlir_programs.text_of(mlir_programs.draw(random), random.randrange(2**31))
    if form == "text":
        return text.encode()
    module = parse(text)
    if form == "artifact":
        try:
            with module.context:
                return write_artifact(module, random.choice(("current", "compatible")), "program")
        except InputError:  # some ops have none
            pass
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


@cache
def _catalogue() -> list[str]:
    # MLIR's parser takes minutes where the number of a convolution's dimension is 2^31.
    return [p.text() for p in PROGRAMS if "convolution" not in p.body]


@cache
def _exported(number: int) -> bytes:
    random = Random(f"exported {number}")
    with _few_frames():
        exported = _drawn(number)
        try:
            return bytes(exported.serialize(vjp_order=random.choice((0, 0, 1))))
        except (NotImplementedError, TypeError, ValueError):  # what cannot be differentiated
            return bytes(exported.serialize())


@cache
def _exported_text(number: int) -> str:
    with _few_frames():
        module = parse(str(_drawn(number).mlir_module()))
    return str(module.operation.get_asm(enable_debug_info=True))


@contextmanager
def _few_frames() -> Iterator[None]:
    """Locations neither tell who called, nor where jax has traced a function before.

    Files have the same bytes each time, the vjp among them, which jax traces as it writes it.
    """
    jax.clear_caches()
    limit = "jax_traceback_in_locations_limit"
    before = getattr(jax.config, limit)
    jax.config.update(limit, _FRAMES)
    try:
        yield
    finally:
        jax.config.update(limit, before)


def _drawn(number: int) -> Exported:
    """A function of few steps, so that its file is small."""
    random = Random(f"drawn {number}")
    while True:
        steps = jax_programs.draw(random)[:5]
        try:
            symbolic = random.random() < 0.3
            return jax_programs.export_steps(steps, number, symbolic=symbolic).exported
        except (NotImplementedError, TypeError, ValueError):
            continue


def _left_behind() -> set[str]:
    """The files in the folder for temporary ones."""
    return set(os.listdir(tempfile.gettempdir()))


def _by_library(data: bytes, options: tuple[str, ...]) -> str:
    try:
        program, _ = rewrite_program(read_program(data, "file", guarded=True), _options(options))
        result = write_program(program)
        read_program(result.encode() if isinstance(result, str) else result, guarded=True)
    except (InputError, UsageError) as error:
        require_one_sentence(error)
        return "refused"
    except ScalifyError as error:
        raise FindingError("neither the input's fault nor the user's", str(error)) from None
    except Exception as error:
        raise FindingError(f"traceback: {type(error).__name__}", repr(error)) from error
    return "rewritten"


@cache
def _options(options: tuple[str, ...]) -> Options:
    pairs = list(zip(options[::2], options[1::2], strict=True))
    given = dict(pairs)
    return make_options(
        given["--recipe"],
        given.get("--signature", "same"),
        {"*": 2.0**3} if "--input-scale" in given else {},
        dict(pair.split("=") for option, pair in pairs if option == "--set"),
    )


def require_one_sentence(error: ScalifyError) -> None:
    """Raises a `FindingError` if an error is not one located sentence with a note on the cure."""
    if any(promise in f"{error.message} {error.hint}" for promise in _PROMISES):
        raise FindingError("a defect", str(error))
    if not error.message.strip() or not error.hint:
        raise FindingError("an error without a message or a cure", str(error))
    if not str(error).replace("\n", "").isprintable():
        raise FindingError("characters that print nothing", repr(str(error)))
    if "\n" in f"{error.location}{error.message}{error.hint}":
        raise FindingError("an error of many lines", str(error))
    if not error.location and not isinstance(error, UsageError):
        raise FindingError("an error without a location", str(error))


_ERROR = re.compile(r"(?:.*: )?error: .+\n(?:.*: )?note: .+\n")


def _by_command(data: bytes, options: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "given").write_bytes(data)
        (place / "temporary").mkdir()
        command = [sys.executable, "-m", "scalify_hlo", "rewrite", "given", "-o", "made", "-q"]
        done = subprocess.run(
            [*command, *options],
            cwd=place,
            env={**os.environ, "TMPDIR": str(place / "temporary"), "NO_COLOR": "1"},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        said = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1, 2):
            raise FindingError(f"the command ended with {done.returncode}", said)
        if any(promise in said for promise in _PROMISES):
            raise FindingError("a defect", said)
        if not _ERROR.fullmatch(said) if done.returncode else said:
            raise FindingError("other words than one sentence", said)
        left = {p.name for p in place.iterdir()} - {"given", "temporary", "made"}
        left |= {p.name for p in (place / "temporary").iterdir()}
        if left or (place / "made").exists() != (done.returncode == 0):
            raise FindingError("litter", f"{sorted(left)}, exit code {done.returncode}")
    return "refused by the command" if done.returncode else "rewritten by the command"
