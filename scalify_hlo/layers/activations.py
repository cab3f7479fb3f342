"""Activations: ReLU, leaky ReLU, sigmoid, tanh, and inputs times gates: GELU, SiLU and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import ml_dtypes
import numpy as np

from scalify_hlo.algebra.limits import ACTIVATION_SOURCES, ACTIVATION_SPREAD
from scalify_hlo.ir.traits import short, where
from scalify_hlo.layers.graph import Graph, Node
from scalify_hlo.layers.match import GRADIENTS, Gradient, cone, incoming, sources, with_gradient
from scalify_hlo.layers.model import BACKWARD, FORWARD, Layer, Stage, finds
from scalify_hlo.layers.numbers import Array, close, erf, logistic
from scalify_hlo.layers.samples import Points
from scalify_hlo.layers.twins import Found, found_at

_POINTS: Final = np.array(
    [*np.linspace(-6.3, 6.4, 19), -0.51, -0.23, -0.011, 0.013, 0.27, 0.55, 11.3, -11.7]
)
"""The points at which functions are compared. 0 is none of them, as programs differ there."""

_SEEDS: Final = np.linspace(0.7, 1.9, _POINTS.size)
"""The gradient of the output at the points."""

_KEYS: Final = short(where("choice", "extreme", "sigmoid", "exponential", "special"))

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

    @classmethod
    def of(cls, name: str, function: Callable[..., Array], *constants: float) -> Activation:
        """Returns an activation; its derivative is that of a polynomial through near points."""
        around = [function(_POINTS + n * _STEP, *constants) for n in (-2, -1, 0, 1, 2)]
        slopes = 8 * (around[3] - around[1]) - (around[4] - around[0])
        return cls(name, around[2], slopes / (12 * _STEP))


_STEP: Final = 1e-3
"""The distance of points for a derivative, which is exact to 12 digits then. It is below that of
the points from all kinks."""

_FUNCTIONS: Final[Sequence[tuple[str, tuple[float, ...], Callable[..., Array]]]] = (
    (
        "gelu",
        (math.sqrt(2 / math.pi), 0.044715),
        lambda x, c, k: 0.5 * x * (1 + np.tanh(c * (x + k * x**3))),
    ),
    ("gelu", (math.sqrt(0.5),), lambda x, c: 0.5 * x * (1 + erf(c * x))),
    ("quick_gelu", (1.702,), lambda x, c: x * logistic(c * x)),
    ("silu", (), lambda x: x * logistic(x)),
    ("hard_silu", (), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ("mish", (), lambda x: x * np.tanh(np.logaddexp(x, 0))),
    ("relu", (), lambda x: np.maximum(x, 0)),
    ("sigmoid", (), logistic),
    ("tanh", (), np.tanh),
)
"""The activations by their names, with their constants; those come first that contain others."""

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
    return tuple(
        Activation.of(name, function, *(float(rounding(number)) for number in constants))
        for name, constants, function in _FUNCTIONS
        for rounding in (roundings if constants else roundings[:1])
    )


_ORDER: Final = (
    *("gelu", "quick_gelu", "silu", "hard_silu", "mish"),
    *("leaky_relu", "relu", "sigmoid", "tanh"),
)


_PARTS: Final = frozenset({"relu", "sigmoid", "tanh"})
"""Activations of which others are made."""

_SMOOTH: Final = frozenset({"gelu", "quick_gelu", "silu", "hard_silu", "mish"})
"""Activations whose derivatives are sums of products, the sizes of which say little."""


@finds(Stage.ELEMENTWISE)
def find(graph: Graph, inside: set[Node], _: Sequence[Layer]) -> list[Layer]:
    """Returns the activations of a program; see `Finder`."""
    return found_at(graph, inside, _may_be, _at)


def _may_be(key: Node) -> bool:
    """Whether an op may be the key op of an activation."""
    if key.name not in _KEYS or not key.shape:
        return False
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
        self.activations = activations_for(source.element_type)
        self.points = Points(source, _POINTS)
        self.nodes = list(self.points.spread([source], ACTIVATION_SPREAD))

    def found(self, key: Node) -> tuple[Activation, Node] | None:
        """Returns the first activation that is computed with a key op, and its node; or None."""
        best: tuple[int, Activation, Node] | None = None
        for node in self.nodes:
            if node.index < key.index or (best is not None and best[0] == 0):
                continue
            activation = _named(self.points.arrays[node], self.activations)
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
    leaky = Activation.of("leaky_relu", lambda x: np.where(x > 0, x, slope * x))
    return leaky if 1e-4 < slope < 1 and close(array, leaky.values, _TOLERANCE, 1.0) else None


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
    if best is None or best[1].name in _PARTS:
        alone = _without_output(key)
        if best is None or alone.layers:
            return alone
    _, activation, output, spread = best
    inside = cone(output, spread.source)
    if key not in inside or _is_cut(activation, output):
        return Found()
    also = _complements(activation, output)
    layer = Layer(activation.name, FORWARD, (spread.source,), output, also=also)
    gradient = _gradient(activation, output, spread.points)
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
    activation: Activation, output: Node, points: Points
) -> tuple[Node, bool, Node] | None:
    """Returns the gradient of the input, as `match.gradient` does.

    The gradient of the output is not known, or it is a function of the output alone, as for a mean
    of squares, or a constant, as for a mean.
    """
    slopes = activation.slopes
    shape = output.shape
    search = Gradient(points, lambda e: [e * slopes], _TOLERANCE, shape)
    seeds = ((seed, points) for seed, _ in incoming(points))
    own = ((seed, points.without(seed)) for seed in _made_of(output, points))
    for seed, known in (*seeds, *own):
        if seed.shape == shape:
            found = search.of(seed, Points(seed, _SEEDS, known), 60)
            if found is not None and found[0] is not seed:
                return (*found, seed)
    alone = _of_constant((activation,), points, shape)
    return (alone[1], True, alone[2]) if alone is not None else None


def _made_of(output: Node, points: Points) -> Iterator[Node]:
    """Yields the known values that are an output or made of it, and that are multiplied."""
    made = {output}
    for node in sorted(points.arrays, key=lambda node: node.index):
        if not made.isdisjoint({node, *node.inputs}):
            made.add(node)
            if any(user.name in GRADIENTS for user in node.users):
                yield node


def _without_output(key: Node) -> Found:
    """Returns a backward part whose forward part has no output, as nothing reads that."""
    for source in sources(key, most=ACTIVATION_SOURCES):
        if source.is_constant or not source.shape:
            continue
        spread = _Spread(source)
        found = _of_constant(spread.activations, spread.points, source.shape)
        if found is not None:
            activation, gradient, seed = found
            layer = Layer(activation.name, BACKWARD, (seed,), gradient)
            return Found([layer], cone(gradient, source))
    return Found()


def _of_constant(
    activations: Iterable[Activation], points: Points, shape: tuple[int, ...]
) -> tuple[Activation, Node, Node] | None:
    """Returns an activation, its derivative times a constant, as of a mean, and the constant."""
    smooth = [a for a in activations if a.name in _SMOOTH]
    factors = [
        (s.constant, s)
        for node in points.arrays
        for s in node.inputs
        if node.name in GRADIENTS and s.constant
    ]
    for node in sorted(points.arrays, key=lambda node: node.index):
        array = points.arrays[node]
        if node.shape != shape or array.shape != _POINTS.shape or array.dtype == bool:
            continue
        for activation in smooth:
            factor = float(array[-3] / activation.slopes[-3])
            for constant, seed in factors:
                near = abs(constant - factor) <= 1e-4 * abs(constant)
                if near and close(array / constant, activation.slopes, _TOLERANCE, 1.0):
                    return activation, node, seed
    return None
