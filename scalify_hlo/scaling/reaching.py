"""The functions of a module that have markers or narrow floats, or call one that has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import is_private
from scalify_hlo.rules.marked_ops import has_markers
from scalify_hlo.rules.recurrence import has_narrow_values
from scalify_hlo.scaling.callees import called_in


def marked_functions(functions: Mapping[str, ir.OpView], index: ModuleIndex) -> set[str]:
    """Returns the functions that have markers, or call a function that has."""
    if index.counted and not index.markers:
        return set()
    return _reaching(functions, has_markers)


def casting_functions(functions: Mapping[str, ir.OpView]) -> set[str]:
    """Returns the private functions that have narrow floats, or call a function that has."""
    private = {name: function for name, function in functions.items() if is_private(function)}
    return _reaching(private, lambda body: has_narrow_values([body]))


def _reaching(functions: Mapping[str, ir.OpView], is_found: Callable[[ir.Block], bool]) -> set[str]:
    """Returns the functions whose bodies satisfy a predicate, and those that call one of them."""
    bodies = {n: f.regions[0].blocks[0] for n, f in functions.items() if f.regions[0].blocks}
    found = {name for name, body in bodies.items() if is_found(body)}
    callers: dict[str, set[str]] = {}
    # Functions that are found already are not looked for as callers.
    for name in bodies.keys() - found if found else ():
        for callee in called_in(bodies[name]):
            callers.setdefault(callee, set()).add(name)
    return set(Search(found, lambda name: callers.get(name, ())))
