"""Normalizations: LayerNorm, RMSNorm, GroupNorm, InstanceNorm, and BatchNorm in training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo.algebra.limits import NORM_SPREAD, NORM_STEPS, NORM_USERS
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.traits import POWERS, SUMS, short
from scalify_hlo.layers import layout as layouts
from scalify_hlo.layers.graph import Graph, Node
from scalify_hlo.layers.layout import SAME, Layout
from scalify_hlo.layers.match import (
    cone,
    evaluated,
    gradient,
    sources,
    through,
    tolerance_of,
    with_gradient,
)
from scalify_hlo.layers.model import BACKWARD, FORWARD, Layer, Stage, finds
from scalify_hlo.layers.numbers import SUM, Array, Target, close, mean, spread_to
from scalify_hlo.layers.samples import EVALUATED, Samples
from scalify_hlo.layers.twins import Found, found_at

_KEYS: Final = short(POWERS)
"""The ops that compute a deviation or its inverse."""

_BIASED: Final = short(SUMS)
"""The ops that apply a bias."""


@dataclass(slots=True)
class _Norm:
    """A normalization whose statistics were found.

    Attributes:
        source: The input.
        samples: The samples of known values.
        axes: The axes of the statistics.
        normalized: The samples of the output without gain and bias.
        deviation: The samples of the inverse deviation.
        centerd: Whether the mean is subtracted.
        epsilon: The op that adds epsilon.
        layout: The layout of the input.
    """

    source: Node
    samples: Samples
    axes: tuple[int, ...]
    normalized: Array
    deviation: Array
    centerd: bool
    epsilon: Node | None
    layout: Layout
    gain: Node | None = None
    tolerance: float = 1e-5

    def mean(self, array: Array) -> Array:
        """Returns the mean over the axes of the statistics."""
        return mean(spread_to(array, self.normalized), self.axes)

    def target(self, array: Array) -> Target:
        """Returns the target with which values are compared."""
        return Target(array, self.tolerance)

    def gradients(self, outer: Array) -> list[Array]:
        """Returns the possible gradients of the input; that of the output may include the gain."""
        gains = [] if self.gain is None else [self.samples.arrays[self.gain]]
        return [self._gradient(outer * gain) for gain in [*gains, np.ones(())]]

    def _gradient(self, outer: Array) -> Array:
        made = outer - self.normalized * self.mean(outer * self.normalized)
        if self.centerd:
            made = made - self.mean(outer)
        return np.asarray(self.deviation * made)


@finds(Stage.SCALED)
def find(graph: Graph, inside: set[Node], _: Sequence[Layer]) -> list[Layer]:
    """Returns the normalizations of a program; see `Finder`."""
    operators = [node for node in graph.nodes if node.name.startswith("batch_norm")]
    layers = [layer for node in operators for layer in _operators(node)]
    return layers + found_at(graph, inside, lambda node: node.name in _KEYS, _at)


def _operators(node: Node) -> list[Layer]:
    """Yields StableHLO's own batch normalization ops, whose output is their first result."""
    if node.shape != node.inputs[0].shape:
        return []
    if node.name == "batch_norm_training":
        return [Layer("batch_norm", FORWARD, node.inputs[:1], node, epsilon=node)]
    if node.name == "batch_norm_grad":
        return [Layer("batch_norm", BACKWARD, node.inputs[-1:], node)]
    return []


def _at(key: Node) -> Found:
    last = _last_sum(key)
    found = _matched(key, last) if last is not None else None
    if found is None:
        return Found()
    norm, output = found
    layer = Layer(_name(norm), FORWARD, (norm.source,), output, epsilon=norm.epsilon)
    made = gradient(norm.samples, norm.gradients, norm.tolerance, norm.source.shape)
    inside = cone(output, norm.source) + cone(key, norm.source)
    return Found(with_gradient(layer, made), inside)


def _matched(key: Node, last: Node) -> tuple[_Norm, Node] | None:
    """Returns the normalization whose deviation a value is, and its output."""
    others = []
    for source in sources(key, last):
        norm = _statistics(key, source, last)
        if norm is None:
            continue
        if not norm.centerd:  # A LayerNorm is an RMSNorm of the input minus its mean.
            others.append(norm)
        elif (output := _output(norm)) is not None:
            return norm, output
    outputs = ((norm, _output(norm)) for norm in others)
    return next(((norm, output) for norm, output in outputs if output is not None), None)


def _last_sum(key: Node) -> Node | None:
    """Returns the sum from which a deviation is computed."""
    node = key
    for _ in range(NORM_STEPS):
        free = [s for s in node.inputs if not s.is_constant]
        if node.name == SUM:
            return node
        if not free or node.name not in EVALUATED:
            return None
        node = free[-1] if node.name == "select" else free[0]
    return None


def _statistics(key: Node, source: Node, last: Node) -> _Norm | None:
    """Returns the normalization of an input whose deviation a value is, or None."""
    operand = last.inputs[0]
    if not source.shape or min(*source.shape, *operand.shape) < 1:  # A size is dynamic or 0.
        return None
    base = layouts.fresh(operand.shape)
    layout = base if source.shape == operand.shape else layouts.regrouped(base, source.shape)
    if layout is None:
        return None
    samples = Samples(source, layout)
    if not evaluated(key, source, samples):
        return None
    known = samples.layouts.get(operand)
    if known is None:
        return None
    axes = tuple(1 + p.axis for d in last.dims for p in known[d] if p.axis != SAME)
    return _compared(key, source, samples, axes) if axes else None


def _compared(key: Node, source: Node, samples: Samples, axes: tuple[int, ...]) -> _Norm | None:
    array, epsilon = samples.arrays[source], _epsilon(key)
    offset = _number(epsilon)
    average, square = mean(array, axes), mean(array**2, axes)
    found = samples.arrays[key]
    inverse = 1 / found if key.name == "sqrt" else found
    tolerance = tolerance_of(source)
    for centerd in (True, False):
        deviation = 1 / np.sqrt(square - centerd * average**2 + offset)
        if inverse.shape == deviation.shape and close(inverse, deviation, tolerance):
            normalized = (array - centerd * average) * deviation
            layout = samples.layouts[source]
            return _Norm(
                *(source, samples, axes, normalized, deviation, centerd, epsilon),
                *(layout, None, tolerance),
            )
    return None


def _epsilon(key: Node) -> Node | None:
    """Returns the op that adds epsilon to the variance."""
    node = through(key.inputs[0])
    if node.name == "add" and any(s.is_constant for s in node.inputs):
        return node
    return None


def _number(epsilon: Node | None) -> float:
    if epsilon is None:
        return 0.0
    return next(s.constant for s in epsilon.inputs if s.constant is not None)


class _Forms:
    """The possible outputs of a layer, with the gain and the bias that are known so far.

    Args:
        norm: The normalization.
    """

    def __init__(self, norm: _Norm) -> None:
        self.norm = norm
        self.gain: Node | None = None
        self.bias: Node | None = None
        self._deviation = norm.target(norm.deviation)
        self._ranked = [(0, norm.target(norm.normalized))]
        self._gained: list[Target] = []

    def take(self, parameter: Node, *, is_gain: bool) -> None:
        """Sets the gain or the bias."""
        norm, known = self.norm, self.norm.samples.arrays
        if is_gain:
            self.gain = parameter
            average, gained = norm.mean(known[norm.source]), norm.deviation * known[parameter]
            self._gained = [norm.target(w) for w in (gained, average * gained, -average * gained)]
        else:
            self.bias = parameter
        made = [norm.normalized]
        if self.gain is not None:
            made.append(norm.normalized * known[self.gain])
        self._ranked = []
        for i, array in enumerate(made):
            self._ranked.append((i, norm.target(array)))
            if self.bias is not None:
                self._ranked.append((2 + i, norm.target(array + known[self.bias])))

    def rank(self, array: Array) -> int | None:
        """Returns the rank of a value: 0 without gain, 1 with gain, 2 with bias, 3 with both."""
        return next((rank for rank, target in self._ranked if _is_met(target, array)), None)

    def is_part(self, array: Array) -> bool:
        """Whether a value is the inverse deviation, perhaps times gain, or the mean times both."""
        deviation = self._deviation
        if array.shape == deviation.expected.shape and deviation.met_by(array):
            return True
        return any(_is_met(target, array) for target in self._gained)


def _is_met(target: Target, array: Array) -> bool:
    try:
        return target.met_by(array)
    except ValueError:  # Their shapes cannot be broadcast.
        return False


def _output(norm: _Norm) -> Node | None:
    """Returns the output of the layer, after its gain and its bias if it has them."""
    found: dict[int, Node] = {}
    forms, known = _Forms(norm), norm.samples

    def beyond(node: Node) -> Iterator[Node]:
        array = known.arrays[node]
        rank = forms.rank(array)
        if rank is not None and (node.shape == norm.source.shape or _has_axes(norm, node)):
            found.setdefault(rank, node)
        if rank is None and not forms.is_part(array):
            return
        for user in node.users:
            if known.array(user) is None and _admits(forms, node, user, rank):
                yield user
                yield from known.spread([user], NORM_USERS)

    starts = [norm.source, *known.spread([norm.source], NORM_SPREAD)]
    Search(starts, beyond, nearest=True).to_end()
    norm.gain = forms.gain if max(found, default=0) > 0 else None
    return found[max(found)] if found else None


def _has_axes(norm: _Norm, node: Node) -> bool:
    layout = norm.samples.layouts[node]
    return layouts.axes(layout) == layouts.axes(norm.layout)


def _admits(forms: _Forms, node: Node, user: Node, rank: int | None) -> bool:
    """Whether the other operand of an op is a gain or a bias, which is then noted."""
    is_gain = user.name == "multiply"
    if not is_gain and user.name not in _BIASED:
        return False
    norm, known = forms.norm, forms.norm.samples
    other = user.inputs[1] if user.inputs[0] is node else user.inputs[0]
    if is_gain and (forms.gain is not None or rank not in (None, 0)):
        return False
    if not is_gain and (
        forms.bias is not None or (rank is None and forms.gain is None) or rank in (2, 3)
    ):
        return False
    if known.array(other) is None:
        if math.prod(through(other).shape) >= math.prod(norm.source.shape):
            return False
        root = known.admit(other, _layout_of(norm, node))
        if root is None:
            return False
        forms.take(root, is_gain=is_gain)
    return known.evaluate(user)


def _layout_of(norm: _Norm, node: Node) -> Layout:
    """Returns the layout of a gain by which a value is multiplied."""
    known = norm.samples.layouts[node]
    for other, full in norm.samples.layouts.items():
        if len(full) == len(known) and layouts.axes(full) == layouts.axes(norm.layout):
            sizes = zip(node.shape, other.shape, strict=True)
            if all(mine in (1, whole) for mine, whole in sizes):
                return tuple(f if k else () for f, k in zip(full, known, strict=True))
    return known


def _name(norm: _Norm) -> str:
    """Returns the name of a normalization, by its axes and those of its gain."""
    if not norm.centerd:
        return "rms_norm"
    gone = {axis - 1 for axis in norm.axes}
    gain = layouts.axes(norm.samples.layouts[norm.gain]) if norm.gain is not None else frozenset()
    if gain and gain <= gone:
        return "layer_norm"
    taken_apart = any(
        not gone.isdisjoint(axes) and not axes <= gone
        for axes in (layouts.axes([dim]) for dim in norm.layout)
    )
    first, last = layouts.axes(norm.layout[:1]), layouts.axes(norm.layout[-1:])
    if taken_apart or (gain & gone and not first <= gain):
        return "group_norm"
    if gain & gone:
        return "layer_norm"
    every = layouts.axes(norm.layout)
    if first and first <= gone and every - gone:
        return "batch_norm"
    return "layer_norm" if not gain and last <= gone else "instance_norm"
