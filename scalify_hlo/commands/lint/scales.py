"""Scales that no one declared."""

from __future__ import annotations

from collections.abc import Iterator

from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.ir.locations import source_location


def undeclared_scales(subject: Subject) -> Iterator[Place]:
    """Yields the arguments that a program measures in each call, as no one declared their scale."""
    location = source_location(subject.main.location)
    for name in subject.undeclared:
        yield Place(f"{name} is measured in each call: its scale is not declared", location, name)
