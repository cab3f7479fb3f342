"""Calibration: runs a program on samples and notes how large the operands of its matmuls are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.artifact import copy_module, require_legible
from scalify_hlo.check import Run, compile_module, given_inputs
from scalify_hlo.diagnostics import InputError, Remark, UsageError
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.many_devices import BY_HAND, run_on_devices
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.observe import ObservePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.report import Report
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.profile import Profile, TensorProfile
from scalify_hlo.program import Kind, Program, read_program, read_text
from scalify_hlo.refinement import Shape, refined
from scalify_hlo.stored_arrays import StoredArray
from scalify_hlo.tensors import Array, Interface, interface
from scalify_hlo.wellformed import check_module, located

if TYPE_CHECKING:
    from jax.export import Exported

Sample: TypeAlias = Any
"""Arrays by argument name; or for an Exported a tuple of its arguments, for others a sequence."""

_OBSERVATIONS = 3
"""Results that `scalify-observe` adds: amax, rms and histogram."""


def calibrate(program: Any, samples: Iterable[Sample]) -> Profile:
    """Runs a program on samples with XLA CPU and notes how large its matmuls' operands are.

    Args:
        program: As `rewrite` takes it: MLIR text, bytes, an `ir.Module`, or an Exported. It is not
            changed. Where its shapes are symbolic, it runs with those of each sample.
        samples: What the program takes, each a mapping of arrays by argument name (or ``arr_0``,
            ``arr_1`` ...). It may also be, for an Exported, a tuple of arguments, pytrees as its
            ``call`` takes them; for others, a sequence of arrays, one for each argument.

    Returns:
        What was seen over all samples.

    Raises:
        InputError: It is no program that XLA runs on the CPU, or has no matmul.
        UsageError: There is no sample, or one does not fit the program.

    Example:
        >>> text = '''func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
        ...   %0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        ...   return %0 : tensor<2x2xf32>
        ... }'''
        >>> profile = calibrate(text, [[np.float32([[1, 2], [3, -448]])]])
        >>> [tensor.amax for tensor in profile.tensors.values()]
        [448.0, 448.0]
    """
    calibration = Calibration(program)
    for number, sample in enumerate(samples, 1):
        calibration.add(sample, f"sample {number}")
    return calibration.profile()


class Calibration:
    """A calibration that goes on sample by sample.

    Args:
        program: As `calibrate` takes it, or a `Program`, whose module is edited.

    Attributes:
        program: The structural hash of the program.
        remarks: On what is not observed.

    Raises:
        InputError: As `calibrate`.
    """

    def __init__(self, program: Any) -> None:
        self._read, self._exported = _read(program), _exported(program)
        read = self._read
        self.program = structural_hash(read.module)
        self._interface = interface(read.module, read.name, dynamic=True)
        self.remarks: list[Remark] = []
        self._static = all(tensor.static for tensor in self._interface.arguments)
        self._ops = _run(read.module, read.name, _ROLES).ops
        self._runs: dict[tuple[Shape, ...], _Observed] = {}
        if self._static:
            self._at([tensor.shape for tensor in self._interface.arguments])
        self._profile: Profile | None = None

    def add(self, sample: Sample, name: str) -> None:
        """Runs the program on a sample.

        Args:
            sample: As `calibrate` takes it.
            name: How diagnostics call it.

        Raises:
            UsageError: It does not fit the program.
        """
        arrays = self._arrays(sample, name)
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
        """What was seen so far.

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
        """The program that observes tensors, for arguments of some shapes."""
        key = tuple(shapes)
        if key not in self._runs:
            module = self._read.module
            if not self._static:
                module = refined(copy_module(module), key)
            self._runs[key] = self._observed(module)
        return self._runs[key]

    def _observed(self, module: ir.Module) -> _Observed:
        name, exported = self._read.name, self._exported or self._read.exported
        report = _run(module, name, _OBSERVE)
        new = [remark for remark in report.remarks if remark not in self.remarks]
        self.remarks += new
        if BY_HAND not in self._ops:
            run = compile_module(module, name, hint=_HINT)
        elif self._static:
            run = run_on_devices(exported, module, name)
        else:
            raise InputError(
                "the program divides its data by hand among devices, and its shapes are symbolic",
                location=name,
                hint="export it with the shapes of the samples",
            )
        return _Observed(report.tensors, run)

    def _arrays(self, sample: Sample, name: str) -> list[Array]:
        """The flat arguments of `main`."""
        try:
            if self._exported is not None and not isinstance(sample, Mapping):
                sample = _kept(self._exported, sample)
            return given_inputs(self._interface, _by_name(sample, self._interface))
        except UsageError as error:
            raise UsageError(error.message, location=name, hint=error.hint) from None


_HINT = "calibrate the program as it is exported for the CPU"


def _read(program: Any) -> Program:
    """A program whose module may be edited."""
    if isinstance(program, Program):
        return program
    if isinstance(program, str):
        return read_text(program)
    if isinstance(program, (bytes, bytearray)):
        return read_program(bytes(program))
    if isinstance(program, ir.Module):
        require_legible(program, "<module>")
        module = copy_module(program)
        check_module(module, "<module>")
        return Program(module, Kind.BYTECODE, "<module>")
    exported = _exported(program)
    if exported is None:
        raise UsageError(
            f"a {type(program).__name__} is not a program",
            hint="give MLIR text, bytes of a program, an ir.Module or a jax.export.Exported",
        )
    return read_program(bytes(exported.mlir_module_serialized), exported.fun_name)


def _exported(program: Any) -> Exported | None:
    """The program if it is an Exported."""
    if isinstance(program, (str, bytes, bytearray, ir.Module, Program)):
        return None
    import jax.export

    return program if isinstance(program, jax.export.Exported) else None


class _Observed(NamedTuple):
    """A program that returns how large the tensors are that its matmuls take.

    Attributes:
        tensors: Their names.
        run: Runs it.
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


def _kept(exported: Exported, sample: Sample) -> list[Array]:
    """The arrays that an Exported hands to its module, of a tuple of arguments."""
    import jax

    if not isinstance(sample, tuple):
        raise UsageError(
            f"a sample of an Exported is a tuple of its arguments, not a {type(sample).__name__}",
            hint="give (x,) for a program that is called as call(x), or arrays by argument name",
        )
    tree: Any = jax.tree.structure((sample, {}))
    if tree != exported.in_tree:
        raise UsageError(
            f"the arguments are nested as {tree}, and the program takes {exported.in_tree}",
            hint="give the arguments as for the call of the Exported, in one tuple",
        )
    leaves = jax.tree.leaves(sample)
    # A module for several platforms is told first which one it runs on.
    several = len(exported.platforms) > 1 and "cpu" in exported.platforms
    platform = [np.asarray(exported.platforms.index("cpu"), np.int32)] if several else []
    return [*platform, *(np.asarray(leaves[i]) for i in exported.module_kept_var_idx)]


def _by_name(sample: Sample, program: Interface) -> Mapping[str, Array | StoredArray]:
    if isinstance(sample, Mapping):
        return {
            name: array if isinstance(array, StoredArray) else np.asarray(array)
            for name, array in sample.items()
        }
    if not isinstance(sample, Sequence):
        raise UsageError(
            f"a sample is no {type(sample).__name__}",
            hint="give arrays by argument name, or a list with one for each argument",
        )
    if len(sample) != len(program.arguments):
        raise UsageError(
            f"there are {len(sample)} arrays, and the program takes {len(program.arguments)}: "
            f"{', '.join(f'{t.name} {t}' for t in program.arguments)}",
            hint="give one array for each argument",
        )
    return {f"arr_{i}": np.asarray(array) for i, array in enumerate(sample)}
