"""The passes by name, and the pipelines that run them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from scalify_hlo._compat import ir, passmanager
from scalify_hlo.casts.numbers import rewritten_wide
from scalify_hlo.casts.selection import KEPT
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.deep import run_deep
from scalify_hlo.dialect.attribute_types import require_types
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import Remark, ScalifyError
from scalify_hlo.ir.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.insert_rescales import InsertRescalesPass
from scalify_hlo.passes.late import (
    CastAgainPass,
    CutResidualsPass,
    LateFactorsPass,
    OptimizePass,
    OrderDimsPass,
    RoundResultsPass,
)
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.loss_scale import LossScalePass
from scalify_hlo.passes.name_matmuls import NameMatmulsPass
from scalify_hlo.passes.narrow_compute import NarrowComputePass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.propagate import PropagatePass, refuse_remarks
from scalify_hlo.passes.quantize_constants import QuantizePass
from scalify_hlo.passes.quantize_matmuls import QuantizeMatmulsPass
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.passes.scale_arrays import JoinScaleArraysPass, SplitScaleArraysPass
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.passes.state import NarrowStatePass, PackMomentsPass, RoundStatePass
from scalify_hlo.passes.switch_matmuls import SwitchMatmulsPass
from scalify_hlo.passes.verify import VerifyPass
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.model import NONE, PORTABLE, WIDE, Recipe
from scalify_hlo.recipes.toml import input_scale_text
from scalify_hlo.report.matmuls import with_layers
from scalify_hlo.report.model import MatmulReport, Report
from scalify_hlo.report.records import fill_in_scales

Signature = Literal["same", "scaled"]


@dataclass(frozen=True)
class Options:
    """The options of a rewrite.

    Attributes:
        recipe: The recipe; see `scalify_hlo.recipes.model`.
        signature: ``same`` keeps arguments and results; ``scaled`` makes float ones pairs.
        input_scale: The expected rms of arguments, by patterns of their names.
        pairs_in: For ``scaled``, whether each argument becomes a pair; None for all float ones.
        strict: Whether a remark is an error.
        annotate: Whether ops keep ``scalify.forms`` attributes, and scaled results are counted.
        probe: Whether the rewritten program says which scale each value has; see `PropagatePass`.
        cotangents: The number of the last arguments that are cotangents, as in a vjp.
        profile: The profile of the program, for a recipe of calibrated scales.
        listed: Whether the report has the matmuls even if the recipe quantizes none.
        again: Whether a program that was rewritten before is accepted.
        named: Whether the locations of matmuls have their numbers in the report, by which their
            kernels are found in the compiled program, and other ops keep their name stacks.
        optimize: Whether ops are replaced by faster ones of the same value; see `OptimizePass`.
        scale_arrays: Whether arguments that are marked already have arrays of scales.
        switched: Whether each matmul stands beside a wide one; see `SwitchMatmulsPass`.
    """

    recipe: Recipe = field(default_factory=Recipe)
    signature: Signature = "same"
    input_scale: Mapping[str, float] = field(default_factory=dict)
    pairs_in: Sequence[bool] | None = None
    strict: bool = False
    annotate: bool = False
    cotangents: int = 0
    probe: bool = False
    profile: Profile | None = None
    listed: bool = False
    again: bool = False
    named: bool = False
    optimize: bool = False
    scale_arrays: bool = False
    switched: bool = False

    @property
    def declared(self) -> tuple[str, ...]:
        """The expected rms of inputs as ``PATTERN=NUMBER``; the last match counts."""
        return (*self.recipe.inputs.scale, *self.given_scales)

    @property
    def given_scales(self) -> tuple[str, ...]:
        """The expected rms of inputs as ``PATTERN=NUMBER``, without those of the recipe."""
        return tuple(input_scale_text(*each) for each in self.input_scale.items())

    @property
    def marking(self) -> SignaturePass:
        """The pass that marks the arguments and results."""
        pairs = "".join("01"[p] for p in self.pairs_in) if self.pairs_in is not None else ""
        recipe = self.recipe
        blocks = recipe.inputs.blocks if self.signature == "scaled" else ()
        return SignaturePass(
            *(self.signature, self.declared, pairs),
            every=recipe.narrow_data,
            measures=recipe.depends_on_sizes,
            verify=recipe.inputs.verify,
            strict=not self.cotangents,
            blocks=blocks,
        )

    def passes(self, wide: frozenset[int] = frozenset()) -> list[Pass]:
        """Returns the passes of the rewrite.

        Args:
            wide: The numbers of the matmuls that are not quantized.
        """
        recipe, narrow = self.recipe, self.recipe.narrow_data
        scales_loss = recipe.loss_scale.kind != NONE
        changes = recipe.narrow or recipe.rescales or scales_loss
        recognizes = changes or recipe.epsilon == "data"
        layers = recipe.norm_gradients.statistic != NONE or recipe.epsilon == "data"
        arrays = self.scale_arrays or bool(self.marking.blocks)
        gpu = recipe.platform.gpu and not recipe.orders_dims and not self.probe
        late = not self.probe  # Late passes move and repeat casts. Probes read values between.
        asked: list[tuple[bool, Pass]] = [
            (True, NormalizePass(expand=recognizes)),
            (True, self.marking),
            (changes, RolesPass.of(recipe, self.cotangents)),
            (changes and self.named, NameMatmulsPass()),
            (scales_loss, LossScalePass(recipe)),
            (recognizes, RecognizePass(True, marked=not (layers or narrow), inputs=narrow)),
            (recipe.rescales, InsertRescalesPass(recipe)),
            (recipe.computes_first, NarrowComputePass(recipe)),
            (changes and self.switched, SwitchMatmulsPass()),
            (changes, QuantizeMatmulsPass(recipe, self.profile, wide, self.listed, self.named)),
            (changes, NarrowStatePass(recipe, wide)),
            (recipe.computes_last, NarrowComputePass(recipe)),
            (narrow, QuantizePass(recipe.saturate)),
            (arrays, SplitScaleArraysPass(recipe.matmul.narrow)),
            (True, PropagatePass(recipe, self.annotate, self.strict, self.probe)),
            (arrays, JoinScaleArraysPass()),
            (bool(recipe.state.blocked), PackMomentsPass()),
            (recipe.state.marks_casts, RoundStatePass()),
            (self.optimize, OptimizePass(gpu)),
            (late and recipe.casts_to_f8, LateFactorsPass()),
            (late and recipe.rounds_gradients, RoundResultsPass()),
            (late and recipe.orders_dims, OrderDimsPass()),
            (late and recipe.casts_again, CastAgainPass()),
            (late and recipe.cuts_residuals, CutResidualsPass(recipe)),
            (True, LegalizePass(expand=recipe.target == PORTABLE, composites=True)),
            (True, VerifyPass()),
        ]
        return [pass_ for runs, pass_ in asked if runs]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Disables garbage collection, which takes a tenth of the time; passes make no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_collector_paused()
def rewrite_module(module: ir.Module, options: Options) -> Report:
    """Rewrites a module in place.

    Args:
        module: StableHLO with a function ``@main``.
        options: The options of the rewrite.

    Returns:
        The report of the rewrite.

    Raises:
        InputError: The module cannot be rewritten, or the profile is of another program.
        UsageError: An input scale matches nothing, or is out of range.
    """
    listing = None
    if options.profile is not None:
        with module.context:
            listing = _listing(module.operation)
        program = structural_hash(module, listing.ops if listing is not None else ())
        options.profile.require(program)
    matmuls = _listed(module, options)
    if options.recipe.untrusted == WIDE and options.recipe.narrow_data:
        report = _rewrite_wide(module, options)
    else:
        report = run_passes(module, options.passes(), listing=listing)
    report.recipe, report.quantizes = options.recipe.name, options.recipe.matmul.narrow
    report.baseline = options.recipe.baseline
    report.matmuls = matmuls or report.matmuls
    if report.casts:
        fill_in_scales(report, options.declared)
    report.remarks = with_layers(report.remarks, report.matmuls)
    told = with_layers([place.remark for place in report.untrusted], report.matmuls)
    pairs = zip(report.untrusted, told, strict=True)
    report.untrusted = [place._replace(remark=remark) for place, remark in pairs]
    if options.strict:
        refuse_remarks(report)
    return report


def _listed(module: ir.Module, options: Options) -> list[MatmulReport]:
    """Returns the matmuls of a program that a recipe does not quantize, if they are listed."""
    recipe = options.recipe
    if not options.listed or recipe.narrow or recipe.rescales:
        return []
    copy = module.operation.clone()
    roles = RolesPass.of(recipe, options.cotangents)
    matmuls = run_passes(copy, [NormalizePass(), roles]).matmuls
    return [replace(matmul, wide=KEPT) for matmul in matmuls]


def _rewrite_wide(module: ir.Module, options: Options) -> Report:
    """Rewrites a module as `rewrite_module` does; matmuls of untrusted operands stay wide."""
    report, remarks = Report(), list[Remark]()

    def rewrite(wide: frozenset[int]) -> set[int]:
        nonlocal report
        report = run_passes(module, options.passes(wide))
        remarks.extend(place.remark for place in report.untrusted)
        return {number for place in report.untrusted for number in place.numbers}

    rewritten_wide(module, rewrite)
    report.remarks = list(dict.fromkeys([*remarks, *report.remarks]))
    return report


@_collector_paused()
def run_passes(
    module: ir.Module,
    passes: Sequence[Pass | str],
    *,
    print_ir_after_all: bool = False,
    timing: bool = False,
    listing: Listing | None = None,
) -> Report:
    """Runs passes over a module under MLIR's PassManager.

    Args:
        module: The module, which is edited in place.
        passes: Passes of this package, or elements of an MLIR pipeline as text.
        print_ir_after_all: Whether MLIR prints the module to stderr after each pass.
        timing: Whether MLIR prints the time of each pass to stderr.
        listing: The ops of ``main``, if they were listed.

    Raises:
        InputError: A pass refuses the module, or its ops nest too deep.
    """
    report = Report()
    index = ModuleIndex(keeps=not any(isinstance(pass_, str) for pass_ in passes))
    with module.context:
        listing = listing or _listing(module.operation)
        levels = levels_of(module.operation, listing)
    if index.keeps and passes and isinstance(passes[0], NormalizePass):  # It counts the ops too.
        index.listing = listing

    def run() -> None:
        with module.context:
            manager = passmanager.PassManager("builtin.module")
            manager.enable_verifier(False)
            for pass_ in passes:
                _add(manager, pass_, index, report)
            if print_ir_after_all:
                module.context.enable_multithreading(False)
                manager.enable_ir_printing()
            if timing:
                manager.enable_timing()
            with ir.Location.unknown():
                manager.run(module.operation)

    try:
        run_deep(run, levels)
    except ScalifyError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, ir.MLIRError):
        with module.context:
            require_types(module.operation)
        raise
    report.markers = index.markers
    return report


def _listing(module: ir.Operation) -> Listing | None:
    """Returns the ops of ``main``; none if there is no body."""
    main = main_function(module)
    blocks = main.regions[0].blocks if main is not None else ()
    return Listing(blocks[0]) if blocks else None


def _add(
    manager: passmanager.PassManager, pass_: Pass | str, index: ModuleIndex, report: Report
) -> None:
    """Adds a pass to a pass manager.

    Args:
        manager: The pass manager.
        pass_: The pass.
        index: The analyses, of which the pass drops those that it does not preserve.
        report: The report.
    """
    if isinstance(pass_, str):
        manager.add(pass_)
        return

    def run(module: ir.OpView, _: object) -> None:
        pass_.apply(module.operation, index, report)
        index.invalidate(pass_.preserves)

    manager.add(
        run,
        name=type(pass_).__name__,
        argument=pass_.name,
        description=(type(pass_).__doc__ or "").splitlines()[0],
    )
