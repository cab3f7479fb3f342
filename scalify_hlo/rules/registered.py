"""Rules of users, whose errors are reported with the name of the op and of the rule."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.errors import ScalifyError, UsageError
from scalify_hlo.ir.locations import source_location
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

Apply: TypeAlias = Callable[[ir.Operation, ScaleRewriter], ir.Operation | None]
"""Applies a rule to an op, and returns the op that replaced it, or None."""

ON_DATA: set[Apply] = set()
"""Rules of ops that read data as values, and whose results are unscaled."""


class Registered:
    """A user's rule.

    Args:
        op: The name for which the rule was registered.
        apply: The rule.

    Attributes:
        file: The file of the rule, or of its class if it is not a function.
        line: The line of the rule.

    Raises:
        UsageError: The rule cannot be called with an op and a rewriter.
    """

    def __init__(self, op: str, apply: Apply) -> None:
        if not callable(apply):
            raise UsageError(
                f"the rule for {op} is of type {type(apply).__name__}, and not a function",
                hint="give a function of an op and a ScaleRewriter, such as rules.families.keep",
            )
        self._op, self._apply = op, apply
        self.file, self.line, self._name = _place(apply)
        if not _takes_two(apply):
            self._refuse(
                "takes other arguments than an op and a ScaleRewriter", f"write {_EXAMPLE}"
            )

    def __call__(self, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
        """Applies the rule, and checks its effect.

        Raises:
            UsageError: The rule raised an error, returned an object that is not an op, or left
                results unset although an operand is scaled.
        """
        location, before = source_location(op.location), _scaled(op, rewriter)
        floats = [result for result in op.results if rewriter.format(result) is not None]
        try:
            made = self._apply(op, rewriter)
        except ScalifyError:
            raise
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            sentence = f"raised {type(error).__name__}" + (f": {text}" if text else "")
            self._refuse(sentence, f"the op is at {location}", error)
        if made is not None and not isinstance(made, (ir.Operation, ir.OpView)):
            self._refuse(
                f"returned a value of type {type(made).__name__}",
                "a rule returns the op that replaces its op, or None",
            )
        if made is not None or self._apply in ON_DATA or not floats:
            return made
        if all(rewriter.info(result) is None for result in floats) and _left(op, before):
            self._refuse(
                "sets no scale of a result, and leaves an operand at a scale that is not 1",
                f"end with rewriter.result(op, scale), or read values with rewriter.read_all(op); "
                f"the op is at {location}",
            )
        return None

    def _refuse(self, message: str, hint: str, cause: Exception | None = None) -> NoReturn:
        raise UsageError(
            f"the rule {self._name} for {self._op} {message}",
            location=f"{self.file}:{self.line}",
            hint=hint,
        ) from cause


_EXAMPLE = "it as `def rule(op, rewriter): ...`"


def _place(apply: Apply) -> tuple[str, int, str]:
    """Returns the file, the line and the name of a rule."""
    rule = inspect.unwrap(apply)
    while isinstance(rule, functools.partial):
        rule = inspect.unwrap(rule.func)
    name = str(getattr(rule, "__name__", type(rule).__name__))
    code = getattr(rule, "__code__", None) or getattr(type(rule).__call__, "__code__", None)
    return (code.co_filename, code.co_firstlineno, name) if code else ("<built-in>", 0, name)


def _takes_two(apply: Apply) -> bool:
    try:
        inspect.signature(apply).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # A built-in function may have no signature.
        return True
    return True


def _scaled(op: ir.Operation, rewriter: ScaleRewriter) -> dict[int, ir.Value]:
    """Returns the operands at scales that are not 1, by number."""
    infos = enumerate(rewriter.infos(list(op.operands)))
    scaled = [i for i, info in infos if isinstance(info, Scaled) and info.scale != ONE]
    return {i: op.operands[i] for i in scaled}


def _left(op: ir.Operation, before: dict[int, ir.Value]) -> bool:
    """Whether an operand is the same value as before."""
    operands = list(op.operands)
    return any(operands[i] == value for i, value in before.items())
