"""The state of delayed scales in JAX, which is a dict of three arrays.

With a recipe of delayed scales, `rewrite` adds a last positional argument to an Exported, the
state. The result becomes a tuple of the original result and the new state::

    state = init_scaling_state(rewritten, params, batch)
    for batch in batches:
        (params, loss), state = rewritten.call(params, batch, state)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.casts.delayed import AS, LEAVES, MEMBER, Described
from scalify_hlo.errors import UsageError
from scalify_hlo.program.artifact import parse_artifact
from scalify_hlo.run.session import State, converged, described_state, first_state, state_after

if TYPE_CHECKING:
    from scalify_hlo.profile.model import Profile


def init_scaling_state(
    exported: jax.export.Exported, *args: Any, profile: Profile | None = None, **kwargs: Any
) -> dict[str, jax.Array]:
    """Returns the state of delayed scales before the first step.

    Without step arguments and profile, scales are 1, and for gradients a scale for an amax of up to
    2^-8, as in gradients of a mean over a batch. In the first step, data may then saturate or be
    flushed to zero. With the arguments of the first step, the program runs on them until its scales
    no longer change, and its results are discarded. With a profile, the program is not run.

    Args:
        exported: A program that was rewritten with a recipe of delayed scales.
        *args: The positional arguments of a step, without the state.
        profile: A profile of the original program, from `calibrate`. Its amax of each tensor is
            used as that of one past step.
        **kwargs: The keyword arguments of a step.

    Returns:
        A dict of ``amax_history``, f32 [steps, tensors]; ``scale``, f32 [tensors], which is X_s;
        and ``step``, i32 of rank 0. `scaling_tensors` returns the names of the tensors.

    Raises:
        UsageError: The program has no such state, or the profile lacks a tensor.
    """
    about = _about(exported)
    taken, _ = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    length, _ = taken[-1]["amax_history"].shape

    def run(state: State) -> State:
        _, new = exported.call(*args, dict(zip(LEAVES, state, strict=True)), **kwargs)
        return state_after(about, length, np.asarray(new["amax_history"][0]), state[1])

    state = first_state(about, length)
    if profile is not None:
        amax = np.array([_amax(profile, name) for name in about.names], np.float32)
        state = state_after(about, length, amax, 1.0)
    elif args or kwargs:
        _, state = converged(state, run)
    return dict(zip(LEAVES, map(jnp.asarray, state), strict=True))


def scaling_tensors(exported: jax.export.Exported) -> tuple[str, ...]:
    """Returns the names of the tensors with delayed scales, in the order of the state's arrays.

    Args:
        exported: A program that was rewritten with a recipe of delayed scales.

    Returns:
        The names of matmul operands, ``SITE:lhs`` and ``SITE:rhs``. If an operand is cast to two
        formats, ``as FORMAT`` follows, and ``member I`` if each member of a sweep has a scale.

    Raises:
        UsageError: The program has no such state.
    """
    return _about(exported).names


def _about(exported: jax.export.Exported) -> Described:
    module = parse_artifact(exported.mlir_module_serialized, exported.fun_name)
    found = described_state(module)
    if found is None:
        raise UsageError(
            f"the program {exported.fun_name!r} has no state of delayed scales",
            hint="rewrite it with recipe='fp8-delayed'",
        )
    return found


def _amax(profile: Profile, name: str) -> float:
    name = name.partition(MEMBER)[0].partition(AS)[0]
    if name not in profile.tensors:
        raise UsageError(
            f"the profile has no tensor {name!r}",
            hint="calibrate the program that was rewritten, as it was before",
        )
    return float(profile.tensors[name].amax)
