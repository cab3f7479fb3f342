"""Calls of Python, such as `jax.debug.print` and `io_callback`, in functions that are rewritten.

jax.export refuses them. In the exported program each is a custom call with a number instead. When
the program that calls the rewrite is lowered, jax's own lowerings take the places of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, mlir

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.errors import UsageError, place_of_text
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_in

TARGET = "scalify.host_callback"

_CALL, _NUMBER = "stablehlo.custom_call", "backend_config"
_PURE = "pure_callback"
_numbers = count()


@dataclass(frozen=True)
class _Callback:
    """A call of Python in a function.

    Attributes:
        primitive: The primitive of jax.
        params: Its parameters, which have the Python function.
        types: The types of its operands, and of its results.
        place: The line that calls Python.
    """

    primitive: Any
    params: dict[str, Any]
    types: tuple[Sequence[Any], Sequence[Any]]
    place: str


class HostCallbacks:
    """The calls of Python in one exported function, by the numbers of their custom calls."""

    def __init__(self) -> None:
        self._found: dict[str, _Callback] = {}
        self._effects: frozenset[Any] = frozenset()

    def export(
        self, fn: Any, targets: Sequence[str], **options: Any
    ) -> Callable[..., jax.export.Exported]:
        """Returns a function from types to an Exported; see `jax.export.export`.

        Args:
            fn: The function, under `jax.jit`.
            targets: The custom calls that are allowed.
            **options: Other options of `jax.export.export`.
        """
        checks = map(jax.export.DisabledSafetyCheck.custom_call, (TARGET, *targets))
        run = _compat.export_callbacks(fn, self._hold, disabled_checks=list(checks), **options)

        def export(*specs: Any, **keywords: Any) -> jax.export.Exported:
            exported: jax.export.Exported = run(*specs, **keywords)
            return self._exported(exported) if self._found else exported

        return export

    def _exported(self, exported: jax.export.Exported) -> jax.export.Exported:
        """Returns the Exported without its effects, which custom derivatives may not have."""
        self._effects = frozenset(exported.unordered_effects)
        if self._effects and not exported.out_avals:
            raise self._error(
                "a function that returns nothing calls Python here",
                "return a value, such as the one that is printed",
            )

        def vjp(_: jax.export.Exported) -> jax.export.Exported:
            try:
                return exported.vjp()
            except NotImplementedError:
                raise self._error(
                    "a function that calls Python here is differentiated from outside",
                    "take the gradient inside: scalify(jax.grad(fn))",
                ) from None

        return _compat.replace_exported(
            exported,
            arguments=range(len(exported.in_avals)),
            results=range(len(exported.out_avals)),
            vjp=vjp if exported.has_vjp() else None,
            unordered_effects=(),
        )

    def _error(self, sentence: str, hint: str) -> UsageError:
        place = next(iter(self._found.values())).place
        return UsageError(sentence, location=place, hint=hint)

    def _hold(self, primitive: Any, ctx: Any, *operands: ir.Value, **params: Any) -> Any:
        """Lowers a call of Python to a custom call with a number."""
        place = place_of_text(source_location(ir.Location.current), "")
        if ctx.tokens_in.effects():
            raise UsageError(
                "scalify does not keep the order of calls of Python",
                location=place,
                hint="leave out ordered=True, or call Python with the results of the function",
            )
        number = str(next(_numbers))
        types = ctx.avals_in, ctx.avals_out
        self._found[number] = _Callback(primitive, params, types, place)
        attributes: dict[str, ir.Attribute] = {
            "call_target_name": ir.StringAttr.get(TARGET),
            _NUMBER: ir.StringAttr.get(number),
            "has_side_effect": ir.BoolAttr.get(primitive.name != _PURE),
        }
        made = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out]
        return list(ir.Operation.create(_CALL, made, operands, attributes).results)

    def called(self, results: Any) -> Any:
        """Returns the results of the rewrite, a tree, such that their program calls Python."""
        if not self._found:
            return results
        leaves, tree = jax.tree.flatten(results)
        return jax.tree.unflatten(tree, _called_p.bind(*leaves, callbacks=self))

    def lower(self, ctx: Any, *values: ir.Value) -> Sequence[ir.Value]:
        """Lowers the calls of Python in the module of a context; the values are as given."""
        for call in ops_in(ctx.module_context.module.operation, {_CALL}):
            number = str(call.attributes[_NUMBER].value) if target_of(call) == TARGET else ""
            if number in self._found:
                _lower(ctx, self._found[number], call)
        return values

    def types(self, *types: Any) -> tuple[Sequence[Any], frozenset[Any]]:
        """Returns the types of the results, and the effects of the function."""
        return types, self._effects


def _lower(ctx: Any, callback: _Callback, call: ir.Operation) -> None:
    """Replaces the custom call of a call of Python by what jax lowers it to."""
    taken, given = callback.types
    own = ctx.replace(avals_in=taken, avals_out=given, const_lowering={})
    bind = partial(callback.primitive.bind, **callback.params)
    with ir.InsertionPoint(call), call.location:
        results: Sequence[ir.Value] = mlir.lower_fun(bind)(own, *call.operands)
    with call.context:
        replace_op(call, results)


_called_p = Primitive("scalify_called")
_called_p.multiple_results = True
_called_p.def_impl(lambda *values, **_: values)
_called_p.def_effectful_abstract_eval(lambda *types, callbacks: callbacks.types(*types))
ad.primitive_jvps[_called_p] = lambda values, tangents, callbacks: (
    _called_p.bind(*values, callbacks=callbacks),
    tangents,
)
mlir.register_lowering(_called_p, lambda ctx, *values, callbacks: callbacks.lower(ctx, *values))
