"""Rewrites StableHLO programs so that every float tensor is data and a power-of-two scale.

Public names are imported on first use: the command line needs few of them, and jax is slow to
import.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING

from scalify_hlo.jax_api.after_import import register_nodes
from scalify_hlo.version import __version__

if TYPE_CHECKING:
    from scalify_hlo.api import collect_stats as collect_stats
    from scalify_hlo.api import find_nan as find_nan
    from scalify_hlo.api import rewrite as rewrite
    from scalify_hlo.api import scalify as scalify
    from scalify_hlo.commands.calibrate.calibration import calibrate as calibrate
    from scalify_hlo.commands.choose.blame import blame as blame
    from scalify_hlo.commands.choose.comparison import compare_recipes as compare_recipes
    from scalify_hlo.commands.choose.front import Point as Point
    from scalify_hlo.commands.choose.model import Blame as Blame
    from scalify_hlo.commands.choose.model import BlamedSite as BlamedSite
    from scalify_hlo.commands.choose.model import Effect as Effect
    from scalify_hlo.commands.choose.model import GradientFormat as GradientFormat
    from scalify_hlo.commands.choose.model import Search as Search
    from scalify_hlo.commands.choose.model import SearchedSite as SearchedSite
    from scalify_hlo.commands.choose.model import dump_blame as dump_blame
    from scalify_hlo.commands.choose.model import dump_search as dump_search
    from scalify_hlo.commands.choose.search import search as search
    from scalify_hlo.commands.choose.trials import Comparison as Comparison
    from scalify_hlo.commands.choose.trials import Trial as Trial
    from scalify_hlo.commands.choose.trials import dump_comparison as dump_comparison
    from scalify_hlo.commands.explain.compiled import explain as explain
    from scalify_hlo.commands.explain.model import ExplainedMatmul as ExplainedMatmul
    from scalify_hlo.commands.explain.model import Explanation as Explanation
    from scalify_hlo.commands.explain.page import explain_page as explain_page
    from scalify_hlo.commands.explain.record import dump_explanation as dump_explanation
    from scalify_hlo.commands.nan.nan_report import LoopTurn as LoopTurn
    from scalify_hlo.commands.nan.nan_report import NanReport as NanReport
    from scalify_hlo.commands.nan.nan_report import NonFiniteOp as NonFiniteOp
    from scalify_hlo.commands.nan.nan_report import ValueRange as ValueRange
    from scalify_hlo.commands.nan.nan_report import dump_nan_report as dump_nan_report
    from scalify_hlo.commands.stats.page import stats_page as stats_page
    from scalify_hlo.commands.stats.record import FormatStats as FormatStats
    from scalify_hlo.commands.stats.record import OctaveCounts as OctaveCounts
    from scalify_hlo.commands.stats.record import OperandStats as OperandStats
    from scalify_hlo.commands.stats.record import StatsRecord as StatsRecord
    from scalify_hlo.commands.stats.record import ValueStats as ValueStats
    from scalify_hlo.commands.stats.record import VariantStats as VariantStats
    from scalify_hlo.commands.stats.record import dump_stats as dump_stats
    from scalify_hlo.commands.stats.record import load_stats as load_stats
    from scalify_hlo.commands.stats.run import Stats as Stats
    from scalify_hlo.errors import InputError as InputError
    from scalify_hlo.errors import Remark as Remark
    from scalify_hlo.errors import ScalifyError as ScalifyError
    from scalify_hlo.errors import ScalifyWarning as ScalifyWarning
    from scalify_hlo.errors import UsageError as UsageError
    from scalify_hlo.frontend.scaled_state import scaled_state as scaled_state
    from scalify_hlo.frontend.scaling_state import ScalingState as ScalingState
    from scalify_hlo.frontend.scaling_state import init_scaling_state as init_scaling_state
    from scalify_hlo.frontend.scaling_state import scaling_tensors as scaling_tensors
    from scalify_hlo.jax_api import tree as tree
    from scalify_hlo.jax_api import unit as unit
    from scalify_hlo.jax_api.custom_scale import custom_scale as custom_scale
    from scalify_hlo.jax_api.export_trees import register_for_export as register_for_export
    from scalify_hlo.jax_api.export_trees import serialize as serialize
    from scalify_hlo.jax_api.markers import cast_on_backward as cast_on_backward
    from scalify_hlo.jax_api.markers import cast_on_forward as cast_on_forward
    from scalify_hlo.jax_api.markers import dynamic_rescale_l1 as dynamic_rescale_l1
    from scalify_hlo.jax_api.markers import dynamic_rescale_l1_grad as dynamic_rescale_l1_grad
    from scalify_hlo.jax_api.markers import dynamic_rescale_l2 as dynamic_rescale_l2
    from scalify_hlo.jax_api.markers import dynamic_rescale_l2_grad as dynamic_rescale_l2_grad
    from scalify_hlo.jax_api.markers import dynamic_rescale_max as dynamic_rescale_max
    from scalify_hlo.jax_api.markers import dynamic_rescale_max_grad as dynamic_rescale_max_grad
    from scalify_hlo.jax_api.markers import get_data_and_scale as get_data_and_scale
    from scalify_hlo.jax_api.markers import rebalance_scale as rebalance_scale
    from scalify_hlo.jax_api.markers import set_scaling as set_scaling
    from scalify_hlo.jax_api.markers import stop_scaling as stop_scaling
    from scalify_hlo.jax_api.rescaling import dynamic_rescale as dynamic_rescale
    from scalify_hlo.jax_api.scaled_array import ScaledArray as ScaledArray
    from scalify_hlo.jax_api.scaled_array import as_scaled_array as as_scaled_array
    from scalify_hlo.jax_api.scaled_array import asarray as asarray
    from scalify_hlo.passes.summary import dump_report as dump_report
    from scalify_hlo.passes.text import PASSES as PASSES
    from scalify_hlo.profile.file import dump_profile as dump_profile
    from scalify_hlo.profile.file import load_profile as load_profile
    from scalify_hlo.profile.model import Profile as Profile
    from scalify_hlo.profile.model import TensorProfile as TensorProfile
    from scalify_hlo.program.exported_file import deserialize as deserialize
    from scalify_hlo.recipes.loading import dump_recipe as dump_recipe
    from scalify_hlo.recipes.loading import load_recipe as load_recipe
    from scalify_hlo.recipes.model import Recipe as Recipe
    from scalify_hlo.report.matmuls import MatmulReport as MatmulReport
    from scalify_hlo.report.matmuls import OperandScale as OperandScale
    from scalify_hlo.report.model import Report as Report
    from scalify_hlo.report.totals import Totals as Totals
    from scalify_hlo.rules.registry import register_rule as register_rule
    from scalify_hlo.rules.table import RULES as RULES
    from scalify_hlo.run.input_scales import measured_scales as measured_scales
    from scalify_hlo.run.saved import load_inputs as load_inputs
    from scalify_hlo.run.saved import save_inputs as save_inputs
    from scalify_hlo.schemas import json_schema as json_schema

_IMPORT = re.compile(rb"^    from scalify_hlo\.([\w.]+) import (\w+) as \2$", re.MULTILINE)
_HOMES = {
    name.decode(): home.decode()
    for home, name in _IMPORT.findall(pkgutil.get_data(__name__, "__init__.py") or b"")
}
"""The module, or room, of each public name: those of the imports above, which type checkers run."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    is_module = hasattr(home, "__path__") and not hasattr(home, name)
    value = importlib.import_module(f"{home.__name__}.{name}") if is_module else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


register_nodes()
