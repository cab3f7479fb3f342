"""Activations: ReLU, leaky ReLU, sigmoid, tanh, and inputs times gates: GELU, SiLU and others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import ml_dtypes
import numpy as np

from scalify_hlo.algebra.limits import ACTIVATION_SOURCES, ACTIVATION_SPREAD
from scalify_hlo.analysis.layers.graph import Graph, Node
from scalify_hlo.analysis.layers.match import Gradient, cone, incoming, sources, with_gradient
from scalify_hlo.analysis.layers.model import FORWARD, Layer
from scalify_hlo.analysis.layers.numbers import Array, close, erf, logistic
from scalify_hlo.analysis.layers.samples import Points
from scalify_hlo.analysis.layers.twins import Found, Twins
from scalify_hlo.dialect import traits

_POINTS: Final = np.array(
    [*np.linspace(-6.3, 6.4, 19), -0.51, -0.23, -0.011, 0.013, 0.27, 0.55, 11.3, -11.7]
)
"""The points at which functions are compared. 0 is none of them, as programs differ there."""

_KEYS: Final = frozenset(
    op.partition(".")[2]
    for op in traits.CHOICES
    | traits.SIGMOIDS
    | {"chlo.erf", "chlo.erfc"}
    | {"stablehlo.exponential", "stablehlo.maximum"}
)

_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Activation:
    """A function and its derivative at the points.

    Attributes:
        name: The name.
        values: The values of the function.
        slopes: The values of its derivative.
    """

    name: str
    values: Array
    slopes: Array


def _gelu_tanh(round_to: type) -> Activation:
    x = _POINTS
    c, k = (float(round_to(number)) for number in (math.sqrt(2 / math.pi), 0.044715))
    t = np.tanh(c * (x + k * x**3))
    slopes = 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * c * (1 + 3 * k * x**2)
    return Activation("gelu", 0.5 * x * (1 + t), slopes)


def _gelu_erf(round_to: type) -> Activation:
    x, c = _POINTS, float(round_to(math.sqrt(0.5)))
    cumulative = 0.5 * (1 + erf(c * x))
    slopes = cumulative + x * c / math.sqrt(math.pi) * np.exp(-((c * x) ** 2))
    return Activation("gelu", x * cumulative, slopes)


def _quick_gelu(round_to: type) -> Activation:
    x, c = _POINTS, float(round_to(1.702))
    s = logistic(c * x)
    return Activation("quick_gelu", x * s, s * (1 + c * x * (1 - s)))


def _by_products(x: Array) -> Iterator[Activation]:
    s, t = logistic(x), np.tanh(x)
    yield Activation("silu", x * s, s * (1 + x * (1 - s)))
    gate, plus = np.clip(x + 3, 0, 6) / 6, np.tanh(np.logaddexp(x, 0))
    yield Activation("hard_silu", x * gate, gate + x * (abs(x) < 3) / 6)
    yield Activation("mish", x * plus, plus + x * (1 - plus**2) * s)
    yield Activation("relu", np.maximum(x, 0), np.where(x > 0, 1.0, 0.0))
    yield Activation("sigmoid", s, s * (1 - s))
    yield Activation("tanh", t, 1 - t**2)


_ROUNDINGS: Final[Mapping[str, tuple[type, ...]]] = {
    "bf16": (ml_dtypes.bfloat16, np.float32),
    "f16": (np.float16, np.float32),
}
"""The dtypes to which constants may be rounded, by the type of the elements."""


@cache
def activations_for(element_type: str) -> tuple[Activation, ...]:
    """Returns the activations, those first that contain others.

    Args:
        element_type: The element type of the data in MLIR.
    """
    roundings = _ROUNDINGS.get(element_type, (np.float32,))
    makers = (_gelu_tanh, _gelu_erf, _quick_gelu)
    gelus = [make(rounding) for make in makers for rounding in roundings]
    return (*gelus, *_by_products(_POINTS))


_ORDER: Final = (
    *("gelu", "quick_gelu", "silu", "hard_silu", "mish"),
    *("leaky_relu", "relu", "sigmoid", "tanh"),
)


def find(graph: Graph, inside: set[Node]) -> list[Layer]:
    """Returns the activations of a program.

    Args:
        graph: The program.
        inside: The values inside of other layers, to which those inside of activations are added.
    """
    layers: list[Layer] = []
    twins = Twins(graph, _at)
    for node in graph.nodes:
        if node.name in _KEYS and node not in inside and node.shape and _may_be(node):
            found = twins.at(node)
            layers += found.layers
            inside.update(found.inside)
    return layers


def _may_be(key: Node) -> bool:
    """Whether an op may be the key op of an activation."""
    if key.name == "maximum":
        return any(s.constant == 0 for s in key.inputs)
    if key.name == "clamp":
        return key.inputs[0].is_constant and key.inputs[2].is_constant
    if key.name == "select":
        tested = key.inputs[0]
        return tested.name.startswith("compare_") and any(s.is_constant for s in tested.inputs)
    return not key.is_constant


class _Spread:
    """The values that elementwise ops make of an input.

    Args:
        source: The input.
    """

    def __init__(self, source: Node) -> None:
        self.source = source
        self._activations = activations_for(source.element_type)
        self.points = Points(source, _POINTS)
        self.nodes = list(self.points.spread([source], ACTIVATION_SPREAD))

    def found(self, key: Node) -> tuple[Activation, Node] | None:
        """Returns the first activation that is computed with a key op, and its node; or None."""
        best: tuple[int, Activation, Node] | None = None
        for node in self.nodes:
            if node.index < key.index or (best is not None and best[0] == 0):
                continue
            activation = _named(self.points.arrays[node], self._activations)
            if activation is None:
                continue
            rank = _ORDER.index(activation.name)
            if best is None or rank < best[0]:
                best = rank, activation, node
        return best[1:] if best is not None else None


def _named(array: Array, activations: tuple[Activation, ...]) -> Activation | None:
    if array.shape != _POINTS.shape or array.dtype == bool:
        return None
    for activation in activations:
        if abs(array[-3] - activation.values[-3]) < 1e-4 and close(
            array, activation.values, _TOLERANCE, 1.0
        ):
            return activation
    return _leaky(array)


def _leaky(array: Array) -> Activation | None:
    x = _POINTS
    slope = float(array[0] / x[0])
    expected = np.where(x > 0, x, slope * x)
    if not 1e-4 < slope < 1 or not close(array, expected, _TOLERANCE, 1.0):
        return None
    return Activation("leaky_relu", expected, np.where(x > 0, 1.0, slope))


def _at(key: Node) -> Found:
    best: tuple[tuple[int, int], Activation, Node, _Spread] | None = None
    for source in sources(key, most=ACTIVATION_SOURCES):
        if source.is_constant or not source.shape:
            continue
        spread = _Spread(source)
        found = spread.found(key)
        if found is not None:
            rank = _ORDER.index(found[0].name), found[1].index
            if best is None or rank < best[0]:
                best = rank, *found, spread
    if best is None:
        return Found()
    _, activation, output, spread = best
    inside = cone(output, spread.source)
    if key not in inside or _is_cut(activation, output):
        return Found()
    also = _complements(activation, output)
    layer = Layer(activation.name, FORWARD, (spread.source,), output, also=also)
    gradient = _gradient(activation, spread.source, spread.points)
    return Found(with_gradient(layer, gradient), inside)


def _complements(activation: Activation, output: Node) -> tuple[Node, ...]:
    """Returns the values that are 1 - sigmoid(x), which is sigmoid(-x)."""
    if activation.name != "sigmoid":
        return ()
    minus = (u for u in output.users if u.name == "subtract" and u.inputs[1] is output)
    return tuple(u for u in minus if u.inputs[0].constant == 1)


def _is_cut(activation: Activation, output: Node) -> bool:
    """Whether a ReLU is clipped above, and therefore another function."""
    cut = (u for u in output.users if u.name == "minimum" and any(s.is_constant for s in u.inputs))
    return activation.name == "relu" and any(cut)


def _gradient(
    activation: Activation, source: Node, points: Points
) -> tuple[Node, bool, Node] | None:
    slopes = activation.slopes
    search = Gradient(points, lambda e: [e * slopes], _TOLERANCE, source.shape)
    for seed, _ in incoming(points):
        if seed.shape == source.shape:
            found = search.of(seed, Points(seed, np.ones_like(_POINTS), points), 60)
            if found is not None and found[0] is not seed:
                return (*found, seed)
    return None
