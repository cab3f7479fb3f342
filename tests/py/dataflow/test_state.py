"""The statistic and the headroom that state in a narrow format takes its scale from."""

from __future__ import annotations

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.state import _measured, narrow_arguments
from scalify_hlo.recipes.model import StateOptions
from tests.py.shared.judge import main_of, parse


@pytest.mark.parametrize(
    ("role", "statistic", "narrow", "expected"),
    [
        # As a recipe asks: wide state has no headroom, and narrow moments have some.
        ("weight", "l2", None, ("l2", 0)),
        ("second_moment", "max", None, ("max", 0)),
        ("weight", "l2", "f16", ("l2", 0)),
        ("first_moment", "l2", "f16", ("l2", 0)),
        ("second_moment", "l2", "f16", ("l2", 4)),
        ("weight", "max", "f16", ("max", 7)),
        ("first_moment", "max", "f16", ("max", 7)),
        # Where it asks for none, f16 weights and first moments take their rms, all else the amax.
        ("weight", "none", "f16", ("l2", 0)),
        ("first_moment", "none", "f16", ("l2", 0)),
        ("second_moment", "none", "f16", ("max", 7)),
        ("weight", "none", "f8E4M3FN", ("max", 7)),
        ("first_moment", "none", "f8E5M2", ("max", 7)),
        ("first_moment", "none", "f8E3M4", ("max", 2)),
    ],
)
def test_statistic(
    role: str, statistic: str, narrow: str | None, expected: tuple[str, int]
) -> None:
    assert _measured(role, statistic, FORMATS[narrow] if narrow else None) == expected


STEP = """
func.func @main(%w: tensor<4x4xf32> {{scalify.pair, scalify.role = "weight"{stored}}})
    -> tensor<4x4xf32> {{
  %0 = stablehlo.negate %w : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}
"""


@pytest.mark.parametrize(
    ("stored", "options", "element"),
    [
        ("", StateOptions(), "f32"),
        (', scalify.stored = "f16"', StateOptions(), "f16"),
        ("", StateOptions(weight="f16"), "f16"),
        (', scalify.stored = "bf16"', StateOptions(weight="f16"), "bf16"),
    ],
)
def test_formats_of_arguments(stored: str, options: StateOptions, element: str) -> None:
    module = parse(STEP.format(stored=stored))
    main = main_of(module)
    with module.context, ir.Location.unknown():
        roles = narrow_arguments(main, options).roles
    assert roles == (set() if element == "f32" else {"weight"})
    argument = main.regions[0].blocks[0].arguments[0]
    assert str(argument.type) == f"tensor<4x4x{element}>"
