"""An explanation as JSON; the keys of its matmuls are in `model.py`."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from scalify_hlo.commands.explain.model import Explanation
from scalify_hlo.commands.explain.requirements import FIGURES, QUANTITIES
from scalify_hlo.commands.explain.warnings import warnings_of
from scalify_hlo.results.kinds import NAME, named
from scalify_hlo.results.model import content, dump, keys, result


@result("scalify-hlo explain", version=1)
@keys(
    "program=. *explanation(target=target.name native=target.native recipe) figures "
    "*explanation(f8_shares compiled=program original matmuls) warnings",
    program=NAME,
)
class ExplainRecord(NamedTuple):
    """An explanation, with its figures and warnings."""

    explanation: Explanation

    @property
    def figures(self) -> Annotated[dict[str, float | None], named(FIGURES)]:
        """The quantities that do not count warnings, by name."""
        found = {name: QUANTITIES[name].of(self.explanation) for name in FIGURES}
        return {name: None if value is None else round(value, 4) for name, value in found.items()}

    @property
    def warnings(self) -> list[str]:
        """The warnings, as sentences."""
        return list(warnings_of(self.explanation))


def explain_record(explanation: Explanation, name: str = "<program>") -> dict[str, Any]:
    """Returns an explanation as an object of JSON, with times in microseconds.

    Args:
        explanation: The explanation.
        name: The name of the program.
    """
    return content(ExplainRecord(explanation), name)


def dump_explanation(explanation: Explanation, name: str = "<program>") -> str:
    """Returns an explanation as JSON.

    Args:
        explanation: What `explain` returned.
        name: The name of the program.

    Returns:
        An object with the name of its ``format`` and its ``version``, the ``figures`` on the whole
        program, the ``matmuls`` with their kernels, and ``warnings``. `json_schema` returns its
        JSON Schema.
    """
    return dump(ExplainRecord(explanation), name)
