"""Calibration: runs a program on samples and measures the operands of its matmuls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.errors import Remark, UsageError
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.observe import ObservePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.profile.model import Profile, TensorProfile
from scalify_hlo.program.tensors import Array
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.model import Report
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Runner, Shape
from scalify_hlo.run.session import Run

_OBSERVATIONS = 3
"""The number of results that `scalify-observe` adds: amax, rms and histogram."""


def calibrate(program: Any, samples: Iterable[Sample]) -> Profile:
    """Runs a program on samples with XLA on the CPU, and measures the operands of its matmuls.

    Args:
        program: As for `rewrite`: MLIR text, bytes, an `ir.Module`, or an Exported. It is not
            changed. If its shapes are symbolic, it runs at the shapes of each sample.
        samples: The arguments of each run, as a mapping of arrays by argument name (or ``arr_0``,
            ``arr_1`` ...). For an Exported, a sample may also be a tuple of the positional
            arguments of its ``call``; for other programs, a sequence with an array for each
            argument. Shapes and kinds of dtypes are those of the arguments.

    Returns:
        The amax, rms and histogram of each matmul operand over all samples.

    Raises:
        InputError: The program is not valid or has no matmul, or XLA cannot run it on the CPU.
        UsageError: There is no sample, or one does not fit the program.

    Example:
        >>> text = '''func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
        ...   %0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        ...   return %0 : tensor<2x2xf32>
        ... }'''
        >>> profile = calibrate(text, [[np.float32([[1, 2], [3, -448]])]])
        >>> max(tensor.amax for tensor in profile.tensors.values())
        448.0
    """
    calibration = Calibration(program)
    for number, sample in enumerate(samples, 1):
        calibration.add(sample, f"sample {number}")
    return calibration.profile()


class Calibration:
    """A calibration that takes one sample at a time.

    Args:
        program: As for `calibrate`, or a `Program`, whose module is edited.

    Attributes:
        program: The structural hash of the program.
        remarks: Remarks on operands that are not measured.

    Raises:
        InputError: As for `calibrate`.
    """

    def __init__(self, program: Any) -> None:
        self._runner = runner = Runner(program)
        self.program = runner.hash
        self.remarks: list[Remark] = []
        _run(runner.module, runner.name, _ROLES)
        self._runs: dict[tuple[Shape, ...], _Observed] = {}
        if runner.static:
            self._at([tensor.shape for tensor in runner.interface.arguments])
        self._profile: Profile | None = None

    def add(self, sample: Sample, name: str) -> None:
        """Runs the program on a sample.

        Args:
            sample: As for `calibrate`.
            name: The name of the sample in diagnostics.

        Raises:
            UsageError: The sample does not fit the program.
        """
        arrays = self._runner.flat(sample, name)
        try:
            observed = self._at([array.shape for array in arrays])
        except UsageError as error:
            raise UsageError(error.message, location=name, hint=error.hint) from None
        results = observed.run(arrays)
        tensors: dict[str, TensorProfile] = {}
        rows = zip(observed.tensors, *results[-_OBSERVATIONS:], strict=True)
        for names, amax, rms, histogram in rows:
            tensors |= dict.fromkeys(names, _tensor(amax, rms, histogram))
        seen = Profile(self.program, 1, tensors)
        self._profile = seen if self._profile is None else self._profile.merge(seen)

    def profile(self) -> Profile:
        """Returns the profile of all samples so far.

        Raises:
            UsageError: There was no sample.
        """
        if self._profile is None:
            raise UsageError(
                "there is no sample to calibrate with",
                hint="give at least one, with an array for each argument of the program",
            )
        return self._profile

    def _at(self, shapes: Sequence[Shape]) -> _Observed:
        """Returns the observing program for arguments of these shapes."""
        key = tuple(shapes)
        if key not in self._runs:
            module = self._runner.at(key)
            report = _run(module, self._runner.name, _OBSERVE)
            self.remarks += [remark for remark in report.remarks if remark not in self.remarks]
            self._runs[key] = _Observed(report.tensors, self._runner.compiled(module))
        return self._runs[key]


class _Observed(NamedTuple):
    """A program that also returns statistics of the operands of its matmuls.

    Attributes:
        tensors: The names of each operand.
        run: Runs the program.
    """

    tensors: list[tuple[str, ...]]
    run: Run


_ROLES: Final = (NormalizePass(), RolesPass())
_OBSERVE: Final = (ObservePass(), LegalizePass())


def _run(module: ir.Module, name: str, passes: Sequence[Pass]) -> Report:
    with located(name):
        return run_passes(module, passes)


def _tensor(amax: Any, rms: Any, histogram: Array) -> TensorProfile:
    bins = np.flatnonzero(histogram)
    counts = dict(zip(bins.tolist(), histogram[bins].tolist(), strict=True))
    return TensorProfile(sum(counts.values()), float(amax), float(rms), counts)
