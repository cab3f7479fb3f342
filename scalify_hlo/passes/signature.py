"""scalify-signature: marks the arguments and results of `main` that are scaled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress
from typing import ClassVar, Final, Literal

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SAFE_REACH
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.algebra.scale_shapes import shape_of_blocks
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.ir.formats import are_floats, is_real, is_scalar
from scalify_hlo.ir.functions import callee_of, entry
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.patterns import WILD, matches
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.recipes.toml import parse_input_blocks, parse_input_scale
from scalify_hlo.report.model import Report
from scalify_hlo.rules.isolated import scale_element


@dataclass(frozen=True)
class SignaturePass(Pass):
    """Marks arguments and results of `main`.

    Attributes:
        signature: ``scaled`` makes float arguments and results pairs; ``same`` keeps them.
        input_scale: ``PATTERN=NUMBER``, the expected rms of the arguments that match. Such an
            argument is divided at entry by the power of two at or below the number, which becomes
            its static scale. In patterns of names, ``*`` and ``?`` match any characters. The last
            match counts.
        pairs: A digit for each argument, 1 for pairs; if empty, all float arguments are pairs.
        every: Whether all other float arguments have a size: they are measured where a cast
            depends on it, or assumed to be near unit.
        measures: Whether casts depend on the sizes of arguments. Scalars are measured also if they
            are pairs or declared, such as a loss scale: it costs no statistic, and they change.
        verify: Patterns of arguments to measure although they are pairs or their scale is declared.
        strict: Whether each of these has to match a float argument. It is false for a vjp, whose
            arguments are not those of the program for which the recipe was written.
        blocks: ``PATTERN=AxB``, the pairs that have a scale for each block of A by B numbers. 0 is
            the whole dimension. The last match counts.
    """

    name: ClassVar[str] = "scalify-signature"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    signature: Literal["same", "scaled"] = "same"
    input_scale: tuple[str, ...] = ()
    pairs: str = ""
    every: bool = False
    measures: bool = False
    verify: tuple[str, ...] = ()
    strict: bool = True
    blocks: tuple[str, ...] = ()

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        self.mark(module)
        index.asked = index.asked or attributes.any_argument_has(entry(module), attributes.PAIR)

    def mark(self, module: ir.Operation) -> None:
        """Marks the arguments and results of ``main``.

        Args:
            module: A ``builtin.module``.

        Raises:
            InputError: There is no ``main``, or the module calls it, and its arguments change.
            UsageError: A declared scale matches no argument, or is out of range.
        """
        main = entry(module)
        self._mark_arguments(main)
        if self.signature == "scaled":
            _refuse_callers(module, main)
            attributes.name_arguments(main)
            _mark_results(main)

    def _mark_arguments(self, main: ir.OpView) -> None:
        """Marks the arguments."""
        marks = attributes.argument_attributes(main)
        if self.signature == "scaled":
            _forget_scales(marks)
        types = list(attributes.function_type(main).inputs)
        floats = are_floats(types)
        for i, size in self._sizes(main, types, floats).items():
            kind = Measured if isinstance(size, Measured) else float
            attributes.set_size(marks[i], kind(math.log2(size)))
        if self.signature == "scaled":
            for i, is_float in enumerate(floats):
                if is_float and attributes.SCALE not in marks[i] and self._is_pair(i):
                    marks[i][attributes.PAIR] = ir.UnitAttr.get()
        self._mark_blocks(main, types, marks)
        scalars = [i for i, is_float in enumerate(floats) if is_float and is_scalar(types[i])]
        for i in [*self._named(main, floats), *scalars] if self.measures else ():
            marks[i][attributes.MEASURE] = ir.UnitAttr.get()
        if self.every:
            unit = attributes.integer(0)
            for mark, type_, is_float in zip(marks, types, floats, strict=True):
                if not is_float or attributes.SCALE in mark:
                    continue
                # No cast has the range of f64, and no pair has data near unit for certain.
                far = isinstance(scale_element(type_), ir.F64Type)
                if far or attributes.PAIR not in mark:
                    mark[attributes.MEASURE if self.measures or far else attributes.SCALE] = unit
        attributes.set_argument_attributes(main, marks)

    def _named(self, main: ir.OpView, floats: list[bool]) -> list[int]:
        """Returns the float arguments that the patterns of arguments to verify match.

        Raises:
            UsageError: A pattern matches no float argument.
        """
        names = attributes.argument_names(main) if self.verify else []
        found: list[int] = []
        for pattern in self.verify:
            matched = [i for i, n in enumerate(names) if floats[i] and matches(pattern, n, i)]
            if self.strict and not matched:
                near = nearest(pattern, compress(names, floats))
                message = f"inputs.verify {pattern!r} matches no float argument{near}"
                raise UsageError(message, hint=_LISTED)
            found += matched
        return found

    def _mark_blocks(
        self, main: ir.OpView, types: list[ir.Type], marks: list[attributes.Attributes]
    ) -> None:
        """Marks the pairs that have an array of scales.

        Raises:
            UsageError: A pattern matches no pair, or a block does not divide an argument.
        """
        names = attributes.argument_names(main) if self.blocks else []
        for declaration in self.blocks:
            pattern, block = parse_input_blocks(declaration)
            meant = [i for i, name in enumerate(names) if matches(pattern, name, i)]
            pairs = [i for i in meant if attributes.PAIR in marks[i]]
            if not pairs:
                raise UsageError(
                    f"inputs.blocks {pattern!r} matches no argument that is data and scale"
                    f"{nearest(pattern, names)}",
                    hint=_LISTED,
                )
            for i in pairs:
                marks[i][attributes.SCALE_SHAPE] = _scale_shape(names[i], types[i], block)

    def _is_pair(self, index: int) -> bool:
        return not self.pairs or self.pairs[index : index + 1] == "1"

    def _sizes(self, main: ir.OpView, types: list[ir.Type], floats: list[bool]) -> dict[int, float]:
        names = attributes.argument_names(main)
        places = _places(names) if self.input_scale else {}
        sizes: dict[int, float] = {}
        for declaration in self.input_scale:
            pattern, size = parse_input_scale(declaration)
            # Measured scales have names without patterns, one for each argument.
            plain = places.get(pattern) if WILD.isdisjoint(pattern) else None
            meant = plain or [i for i, n in enumerate(names) if matches(pattern, n, i)]
            matched = [i for i in meant if floats[i]]
            if not matched:
                raise _unmatched(pattern, bool(meant), [*compress(names, floats)])
            exponent = math.floor(math.log2(size))
            _check_range(pattern, exponent, [(names[i], types[i]) for i in matched])
            sizes.update(dict.fromkeys(matched, size))
        return sizes


def _scale_shape(name: str, type_: ir.Type, block: tuple[int, ...]) -> ir.Attribute:
    """Returns the shape of the array of scales of an argument."""
    fits = is_real(type_) and type_.has_static_shape
    shape = shape_of_blocks(list(type_.shape), block) if fits else None
    if shape is None:
        text = "x".join(map(str, block))
        raise UsageError(
            f"blocks of {text} in inputs.blocks do not divide {name}, which is {type_}",
            hint="give a size for each dimension that divides it, or 0 for the whole dimension; "
            "complex numbers and dynamic shapes have one scale",
        )
    return ir.DenseI64ArrayAttr.get(shape)


def _unmatched(pattern: str, others: bool, names: list[str]) -> UsageError:
    what = "arguments that are not floats" if others else "no float argument"
    return UsageError(
        f"input scale {pattern!r} matches {'only ' * others}{what}{nearest(pattern, names)}",
        hint=_ONLY_FLOATS if others else _LISTED,
    )


_LISTED: Final = "`scalify-hlo inspect --arguments` lists the arguments and their names"
_ONLY_FLOATS: Final = (
    "only float arguments have a scale; `scalify-hlo inspect --arguments` lists them"
)


def _check_range(pattern: str, exponent: int, arguments: list[tuple[str, ir.Type]]) -> None:
    """Refuses a scale if it, or its reciprocal, is not a normal number of the type of scales."""
    wide = ir.F64Type.get()
    for name, type_ in arguments:
        most = SAFE_REACH[scale_element(type_) == wide]
        if abs(exponent) > most:
            raise UsageError(
                f"input scale {pattern!r} of 2^{exponent} is out of range for {name!r} ({type_})",
                hint=f"give this argument one from 2^-{most} to 2^{most}",
            )


def _places(names: list[str]) -> dict[str, list[int]]:
    """Returns the arguments with a name, or with the name ``argN``."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        for known in {name, f"arg{i}"}:
            places.setdefault(known, []).append(i)
    return places


def _refuse_callers(module: ir.Operation, main: ir.OpView) -> None:
    """Raises an error for a call of `main`, whose arguments change."""
    others = (op for op in module.regions[0].blocks[0].operations if op != main)
    inside = (call for op in others for call in ops_in(op, {"func.call"}))
    calls = [call for call in inside if callee_of(call) == "main"]
    if calls:
        raise InputError(
            "this calls @main, which takes other arguments once they are scaled",
            location=source_location(calls[0].location),
            hint="make a private function of the body of @main, and call that from both",
        )


def _forget_scales(marks: list[attributes.Attributes]) -> None:
    """Makes scales of a rewrite before values like others, which become pairs themselves."""
    for mark in marks:
        mark.pop(attributes.IS_SCALE, None)


def _mark_results(main: ir.OpView) -> None:
    marks = attributes.result_attributes(main)
    _forget_scales(marks)
    types = list(attributes.function_type(main).results)
    for mark, is_float in zip(marks, are_floats(types), strict=True):
        if is_float:
            mark[attributes.PAIR] = ir.UnitAttr.get()
    attributes.set_result_attributes(main, marks)
