"""The results of a program by kind, and their errors in a rewrite of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.names import is_backward
from scalify_hlo.ir.functions import main_function, terminator
from scalify_hlo.program.tensors import Array, Interface, Tensor, is_complex
from scalify_hlo.results.kinds import Decibels, one_of
from scalify_hlo.run.differences import compare

OUTPUT: Final = "output"
GRADIENT: Final = "gradient"
MOMENT: Final = "moment"
UPDATE: Final = "update"
STATE: Final = "state"
NOISE: Final = "noise"
KINDS: Final = (OUTPUT, GRADIENT, MOMENT, UPDATE, STATE, NOISE)
"""The kinds of results: outputs such as the loss; gradients; the changes of first moments; the
changes of weights; all other state; and what is rounding noise in the original itself, such as the
gradient of a bias before a softmax, which is zero but for rounding."""

OneKind: TypeAlias = Annotated[str, one_of(KINDS)]
Judged: TypeAlias = tuple[OneKind, ...]
"""The kinds of results by which a recipe is judged."""

_LEAST_REPEATED: Final = 20.0
"""The signal-to-noise ratio in dB that the original has with inputs that differ in their last bits,
unless a result is noise."""

LARGEST: Final = 1e3
"""The most noise, over the signal, that a result counts with, such as one that became NaN."""

_CHANGES: Final = (MOMENT, UPDATE)
"""The kinds of which the change is compared, and not the value."""

_OF_ROLES: Final = {"weight": UPDATE, "first_moment": MOMENT}


@dataclass(frozen=True, slots=True)
class ResultKind:
    """The kind of a result.

    Attributes:
        number: Its number among the results.
        tensor: Its name, shape and dtype.
        kind: One of `KINDS`.
        argument: The number of the argument of the next call that it is; None if it is none.
    """

    number: int
    tensor: Tensor
    kind: str
    argument: int | None

    @property
    def scalar(self) -> bool:
        """Whether it has one element."""
        return math.prod(self.tensor.shape) == 1


@dataclass(frozen=True, slots=True)
class ResultError:
    """The error of a result of a rewrite.

    Attributes:
        name: The name of the result.
        kind: One of `KINDS`.
        snr_db: The signal-to-noise ratio in dB, of the change if the kind is ``moment`` or
            ``update``. It is infinite if there is no error, and minus infinity if an element is
            infinite or NaN in one program only, or if there is no signal.
    """

    name: str
    kind: OneKind
    snr_db: Decibels

    @property
    def ratio(self) -> float:
        """The energy of the error over that of the result."""
        return math.inf if self.snr_db == -math.inf else 10 ** (-self.snr_db / 10)


def kinds_of(
    module: ir.Module, described: Interface, carried: Mapping[int, int], roles: Mapping[str, str]
) -> list[ResultKind]:
    """Returns the kinds of the float results of a program.

    Args:
        module: The program.
        described: Its arguments and results.
        carried: The number of the argument for the number of each result that is one of the next
            call.
        roles: The roles of arguments by their names.
    """
    backward = _backward(module)
    found: list[ResultKind] = []
    for number, tensor in enumerate(described.results):
        argument = carried.get(number)
        if not tensor.inexact:
            continue
        if argument is None:
            kind = GRADIENT if backward[number] else OUTPUT
        else:
            kind = _OF_ROLES.get(roles.get(described.arguments[argument].name, ""), STATE)
        found.append(ResultKind(number, tensor, kind, argument))
    return found


def _backward(module: ir.Module) -> list[bool]:
    """Tells for each result whether the backward pass makes it, by name stacks."""
    with module.context:
        main = main_function(module.operation)
        if main is None:
            return []
        frame = Frame.of(main)
        returned = terminator(main.regions[0].blocks[0]).operands
        found = [is_backward(frame.place(value)) for value in returned]
        frame.release()
    return found


def judged(kinds: Sequence[ResultKind]) -> tuple[str, ...]:
    """Returns the kinds by which a recipe is judged.

    They are the outputs, and what there is of gradients: gradients among the results, or else the
    changes of first moments, which are linear in gradients, or else the changes of weights.
    """
    present = {each.kind for each in kinds}
    of_gradients = [kind for kind in (GRADIENT, MOMENT, UPDATE) if kind in present]
    return (OUTPUT, *of_gradients[:1])


def loss_of(kinds: Sequence[ResultKind]) -> ResultKind | None:
    """Returns the output that is the loss: a scalar, by name or the first; None without any."""
    scalars = [each for each in kinds if each.kind == OUTPUT and each.scalar]
    named = [each for each in scalars if "loss" in each.tensor.name.casefold()]
    return next(iter(named or scalars), None)


def error_of(
    kind: ResultKind,
    pair: tuple[Array, Array],
    before: tuple[Array, Array] | None,
) -> ResultError:
    """Returns the error of a result.

    Args:
        kind: The result.
        pair: The result of the original and that of the rewrite.
        before: For state, the arguments that it replaces, as both programs were given them.
    """
    original, rewritten = map(_wide, pair)
    if kind.kind in _CHANGES and before is not None:
        with np.errstate(invalid="ignore"):
            original, rewritten = original - _wide(before[0]), rewritten - _wide(before[1])
    difference = compare(kind.tensor.name, original, rewritten)
    snr = -math.inf if difference.mismatched else difference.snr_db
    return ResultError(kind.tensor.name, kind.kind, snr)


def without_noise(
    kinds: Sequence[ResultKind],
    runs: tuple[Sequence[Array], Sequence[Array]],
    inputs: tuple[Sequence[Array], Sequence[Array]],
) -> list[ResultKind]:
    """Returns the kinds of results, with those marked that are rounding noise.

    Args:
        kinds: The kinds by what the results are.
        runs: The results of two runs of the original, whose inputs differ in their last bits.
        inputs: The inputs of both runs.
    """
    found: list[ResultKind] = []
    for each in kinds:
        one, other = (results[each.number] for results in runs)
        before = None
        if each.argument is not None:
            before = inputs[0][each.argument], inputs[1][each.argument]
        noisy = error_of(each, (one, other), before).snr_db < _LEAST_REPEATED
        found.append(replace(each, kind=NOISE) if noisy else each)
    return found


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if is_complex(array.dtype) else np.float64)
