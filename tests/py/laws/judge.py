"""Runs a drawn step, original and rewritten, and says which law a rewrite breaks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo
from scalify_hlo import ScaledArray
from tests.py.laws.programs import KINDS, Kind, Results, Step, draw
from tests.py.shared.judge import program_of

GAP = 0.02
"""The most by which losses after training differ, over the first loss."""
SNR = 13.0
"""The least SNR in dB of updates and results under formats of 8 bits and more; under FP4, they are
not zero."""
HALF_STEP = 2**-3
"""The largest relative error of a number in E5M2, in which gradients are."""
LEAST = 2.0**-12
"""Stored numbers this much smaller than the largest one may be subnormal, with fewer bits."""
FAULTS = ("none", "none", "inf", "-inf", "nan", "label", "weight", "scale", "large")
"""What is planted: a number in one row of the inputs, 1e30 in the labels, an inf in a weight or in
the loss scale, or a loss scale that is larger by up to 2^24."""

FINITE = ("label", "large")
"""Faults that are numbers, which may saturate."""

HIDDEN = ("inf", "-inf", "weight")
"""Infinities that an activation may hide, such as relu(-inf). E4M3 has none, and so they become NaN
there, which nothing hides."""


@dataclass(frozen=True)
class Way:
    """A way to rewrite: a recipe, a signature, and whether the sizes of inputs are declared."""

    recipe: str
    signature: str = "same"
    declared: bool = False

    @property
    def scaled(self) -> bool:
        """Whether arguments and results are pairs."""
        return self.signature == "scaled"

    def __str__(self) -> str:
        return f"{self.recipe} {self.signature}{' declared' if self.declared else ''}"


PREDICTING = ("bf16", "fp16", "fp8", "unit")
STORING = ("fp16-state", "fp8-state", "fp8-state8")
MEASURING = ("fp8-current", "fp8-delayed", "fp8-calibrated", "mxfp8", "fp8-block")
FP4 = ("nvfp4", "mxfp4")
KEEPING = ("fp8-delayed", "fp8-calibrated")
"""Recipes whose scales are those of earlier values: larger ones saturate."""
BLOCKS = ("mxfp8", "fp8-block", *FP4)
"""Recipes whose blocks, which are parts of rows, are NaN if one number of them is not finite."""
IN_8_BITS = ("fp8", "unit", "fp8-state", "fp8-state8", *MEASURING)
"""Recipes that round as coarsely as the inputs of `_is_sensitive` are changed."""
WAYS: tuple[Way, ...] = (
    Way("propagate"),
    Way("propagate", "scaled"),
    *(Way(recipe) for recipe in PREDICTING),
    *(Way(recipe, declared=True) for recipe in PREDICTING),
    *(Way(recipe, "scaled") for recipe in PREDICTING + STORING),
    *(Way(recipe) for recipe in MEASURING + FP4),
    Way("fp8-current", "scaled"),
)
_CURRENT = Way("fp8-current")


@dataclass(frozen=True)
class Finding:
    """A law that a rewrite breaks.

    Attributes:
        law: The number of the law; 0 if the rewrite ends with an error.
        message: What is wrong.
    """

    law: int
    message: str


def planted(step: Step, fault: str, random: Random) -> tuple[Any, ...]:
    """The arguments of a step, with a fault."""
    args = list(step.args)
    labels = step.inputs if step.rows >= 0 else step.inputs + 1
    places = {"weight": 0, "label": labels, "scale": step.scale, "large": step.scale}
    place = places.get(fault, step.inputs)
    leaves, tree = jax.tree.flatten(args[place])
    floats = [
        i for i, leaf in enumerate(leaves) if np.issubdtype(np.asarray(leaf).dtype, np.floating)
    ]
    if fault == "none" or place < 0 or not floats:
        return step.args
    which = random.choice(floats)
    leaf = np.array(leaves[which])
    if fault == "large":
        leaf *= 2.0 ** random.randint(1, 24)
    else:
        planted = {"label": 1e30, "weight": np.inf, "scale": np.inf}.get(fault) or float(fault)
        leaf.reshape(-1)[random.randrange(leaf.size)] = planted
    leaves[which] = leaf
    args[place] = jax.tree.unflatten(tree, leaves)
    return tuple(args)


def plain(results: Results) -> Results:
    """Results as NumPy arrays: pairs as data times scale."""

    def value(leaf: Any) -> Any:
        return np.asarray(scalify_hlo.asarray(leaf) if isinstance(leaf, ScaledArray) else leaf)

    made: Results = jax.tree.map(value, results, is_leaf=lambda leaf: isinstance(leaf, ScaledArray))
    return made


STORED = "numbers that float8_e4m3fn cannot hold"
"""The refusal of the first call for state with an infinity, in a format without one."""


class Subject:
    """A drawn step, exported and compiled once for all ways to rewrite it.

    Args:
        step: The step.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        self._runs: dict[str, Results] = {}

    @cached_property
    def exported(self) -> jax.export.Exported:
        """The exported step."""
        return program_of(self.step.step, *self.step.args)

    def original(self, args: tuple[Any, ...], key: str) -> Results:
        """The results of the original, run once for each fault."""
        if key not in self._runs:
            self._runs[key] = plain(self._call(*args))
        return self._runs[key]

    @cached_property
    def _call(self) -> Callable[..., Any]:
        return jax.jit(self.step.step)

    @cached_property
    def scales(self) -> Mapping[str, float]:
        """The measured scales of the inputs."""
        return scalify_hlo.measured_scales(self.exported, *self.step.args)

    @cached_property
    def profile(self) -> Any:
        """A profile of the matmul operands."""
        return scalify_hlo.calibrate(self.exported, [self.step.args])

    def run(self, way: Way, args: tuple[Any, ...]) -> tuple[Results, Any]:
        """Rewrites and runs the step.

        Returns:
            Its results, and the report.
        """
        program, call, report = self._rewritten(way)
        if way.scaled:
            return plain(call(*scalify_hlo.scaled_state(program, args))), report
        if way.recipe == "fp8-delayed":
            state = scalify_hlo.init_scaling_state(program, *self.step.args)
            return plain(call(*args, state)[0]), report
        return plain(call(*args)), report

    def train(self, way: Way | None, steps: int) -> list[float]:
        """The losses of some steps; of the original if there is no way to rewrite it."""
        args = list(self.step.args)
        if way is None:
            call, state = self._call, None
        else:
            program, call, _ = self._rewritten(way)
            if way.scaled:
                args = list(scalify_hlo.scaled_state(program, self.step.args))
            state = None
            if way.recipe == "fp8-delayed":
                state = scalify_hlo.init_scaling_state(program, *self.step.args)
        losses = []
        for _ in range(steps):
            results = call(*args) if state is None else call(*args, state)
            if state is not None:
                results, state = results
            args[0] = results["new"]
            if "state" in results:
                args[1] = results["state"]
            losses.append(float(np.mean(plain({"loss": results["loss"]})["loss"])))
        return losses

    def grains(self, way: Way) -> list[float]:
        """The distance of numbers next to 1 in which each weight is stored; 0 if it is in f32."""
        weights = jax.tree.leaves(self.step.args[0])
        if not way.scaled:
            return [0.0] * len(weights)
        program, _, _ = self._rewritten(way)
        kept = jax.tree.leaves(
            scalify_hlo.scaled_state(program, self.step.args)[0],
            is_leaf=lambda leaf: isinstance(leaf, ScaledArray),
        )
        types = [np.asarray(k.data if isinstance(k, ScaledArray) else k).dtype for k in kept]
        return [0.0 if t == np.float32 else float(jnp.finfo(t).eps) for t in types]

    @lru_cache(maxsize=64)  # noqa: B019 - a subject is dropped with its programs
    def _rewritten(self, way: Way) -> tuple[Any, Callable[..., Any], Any]:
        options: dict[str, Any] = {"input_scale": self.scales} if way.declared else {}
        if way.recipe == "fp8-calibrated":
            options["profile"] = self.profile
        program, report = scalify_hlo.rewrite(
            self.exported, recipe=way.recipe, signature=way.signature, report=True, **options
        )
        return program, jax.jit(program.call), report


def findings(subject: Subject, way: Way, fault: str, seed: str) -> Iterator[Finding]:
    """Yields the laws that a rewrite of a step breaks.

    Args:
        subject: The step.
        way: How it is rewritten.
        fault: What is planted in its arguments.
        seed: Says where it is planted.
    """
    step = subject.step
    args = planted(step, fault, Random(seed))
    wanted = subject.original(args, fault + seed)
    try:
        found, _ = subject.run(way, args)
        grains = subject.grains(way)
    except Exception as error:  # each is a finding
        if fault in HIDDEN and STORED in str(error):
            return
        yield Finding(0, f"{type(error).__name__}: {str(error)[:300]}")
        return
    yield from _own_casts(step, way, found)
    half = way.scaled and "float16" in step.kind
    if fault == "large" and half and not wanted.get("applied", True) and found["applied"]:
        args = step.args
        wanted = subject.original(args, f"none{seed}")
    if "applied" in wanted and bool(wanted["applied"]) != bool(found["applied"]):
        hidden = fault in HIDDEN and wanted["applied"]
        in_range = way.scaled and found["applied"]  # Data near unit, which do not overflow.
        saturates = fault in FINITE and (way.recipe in KEEPING or in_range)
        if not (hidden or saturates or _is_near_overflow(subject, args)):
            told = f"applied {bool(found['applied'])}, and {bool(wanted['applied'])} as it was"
            yield Finding(3, told)
        return
    clipped = fault in HIDDEN and bool(np.isfinite(wanted.get("loss", np.inf)).all())
    overflows = fault in FINITE or clipped
    overflows = overflows or not _is_finite(subject.original(step.args, f"none{seed}"))
    if step.formats and overflows:
        return  # Its own casts overflow, and a last bit decides where.
    if fault == "label" and way.scaled and step.rows >= 0:
        return  # The scale of the inputs is 2^95 then, and scales of arguments are within 2^±25.
    yield from _finite(step, wanted, found, fault, spreads=way.recipe in BLOCKS)
    if fault not in ("none", "large") and not step.members and step.rows < 0:
        return  # All updates depend on what was planted.
    if fault in FINITE and (way.recipe in KEEPING or step.rows >= 0):
        return  # A finite outlier saturates, or takes the range of what has one scale with it.
    if _rounds_data(step, way):
        return  # Values that the original flushes are there, and cotangents are rounded too.
    for name, before, wide, narrow in _compared(step, args, wanted, found, grains):
        snr = _snr(wide - before, narrow - before)
        if step.formats and np.array_equal(wide, before):
            continue  # Its own casts flush it all.
        zero = snr < SNR and bool((wide != before).any()) and np.array_equal(narrow, before)
        if snr < SNR and step.rows >= 0 and fault != "none":
            _, _, wide, narrow = _row(subject, way, name)
            snr = np.inf if _snr(wide, narrow) < snr + 1 else snr  # It was so without the fault.
        if snr < SNR and not (
            (way != _CURRENT and _as_current(subject, args, name, snr))
            or (not zero and way.recipe in FP4)
            or (not zero and way.recipe in IN_8_BITS and _is_sensitive(subject, args, name, snr))
        ):
            yield Finding(4 if step.members or step.rows >= 0 else 2, f"{name}: {snr:.1f} dB")


def gap(subject: Subject, way: Way, steps: int) -> float | None:
    """How much a rewrite trains otherwise: the last losses' difference over the first loss.

    Returns:
        The gap; None if the original does not learn. A program whose own casts round data in place
        of values may train better.
    """
    wanted, found = subject.train(None, steps), subject.train(way, steps)
    if not wanted[-1] < 0.98 * wanted[0]:
        return None
    away = (found[-1] - wanted[-1]) / wanted[0]
    return max(away, 0.0) if _rounds_data(subject.step, way) else abs(away)


def _as_current(subject: Subject, args: tuple[Any, ...], name: str, snr: float) -> bool:
    """Whether FP8 with measured scales is not better than this."""
    wanted = plain(subject._call(*args))
    found, _ = subject.run(_CURRENT, args)
    for other, before, wide, narrow in _compared(subject.step, args, wanted, found):
        if other == name:
            return _snr(wide - before, narrow - before) < max(snr + 1, 0)
    return False


def _row(subject: Subject, way: Way, name: str) -> tuple[str, Any, Any, Any]:
    """A row of the results without a fault, as `_compared` yields it."""
    args = subject.step.args
    found, _ = subject.run(way, args)
    rows = _compared(subject.step, args, plain(subject._call(*args)), found)
    return next(row for row in rows if row[0] == name)


def _is_sensitive(subject: Subject, args: tuple[Any, ...], name: str, snr: float) -> bool:
    """Whether the original is not nearer to itself with floats that FP8 could have rounded."""
    random = np.random.default_rng(0)

    def rounded(leaf: Any) -> Any:
        leaf = np.asarray(leaf)
        if not leaf.ndim or not np.issubdtype(leaf.dtype, np.floating):
            return leaf
        return (leaf * (1 + HALF_STEP * random.uniform(-1, 1, leaf.shape))).astype(leaf.dtype)

    near: tuple[Any, ...] = tuple(jax.tree.map(rounded, args))
    wanted, found = (plain(subject._call(*each)) for each in (args, near))
    updates = (dict(_updates(subject.step, *both)) for both in ((args, wanted), (near, found)))
    wide, narrow = (each[name] for each in updates)
    return _snr(wide, narrow) < snr + 1


def _updates(step: Step, args: tuple[Any, ...], results: Results) -> Iterator[tuple[str, Any]]:
    for name, before, after, _ in _compared(step, args, results, results):
        yield name, after - before


def _own_casts(step: Step, way: Way, found: Results) -> Iterator[Finding]:
    """Checks law 1: the program's own casts round what they read as they did."""
    pairs = _rounds_data(step, way)
    operands, rounded = found.get("operands", ()), found.get("rounded", ())
    for i, (format_, x, y) in enumerate(zip(step.formats, operands, rounded, strict=True)):
        made = cast_by(format_, x)
        same = (made == y) | (np.isnan(made) & np.isnan(y))
        if pairs:  # Data are rounded where both are normal numbers of the format.
            same |= ~_normal(format_, x)
        if not same.all():
            at = np.argwhere(~same)[0]
            read, got, want = (a[tuple(at)] for a in (x, y, made))
            yield Finding(1, f"cast {i} ({format_}): {read!r} became {got!r} for {want!r}")


def _rounds_data(step: Step, way: Way) -> bool:
    """Whether the program's own casts round data in place of values: it is given pairs."""
    return bool(step.formats) and way.scaled and way.recipe == "propagate"


def cast_by(format_: str, x: Any) -> Any:
    """Rounds as the program does, by XLA."""
    if format_.startswith("reduce_precision"):
        _, exponent, mantissa = format_.split()
        return np.asarray(jax.lax.reduce_precision(jnp.asarray(x), int(exponent), int(mantissa)))
    source, target = format_.split()
    return np.asarray(jnp.asarray(x).astype(source).astype(target).astype(jnp.float32))


def _normal(format_: str, x: Any) -> Any:
    if format_.startswith("reduce_precision"):
        return np.zeros(x.shape, bool)
    info = jnp.finfo(format_.split()[1])
    small, size = float(info.smallest_normal), np.abs(x)
    if size.size and np.isfinite(size.max()):  # Its data are as much smaller as it is too large.
        small *= max(float(size.max() / float(info.max)), 1.0) * 2
    return (size >= small * 2) & (size <= float(info.max) / 2)


def _is_near_overflow(subject: Subject, args: tuple[Any, ...]) -> bool:
    """Whether the original overflows at twice the loss scale, and not at half of it."""
    at = subject.step.scale
    if at < 0:
        return False
    near = [
        subject._call(*args[:at], args[at] * np.float32(factor), *args[at + 1 :])["applied"]
        for factor in (0.5, 2.0)
    ]
    return bool(near[0]) != bool(near[1])


def _finite(
    step: Step, wanted: Results, found: Results, fault: str, *, spreads: bool
) -> Iterator[Finding]:
    """Checks laws 2 and 3: finite stays finite, and what is not stays so.

    Where infinities become NaN, a comparison with 0 hides single elements of a gradient; others are
    not finite still.
    """
    for (path, wide), narrow in zip(
        jax.tree_util.tree_leaves_with_path(_values(wanted)),
        jax.tree.leaves(_values(found)),
        strict=True,
    ):
        if not jnp.issubdtype(wide.dtype, jnp.inexact):
            continue
        name, before, after = jax.tree_util.keystr(path), np.isfinite(wide), np.isfinite(narrow)
        if (before & ~after).any() and fault not in HIDDEN and not (spreads and fault == "nan"):
            yield Finding(2, f"{name}: {(before & ~after).sum()} of {wide.size} are finite no more")
        parts = (step.members or 1, -1) if fault in HIDDEN and step.rows < 0 else (-1, 1)
        gone = (~before & after).reshape(parts).any(-1)
        if fault in HIDDEN:
            gone &= after.reshape(parts).all(-1)
        if gone.any():
            yield Finding(3, f"{name}: {(~before & after).sum()} of {wide.size} became finite")


def _is_finite(results: Results) -> bool:
    leaves = (a for a in jax.tree.leaves(_values(results)) if jnp.issubdtype(a.dtype, jnp.inexact))
    return all(np.isfinite(leaf).all() for leaf in leaves)


def _values(results: Results) -> Results:
    return {k: v for k, v in results.items() if k not in ("operands", "rounded", "applied")}


def _compared(
    step: Step, args: tuple[Any, ...], wanted: Results, found: Results, grains: Sequence[float] = ()
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yields name, value before, original and rewritten, of what has to be near the original.

    What is as near as the format in which weights are stored allows counts as the original.
    """
    old = jax.tree.leaves(args[0]) if "loss" in wanted else None
    wide, narrow = (jax.tree_util.tree_leaves_with_path(r["new"]) for r in (wanted, found))
    for i, ((path, a), (_, b)) in enumerate(zip(wide, narrow, strict=True)):
        name = f"new{jax.tree_util.keystr(path)}"
        before = np.zeros_like(a) if old is None else old[i]
        if grains and grains[i]:
            step_of = np.maximum(
                np.maximum(np.abs(a), np.abs(before)), LEAST * np.abs(before).max()
            )
            b = np.where(np.abs(a - b) <= 1.5 * grains[i] * step_of, a, b)  # Rounded twice.
        parts = range(step.members or (len(a) if step.rows >= 0 else 1))
        for part in parts:
            one = slice(None) if len(parts) == 1 else slice(part, part + 1)
            cut, was, now = (np.asarray(v[one], np.float64) for v in (before, a, b))
            yield f"{name} {part}", cut, was, now


def _snr(wide: Any, narrow: Any) -> float:
    """The SNR of the finite elements in dB; infinite if there is nothing to compare."""
    with np.errstate(all="ignore"):
        keep = np.isfinite(wide) & np.isfinite(narrow)
        power, error = np.sum(wide[keep] ** 2), np.sum((wide[keep] - narrow[keep]) ** 2)
        if not keep.any() or not power or not error:
            return np.inf if not error else -np.inf
        return float(10 * np.log10(power / error))


def subject(seed: str, kinds: Sequence[Kind] = KINDS) -> Subject:
    """Draws a step of one of some kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Subject(draw(seed, kinds))
