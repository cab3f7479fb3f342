"""JSON Schemas of what the commands write."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from scalify_hlo.recipes.fields import names
from scalify_hlo.results.model import schema_of

MODELS: Final = {
    "rewrite": "passes.summary.ReportRecord",
    "check": "commands.check.comparison.Comparison",
    "calibrate": "profile.file.ProfileRecord",
    "stats": "commands.stats.record.StatsRecord",
    "bisect-nan": "commands.nan.nan_report.NanReport",
    "compile": "targets.record.CompileRecord",
    "explain": "commands.explain.record.ExplainRecord",
    "inspect": "cli.inspected.Inspected",
    "rules": "rules.registry.RuleList",
    "recipes": "cli.recipes.RecipeList",
    "compare": "commands.choose.trials.Comparison",
    "blame": "commands.choose.model.Blame",
    "search": "commands.choose.model.Search",
}
"""The model of the JSON of each command."""


def json_schema(command: str) -> dict[str, Any]:
    """Returns the JSON Schema of what a command writes as JSON.

    Args:
        command: The name of the command, such as ``compare``.

    Raises:
        UsageError: There is no such command, or it writes no JSON.

    Example:
        >>> json_schema("compare")["properties"]["format"]
        {'const': 'scalify-hlo compare'}
    """
    names(*MODELS).read("command", command, spelt=False)
    module, _, name = MODELS[command].rpartition(".")
    return schema_of(getattr(import_module(f"scalify_hlo.{module}"), name))
