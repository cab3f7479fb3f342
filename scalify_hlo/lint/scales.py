"""Scales that no one declared."""

from __future__ import annotations

from collections.abc import Iterator

from scalify_hlo.dialect.locations import source_location
from scalify_hlo.lint.model import Place, Subject


def undeclared_scales(subject: Subject) -> Iterator[Place]:
    """Yields the arguments that a recipe takes to be of scale 1, as it knows nothing else."""
    location = source_location(subject.main.location)
    for name in subject.undeclared:
        yield Place(f"the scale of {name} is not declared, and taken to be 1", location, name)
