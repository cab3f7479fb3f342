"""Runs a program and its rewrites on the same inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.choose.casts import Cast, CastError, count_of, errors_of, measure_casts
from scalify_hlo.choose.cotangents import Backward, backward_of
from scalify_hlo.choose.delayed import COUNT, first_state, tensors_of
from scalify_hlo.choose.energies import Energy, energies_of, measure_energies
from scalify_hlo.choose.preparation import (
    carried_results,
    flat_inputs,
    inline_and_erase_probes,
    name_arguments,
    named_sites,
)
from scalify_hlo.choose.results import ResultError, ResultKind, error_of, kinds_of, without_noise
from scalify_hlo.choose.running import Rewritten, Running, Step
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import InputError
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.tensors import Array, Interface, interface, is_inexact
from scalify_hlo.io.wellformed import located
from scalify_hlo.observe.feeding import Feeding
from scalify_hlo.observe.numbering import number_ops
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.record import refuse_rewritten
from scalify_hlo.recipes.model import NONE, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.report.totals import STATE_ROLES
from scalify_hlo.run.calibration import calibrate
from scalify_hlo.run.check import Run, compile_module, match
from scalify_hlo.run.given import Sample, exported_of, readable
from scalify_hlo.run.input_scales import scales_of
from scalify_hlo.run.many_devices import divides, run_on_devices
from scalify_hlo.run.refinement import refined

_ULPS: Final = 2.0**-22
_HINT: Final = "give the program as it is exported for the CPU"


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


class Bench:
    """A program with its inputs, and the runs of the original.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of the first step, and those of further steps.
        steps: The number of steps.
        carry: Whether results that are arguments of the next call are passed on to it.

    Attributes:
        name: The name of the program.
        hash: Its structural hash.
        roles: The roles of its arguments by their names.
        sites: The site of each matmul by the number of its op.

    Raises:
        InputError: The program is not valid, or was rewritten before.
        UsageError: The inputs do not fit it.
    """

    def __init__(
        self, program: Any, samples: Sequence[Sample], *, steps: int = 1, carry: bool = False
    ) -> None:
        self._read = read = readable(program)
        self.name, self._exported = read.name, exported_of(program) or read.exported
        refuse_rewritten(read.module, self.name)
        self.hash = structural_hash(read.module)
        self._steps = steps
        described = interface(read.module, self.name, dynamic=True)
        self._values = flat_inputs(described, exported_of(program), samples)
        module = copy_module(read.module)
        if not all(tensor.static for tensor in described.arguments):
            module = refined(module, [array.shape for array in self._values[0]])
            name_arguments(module, [tensor.name for tensor in described.arguments])
        self._module, self._interface = module, interface(module, self.name)
        self._divided = divides(module)
        state = carried_results(module, self.name, required=carry)
        self._state, self._passed = state, state if carry else {}
        self._base = copy_module(module)
        with located(self.name):
            run_passes(self._base, [NormalizePass()])
        with self._base.context, ir.Location.unknown():
            number_ops(self._base.operation)
        self.roles, self.sites, self._rewritten = named_sites(self._base, self.name)
        self._kinds = kinds_of(module, self._interface, state, self.roles)

    @cached_property
    def kinds(self) -> list[ResultKind]:
        """The float results, with those marked that are rounding noise in the original."""
        values = self._values[0]
        near = _other_last_bits(values)
        again = self.original.step(near).values
        return without_noise(self._kinds, (self.first, again), (values, near))

    @property
    def takes_pairs(self) -> bool:
        """Whether rewrites may keep state as pairs: there is some, and one device has all of it."""
        return self.has_state and not self._divided

    @property
    def has_state(self) -> bool:
        """Whether the program keeps weights or moments between steps."""
        return any(each.argument is not None for each in self._kinds) and any(
            role in STATE_ROLES for role in self.roles.values()
        )

    def seeded(self, seed: int, size: float) -> list[list[Array]]:
        """Returns the inputs of all steps with other first weights.

        Args:
            seed: The seed; 0 for the inputs as they are.
            size: The standard deviation of the factors, less 1, with which weights are multiplied.
        """
        if not seed:
            return self._values
        rng = np.random.default_rng(seed)
        weights = {name for name, role in self.roles.items() if role == "weight"}
        tensors = self._interface.arguments
        chosen = [t.inexact and (t.name in weights or not weights) for t in tensors]
        factors = [
            1 + size * rng.standard_normal(t.shape) if chosen_ else None
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
    def original(self) -> Running:
        """The compiled original."""
        same = Feeding.same(self._interface, self._passed)
        return Running(self._compiled(copy_module(self._module)), same)

    @cached_property
    def first(self) -> list[Array]:
        """The results of the first step of the original."""
        return self.original.step(self._values[0]).values

    def decrease(self, loss: ResultKind | None) -> float | None:
        """Returns the share of its loss that a step takes away.

        Args:
            loss: The result that is the loss, of the first step and of the next one on its inputs.

        Returns:
            The share; negative if the loss grows. None without a loss or weights among the results,
            or if the loss does not change or is not finite.
        """
        weights = {n for n, t in enumerate(self._interface.arguments) if self._is_weight(t.name)}
        if loss is None or weights.isdisjoint(self._state.values()):
            return None
        running = self.original.carrying(self._state)
        first = running.step(self._values[0])
        steps = first, running.step(self._values[0], first)
        before, after = (float(np.real(s.values[loss.number].reshape(-1)[0])) for s in steps)
        change = (before - after) / abs(before) if before else math.nan
        return change if change and math.isfinite(change) else None

    def _is_weight(self, argument: str) -> bool:
        return self.roles.get(argument) == "weight"

    def losses(self, running: Running, loss: ResultKind | None, seeds: Iterable[Seed]) -> Losses:
        """Returns the loss of each step of each seed; nothing without a loss.

        Args:
            running: A program.
            loss: The result that is the loss.
            seeds: The inputs of each seed.
        """
        if loss is None:
            return []
        return [
            [float(np.real(step[loss.number].reshape(-1)[0])) for step in self._all(running, seed)]
            for seed in seeds
        ]

    def _all(self, running: Running, values: Seed) -> Iterable[list[Array]]:
        """Yields the results of each step."""
        last: Step | None = None
        for number in range(self._steps):
            last = running.step(values[number % len(values)], last)
            yield last.values

    def profiled(self, options: Options) -> Options:
        """Returns options with a profile of the inputs, if the recipe needs one and has none."""
        if options.recipe.scaling.kind != "calibrated" or options.profile is not None:
            return options
        return replace(options, profile=self._profile)

    @cached_property
    def _profile(self) -> Any:
        module = copy_module(self._module)
        program = replace(self._read, module=module, exported=self._exported)
        return replace(calibrate(program, self._values), program=self.hash)

    def measured(self, options: Options) -> Options:
        """Returns options with the scales of inputs measured, if the recipe depends on them."""
        recipe = options.recipe
        depends = recipe.narrow_data or recipe.predict != NONE
        if not depends or recipe.inputs.scale or options.signature == "scaled":
            return options
        found = scales_of(self._interface.arguments, self._values[0])
        return replace(options, input_scale=found | dict(options.input_scale))

    def rewritten(self, options: Options, *, casts: bool = False) -> Rewritten:
        """Returns a compiled rewrite.

        Args:
            options: The options of the rewrite.
            casts: Whether the errors of casts are measured.

        Raises:
            InputError: The program cannot be rewritten, or cannot be run.
            UsageError: The options do not fit the program.
        """
        module = copy_module(self._base if casts else self._module)
        asked = replace(self.measured(self.profiled(options)), listed=True, probe=casts)
        if asked.profile is not None:
            asked.profile.require(self.hash)
            here = replace(asked.profile, program=structural_hash(module))
            asked = replace(asked, profile=here)
        with located(self.name):
            report = rewrite_module(module, asked)
        found = self._instrumented(module) if casts else []
        return Rewritten(report, self._running(module, found), found)

    def _instrumented(self, module: ir.Module) -> list[Cast]:
        with module.context, ir.Location.unknown():
            main = inline_and_erase_probes(module)
            return [] if main is None else measure_casts(main, self._rewritten)

    def backward(self) -> Backward:
        """Returns the backward pass of the original, by the numbers of its ops."""
        return backward_of(copy_module(self._base))

    def energies(self) -> Mapping[int, Energy]:
        """Runs the original, and returns the energies of its matmuls by the numbers of ops."""
        module = copy_module(self._base)
        with module.context, ir.Location.unknown():
            main = inline_and_erase_probes(module)
            numbers = [] if main is None else measure_energies(main, self.sites)
        fed = Feeding.same(self._interface, {}).first(self._values[0])
        return energies_of(numbers, self._compiled(module)(fed))

    def _running(self, module: ir.Module, casts: Sequence[Cast]) -> Running:
        after = interface(module, self.name)
        about = tensors_of(module)
        added = count_of(casts)
        state = COUNT if about is not None else 0
        taken = after.arguments[: len(after.arguments) - state]
        given = after.results[: len(after.results) - state - added]
        matched = match(self._interface, Interface(taken, given), self.name)
        running = Running(self._compiled(module), Feeding(matched, self._passed))
        if about is not None:
            length = after.arguments[-COUNT].shape[0]
            running.settle(self._values[0], lambda run: first_state(about, length, run))
        return running

    def _compiled(self, module: ir.Module) -> Run:
        if not self._divided:
            return compile_module(module, self.name, hint=_HINT)
        arguments = interface(module, self.name).arguments
        if len(arguments) != len(self._interface.arguments):
            raise InputError(
                "a program that is divided by hand among devices is run with its own arguments "
                "only, and the recipe adds scales to them",
                location=self.name,
                hint="give --signature same, and no recipe of delayed scales",
            )
        return run_on_devices(self._exported, module, self.name)

    def outcome(
        self, rewritten: Rewritten, loss: ResultKind | None, seeds: Sequence[Seed]
    ) -> Outcome:
        """Runs a rewrite, and compares it with the original.

        Args:
            rewritten: The rewrite.
            loss: The result that is the loss.
            seeds: The inputs of each seed, of which the losses are returned.
        """
        running = rewritten.running
        step, fed = running.step(self._values[0]), self.original.feeding.first(self._values[0])
        before = {
            each.number: (fed[each.argument], step.fed[each.argument])
            for each in self.kinds
            if each.argument is not None
        }
        errors = [
            error_of(
                each,
                (self.first[each.number], step.values[each.number]),
                before.get(each.number),
            )
            for each in self.kinds
        ]
        casts = errors_of(rewritten.casts, step.all)
        return Outcome(rewritten.report, errors, casts, self.losses(running, loss, seeds))


def _other_last_bits(values: Sequence[Array]) -> list[Array]:
    """Returns inputs whose floats are multiplied by factors of 1 or about 2 ulps of f32 more."""
    rng = np.random.default_rng(0)
    return [
        (array * (1 + _ULPS * rng.integers(0, 2, array.shape))).astype(array.dtype)
        if is_inexact(array.dtype)
        else array
        for array in values
    ]


Seed = Sequence[Sequence[Array]]
"""The arguments of the original in each step."""

Losses = list[list[float]]
"""The loss of each step, for each seed."""


def options_for(recipe: Recipe, signature: str, *, pairs: bool) -> Options:
    """Returns the options of a rewrite.

    Args:
        recipe: The recipe.
        signature: ``same``, ``scaled``, or ``auto`` for ``scaled`` if the recipe keeps state in low
            precision, which only pairs of data and scale can hold.
        pairs: Whether the program may keep state as pairs.
    """
    scaled = signature == "scaled" or (signature == "auto" and recipe.state.narrow and pairs)
    return Options(recipe=recipe, signature="scaled" if scaled else "same")
