"""Limits that are reached."""

from __future__ import annotations

from scalify_hlo.algebra.uncertainty import CERTAIN, of_root


def test_an_uncertainty_has_up_to_twelve_roots() -> None:
    product = CERTAIN
    for _ in range(12):
        product = product * of_root(1.0)
    assert len(product.degrees) == 12
    assert len((product * of_root(1.0)).degrees) == 12
