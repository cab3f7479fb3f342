"""Runs a program and its rewrites on the same inputs."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.commands.calibrate.calibration import calibrate
from scalify_hlo.commands.choose.operand_errors import CastError, Casts
from scalify_hlo.commands.choose.results import (
    ResultError,
    ResultKind,
    error_of,
    judged,
    kinds_of,
    loss_of,
    without_noise,
)
from scalify_hlo.commands.choose.sensitivity import (
    Backward,
    Energy,
    backward_of,
    energies_of,
    measure_energies,
)
from scalify_hlo.commands.choose.sites import named_sites
from scalify_hlo.commands.choose.switches import Switches
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.commands.stats.prepare import for_module, take_probes
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.profile.model import Profile
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.program import Kind
from scalify_hlo.program.tensors import Array, is_inexact
from scalify_hlo.program.wellformed import located
from scalify_hlo.recipes.fields import Checked, Count, names
from scalify_hlo.recipes.model import NONE, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.report.totals import STATE_ROLES
from scalify_hlo.run.given import Sample
from scalify_hlo.run.input_scales import scales_of
from scalify_hlo.run.runner import Runner, divides
from scalify_hlo.run.session import Session, Step, carried_state
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import Target

_ULPS: Final = 2.0**-22


LEAST_SNR: Final = 20.0
"""The signal-to-noise ratio in dB that outputs and gradients need by default."""
_PERTURBATION: Final = 2.0**-8
"""The relative size of the change of first weights from seed to seed."""

Signatures = Annotated[str, names("auto", "same", "scaled")]
Losses = list[list[float]]
"""The loss of each step, for each seed."""


@dataclass(frozen=True)
class CompareOptions(Checked):
    """The options of a comparison.

    Attributes:
        steps: The number of steps.
        carry: Whether results that are arguments of the next call are passed on to it.
        seeds: The number of runs, of which all but the first have other first weights.
        snr_db: The signal-to-noise ratio in dB that outputs and gradients need.
        signature: ``same``, ``scaled``, or ``auto``; see `Bench.asked`.
        profile: The profile of recipes of calibrated scales; by default, that of the inputs.
    """

    steps: Count = 1
    carry: bool = False
    seeds: Count = 1
    snr_db: float = LEAST_SNR
    signature: Signatures = "auto"
    profile: Profile | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Outcome:
    """The first step of a rewrite, compared with that of the original.

    Attributes:
        report: The report of the rewrite.
        errors: The errors of its float results.
        casts: The errors of matmuls and of their operands, by site and value.
        losses: The loss of each step of each seed; empty without a loss.
    """

    report: Report
    errors: list[ResultError]
    casts: Mapping[tuple[str, str], CastError]
    losses: list[list[float]]


def refuse_profile(profile: Profile | None, recipes: Iterable[Recipe]) -> None:
    """Refuses a profile that no recipe reads.

    Raises:
        UsageError: No recipe has calibrated scales.
    """
    if profile is not None and all(each.scaling.kind != "calibrated" for each in recipes):
        raise UsageError(
            "the profile has no effect: no recipe has calibrated scales",
            hint="take the recipe fp8-calibrated, or leave the profile out",
        )


class Bench:
    """A program with its inputs, and the runs of the original.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of the first step, and those of further steps.
        options: The options of the runs.

    Attributes:
        options: The options of the runs.
        name: The name of the program.
        hash: Its structural hash.
        roles: The roles of its arguments by their names.
        sites: The site of each matmul by the number of its op.
        matmuls: Its matmuls.

    Raises:
        InputError: The program is not valid, or was rewritten before.
        UsageError: The inputs do not fit it.
    """

    def __init__(
        self, program: Any, samples: Sequence[Sample], options: CompareOptions | None = None
    ) -> None:
        self.options = options or CompareOptions()
        self._runner = runner = Runner(program, samples, self.options.steps, again=False)
        self.name, self.hash, carry = runner.name, runner.hash, self.options.carry
        self._module, self._interface, self._values = runner.module, runner.interface, runner.values
        self._state = carried_state(self._module, self.name, required=carry)
        self._passed = self._state if carry else {}
        self._base = copy_module(self._module)
        number_ops(self._base, self.name)
        named = named_sites(self._base, self.name)
        self.roles, self.sites, self._rewritten, self.matmuls = named
        self._kinds = kinds_of(self._module, self._interface, self._state, self.roles)

    @cached_property
    def kinds(self) -> list[ResultKind]:
        """The float results, with those marked that are rounding noise in the original.

        Raises:
            InputError: No number in those by which recipes are judged is finite.
        """
        values = self._values[0]
        near = _other_last_bits(values)
        again = self.original.step(near).values
        kinds = without_noise(self._kinds, (self.first, again), (values, near))
        by = [self.first[each.number] for each in kinds if each.kind in judged(kinds)]
        finite = [np.isfinite(array.astype(np.complex128)).any() for array in by if array.size]
        if finite and not any(finite):
            raise InputError(
                "no number in the results of the original is finite, so that no error can be seen",
                location=self.name,
                hint="`scalify-hlo bisect-nan` finds the op that makes the first NaN or infinity",
            )
        return kinds

    @property
    def takes_pairs(self) -> bool:
        """Whether rewrites may keep state as pairs: there is some, and one device has all of it."""
        return self.has_state and not divides(self._module)

    @property
    def has_state(self) -> bool:
        """Whether the program keeps weights or moments between steps."""
        return any(each.argument is not None for each in self._kinds) and any(
            role in STATE_ROLES for role in self.roles.values()
        )

    @cached_property
    def loss(self) -> ResultKind | None:
        """The result that is the loss; None without one."""
        return loss_of(self.kinds)

    def train(self, steps: int) -> None:
        """Lets losses be those of so many steps that pass on their state."""
        self.options = replace(self.options, steps=steps, carry=True)
        self._passed = self._state

    @cached_property
    def _inputs(self) -> list[list[list[Array]]]:
        """The inputs of all steps, for each seed."""
        return [self._seeded(seed) for seed in range(self.options.seeds)]

    def _seeded(self, seed: int) -> list[list[Array]]:
        """Returns the inputs of all steps with other first weights, but for the seed 0."""
        if not seed:
            return self._values
        rng = np.random.default_rng(seed)
        weights = {name for name, role in self.roles.items() if role == "weight"}
        tensors = self._interface.arguments
        chosen = [t.inexact and (t.name in weights or not weights) for t in tensors]
        factors = [
            1 + _PERTURBATION * rng.standard_normal(t.shape) if chosen_ else None
            for t, chosen_ in zip(tensors, chosen, strict=True)
        ]
        return [
            [
                array if factor is None else (array * factor).astype(array.dtype)
                for array, factor in zip(values, factors, strict=True)
            ]
            for values in self._values
        ]

    @cached_property
    def original(self) -> Session:
        """The steps of the original."""
        return self._runner.session(self._module)

    @cached_property
    def first(self) -> list[Array]:
        """The results of the first step of the original."""
        return self.original.step(self._values[0]).values

    @property
    def decrease(self) -> float | None:
        """The share of its loss that a step takes away, by the loss of a next step on its inputs.

        It is negative if the loss grows. It is None without a loss or weights among the results, or
        if the loss does not change or is not finite.
        """
        names = [tensor.name for tensor in self._interface.arguments]
        weights = {n for n, name in enumerate(names) if self.roles.get(name) == "weight"}
        if self.loss is None or weights.isdisjoint(self._state.values()):
            return None
        first = self.original.step(self._values[0])
        steps = first, self.original.step(self._values[0], first, self._state)
        before, after = (_number(step, self.loss) for step in steps)
        change = (before - after) / abs(before) if before else math.nan
        return change if change and math.isfinite(change) else None

    @cached_property
    def losses(self) -> Losses:
        """The losses of the original; nothing without a loss."""
        return self._losses(self.original)

    def _losses(self, session: Session, first: Step | None = None) -> Losses:
        """Returns the loss of each step of a program, for each seed.

        Args:
            session: The program.
            first: Its first step, if that was run.
        """
        if self.loss is None:
            return []
        count = self.options.steps
        if first is not None and count == self.options.seeds == 1:
            return [[_number(first, self.loss)]]
        return [
            [_number(step, self.loss) for step in session.steps(seed, count, self._passed)]
            for seed in self._inputs
        ]

    def asked(self, recipe: Recipe) -> Options:
        """Returns the options of a rewrite by a recipe.

        With the signature ``auto``, it is scaled if the recipe keeps state in low precision, which
        only pairs of data and scale can hold. A profile is that of calibrated scales.
        """
        own, pairs = self.options, recipe.state.narrow and self.takes_pairs
        scaled = own.signature == "scaled" or (own.signature == "auto" and pairs)
        seen = own.profile if recipe.scaling.kind == "calibrated" else None
        return Options(recipe, "scaled" if scaled else "same", profile=seen)

    def profiled(self, options: Options) -> Options:
        """Returns options with a profile of the inputs, if the recipe needs one and has none."""
        if options.recipe.scaling.kind != "calibrated" or options.profile is not None:
            return options
        return replace(options, profile=self._profile)

    @cached_property
    def _profile(self) -> Any:
        # The values are flat, as for a file, and not nested as for the call of an Exported.
        given = self._runner.program
        program = replace(given, module=copy_module(self._module), kind=Kind.EXPORTED)
        return replace(calibrate(program, self._values), program=self.hash)

    def measured(self, options: Options) -> Options:
        """Returns options with the scales of inputs measured, if the recipe depends on them."""
        recipe = options.recipe
        depends = recipe.narrow_data or recipe.predict != NONE
        if not depends or recipe.inputs.scale or options.signature == "scaled":
            return options
        found = scales_of(self._interface.arguments, self._values[0])
        return replace(options, input_scale=found | dict(options.input_scale))

    def outcome(self, options: Options, *, casts: bool = False) -> Outcome:
        """Runs a rewrite, and compares it with the original.

        Args:
            options: The options of the rewrite.
            casts: Whether the errors of casts are measured.

        Raises:
            InputError: The program cannot be rewritten, or cannot be run.
            UsageError: The options do not fit the program.
        """
        module = copy_module(self._base if casts else self._module)
        report = self._rewrite(module, replace(options, probe=casts))
        found = Casts()
        if casts:
            main = inline_numbered(module, self.name)
            with module.context, ir.Location.unknown():
                take_probes(main)
                found.measure(main, self._rewritten)
        session = self._runner.session(module, found.added.count)
        errors, step = self._compared(session)
        return Outcome(report, errors, found.errors(step.all), self._losses(session, step))

    def memory(self, device: Target, options: Options | None = None) -> int:
        """Returns the bytes that the original or a rewrite has in memory at the peak on a device.

        Args:
            device: The device, for which it is compiled.
            options: The options of the rewrite; None for the original.

        Raises:
            InputError: The program cannot be rewritten, or cannot be compiled.
        """
        module = copy_module(self._module)
        if options is not None:
            self._rewrite(module, options)
        return compile_program(module, device, name=self.name).peak

    def switched(self, options: Options) -> Switches:
        """Returns a rewrite of which each site is in low precision or wide; see `outcome`."""
        module = copy_module(self._module)
        report = self._rewrite(module, replace(options, switched=True))
        return Switches(self._runner, module, report)

    def outcome_at(self, switches: Switches, narrow: Container[str]) -> Outcome:
        """Runs a rewrite with only some sites in low precision, given by name; see `outcome`."""
        session = switches.session(narrow)
        errors, step = self._compared(session)
        return Outcome(switches.report_of(narrow), errors, {}, self._losses(session, step))

    def _rewrite(self, module: ir.Module, options: Options) -> Report:
        """Rewrites a copy of the program."""
        asked = for_module(self.measured(self.profiled(options)), self.hash, module)
        with located(self.name):
            return rewrite_module(module, replace(asked, listed=True))

    def _compared(self, session: Session) -> tuple[list[ResultError], Step]:
        """Runs the first step of a rewrite, and returns the errors of its float results."""
        if session.state:
            session.converge(self._values[0], forget=True)
        step = session.step(self._values[0])
        pairs = list(zip(self.first, step.values, strict=True))
        taken = list(zip(self._values[0], step.given, strict=True))
        errors = [
            error_of(each, pairs[each.number], None if i is None else taken[i])
            for each in self.kinds
            for i in [each.argument]
        ]
        return errors, step

    def backward(self) -> Backward:
        """Returns the backward pass of the original, by the numbers of its ops."""
        return backward_of(copy_module(self._base))

    def energies(self) -> Mapping[int, Energy]:
        """Runs the original, and returns the energies of its matmuls by the numbers of ops."""
        module = copy_module(self._base)
        main = inline_numbered(module, self.name)
        with module.context, ir.Location.unknown():
            added, numbers = measure_energies(main, self.sites)
        results = self._runner.compiled(module)(self._values[0])
        return energies_of(added.read(results), numbers)


def _number(step: Step, loss: ResultKind) -> float:
    """Returns the loss of a step."""
    return float(np.real(step.values[loss.number].reshape(-1)[0]))


def _other_last_bits(values: Sequence[Array]) -> list[Array]:
    """Returns inputs whose floats are multiplied by factors of 1 or about 2 ulps of f32 more."""
    rng = np.random.default_rng(0)
    return [
        (array * (1 + _ULPS * rng.integers(0, 2, array.shape))).astype(array.dtype)
        if is_inexact(array.dtype)
        else array
        for array in values
    ]


def require_one_step(command: str, samples: Sequence[Sample]) -> None:
    """Checks that there are inputs of one step only.

    Args:
        command: The name of the command in the error.
        samples: The inputs of steps.

    Raises:
        UsageError: There are inputs of several steps.
    """
    if len(samples) > 1:
        raise UsageError(
            f"{command} runs one step, and there are inputs of {len(samples)} steps",
            hint="give those of one step",
        )
