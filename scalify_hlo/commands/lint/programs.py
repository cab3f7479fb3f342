"""Lints on programs: matmuls that are wide, weights that are cast, scales that are measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.values import CARRIES, elements_of
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import element_type, format_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.traits import CASTING, CONTRACTIONS
from scalify_hlo.ir.value_map import ValueSet


def left_wide(subject: Subject) -> Iterator[Place]:
    """Yields the matmuls of f32 operands, if most matmuls of the program take 16-bit ones.

    The formats of operands decide. A matmul of bf16 operands that sums in f32 is as it should be.
    What a recipe leaves wide has its reason in the report.
    """
    if subject.rewritten:
        return
    matmuls = [op for op in subject.ops if op.name in CONTRACTIONS]
    formats = [tuple(str(element_type(v.type)) for v in list(op.operands)[:2]) for op in matmuls]
    counts = Counter(pair[0] for pair in formats if pair in _SMALL)
    most = counts.most_common(1)
    if not most or 2 * most[0][1] <= len(matmuls):
        return
    small, count = most[0]
    for op, pair in zip(matmuls, formats, strict=True):
        if pair == ("f32", "f32"):
            most_take = f"{count} of {len(matmuls)} matmuls take {small}"
            yield Place.at(op, f"its operands are f32, and {most_take}")


_SMALL = (("bf16", "bf16"), ("f16", "f16"))


_LEAST: Final = 1 << 10
"""Elements from which on a weight is worth a change of the program."""


def recast_weights(subject: Subject) -> Iterator[Place]:
    """Yields the casts of weights to fewer bits, in a program without a backward pass.

    The weights of an inference program are the same in each call, so that a cast outside of it is
    done once. A training step has to cast its weights again, as it changes them.
    """
    if subject.trains:
        return
    names = attributes.argument_names(subject.main)
    for name, argument in zip(names, subject.main.regions[0].blocks[0].arguments, strict=True):
        if name in subject.weights and elements_of(argument) >= _LEAST:
            cast = _cast_of(argument)
            if cast is not None:
                small = cast.results[0].type.element_type
                told = f"casts the weight {name} to {small} in each call"
                place = Place.at(cast, told)._replace(name=name)
                yield place.with_file(_location_of(name, subject))


def _location_of(weight: str, subject: Subject) -> str:
    """Returns the location of the first matmul that takes a weight."""
    return next(m.location for m in subject.matmuls if weight in m.arguments)


def _cast_of(argument: ir.Value) -> ir.Operation | None:
    """Returns the cast of an argument to fewer bits; None if there is none."""
    own = format_of(argument.type)
    for found in Search([argument], _moved, seen=ValueSet()) if own is not None else ():
        for user in (use.owner.operation for use in found.uses):
            target = format_of(user.results[0].type) if user.name == "stablehlo.convert" else None
            if target is not None and own is not None and target.bits < own.bits:
                return user
    return None


def _moved(value: ir.Value) -> Iterator[ir.Value]:
    """Yields the values between a weight and its cast: moved, or divided by a scale."""
    users = (use.owner.operation for use in value.uses)
    return (r for u in users if u.name in CARRIES or u.name in CASTING for r in u.results)


def undeclared_scales(subject: Subject) -> Iterator[Place]:
    """Yields the arguments that a program measures in each call, as no one declared their scale."""
    location = source_location(subject.main.location)
    for name in subject.undeclared:
        yield Place(f"{name} is measured in each call: its scale is not declared", location, name)
