"""Programs on which every command runs that runs or reads one: none ends in a defect.

The figures of `stats` and `calibrate` are those that NumPy finds in the interpreter's values.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from scalify_hlo._compat import func, ir
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.commands.stats.record import ValueStats, load_stats
from scalify_hlo.commands.stats.values import Scan, Watched
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.value_map import erase
from scalify_hlo.profile.file import load_profile
from scalify_hlo.program.program import read_program
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.run.given import random_inputs
from scalify_hlo.run.interpreter import evaluate
from scalify_hlo.run.runner import compiled
from tests.py.fuzzing import models, programs
from tests.py.fuzzing.finding import FindingError
from tests.py.shared import commands

RECIPES = ("fp8-current", "fp8", "unit", "mxfp8", "fp16", "bf16", "propagate")
_OF_SMALL_MATMULS = RECIPES[4:]
"""Those that cast matmuls of any size; others are asked to."""
TOLERANCE = 2e-3
"""How far figures of XLA's values may be from those of the interpreter's, which round otherwise."""
_PROMISES = ("Traceback", "this is a defect", "fault of the rewriter")


def check(random: Random) -> str:
    """Runs all commands on a random program.

    Returns:
        How many commands took it, or why it was left out.

    Raises:
        FindingError: A command ended in a defect, or gave wrong figures.
    """
    np.seterr(all="ignore")
    program = programs.draw(random)
    try:
        text = program.text(everything=True)  # XLA refuses results that alias two arguments.
    except (NotImplementedError, TypeError, ValueError) as error:
        return f"left out: jax cannot export it ({type(error).__name__})"
    arrays = program.arrays()
    return run(text.encode(), arrays, random.choice(RECIPES), figures=not program.symbolic)


def check_model(number: int) -> str:
    """Runs all commands on a model; see `check`."""
    random = Random(number)
    name, exported = models.exported(number)
    try:
        return run(
            bytes(exported.serialize()),
            None,
            random.choice(RECIPES),
            figures=name in models.PLAIN | models.BY_XLA,
            by_xla=name in models.BY_XLA,
        )
    except FindingError as finding:
        raise FindingError(f"{name}: {finding.kind}", finding.message) from None


def run(
    data: bytes,
    arrays: Sequence[Array] | None,
    recipe: str,
    *,
    figures: bool,
    by_xla: bool = False,
) -> str:
    """Runs all commands on a program.

    Args:
        data: The program, as a file has it.
        arrays: Its arguments; None for random ones.
        recipe: The recipe of the commands that take one.
        figures: Whether figures are compared with values of the program.
        by_xla: Whether XLA computes these values, as the interpreter cannot.

    Returns:
        Which commands refused it in a sentence.

    Raises:
        FindingError: A command ended in a defect, or gave wrong figures.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("p").write_bytes(data)
            given = arrays if arrays is not None else _random_arguments(data)
            np.savez("x.npz", *given)
            settings = "" if recipe in _OF_SMALL_MATMULS else "[matmul]\nsmallest = 1\n"
            Path("tried.toml").write_text(f'base = "{recipe}"\n{settings}')
            refused = [name for name, line in _lines("tried.toml") if not _called(line)]
            if figures and "stats" not in refused:
                _require_figures(data, given, by_xla=by_xla)
        except FindingError as finding:
            described = data.decode() if arrays is not None else "a model"
            raise FindingError(finding.kind, f"{finding.message}\n{described}") from None
        finally:
            os.chdir(before)
    return f"all but {', '.join(refused)}" if refused else "all commands"


def _random_arguments(data: bytes) -> list[Array]:
    described = interface(read_program(data).module, "p")
    return random_inputs(described, np.random.default_rng(0))


def _lines(recipe: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields the commands with their arguments; each name is that of one."""
    inputs, rewritten = ("p", "--inputs", "x.npz"), ("--recipe", recipe)
    yield "rewrite", ("rewrite", "p", "-o", "r", "-q", *rewritten)
    yield "check", ("check", "p", "r", "--inputs", "x.npz")
    yield "stats", ("stats", *inputs, "-o", "s.json")
    yield "stats of a rewrite", ("stats", *inputs, "-o", "s.html", *rewritten)
    yield "calibrate", ("calibrate", *inputs, "-o", "c.json")
    yield "bisect-nan", ("bisect-nan", *inputs)
    yield "compare", ("compare", *inputs, "--recipes", recipe)
    yield "blame", ("blame", *inputs, *rewritten)
    yield "search", ("search", *inputs, *rewritten, "--budget", "wide<=1")
    yield "explain", ("explain", "p", "--target", "cpu", *rewritten)
    yield "inspect --lint", ("inspect", "p", "--lint", *rewritten)


def _called(line: Sequence[str]) -> bool:
    """Whether a command took its program, which it may refuse in a sentence.

    Raises:
        FindingError: It ended in a defect.
    """
    done = commands.call(*line)
    said = f"{' '.join(line)}\n{done.output}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise FindingError(type(done.exception).__name__, f"{said}\n{done.exception!r}")
    if any(promise in done.output for promise in _PROMISES):
        raise FindingError("a defect", said)
    if done.exit_code not in (0, 1, 2):
        raise FindingError(f"exit code {done.exit_code}", said)
    # The differences that `check` finds, and the NaNs of `bisect-nan`, are answers.
    return not done.exit_code or "error: " not in done.output


@dataclass(frozen=True)
class _Known:
    """The values of a program, by their ids; of those in regions nothing is known."""

    values: dict[str, Array]

    def of(self, stats: ValueStats) -> Array | None:
        """Returns the parts of a value as floats, or None."""
        array = self.values.get(stats.id)
        if array is None:
            return None
        parts = np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array
        return np.asarray(parts, np.float64)


def _require_figures(data: bytes, arrays: Sequence[Array], *, by_xla: bool) -> None:
    """Compares `s.json` and `c.json` with the interpreter's values, or with XLA's."""
    try:
        _agree(_Known(values_of(data, arrays, by_xla=by_xla)))
    except FindingError:  # XLA and the interpreter differ in some scatters and windows.
        if by_xla:
            raise
        _agree(_Known(values_of(data, arrays, by_xla=True)))


def _agree(known: _Known) -> None:
    record = load_stats("s.json")
    (original,) = record.variants
    for stats in original.values:
        values = known.of(stats)
        if values is not None:
            _require(stats.id, stats.amax[0], stats.rms[0], values)
            if stats.count[0] != values.size:
                raise FindingError("count", f"{stats.id}: {stats.count[0]}")
    if not Path("c.json").exists():  # `calibrate` refuses programs without a matmul.
        return
    profile = load_profile("c.json")
    ids = {operand.name: operand.value for operand in record.operands}
    by_id = {stats.id: known.of(stats) for stats in original.values}
    for name, tensor in profile.tensors.items():
        found = by_id.get(ids.get(name, ""))
        if found is not None:
            _require(name, tensor.amax, tensor.rms, found)


def _require(name: str, amax: float, rms: float, values: Array) -> None:
    finite = np.abs(values[np.isfinite(values)])
    largest = finite.max(initial=0)
    scale = largest or 1.0
    expected = float(np.sqrt(np.mean((finite / scale) ** 2)) * scale) if finite.size else 0.0
    for what, found, wanted in (("amax", amax, largest), ("rms", rms, expected)):
        if not abs(found - wanted) <= TOLERANCE * wanted + np.finfo(np.float32).tiny:
            raise FindingError("another figure", f"{what} of {name}: {found} for {wanted}")


def values_of(data: bytes, arrays: Sequence[Array], *, by_xla: bool = False) -> dict[str, Array]:
    """Returns the float values of `main` by the ids that they have in statistics.

    Those in regions are left out.

    Args:
        data: The program.
        arrays: Its arguments.
        by_xla: Whether XLA computes them, and not the interpreter.
    """
    program = read_program(data)
    module = program.module
    number_ops(module, "p")
    main = inline_numbered(module, "p")
    with module.context, ir.Location.unknown():
        inputs = list(attributes.function_type(main).inputs)
        values = [one for one in Scan(main, "p").values() if not one.inside]
        ids = [one.id for one in values]
        _return(main, inputs, values)
    run = compiled(program) if by_xla else partial(evaluate, module)
    return dict(zip(ids, run(arrays), strict=True))


def _return(main: ir.OpView, inputs: list[ir.Type], values: Sequence[Watched]) -> None:
    """Makes a function return these values and no others."""
    block = main.regions[0].blocks[0]
    returned = [one.value for one in values]
    types = [value.type for value in returned]
    old = block.operations[len(block.operations) - 1].operation
    func.ReturnOp(returned, ip=ir.InsertionPoint(old))
    erase(old)
    attributes.set_function_type(main, inputs, types)
    for key in ("res_attrs", "arg_attrs"):  # Arguments may be donated to results.
        if key in main.operation.attributes:
            del main.operation.attributes[key]
