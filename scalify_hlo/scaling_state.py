"""The state of delayed scales in JAX: a dict of three arrays that a program carries along.

`rewrite` with a recipe of delayed scales gives an Exported one more positional argument, the last,
and makes its result a pair, of what it was and the new state::

    state = init_scaling_state(rewritten, params, batch)
    for batch in batches:
        (params, loss), state = rewritten.call(params, batch, state)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.artifact import parse_artifact
from scalify_hlo.diagnostics import UsageError
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.base import main_function
from scalify_hlo.passes.delayed import AS, LEAVES, Described, described
from scalify_hlo.passes.report import ScalingState

if TYPE_CHECKING:
    from scalify_hlo.profile import Profile

State = dict[str, jax.Array]

_COUNT = len(LEAVES)
_TREE = jax.tree.structure(dict.fromkeys(LEAVES, 0))
_PAIR: Any = jax.tree.structure((0, 0))


def init_scaling_state(
    exported: jax.export.Exported, *args: Any, profile: Profile | None = None, **kwargs: Any
) -> dict[str, jax.Array]:
    """The state of delayed scales before the first step.

    By itself it has scales that do no harm: 1, and for gradients one with which they may be as
    large as 2^-8, as those of a mean over a batch are. What is beyond the range of FP8 saturates in
    the first step, and what is below it becomes zero. With the arguments of the first step, the
    program is run on them until its scales are those that it would leave; their results are
    dropped. With a profile nothing is run.

    Args:
        exported: A program that `rewrite` made with a recipe of delayed scales.
        *args: The positional arguments of a step, but for the state.
        profile: Of the program as it was, made by `calibrate`: its amax of each tensor is taken
            for that of one past step.
        **kwargs: The keyword arguments of a step.

    Returns:
        ``amax_history``, f32 [steps, tensors]; ``scale``, f32 [tensors], X_s; and ``step``, i32.
        `scaling_tensors` has the names of the tensors.

    Raises:
        UsageError: The program has no such state, or the profile lacks a tensor.
    """
    about = _about(exported)
    taken, _ = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    length, _ = taken[-1]["amax_history"].shape
    if profile is not None:
        amax = np.array([_amax(profile, name) for name in about.names], np.float32)
        return _state(about, amax, length)
    state = _state(about, np.zeros(len(about.names), np.float32), length)
    state["scale"] = jnp.asarray(about.first_scales())
    return _settled(exported, about, state, args, kwargs) if args or kwargs else state


_RUNS = 8
"""How often a program is run at most: each run has the scales right a few matmuls further on."""


def _settled(
    exported: jax.export.Exported, about: Described, state: State, args: Any, kwargs: Any
) -> State:
    """The state of which one more run leaves the same scales."""
    for _ in range(_RUNS):
        _, new = exported.call(*args, state, **kwargs)
        amax = np.asarray(new["amax_history"][0])
        scale, state = state["scale"], _state(about, amax, len(state["amax_history"]))
        state["scale"] = jnp.where(amax > 0, state["scale"], scale)
        if (state["scale"] == scale).all():
            break
    return state


def _state(about: Described, amax: npt.NDArray[np.float32], length: int) -> State:
    """The state after one step in which tensors had an amax each."""
    history = np.zeros((length, amax.size), np.float32)
    history[0] = amax
    return {
        "amax_history": jnp.asarray(history),
        "scale": jnp.asarray(about.scales(amax)),
        "step": jnp.int32(0),
    }


def scaling_tensors(exported: jax.export.Exported) -> tuple[str, ...]:
    """The names of the tensors that have delayed scales, in the order of the state's arrays.

    Args:
        exported: A program that `rewrite` made with a recipe of delayed scales.

    Raises:
        UsageError: The program has no such state.
    """
    return _about(exported).names


def _about(exported: jax.export.Exported) -> Described:
    module = parse_artifact(exported.mlir_module_serialized, exported.fun_name)
    with module.context:
        found = described(module.operation)
    if found is None:
        raise UsageError(
            f"the program {exported.fun_name!r} has no state of delayed scales",
            hint="rewrite it with recipe='fp8-delayed'",
        )
    return found


def _amax(profile: Profile, name: str) -> float:
    name = name.partition(AS)[0]
    if name not in profile.tensors:
        raise UsageError(
            f"the profile has no tensor {name!r}",
            hint="calibrate the program that was rewritten, as it was before",
        )
    return float(profile.tensors[name].amax)


class Extension:
    """What becomes of an Exported whose program was given a state.

    Args:
        state: What the program was given.
        in_tree: The tree of the arguments before.
        out_tree: The tree of the results before.
    """

    def __init__(self, state: ScalingState, in_tree: Any, out_tree: Any) -> None:
        positional, keywords = in_tree.children()
        self._at = positional.num_leaves
        arguments = _compat.make_tree(positional.node_data(), [*positional.children(), _TREE])
        self.in_tree = _compat.make_tree(in_tree.node_data(), [arguments, keywords])
        self.out_tree = _compat.make_tree(_PAIR.node_data(), [out_tree, _TREE])
        count, f32 = len(state.names), np.dtype(np.float32)
        shapes = [((state.length, count), f32), ((count,), f32), ((), np.dtype(np.int32))]
        self._avals = [jax.core.ShapedArray(*shape) for shape in shapes]

    def origins(self, arguments: Sequence[int], results: Sequence[int]) -> Any:
        """Where arguments and results have their shardings from; the state has none."""
        none = [-1] * _COUNT
        return self._inserted(arguments, none), [*results, *none]

    def avals(self, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
        """The types of arguments and results."""
        return self._inserted(arguments, self._avals), [*results, *self._avals]

    def kept(self, kept: Sequence[int]) -> tuple[int, ...]:
        """The arguments that the module takes."""
        before = [index for index in kept if index < self._at]
        after = [index + _COUNT for index in kept if index >= self._at]
        return (*before, *range(self._at, self._at + _COUNT), *after)

    def _inserted(self, values: Sequence[Any], more: Sequence[Any]) -> list[Any]:
        return [*values[: self._at], *more, *values[self._at :]]

    def place(self, module: ir.Module, kept: Sequence[int]) -> None:
        """Brings the module's arguments into the order of the tree: keywords after the state.

        Args:
            module: It has the state last.
            kept: The arguments that it took before.
        """
        main = main_function(module.operation)
        count = sum(index >= self._at for index in kept)
        if main is None or not count:
            return
        block = main.regions[0].blocks[0]
        marks = attributes.argument_attributes(main)
        start = len(marks) - _COUNT - count
        for old in list(block.arguments)[start : start + count]:
            old.replace_all_uses_with(block.add_argument(old.type, old.location))
        for _ in range(count):
            block.erase_argument(start)
        results = list(attributes.function_type(main).results)
        attributes.set_function_type(main, [a.type for a in block.arguments], results)
        moved = [*marks[:start], *marks[start + count :], *marks[start : start + count]]
        attributes.set_argument_attributes(main, moved)
