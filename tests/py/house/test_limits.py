"""Limits that are reached, and the modules that may state none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalify_hlo.algebra.uncertainty import CERTAIN, of_root

PACKAGE = Path(__file__).resolve().parents[3] / "scalify_hlo"

ROOMS = (
    *("algebra", "ir", "dialect", "recipes", "dataflow", "layers", "rules", "report", "transforms"),
    *("casts", "scaling", "passes", "commands/lint", "commands/stats", "commands/nan", "frontend"),
)
"""The rooms that rewrite and measure. The others read, write and run programs: their numbers are
sizes of buffers, waiting times and widths of columns."""

NOT_LIMITS: dict[str, dict[str, str]] = {
    "facts of formats, of ops and of files": {
        "algebra/noise.py": "BIAS INDEX_FACTOR MANTISSA MIXES SALT_FACTOR UNSURE WORD",
        "algebra/min_cut.py": "_GRAIN _INFINITE _TOTAL",
        "algebra/formats.py": "_MANY_EXPONENT_BITS _SMALL_BITS _SMALLEST_WITH_INFINITIES",
        "dataflow/degrees.py": "_VALUES",
        "layers/dropout.py": "_LESS",
        "layers/states.py": "_ANY _SHARE _SIGNED",
        "dataflow/tables.py": "_MATRIX",
        "dataflow/widths.py": "_NARROW_BITS",
        "ir/traits.py": "_BOTH",
        "commands/lint/exponentials.py": "_BELOW",
        "commands/lint/formats.py": "_WIDEST",
        "commands/stats/encodings.py": "_BYTE _HUGE _SHIFT",
        "commands/stats/formats.py": "_BLOCKS _E8M0_BOUND _F32_MANTISSA",
        "commands/stats/measures.py": "_F32_BIAS _F32_MANTISSA",
        "commands/nan/nonfinite.py": "_EXTENT",
        "commands/stats/record.py": "VERSION",
        "passes/state.py": "_MATRIX",
        "casts/blocks/layout.py": "_MULTIPLE",
        "casts/blocks/scales.py": "_BIAS _INFINITY _MANTISSA",
        "frontend/checkpoint.py": "_NARROW",
        "casts/costs.py": "NARROW _MICRO _MULTIPLES",
        "casts/state.py": "SCALE_BYTES",
        "casts/current.py": "_LEAST",
        "rules/measured_sizes.py": "_DEGREES",
        "rules/runtime_scales.py": "_EXPONENT_BITS _NEARLY_TWICE",
        "rules/exponents.py": "_BLOCK_BITS",
        "rules/scalar_ops.py": "BIAS MANTISSA",
        "rules/saturation.py": "_SUM",
        "rules/source_sizes.py": "_BYTE",
    },
    "special values of a data structure": {
        "dialect/attributes.py": "NOT_TO_ZERO",
        "layers/layout.py": "SAME",
        "dataflow/monomials.py": "FLAT MIXED",
        "commands/nan/flow.py": "_BEFORE",
        "commands/nan/origins.py": "_GIVEN",
    },
    "rounding, and tolerances of comparisons": {
        "layers/activations.py": "_STEP _TOLERANCE",
        "layers/dropout.py": "_TOLERANCE",
        "layers/match.py": "_TOLERANCES",
        "dataflow/monomials.py": "_DIGITS",
        "dialect/structure.py": "_DIGITS",
        "casts/costs.py": "_MARGIN _NOTHING",
        "commands/lint/unit_ops.py": "_ROUNDED",
        "commands/stats/formats.py": "_NOT_CLIPPED",
        "commands/stats/readout.py": "_EXACT",
    },
    "samples by which layers are recognized, and marks of a kind of value": {
        "layers/attention.py": "_LOW",
        "layers/samples.py": "MAGNITUDES _SIZES",
        "dataflow/vocabulary.py": "LEAST RATIO",
        "commands/lint/programs.py": "_LEAST",
    },
    "expected sizes and their uncertainties, in octaves or degrees": {
        "algebra/uncertainty.py": "GIVEN STATISTIC _SQUARE",
        "casts/calibrated.py": "SHARING",
        "casts/delayed.py": "FIRST_GRADIENT",
        "report/matmuls.py": "_CLOSE _LEAST_ROOM",
        "rules/activations.py": "_LEAST _STATE",
        "rules/attention.py": "_SHARPENED",
        "rules/families.py": "_BIAS _CONTRACTION_BIAS _GAIN_BIAS",
        "rules/marker_ops.py": "PEAK _PEAK_DEVIATION",
        "rules/masks.py": "_FEWER",
        "rules/parameters.py": "_NEGLIGIBLE",
        "rules/read_sizes.py": "_LARGEST _OCTAVE _SAMPLES _SMALL _UNCERTAIN",
        "rules/recurrence.py": "_CONVERGES _RECURRENCE _SQUARE",
        "rules/scale_rewriter.py": "INPUT _IN_POWERS _NEEDED_BITS ROUNDED_BIAS ROUNDED_DOWN",
        "rules/source_sizes.py": "_EVEN _INTEGER _LARGE",
        "rules/sums.py": "_EITHER _NONLINEAR _SUM_BIAS _UNLIKE _UNLIKE_BIAS",
        "rules/untrusted.py": "_UNKNOWN",
    },
    "the form of pages and figures": {
        "commands/stats/figures.py": "_DPI _LABEL _LEAST_SHARE",
        "commands/stats/page.py": "_STEPS",
    },
    "defaults of options": {"commands/stats/run.py": "_EVERY"},
}
"""Numbers that no search ends at and that no exponent is clamped to, by reason and file."""


def test_an_uncertainty_has_up_to_twelve_roots() -> None:
    product = CERTAIN
    for _ in range(12):
        product = product * of_root(1.0)
    assert len(product.degrees) == 12
    assert len((product * of_root(1.0)).degrees) == 12


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is made of literal numbers only."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.Dict):
        return bool(node.values) and all(map(is_number, node.values))
    return False


def constants(file: Path) -> Iterator[str]:
    """The names of constants of a module that are numbers."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_number(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
            yield from (name.id for name in names)


def test_limits_are_in_one_module() -> None:
    files = [file for room in ROOMS for file in sorted((PACKAGE / room).rglob("*.py"))]
    found = {
        f"{file.relative_to(PACKAGE).as_posix()} {n}" for file in files for n in constants(file)
    }
    apart = {
        f"{file} {name}"
        for files_ in NOT_LIMITS.values()
        for file, names in files_.items()
        for name in names.split()
    }
    assert {name for name in found if not name.startswith("algebra/limits.py ")} == apart


def test_each_limit_has_a_reason() -> None:
    body = ast.parse((PACKAGE / "algebra" / "limits.py").read_text()).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(node)
            assert isinstance(after.value, ast.Constant), ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A = 3", ["A"]),
        ("A, B = -1, 2.0**4", ["A", "B"]),
        ("A: int = 1 << 3", ["A"]),
        ("A = {1: 2}", ["A"]),
        ("A = True", []),
        ("A = 'x'", []),
        ("A = f(3)", []),
        ("def f():\n    a = 3", []),
    ],
)
def test_numbers_are_found(text: str, names: list[str], tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(text)
    assert list(constants(file)) == names
