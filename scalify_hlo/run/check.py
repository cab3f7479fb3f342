"""Runs a program and its rewrite on the same inputs, and compares their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.moments import scale_shape
from scalify_hlo.algebra.scale_shapes import are_blocks
from scalify_hlo.analysis.nonnegative import nonnegative_arguments
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.errors import InputError
from scalify_hlo.io.program import Program
from scalify_hlo.io.tensors import Array, Interface, Tensor, interface
from scalify_hlo.passes.record import recorded_sizes
from scalify_hlo.run.added import first_state, with_state, without_state
from scalify_hlo.run.compare import Difference, compare
from scalify_hlo.run.declared_sizes import WrongSize, wrong_sizes
from scalify_hlo.run.inputs import given_inputs, random_inputs, scaled_by
from scalify_hlo.run.packed import is_packed, packed, value_of_pair
from scalify_hlo.run.scale_arrays import split_in_blocks
from scalify_hlo.storage.arrays import StoredArray

Backend: TypeAlias = Literal["xla", "interpreter"]
Run: TypeAlias = Callable[[Sequence[Array]], list[Array]]

_LARGEST_RANDOM_SCALE = 6
"""Random scales lie within 2^±6, so that neither data nor values leave the range of f16."""


@dataclass(frozen=True, slots=True)
class Match:
    """The correspondence of the arguments or results of a rewrite to those of the original.

    Attributes:
        original: The arguments or results of the original.
        data: For each of these, the counterpart in the rewrite, which is its data if it is a pair.
        scales: For each of these, its scale in the rewrite; None if it is not a pair.
    """

    original: tuple[Tensor, ...]
    data: tuple[Tensor, ...]
    scales: tuple[Tensor | None, ...]


_REFUSED = "check that it is for one CPU device, or use --backend interpreter"


def compile_module(
    module: ir.Module | str, name: str = "<program>", *, hint: str = _REFUSED
) -> Run:
    """Compiles StableHLO with XLA for the CPU.

    Args:
        module: A module, or MLIR text.
        name: The name of the program in diagnostics.
        hint: The hint of the error if XLA refuses the program.

    Returns:
        A function from the flat list of arguments to the flat list of results, as NumPy arrays.

    Raises:
        InputError: XLA refuses the program.
    """
    from scalify_hlo import _compat

    text = module if isinstance(module, str) else _text(module)
    try:
        compiled = _compat.compile_on_cpu(text)
    except ValueError as error:
        raise _refused(error, name, hint) from None

    def run(arrays: Sequence[Array]) -> list[Array]:
        try:
            return [np.asarray(result) for result in compiled(arrays)]
        except ValueError as error:
            raise _refused(error, name, hint) from None

    return run


def compiled_run(program: Program, module: ir.Module) -> Run:
    """Compiles a program, or another that was made of it, for as many devices as it needs.

    Args:
        program: The program as it was read.
        module: The module that is compiled.

    Raises:
        InputError: XLA refuses the program, or there are too few devices.
    """
    from scalify_hlo.run.many_devices import divides, run_on_devices

    if divides(module):
        return run_on_devices(program.exported, module, program.name)
    return compile_module(module, program.name)


def runner(program: Program, backend: Backend) -> Run:
    """Returns a function that runs a program on a flat list of NumPy arrays.

    Raises:
        InputError: The backend refuses the program.
    """
    if backend == "xla":
        return compiled_run(program, program.module)
    from scalify_hlo.run.interpreter import interpret_module

    text = _text(program.module)
    return lambda arrays: interpret_module(text, arrays, program.name)


def check(
    original: Program,
    rewritten: Program,
    *,
    inputs: Mapping[str, Array | StoredArray] | None = None,
    seed: int = 0,
    scale: float | None = None,
    backend: Backend = "xla",
) -> list[Difference]:
    """Compares a rewrite with its original, result by result.

    Args:
        original: The program before the rewrite.
        rewritten: The rewritten program, with the same signature or with float arguments and
            results as data and scale.
        inputs: Arrays by argument name, or ``arr_0``, ``arr_1`` ... by position; random by default.
        seed: The seed of random inputs and scales.
        scale: The scale of all arguments that are pairs, a power of two; random by default.
        backend: ``xla`` for XLA on the CPU, or ``interpreter`` for the reference interpreter.

    Returns:
        The difference of each result.

    Raises:
        InputError: The programs do not have matching signatures, or the backend refuses one.
        UsageError: The inputs do not fit the program.
    """
    return checked(
        original, rewritten, inputs=inputs, seed=seed, scale=scale, backend=backend
    ).differences


@dataclass(frozen=True)
class Checked:
    """A comparison of a rewrite with its original.

    Attributes:
        differences: The difference of each result.
        values: The arguments of the original.
        fed: The arguments of the rewrite, without state of delayed scales.
        state: The state of delayed scales with which it ran last, in the order of its leaves.
        wrong: The declared sizes that are wrong for the inputs; none if these are random.
    """

    differences: list[Difference]
    values: list[Array]
    fed: list[Array]
    state: list[Array]
    wrong: list[WrongSize]


def checked(
    original: Program,
    rewritten: Program,
    *,
    inputs: Mapping[str, Array | StoredArray] | None = None,
    seed: int = 0,
    scale: float | None = None,
    backend: Backend = "xla",
    declared: Sequence[str] = (),
) -> Checked:
    """Compares a rewrite with its original, as `check` does, and returns the arguments too.

    Declared sizes of inputs, those that the rewrite records and further ones as
    ``PATTERN=NUMBER``, are compared with inputs that are given.
    """
    before, after = (interface(p.module, p.name) for p in (original, rewritten))
    state = first_state(rewritten.module, after)
    arguments, results = match(before, without_state(after, state), rewritten.name)
    rng = np.random.default_rng(seed)
    values = arguments_of(original, before, inputs, rng)
    sizes = [] if inputs is None else [*recorded_sizes(rewritten.module), *declared]
    wrong = wrong_sizes(before.arguments, values, sizes)
    expected = runner(original, backend)(values)
    fed = _feed(arguments, values, rng, scale)
    actual, settled = _settled(runner(rewritten, backend), fed, state)
    differences = [
        compare(tensor.name, array, value)
        for tensor, array, value in zip(
            results.original, expected, _values(results, actual), strict=True
        )
    ]
    return Checked(differences, values, fed, settled, wrong)


def arguments_of(
    program: Program,
    described: Interface,
    inputs: Mapping[str, Array | StoredArray] | None,
    rng: np.random.Generator,
) -> list[Array]:
    """Returns the arguments of a program: given ones, or random ones.

    Random arguments of which the program takes the root or the logarithm are not negative.

    Args:
        program: The program.
        described: Its arguments and results.
        inputs: Arrays by argument name or by position; None for random arguments.
        rng: The generator of these.

    Raises:
        UsageError: The inputs do not fit the program.
    """
    if inputs is not None:
        return given_inputs(described, inputs)
    main = main_function(program.module.operation)
    if main is None:
        return random_inputs(described, rng)
    with program.module.context:
        return random_inputs(described, rng, nonnegative_arguments(main))


_RUNS = 8
"""The most runs of a program until its delayed scales are those of its arguments."""


def _settled(
    run: Run, fed: Sequence[Array], state: Mapping[int, Array]
) -> tuple[list[Array], list[Array]]:
    """Returns the results of a program without its state of delayed scales, and that state.

    The program runs from the state before the first step until the state keeps its scales.
    """
    if not state:
        return run(fed), []
    numbers = sorted(state)
    now = dict(state)
    for _ in range(_RUNS):
        results = run(with_state(fed, now))
        used, now = now, dict(zip(numbers, results[-len(numbers) :], strict=True))
        scales = numbers[1]  # after the history, and before the number of the step
        if np.array_equal(used[scales], now[scales]):
            break
    return results[: -len(numbers)], [used[number] for number in numbers]


def match(original: Interface, rewritten: Interface, name: str) -> tuple[Match, Match]:
    """Matches the arguments and results of a rewrite with those of the original.

    Args:
        original: The arguments and results of the original.
        rewritten: The arguments and results of the rewrite.
        name: The name of the rewrite in diagnostics.

    Returns:
        The matches of the arguments and of the results.

    Raises:
        InputError: They do not match.
    """
    return (
        _match(original.arguments, rewritten.arguments, "arguments", name),
        _match(original.results, rewritten.results, "results", name),
    )


def _match(
    original: tuple[Tensor, ...], rewritten: tuple[Tensor, ...], kind: str, name: str
) -> Match:
    pairs = _pairs(original, rewritten)
    rest = iter(rewritten)
    data: list[Tensor] = []
    scales: list[Tensor | None] = []
    for pair in pairs:
        data.append(next(rest))
        scales.append(next(rest) if pair else None)
    for old, new in zip(original, data, strict=True):
        if old.shape != new.shape or (old.dtype != new.dtype and not (old.inexact and new.inexact)):
            raise _misfit(kind, f"{old.name} is {old}, and its counterpart {new}", name)
    for tensor, scale in zip(data, scales, strict=True):
        if scale is not None and not _fits(tensor, scale):
            raise _misfit(kind, f"the scale {scale.name} is {scale}", name)
    return Match(original, tuple(data), tuple(scales))


def _fits(data: Tensor, scale: Tensor) -> bool:
    """Whether a value can be the scale of data: one number, or one for each block."""
    if is_packed(scale):
        return data.shape != () and list(scale.shape) == scale_shape(data.shape)
    return scale.inexact and (not scale.shape or are_blocks(scale.shape, data.shape))


def _pairs(original: tuple[Tensor, ...], rewritten: tuple[Tensor, ...]) -> list[bool]:
    """Returns, for each value of the original, whether it is a pair in the rewrite."""
    if len(original) == len(rewritten):
        return [False] * len(original)
    floats = [tensor.inexact for tensor in original]
    if len(rewritten) == len(original) + sum(floats):
        return floats
    return list(_pairs_by_name(original, rewritten))


def _pairs_by_name(original: tuple[Tensor, ...], rewritten: tuple[Tensor, ...]) -> Iterator[bool]:
    position = 0
    for tensor in original:
        following = rewritten[position + 1 : position + 2]
        pair = bool(following) and following[0].name == f"{tensor.name}.scale"
        position += 1 + pair
        yield pair
    if position != len(rewritten):
        counts = f"{len(rewritten)} values stand for {len(original)}"
        raise _misfit("arguments and results", counts, "the rewritten program")


def _misfit(kind: str, reason: str, name: str) -> InputError:
    return InputError(
        f"the {kind} do not fit those of the original: {reason}",
        location=name,
        hint="give the original first and then its rewrite",
    )


def _feed(
    arguments: Match, values: Sequence[Array], rng: np.random.Generator, scale: float | None
) -> list[Array]:
    """Returns the arguments of the rewrite; a pair is X / s and s."""
    fed: list[Array] = []
    for value, data, scale_type in zip(values, arguments.data, arguments.scales, strict=True):
        if scale_type is None:
            fed.append(value.astype(data.dtype))
            continue
        if is_packed(scale_type):
            fed += packed(value, data)
            continue
        if scale_type.shape:
            fed += split_in_blocks(value, data, scale_type)
            continue
        low_high = (-_LARGEST_RANDOM_SCALE, _LARGEST_RANDOM_SCALE + 1)
        s = 2.0 ** int(rng.integers(*low_high)) if scale is None else scale
        fed.append(scaled_by(value, 1 / s).astype(data.dtype))
        fed.append(np.asarray(s, scale_type.dtype))
    return fed


def _values(results: Match, actual: Sequence[Array]) -> list[Array]:
    """Returns the results of the rewrite as values of the original; a pair is data times scale."""
    rest = iter(actual)
    values: list[Array] = []
    for tensor, data, scale in zip(results.original, results.data, results.scales, strict=True):
        value = next(rest)
        if scale is not None:
            value = value_of_pair(value, next(rest), data)
        values.append(value.astype(tensor.dtype))
    return values


def _text(module: ir.Module) -> str:
    text: str = module.operation.get_asm()
    return text


def _refused(error: Exception, name: str, hint: str) -> InputError:
    lines = str(error).strip().splitlines()
    return InputError(
        f"XLA refuses the program: {lines[0] if lines else type(error).__name__}",
        location=name,
        hint=hint,
    )
