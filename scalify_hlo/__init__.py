"""Rewrites StableHLO programs so that every float tensor travels as data and a scale.

Names are imported when they are first used: the command line needs few of them, and jax is slow
to import.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scalify_hlo.api import rewrite as rewrite
    from scalify_hlo.api import scalify as scalify
    from scalify_hlo.calibration import calibrate as calibrate
    from scalify_hlo.custom_rules import custom_scale as custom_scale
    from scalify_hlo.diagnostics import InputError as InputError
    from scalify_hlo.diagnostics import Remark as Remark
    from scalify_hlo.diagnostics import ScalifyError as ScalifyError
    from scalify_hlo.diagnostics import ScalifyWarning as ScalifyWarning
    from scalify_hlo.diagnostics import UsageError as UsageError
    from scalify_hlo.export_trees import register_for_export as register_for_export
    from scalify_hlo.export_trees import serialize as serialize
    from scalify_hlo.exported_file import deserialize as deserialize
    from scalify_hlo.input_scales import measured_scales as measured_scales
    from scalify_hlo.ops import cast_on_backward as cast_on_backward
    from scalify_hlo.ops import cast_on_forward as cast_on_forward
    from scalify_hlo.ops import dynamic_rescale_l1 as dynamic_rescale_l1
    from scalify_hlo.ops import dynamic_rescale_l1_grad as dynamic_rescale_l1_grad
    from scalify_hlo.ops import dynamic_rescale_l2 as dynamic_rescale_l2
    from scalify_hlo.ops import dynamic_rescale_l2_grad as dynamic_rescale_l2_grad
    from scalify_hlo.ops import dynamic_rescale_max as dynamic_rescale_max
    from scalify_hlo.ops import dynamic_rescale_max_grad as dynamic_rescale_max_grad
    from scalify_hlo.ops import get_data_and_scale as get_data_and_scale
    from scalify_hlo.ops import rebalance_scale as rebalance_scale
    from scalify_hlo.ops import set_scaling as set_scaling
    from scalify_hlo.ops import stop_scaling as stop_scaling
    from scalify_hlo.passes.pipeline import PASSES as PASSES
    from scalify_hlo.passes.report import MatmulReport as MatmulReport
    from scalify_hlo.passes.report import Report as Report
    from scalify_hlo.passes.summary import dump_report as dump_report
    from scalify_hlo.profile import Profile as Profile
    from scalify_hlo.profile import TensorProfile as TensorProfile
    from scalify_hlo.profile_file import dump_profile as dump_profile
    from scalify_hlo.profile_file import load_profile as load_profile
    from scalify_hlo.recipe import Recipe as Recipe
    from scalify_hlo.recipe import dump_recipe as dump_recipe
    from scalify_hlo.recipe import load_recipe as load_recipe
    from scalify_hlo.rules.registry import register_rule as register_rule
    from scalify_hlo.rules.table import RULES as RULES
    from scalify_hlo.scaled_array import ScaledArray as ScaledArray
    from scalify_hlo.scaled_array import as_scaled_array as as_scaled_array
    from scalify_hlo.scaled_array import asarray as asarray
    from scalify_hlo.scaled_array import dynamic_rescale as dynamic_rescale
    from scalify_hlo.scaled_state import scaled_state as scaled_state
    from scalify_hlo.scaling_state import init_scaling_state as init_scaling_state
    from scalify_hlo.scaling_state import scaling_tensors as scaling_tensors

_HOMES = {
    "rewrite": "api",
    "scalify": "api",
    "measured_scales": "input_scales",
    "ScaledArray": "scaled_array",
    "as_scaled_array": "scaled_array",
    "asarray": "scaled_array",
    "dynamic_rescale": "scaled_array",
    "scaled_state": "scaled_state",
    "init_scaling_state": "scaling_state",
    "scaling_tensors": "scaling_state",
    "cast_on_forward": "ops",
    "cast_on_backward": "ops",
    "set_scaling": "ops",
    "get_data_and_scale": "ops",
    "rebalance_scale": "ops",
    "stop_scaling": "ops",
    "dynamic_rescale_max": "ops",
    "dynamic_rescale_l1": "ops",
    "dynamic_rescale_l2": "ops",
    "dynamic_rescale_max_grad": "ops",
    "dynamic_rescale_l1_grad": "ops",
    "dynamic_rescale_l2_grad": "ops",
    "custom_scale": "custom_rules",
    "register_for_export": "export_trees",
    "serialize": "export_trees",
    "deserialize": "exported_file",
    "Recipe": "recipe",
    "load_recipe": "recipe",
    "dump_recipe": "recipe",
    "calibrate": "calibration",
    "Profile": "profile",
    "TensorProfile": "profile",
    "load_profile": "profile_file",
    "dump_profile": "profile_file",
    "RULES": "rules.table",
    "register_rule": "rules.registry",
    "PASSES": "passes.pipeline",
    "Report": "passes.report",
    "MatmulReport": "passes.report",
    "dump_report": "passes.summary",
    "Remark": "diagnostics",
    "ScalifyError": "diagnostics",
    "ScalifyWarning": "diagnostics",
    "InputError": "diagnostics",
    "UsageError": "diagnostics",
}

__version__ = "0.1.0"
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _register_nodes()
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _register_nodes() -> None:
    """Lets jax.export read files with ScaledArray nodes, if jax is there; it is not imported."""
    if "jax" in sys.modules:
        importlib.import_module(f"{__name__}.scaled_array")


_register_nodes()
