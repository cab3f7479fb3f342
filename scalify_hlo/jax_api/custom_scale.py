"""`custom_scale`: functions with a scale rule that their author provides."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.errors import UsageError, caller
from scalify_hlo.jax_api import scaled_array as scaled
from scalify_hlo.jax_api.custom_calls import CalledProgram, apply, sample
from scalify_hlo.jax_api.operators import spelled
from scalify_hlo.jax_api.scaled_array import ScaledArray, is_float, is_scaled_array, scale_dtype

Function = Callable[..., Any]
_SAMPLE_EXPONENTS = (3, -2, 5, -4)
_TOLERANCE = 32


def custom_scale(fn: Function | None = None, *, check: bool = False) -> Any:
    """Gives a function its own scale rule (Scalify paper, §3.2.1).

    A program that is not rewritten calls the function. A rewritten program calls the rule that was
    given to `CustomScale.defscale`. The rule is part of the exported program, so the file alone can
    be rewritten. Derivatives are those of the function, rewritten op by op, unless
    `CustomScale.defscale_vjp` gives a rule for the vjp. Under `jax.vmap`, the batch has one scale,
    the largest of those that the rule returns. Called with a ScaledArray, the function calls its
    rule.

    Args:
        fn: A function of positional arguments, which are pytrees of arrays. Sizes, flags and other
            static values are bound before, as with `functools.partial`. Without it, a decorator is
            returned.
        check: Whether rule and function are compared on random samples each time that the function
            is traced at new types. Values have to agree, and scales have to be powers of two.

    Returns:
        The function as a `CustomScale`.

    Example:
        >>> @custom_scale
        ... def silu(x):
        ...     return x * jax.nn.sigmoid(x)
        >>> @silu.defscale
        ... def silu_rule(x):
        ...     return ScaledArray(x.data * jax.nn.sigmoid(asarray(x)), x.scale)
        >>> y = silu(ScaledArray(jnp.float32(0.5), jnp.float32(4.0)))
        >>> float(y.scale), float(y.data) == 0.5 * jax.nn.sigmoid(2.0).item()
        (4.0, True)
    """
    if fn is None:
        return functools.partial(custom_scale, check=check)
    return CustomScale(fn, check)


class CustomScale:
    """A function with a scale rule, as `custom_scale` returns it.

    Args:
        fn: The function.
        check: As for `custom_scale`.

    Attributes:
        fn: The function.
        check: Whether its rules are compared with it on samples.
        name: The name of the function.
    """

    def __init__(self, fn: Function, check: bool = False) -> None:
        self.fn = fn
        self.check = check
        self.name: str = getattr(_unbound(fn), "__name__", type(fn).__name__)
        self._signature = inspect.signature(fn)
        self._forward: _Ruled | None = None
        self._backward: _Ruled | None = None
        functools.update_wrapper(self, fn)

    def defscale(self, rule: Function) -> Function:
        """Sets the scale rule of the function; it can be used as a decorator.

        Args:
            rule: A function of the same arguments, with a ScaledArray for each float array. The
                data have the dtype and shape of the array; the scale is traced. It returns the
                results in the same form. Integers and booleans are passed unchanged.

        Returns:
            The rule.
        """
        self._forward = _Ruled(self.fn, rule, self.name, self.check)
        return rule

    def defscale_vjp(self, rule: Function) -> Function:
        """Sets the scale rule of the function's vjp, after which `jax.jvp` is not supported.

        Args:
            rule: A function of the arguments and the cotangent of the result, in the form that
                `defscale` describes. It returns the cotangents of the arguments as a tuple, with
                None for integers and booleans. For one argument, the tuple may be left out.

        Returns:
            The rule.
        """

        def vjp_rule(args: Any, cotangent: Any) -> Any:
            given = rule(*args, cotangent)
            return (given,) if len(args) == 1 and not isinstance(given, tuple) else given

        functools.update_wrapper(vjp_rule, rule)
        self._backward = _Ruled(self._vjp, vjp_rule, f"the vjp of {self.name}", self.check)
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, or its rule if an argument has a ScaledArray.

        Raises:
            UsageError: The function has no rule, or its rule has other results.
        """
        if self._forward is None:
            raise UsageError(
                f"the custom_scale function {self.name} has no rule",
                location=caller(),
                hint=f"give it one with @{self.name}.defscale",
            )
        args = self._positional(args, kwargs)
        if any(map(is_scaled_array, jax.tree.leaves(args, is_leaf=is_scaled_array))):
            return _on_pairs(self._forward, *jax.tree.map(_pair, args, is_leaf=is_scaled_array))
        args = jax.tree.map(jnp.asarray, args)
        if self._backward is None:
            return self._forward(*args)
        return _with_vjp(self._forward, self._backward, *args)

    def _positional(self, args: Any, kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise UsageError(
                f"{self.name} takes {', '.join(bound.kwargs)} by keyword only",
                location=caller(),
                hint="bind it before custom_scale, as with functools.partial",
            )
        return bound.args

    def _vjp(self, args: Any, cotangent: Any) -> Any:
        """Returns the cotangents of the float arguments, and None for the others."""
        types = jax.eval_shape(self.fn, *args)
        cotangent = jax.tree.map(_cotangent_of, types, cotangent)
        gradients = jax.vjp(self.fn, *args)[1](cotangent)
        return jax.tree.map(lambda arg, g: g if is_float(arg.dtype) else None, args, gradients)


def _cotangent_of(type_: Any, cotangent: Any) -> Any:
    if is_float(type_.dtype):
        return cotangent
    return np.zeros(type_.shape, jax.dtypes.float0)


class _Ruled:
    """A function of pytrees and its rule, which are flattened once for each pytree structure."""

    def __init__(self, fn: Function, rule: Function, name: str, check: bool) -> None:
        self.fn = fn
        self.rule = rule
        self.name = name
        self.check = check
        self._flat: dict[Any, tuple[Any, Any]] = {}
        self._checked: set[Any] = set()

    def __call__(self, *args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        if tree not in self._flat:
            self._flat[tree] = self._flattened(tree)
        fn, rule = self._flat[tree]
        body = fn.trace(*leaves)
        ruled = rule.trace(*map(_pair_type, leaves))
        self._require_fit(body.out_info, ruled.out_info)
        program, operands = CalledProgram.of(body, ruled, leaves)
        if self.check and (tree, program.operands) not in self._checked:
            self._require_equal(program, operands)
            self._checked.add((tree, program.operands))
        return jax.tree.unflatten(jax.tree.structure(body.out_info), apply(program, operands))

    def _flattened(self, tree: Any) -> tuple[Any, Any]:
        def of(fn: Function) -> Any:
            return jax.jit(lambda *leaves: fn(*jax.tree.unflatten(tree, leaves)))

        return of(self.fn), of(self.rule)

    def _require_fit(self, results: Any, pairs: Any) -> None:
        """Raises a UsageError if the results of the rule are not pairs of the function's types."""
        expected = jax.tree.leaves(results)
        given = jax.tree.leaves(pairs, is_leaf=is_scaled_array)
        structures = [str(jax.tree.structure(t, is_leaf=is_scaled_array)) for t in (results, pairs)]
        if structures[0] != structures[1]:
            message = f"gives {structures[1]}, where it has {structures[0]}"
            raise self._error(message, "give the same structure")
        for type_, pair in zip(expected, given, strict=True):
            if is_scaled_array(pair) != is_float(type_.dtype):
                raise self._error(
                    f"gives {_spelled(pair)} for {_spelled(type_)}",
                    "give a ScaledArray for each float array, and the others as they are",
                )
            if _spelled(pair) != _spelled_pair(type_):
                raise self._error(
                    f"gives {_spelled(pair)}, which has to be {_spelled_pair(type_)}",
                    "cast the data to the dtype of the result, and keep the scale a scalar",
                )

    def _require_equal(self, program: CalledProgram, operands: Sequence[Any]) -> None:
        """Raises a UsageError if rule and function differ on random samples."""
        captured = operands[: sum(program.captured)]
        shapes = [size for type_ in program.operands for size in type_.shape]
        if not all(isinstance(size, int) for size in shapes) or not all(
            map(scaled.is_concrete, captured)
        ):
            return  # Symbolic sizes or traced captured values cannot be sampled.
        with jax.ensure_compile_time_eval():
            pairs = [*map(_pair, captured), *_samples(program.operands[len(captured) :])]
            expected = program.run_body(*scaled.asarray(pairs))
            given = iter(program.run_rule(*jax.tree.leaves(pairs)))
            for value in expected:
                data = next(given)
                scale = next(given) if is_float(value.dtype) else 1
                self._compare(value, data, scale)

    def _compare(self, expected: Any, data: Any, scale: Any) -> None:
        if not scaled.is_power_of_two(float(scale)):
            raise self._error(
                f"gives the scale {float(scale)}, which is no power of two",
                "round it down, as with jnp.exp2(jnp.floor(jnp.log2(scale)))",
            )
        wide = np.complex128 if np.iscomplexobj(expected) else np.float64
        is_ = np.asarray(data).astype(wide) * float(scale)
        was = np.asarray(expected).astype(wide)
        float_ = is_float(expected.dtype)
        close = _TOLERANCE * float(jnp.finfo(expected.dtype).eps) if float_ else 0.0
        size = np.max(np.abs(was), initial=0.0, where=np.isfinite(was))
        if not np.allclose(is_, was, rtol=close, atol=close * size, equal_nan=True):
            worst = np.nanmax(np.abs(is_ - was))
            raise self._error(
                f"differs from it by {worst:.3g} on random samples, of at most {size:.3g}",
                "data times scale have to be the values of the function",
            )

    def _error(self, message: str, hint: str) -> UsageError:
        rule = _unbound(self.rule)
        code = getattr(rule, "__code__", None) or type(rule).__call__.__code__
        return UsageError(
            f"the scale rule of {self.name} {message}",
            location=f"{code.co_filename}:{code.co_firstlineno}",
            hint=hint,
        )


def _unbound(fn: Any) -> Any:
    """Returns the innermost function of wrappers and partial applications."""
    fn = inspect.unwrap(fn)
    return _unbound(fn.func) if isinstance(fn, functools.partial) else fn


def _pair(leaf: Any) -> Any:
    """Returns a value as an argument of a rule; unscaled floats get the scale 1."""
    if is_scaled_array(leaf):
        return scaled.whole(leaf)
    leaf = jnp.asarray(leaf)
    return scaled.as_scaled_array(leaf, 1) if is_float(leaf.dtype) else leaf


def _pair_type(leaf: Any) -> Any:
    if not is_float(leaf.dtype):
        return leaf
    return ScaledArray(leaf, jax.ShapeDtypeStruct((), scale_dtype(leaf.dtype)))


def _samples(types: Sequence[Any]) -> list[Any]:
    random = np.random.default_rng(0)
    return [
        ScaledArray(
            sample(type_, random),
            jnp.asarray(2.0 ** _SAMPLE_EXPONENTS[i % 4], scale_dtype(type_.dtype)),
        )
        if is_float(type_.dtype)
        else sample(type_, random)
        for i, type_ in enumerate(types)
    ]


def _spelled(value: Any) -> str:
    if is_scaled_array(value):
        return f"ScaledArray({_spelled(value.data)}, {_spelled(value.scale)})"
    return spelled(value)


def _spelled_pair(type_: Any) -> str:
    if not is_float(type_.dtype):
        return _spelled(type_)
    return f"ScaledArray({_spelled(type_)}, {scale_dtype(type_.dtype)}[])"


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _with_vjp(forward: _Ruled, _backward: _Ruled, *args: Any) -> Any:
    return forward(*args)


def _with_vjp_forward(forward: _Ruled, _backward: _Ruled, *args: Any) -> Any:
    return forward(*args), args


def _with_vjp_backward(_forward: _Ruled, backward: _Ruled, args: Any, cotangent: Any) -> Any:
    floats = jax.tree.map(lambda c: None if c.dtype == jax.dtypes.float0 else c, cotangent)
    return backward(args, floats)


_with_vjp.defvjp(_with_vjp_forward, _with_vjp_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _on_pairs(ruled: _Ruled, *args: Any) -> Any:
    results = ruled.rule(*args)
    ruled._require_fit(jax.eval_shape(ruled.fn, *scaled.asarray(args)), results)
    return results


def _on_pairs_backward(ruled: _Ruled, args: Any, cotangent: Any) -> Any:
    """Computes the cotangents from the values of all pairs; they have the scale 1."""
    gradients = jax.vjp(ruled.fn, *scaled.asarray(args))[1](scaled.asarray(cotangent))
    return jax.tree.map(
        lambda arg, g: ScaledArray(g, jnp.ones_like(arg.scale)) if is_scaled_array(arg) else g,
        args,
        gradients,
        is_leaf=is_scaled_array,
    )


_on_pairs.defvjp(lambda ruled, *args: (_on_pairs(ruled, *args), args), _on_pairs_backward)
