"""The state of delayed scales: before the first step, and in the functions that `scalify` makes.

With a recipe of delayed scales, `rewrite` adds a last positional argument to an Exported, the
state. The result becomes a tuple of the original result and the new state::

    state = init_scaling_state(rewritten, params, batch)
    for batch in batches:
        (params, loss), state = rewritten.call(params, batch, state)

A function that `scalify` makes takes the state as a keyword, and returns it in the same way::

    step = scalify(step, recipe="fp8-delayed")
    state = step.init_scaling_state(params, batch)
    for batch in batches:
        (params, loss), state = step(params, batch, scaling_state=state)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.casts.delayed import AS, LEAVES, MEMBER, STATE, Described
from scalify_hlo.casts.loss_scale import LOSS
from scalify_hlo.errors import UsageError, caller, warn
from scalify_hlo.frontend.observed import CompiledCalls
from scalify_hlo.frontend.scaled_state import committed
from scalify_hlo.jax_api.scaled_array import has_values, is_concrete
from scalify_hlo.program.artifact import parse_artifact
from scalify_hlo.run.session import State, converged, described_state, first_state, state_after

if TYPE_CHECKING:
    from scalify_hlo.profile.model import Profile


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class ScalingState:
    """The state of delayed scales, or of the scale of a loss, of a function that `scalify` made.

    Attributes:
        amax_history: The amax of each tensor in past steps, most recent first; f32
            [steps, tensors].
        scale: The scale X_s of each tensor, f32 [tensors]; by default a power of two.
        step: The number of steps, i32 of rank 0.
        about: The names and formats of the tensors, which are static.
    """

    amax_history: Any
    scale: Any
    step: Any
    about: Described = field(metadata={"static": True})

    def __repr__(self) -> str:
        history = np.shape(self.amax_history)
        return f"ScalingState(tensors={len(self.tensors)}, steps={history[0] if history else 0})"

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the tensors; see `scaling_tensors`."""
        return self.about.names

    @property
    def loss_scale(self) -> float | None:
        """The automatic scale S of the loss, of which `scale` is 1/S; None without one."""
        return 1 / float(self.scale[0]) if self.tensors == (LOSS,) else None

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays, as a rewritten program takes them."""
        return {leaf: getattr(self, leaf) for leaf in LEAVES}


Former: TypeAlias = ScalingState | tuple[jax.export.Exported, Mapping[str, Any]]
"""A state that is carried over, with the program that returned it if that was an Exported."""


def init_scaling_state(
    exported: jax.export.Exported,
    *args: Any,
    profile: Profile | None = None,
    former: Former | None = None,
    **kwargs: Any,
) -> dict[str, jax.Array]:
    """Returns the state of delayed scales before the first step.

    Without step arguments and profile, scales are 1, and for gradients a scale for an amax of up to
    2^-8, as in gradients of a mean over a batch. In the first step, data may then saturate or be
    flushed to zero. With the arguments of the first step, the program runs on them until its scales
    no longer change, and its results are discarded. With a profile, the program is not run.

    A former state is that of another program, such as one with a layer less or another length of
    the history. The newest amax and the scale of each tensor of the same name are taken over, and
    the other tensors begin as described above. A warning says how many tensors these are.

    An automatic scale of the loss begins at `loss_scale.value`, and nothing is run.

    Args:
        exported: A program that was rewritten with a recipe of delayed scales.
        *args: The positional arguments of a step, without the state.
        profile: A profile of the original program, from `calibrate`. Its amax of each tensor is
            used as that of one past step.
        former: A pair of another such program and its state, or the state of a function that
            `scalify` made.
        **kwargs: The keyword arguments of a step.

    Returns:
        A dict of ``amax_history``, f32 [steps, tensors]; ``scale``, f32 [tensors], which is X_s;
        and ``step``, i32 of rank 0. `scaling_tensors` returns the names of the tensors.

    Raises:
        UsageError: The program has no such state, the profile lacks a tensor, or the former state
            is not one, or was donated.
    """

    def run(state: ScalingState) -> Any:
        return exported.call(*args, state.arrays, **kwargs)[1]["amax_history"]

    given = bool(args or kwargs)
    first = _first(exported, run if given else None, profile, former)
    return first.arrays if exported.nr_devices > 1 else jax.tree.map(committed, first.arrays)


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


class Stateful(jax.stages.Wrapped, Protocol):
    """The interface of a function that `scalify` made."""

    def init_scaling_state(
        self,
        *args: Any,
        profile: Profile | None = None,
        former: Former | None = None,
        **kwargs: Any,
    ) -> ScalingState:
        """Returns the state before the first step, with a recipe of delayed scales."""
        raise NotImplementedError


class StatefulCalls(CompiledCalls):
    """A compiled function with delayed scales, which makes their first state.

    Args:
        compiled: The function that `jax.jit` returned.
        rewritten: Returns the rewritten program for positional and keyword arguments.
    """

    def __init__(self, compiled: Any, rewritten: Callable[[Any, Any], jax.export.Exported]) -> None:
        super().__init__(compiled)
        self._rewritten = rewritten

    def init_scaling_state(
        self,
        *args: Any,
        profile: Profile | None = None,
        former: Former | None = None,
        **kwargs: Any,
    ) -> ScalingState:
        """Returns the state of delayed scales before the first step; see `init_scaling_state`.

        The arguments are those of a step, none of which is donated. If they are types, as
        `jax.eval_shape` returns, or traced, the function is not run.
        """
        values = jax.tree.leaves((args, kwargs))

        def run(state: ScalingState) -> Any:
            copied, keywords = jax.tree.map(_copied, (args, kwargs))
            return self._compiled(*copied, **keywords, **{STATE: state})[1].amax_history

        abstract = [each for each in values if hasattr(each, "dtype") and not is_concrete(each)]
        return _first(self._rewritten(args, kwargs), None if abstract else run, profile, former)


def without_state(recipe: str) -> Callable[..., NoReturn]:
    """Returns the method `init_scaling_state` of a function whose recipe keeps no state."""

    def init_scaling_state(*_: Any, **__: Any) -> NoReturn:
        raise UsageError(
            f"the recipe {recipe!r} keeps no scaling state",
            location=caller(),
            hint=f"make the function with recipe='fp8-delayed', which does, or leave {STATE} out",
        )

    return init_scaling_state


def add_state(call: Any) -> None:
    """Adds the keyword of the state to the signature of a function, which `jax.jit` reads.

    Raises:
        UsageError: The function has a parameter of that name.
    """
    try:
        signature = inspect.signature(call)
    except ValueError:
        return
    if STATE in signature.parameters:
        raise UsageError(
            f"the function has a parameter {STATE}, by which calls pass the delayed scales",
            location=caller(),
            hint="give the parameter of the function another name",
        )
    named = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
    rest = [each for each in signature.parameters.values() if each.kind == each.VAR_KEYWORD]
    state = inspect.Parameter(STATE, inspect.Parameter.KEYWORD_ONLY)
    call.__signature__ = signature.replace(parameters=[*named, state, *rest])


def for_state(
    shared: Mapping[str, Any], jit_options: Mapping[str, Any], *, modules: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns options of `jax.jit` for a function without the state, and for that with it.

    Args:
        shared: The options for the function without the state; the state may be donated.
        jit_options: All options.
        modules: Whether a library of modules calls the function.

    Raises:
        UsageError: There are shardings of arguments, beside which jax takes no keywords, or a
            library of modules calls the function, which passes no state.
    """
    if modules:
        raise UsageError(
            f"a function that updates modules takes no {STATE}, by which calls pass the delayed "
            "scales",
            location=caller(),
            hint="take a function of arrays: split the modules before it, and merge them inside",
        )
    if jit_options.get("in_shardings") is not None:
        raise UsageError(
            f"in_shardings does not apply to calls with a keyword, as {STATE} is",
            location=caller(),
            hint="give it to the function: scalify(jax.jit(fn, in_shardings=...), ...)",
        )
    own, given = dict(shared), dict(jit_options)
    names = own.get("donate_argnames") or ()
    names = (names,) if isinstance(names, str) else names
    own["donate_argnames"] = tuple(name for name in names if name != STATE) or None
    if given.get("out_shardings") is not None:
        given["out_shardings"] = (given["out_shardings"], None)
    return own, given


_MAKE = f"{STATE}=step.init_scaling_state(...), with the arguments of a step"


def state_of_call(given: object) -> ScalingState:
    """Returns the state that is given to a call.

    Args:
        given: The state; None if a call lacks it.

    Raises:
        UsageError: There is none, or it is something else.
    """
    if isinstance(given, ScalingState):
        return given
    message = (
        f"the call lacks {STATE}, as the recipe takes scales from past steps"
        if given is None
        else f"{STATE} is a {type(given).__name__}, and not a ScalingState"
    )
    hint = f"give {_MAKE}, and then the state that each step returns beside its results"
    raise UsageError(message, location=caller(), hint=hint)


def require_own(state: ScalingState, exported: jax.export.Exported) -> None:
    """Checks that a state is that of a rewritten program.

    Raises:
        UsageError: It has other tensors, or a history of another length.
    """
    about, history = _about(exported), _history(exported).shape
    if state.about != about or np.shape(state.amax_history) != history:
        ours = _described(about, history)
        theirs = _described(state.about, np.shape(state.amax_history))
        raise UsageError(
            f"{STATE} has {theirs}, and the function {ours}"
            if ours != theirs
            else f"{STATE} has scales for other tensors or formats than those of the function",
            location=caller(),
            hint=f"carry it over: {_MAKE} and former= this state",
        )


def _described(about: Described, history: tuple[int, ...]) -> str:
    first = f", the first of which is {about.names[0]!r}" if about.names else ""
    return f"{len(about.names)} tensors and {history[0]} past steps{first}"


def _about(exported: jax.export.Exported) -> Described:
    module = parse_artifact(exported.mlir_module_serialized, exported.fun_name)
    found = described_state(module)
    if found is None:
        raise UsageError(
            f"the program {exported.fun_name!r} has no state of delayed scales",
            hint="rewrite it with recipe='fp8-delayed'",
        )
    return found


def _history(exported: jax.export.Exported) -> Any:
    """Returns the type of the amax history that a program takes."""
    taken, _ = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    return taken[-1]["amax_history"]


def _copied(leaf: Any) -> Any:
    """Returns a copy of an array, which a call may donate."""
    return jnp.copy(leaf) if isinstance(leaf, jax.Array) else leaf


def _first(
    exported: jax.export.Exported,
    run: Callable[[ScalingState], Any] | None,
    profile: Profile | None,
    former: Former | None,
) -> ScalingState:
    """Returns the state before the first step.

    Args:
        exported: The rewritten program.
        run: Runs a step, and returns the new amax history; None to run nothing.
        profile: See `init_scaling_state`.
        former: See `init_scaling_state`.
    """
    about, length = _about(exported), _history(exported).shape[0]
    carried = None if former is None else _Carried(_former(former), about)

    def made(state: State) -> ScalingState:
        arrays = dict(zip(LEAVES, map(jnp.asarray, state), strict=True))
        return ScalingState(**arrays, about=about)

    state = first_state(about, length)
    if profile is not None:
        amax = np.array([_amax(profile, name) for name in about.names], np.float32)
        state = state_after(about, length, amax, 1.0)
    if carried is not None:
        carried.put_in(state)
    measured = length > 0 and profile is None  # The scale of a loss is not measured beforehand.
    if measured and run is not None and (carried.fresh if carried else about.names):

        def step(state: State) -> State:
            return state_after(about, length, np.asarray(run(made(state))[0]), state[1])

        _, state = converged(state, step)
        if carried is not None:
            carried.put_in(state)
    if carried is not None:
        carried.tell()
    return made(state)


class _Carried:
    """A former state, of which a new one takes over the tensors of the same names.

    Args:
        former: The former state.
        about: The tensors of the new state.
    """

    def __init__(self, former: ScalingState, about: Described) -> None:
        self._former, self._about = former, about
        numbers = {name: i for i, name in enumerate(former.tensors)}
        self._old = [numbers[name] for name in about.names if name in numbers]
        self._new = [i for i, name in enumerate(about.names) if name in numbers]

    @property
    def fresh(self) -> int:
        """The number of tensors that the former state does not have."""
        return len(self._about.names) - len(self._new)

    def put_in(self, state: State) -> None:
        """Sets the newest amax, and the scales, of the tensors that both states have.

        A tensor of another format gets the scale that follows from its largest amax.
        """
        history, scale, _ = state
        past = np.asarray(self._former.amax_history)[: len(history), self._old]
        history[:, self._new] = 0
        history[: len(past), self._new] = past
        amax = history.max(0, initial=0)
        follows = np.where(amax > 0, self._about.scales(amax), self._about.first_scales())
        before, after = self._former.about, self._about
        kept = np.array(before.largest)[self._old] == np.array(after.largest)[self._new]
        kept &= before.power_2_scale == after.power_2_scale
        old = np.asarray(self._former.scale)[self._old]
        scale[self._new] = np.where(kept, old, follows[self._new])
        if self._new:
            state[2] = np.asarray(self._former.step)

    def tell(self) -> None:
        """Warns of the numbers of tensors."""
        new, dropped = len(self._new), len(self._former.tensors) - len(self._new)
        message = (
            f"the scaling state: {new} tensors are carried over, {self.fresh} start fresh, and "
            f"{dropped} of the former state are dropped"
        )
        warn(message)


def _former(given: object) -> ScalingState:
    """Returns a former state, with its tensors.

    Raises:
        UsageError: It is not such a state, or was donated.
    """
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], jax.export.Exported):
        about, arrays = _about(given[0]), given[1]
        missing = [leaf for leaf in LEAVES if leaf not in arrays]
        if missing or np.shape(arrays["scale"]) != (len(about.names),):
            raise UsageError(
                f"the former state is not one of the program {given[0].fun_name!r}",
                hint="give the program that returned the state, as in former=(program, state)",
            )
        given = ScalingState(**{leaf: arrays[leaf] for leaf in LEAVES}, about=about)
    if not isinstance(given, ScalingState):
        raise UsageError(
            f"the former state is a {type(given).__name__}, which does not name its tensors",
            hint="give former=(program, state) with the program that returned it, or the state of "
            "a function that scalify made",
        )
    leaves = given.arrays.values()
    if not all(map(has_values, leaves)) or any(map(_is_donated, leaves)):
        raise UsageError(
            "the former state has no values, or was donated to a step",
            hint="give the state that the last step returned",
        )
    return given


def _is_donated(array: Any) -> bool:
    return isinstance(array, jax.Array) and array.is_deleted()


def _amax(profile: Profile, name: str) -> float:
    name = name.partition(MEMBER)[0].partition(AS)[0]
    if name not in profile.tensors:
        raise UsageError(
            f"the profile has no tensor {name!r}",
            location=profile.name,
            hint="calibrate the program that was rewritten, as it was before",
        )
    return float(profile.tensors[name].amax)
