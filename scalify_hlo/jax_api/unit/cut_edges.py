"""Cut edges of a model, and a check of the factors that its scaled ops apply.

The graph has a node for each value and each op of a jaxpr, calls inlined, and an edge where an op
reads or returns a value. The carry of a loop is tied to its next value, and the results of branches
are tied too, so their edges are in circles. A cut edge is one without which the graph falls apart
(Unit Scaling paper, §5.1).

A scaled op multiplies the gradient by beta where it multiplies the value by alpha. Gradients are
right, up to a factor for each argument, if for each value the product of beta / alpha is the same
on all paths to the result. The logarithms of these products are potentials on the graph: one
depth-first search finds both cut edges and potentials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from scalify_hlo.algebra.search import Search
from scalify_hlo.errors import UsageError
from scalify_hlo.jax_api.unit.scaled import FACTOR

_TOLERANCE: Final = 1e-3
"""The difference of potentials, in octaves, that rounding of factors may make."""


class Factor(NamedTuple):
    """A factor that a scaled op applies to an edge.

    Attributes:
        line: The line of the model, as ``file:line``.
        alpha: The factor of the value.
        beta: The factor of the gradient.
        cut: Whether the edge is a cut edge. If not, alpha and beta are equal, or other factors on
            the same circles balance them.
    """

    line: str
    alpha: float
    beta: float
    cut: bool


class CutEdges(NamedTuple):
    """The cut edges and the factors of a model.

    Attributes:
        arguments: A pytree of booleans with the structure of the arguments: whether an argument
            comes on a cut edge, so that its gradient may have a factor of its own. Weights that are
            read at two places do not, nor do integers.
        factors: The factors of the model, in the order of the program.
    """

    arguments: Any
    factors: tuple[Factor, ...]


def cut_edges(fn: Callable[..., Any], *args: Any, has_aux: bool = False) -> CutEdges:
    """Finds the cut edges of a model, and refuses factors that make gradients wrong.

    Args:
        fn: A function of pytrees of arrays, such as a loss; what it returns is differentiated. It
            is traced and not run.
        *args: Its arguments, or `jax.ShapeDtypeStruct`s in their place.
        has_aux: Whether it returns a pair, of which only the first is differentiated, as for
            `jax.grad`.

    Returns:
        The cut edges.

    Raises:
        UsageError: Paths from a value to the result have different factors. The gradients of what
            comes before it would be sums of gradients with different factors.

    Example:
        >>> loss = lambda w, x: jnp.sum(x + jnp.tanh(x @ w))
        >>> cut_edges(loss, jnp.ones((2, 2)), jnp.ones((2, 2))).arguments
        (True, False)
    """
    closed = jax.make_jaxpr((lambda *given: fn(*given)[0]) if has_aux else fn)(*args)
    graph = _Graph()
    arguments = graph.values(closed.jaxpr.invars)
    results = graph.inlined(closed.jaxpr, arguments)
    result = graph.node()
    for value in results:
        if value is not None:
            graph.edge(value, result)
    search = _Search(graph, [value for value in arguments if value is not None], result)
    leaves = [value is not None and search.cut_from(value) for value in arguments]
    factors = (each._replace(cut=edge in search.cut) for edge, each in graph.factors.items())
    return CutEdges(jax.tree.unflatten(jax.tree.structure(args), leaves), tuple(factors))


class _Graph:
    """The nodes and edges of a jaxpr.

    Attributes:
        edges: For each edge its ends, in the direction of the data, and log2(beta / alpha).
        factors: The factors by the numbers of their edges.
    """

    def __init__(self) -> None:
        self.count = 0
        self.edges: list[tuple[int, int, float]] = []
        self.factors: dict[int, Factor] = {}

    def node(self) -> int:
        """Adds a node."""
        self.count += 1
        return self.count - 1

    def edge(self, start: int, end: int, ratio: float = 0.0) -> None:
        """Adds an edge."""
        self.edges.append((start, end, ratio))

    def values(self, variables: Sequence[Any]) -> list[int | None]:
        """Adds a node for each variable that has gradients; others have None."""
        floats = (jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in variables)
        return [self.node() if is_float else None for is_float in floats]

    def inlined(self, jaxpr: Any, operands: Sequence[int | None]) -> list[int | None]:
        """Adds a jaxpr whose operands have nodes, and returns the nodes of its results."""
        nodes = dict(zip(jaxpr.invars, operands, strict=True))

        def read(variables: Iterable[Any]) -> list[int | None]:
            return [None if isinstance(v, Literal) else nodes.get(v) for v in variables]

        for eqn in jaxpr.eqns:
            nodes.update(zip(eqn.outvars, self._added(eqn, read(eqn.invars)), strict=True))
        return read(jaxpr.outvars)

    def _added(self, eqn: Any, operands: list[int | None]) -> list[int | None]:
        results = self.values(eqn.outvars)
        name = eqn.primitive.name
        if name == "stop_gradient":
            return results
        if name == "cond":
            for branch in eqn.params["branches"]:
                self._tie(self.inlined(branch.jaxpr, operands[1:]), results)
            return results
        inner = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
        inner = getattr(inner, "jaxpr", inner)
        if inner is not None and len(inner.invars) == len(operands):
            returned = self.inlined(inner, operands)
            if name == "scan":
                self._tie(returned, _carries(eqn, inner, operands))
            return returned
        self._op(eqn, operands, results)
        return results

    def _tie(self, values: Iterable[int | None], others: Iterable[int | None]) -> None:
        for value, other in zip(values, others, strict=False):
            if value is not None and other is not None:
                self.edge(value, other)

    def _op(self, eqn: Any, operands: list[int | None], results: list[int | None]) -> None:
        op, ratio = self.node(), 0.0
        if eqn.primitive is FACTOR and not eqn.params["known"]:
            line, alpha, beta = (eqn.params[key] for key in ("line", "alpha", "beta"))
            factor = Factor(line, alpha, beta, cut=False)
            ratio = math.log2(factor.beta / factor.alpha)
            self.factors[len(self.edges)] = factor
        for value in operands:
            if value is not None:
                self.edge(value, op, ratio)
        for value in results:
            if value is not None:
                self.edge(op, value)


def _carries(eqn: Any, body: Any, operands: Sequence[int | None]) -> Sequence[int | None]:
    """Returns the carry of a scan among its operands: constants, carry, and what it goes through.

    What it goes through, and what it stacks, has a dimension less in the body.
    """
    whole = [a.aval.ndim == b.aval.ndim for a, b in zip(eqn.invars, body.invars, strict=True)]
    kept = [a.aval.ndim == b.aval.ndim for a, b in zip(eqn.outvars, body.outvars, strict=True)]
    return operands[sum(whole) - sum(kept) : sum(whole)]


class _Search:
    """A depth-first search from the result, over what lies between arguments and result.

    Attributes:
        cut: The numbers of the cut edges.
    """

    def __init__(self, graph: _Graph, arguments: Sequence[int], result: int) -> None:
        self._graph = graph
        between = self._reached(arguments, 0) & self._reached([result], 1)
        self._near: dict[int, list[int]] = {node: [] for node in between}
        for number, (start, end, _) in enumerate(graph.edges):
            if start in between and end in between:
                self._near[start].append(number)
                self._near[end].append(number)
        self.cut: set[int] = set()
        if result in between:
            self._walk(result)

    def cut_from(self, value: int) -> bool:
        """Whether a value is read once, on a cut edge."""
        near = self._near.get(value, ())
        return len(near) == 1 and near[0] in self.cut

    def _reached(self, starts: Iterable[int], side: int) -> set[int]:
        """Returns the nodes after some (side 0), or before them (side 1)."""
        steps: dict[int, list[int]] = {}
        for edge in self._graph.edges:
            steps.setdefault(int(edge[side]), []).append(int(edge[1 - side]))
        return set(Search(starts, lambda node: steps.get(node, ())))

    def _walk(self, root: int) -> None:
        """Finds cut edges by the least order that a subtree reaches, and compares potentials."""
        order, low, potential = {root: 0}, {root: 0}, {root: 0.0}
        path = [(root, -1, iter(self._near[root]))]
        while path:
            node, came, edges = path[-1]
            for number in edges:
                if number == came:
                    continue
                start, end, ratio = self._graph.edges[number]
                other, step = (start, ratio) if node == end else (end, -ratio)
                if other not in order:
                    order[other] = low[other] = len(order)
                    potential[other] = potential[node] + step
                    path.append((other, number, iter(self._near[other])))
                    break
                low[node] = min(low[node], order[other])
                octaves = abs(potential[other] - potential[node] - step)
                if octaves > _TOLERANCE:
                    since = next(i for i, each in enumerate(path) if each[0] == other)
                    self._refuse([number, *(each[1] for each in path[since + 1 :])], octaves)
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[node])
                    if low[node] > order[before]:
                        self.cut.add(came)

    def _refuse(self, edges: Iterable[int], octaves: float) -> None:
        """Raises an error at a factor of a circle, which is among these edges."""
        factors = (self._graph.factors[each] for each in edges if each in self._graph.factors)
        line = next(each.line for each in factors if each.alpha != each.beta)
        raise UsageError(
            f"{line}: two gradients that are added differ by a factor of {2**octaves:.4g}, since "
            "this op has its own factors on an edge that is no cut edge",
            hint="give the op a constraint, such as scalify_hlo.unit.gmean, or start the branch "
            "with residual_split",
        )
