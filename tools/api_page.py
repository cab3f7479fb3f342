"""Prints docs/api.md: the public names, each of which mkdocstrings expands from its docstring."""

from __future__ import annotations

from collections.abc import Iterator

_INTRODUCTION = """\
# Python API

Every public name of `scalify_hlo`, written by `make docs`. The text is that of the docstrings.

Do this, in a checkout:

```python
import pathlib, scalify_hlo

text = pathlib.Path("examples/step.mlir").read_text()
program, report = scalify_hlo.rewrite(text, recipe="fp8-current", report=True)
print(report)
```
"""

GROUPS = {
    "Rewriting": ("rewrite", "scalify", "Recipe", "load_recipe", "dump_recipe"),
    "Pairs of data and scale": (
        "ScaledArray",
        "as_scaled_array",
        "asarray",
        "dynamic_rescale",
        "scaled_state",
        "tree",
    ),
    "Files": ("serialize", "deserialize", "register_for_export", "save_inputs", "load_inputs"),
    "Measuring": (
        "measured_scales",
        "calibrate",
        "Profile",
        "TensorProfile",
        "load_profile",
        "dump_profile",
        "ScalingState",
        "init_scaling_state",
        "scaling_tensors",
    ),
    "Statistics": (
        "collect_stats",
        "Stats",
        "StatsRecord",
        "VariantStats",
        "ValueStats",
        "OctaveCounts",
        "OperandStats",
        "FormatStats",
        "dump_stats",
        "load_stats",
        "stats_page",
    ),
    "NaN and infinities": (
        "find_nan",
        "NanReport",
        "NonFiniteOp",
        "ValueRange",
        "LoopTurn",
        "dump_nan_report",
    ),
    "Choosing a recipe": (
        "compare_recipes",
        "Comparison",
        "Trial",
        "dump_comparison",
        "blame",
        "Blame",
        "BlamedSite",
        "Effect",
        "dump_blame",
        "search",
        "Search",
        "SearchedSite",
        "GradientFormat",
        "Point",
        "dump_search",
    ),
    "Compiled programs": (
        "explain",
        "Explanation",
        "ExplainedMatmul",
        "dump_explanation",
        "explain_page",
    ),
    "Reports": (
        "Report",
        "MatmulReport",
        "OperandScale",
        "Totals",
        "Remark",
        "dump_report",
        "json_schema",
    ),
    "Markers": (
        "set_scaling",
        "stop_scaling",
        "get_data_and_scale",
        "rebalance_scale",
        "cast_on_forward",
        "cast_on_backward",
        "dynamic_rescale_max",
        "dynamic_rescale_l1",
        "dynamic_rescale_l2",
        "dynamic_rescale_max_grad",
        "dynamic_rescale_l1_grad",
        "dynamic_rescale_l2_grad",
        "custom_scale",
    ),
    "Unit scaling": ("unit",),
    "Rules and passes": ("register_rule", "RULES", "PASSES"),
    "Errors": ("ScalifyError", "InputError", "UsageError", "ScalifyWarning"),
}
"""The public names, in the order in which the page has them."""


def page() -> str:
    """Returns the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    for title, names in GROUPS.items():
        yield from (f"## {title}", "")
        for name in names:
            yield from (f"::: scalify_hlo.{name}", "")


if __name__ == "__main__":
    print(page(), end="")
