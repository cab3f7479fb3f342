"""The whole table: importing this module enters every rule."""

from __future__ import annotations

import importlib
import pkgutil

from scalify_hlo import rules
from scalify_hlo.rules.registry import RULES, Rule

for _module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
    importlib.import_module(_module.name)

__all__ = ["RULES", "Rule"]
