"""Recipes: the options of a rewrite, as frozen dataclasses that are read from TOML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.recipes.formats import KEEP as KEEP

NONE = "none"
"""The value of a statistic option for no rescaling."""

PORTABLE = "portable"
"""The target for any reader of StableHLO."""

WITH_ALGORITHMS = frozenset({"any", "gpu", "rocm"})
"""The targets whose FP8 matmuls have a dot algorithm; compilers of other targets refuse it."""

WITH_RAGGED_F8 = frozenset({"any", "gpu", "tpu"})
"""The targets whose compilers are known to support ragged matmuls of f8 operands."""

UNIT = "unit"
"""The value of `predict` with which sizes are predicted as in the Unit Scaling paper."""

MEASURE, BOUNDED, WIDE = "measure", "bounded", "wide"
"""The values of the option `untrusted`."""

Meet = Literal["anchor", "max"]
Rounding = Literal["default", "down", "up", "nearest"]
Epsilon = Literal["exact", "data"]
Statistic = Literal["none", "l2", "l1", "max"]
Target = Literal["any", "cpu", "gpu", "rocm", "tpu", "iree", "portable"]
Scales = Literal["propagated", "current", "delayed", "calibrated"]
Fp8Format = Literal["matmul", "HYBRID", "E4M3"]
AmaxAlgo = Literal["max", "most_recent"]
Method = Literal["max", "percentile", "rms", "mse"]
Granularity = Literal["tensor", "channel"]
Predict = Literal["none", "unit"]
Untrusted = Literal["measure", "bounded", "wide"]


RESCALES = ("norm_gradients", "state_gradients", "matmul_operands", "state_rescale", "sites")
"""The tables of rescalings."""


@dataclass(frozen=True, slots=True)
class MatmulOptions:
    """The matmuls and convolutions whose operands are quantized, and their formats.

    Attributes:
        activation: Format of activations, such as ``f8E4M3FN``; ``keep`` leaves them.
        weight: Format of weights.
        gradient: Format of gradients, in backward matmuls.
        output: Format of results: ``f32``, ``bf16``, ``f16``, or ``keep``. Scales of single
            operands are applied in BF16 too if they are powers of two, and else in f32.
        smallest: The least M, N and K of a matmul worth it. M is the free size of what a weight is
            multiplied with, N that of the weight, or of both operands where none is a weight, and K
            the number of terms of each sum. One number stands for all three.
        vocabulary: Whether those take part that project to a vocabulary, and their backward matmuls
            (Unit Scaling paper, appendix J.2: they do not). Such a weight is that of an embedding
            that the program looks up, or has the shape of one the other way around, or 8192 outputs
            or more, 8 times as many as inputs.
        include: Patterns of names of sites, one of which has to match.
        exclude: Patterns of names of sites, none of which may match.
    """

    activation: str = KEEP
    weight: str = KEEP
    gradient: str = KEEP
    output: str = KEEP
    smallest: tuple[int, int, int] = (2, 16, 16)
    vocabulary: bool = False
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()

    @property
    def narrow(self) -> bool:
        """Whether any operand is cast to another format."""
        return (self.activation, self.weight, self.gradient) != (KEEP, KEEP, KEEP)


@dataclass(frozen=True, slots=True)
class Scaling:
    """The scales of quantized matmul operands; names follow Transformer Engine's.

    Attributes:
        kind: ``propagated`` scales come through the program; all others belong to single operands,
            whose results return to scale 1 right after the matmul. ``current`` ones are taken from
            the largest magnitude of the operand, its amax, where it is cast (FP8 recipes of
            NVIDIA); ``delayed`` ones from its amax in past steps, which the program takes and
            returns; ``calibrated`` ones from a profile of runs on samples.
        fp8_format: ``HYBRID`` is E4M3, and E5M2 for gradients; ``E4M3`` is that for all; with
            ``matmul`` it is the formats of `matmul` that count.
        margin: The scale leaves room for ``2^margin`` times the amax.
        power_2_scale: Whether scales are rounded up to powers of two; else they are exact f32.
        amax_history_len: How many steps a delayed scale looks back on.
        amax_compute_algo: The amax of a history: its largest, or the most recent.
        interval: Delayed scales change in each of how many steps.
        weight_scales: Whether a weight has one scale, or in forward matmuls one for each of its
            output channels; not for ``delayed``.
        method: What of a profile becomes the scale: the amax (``max``), a percentile of the
            magnitudes, the rms, or what gives the least squared error (``mse``).
        methods: Other methods for some operands, as ``pattern=method``, the last one that fits.
        percentile: Which percentile.
    """

    kind: Scales = "propagated"
    fp8_format: Fp8Format = "matmul"
    margin: int = 0
    power_2_scale: bool = True
    amax_history_len: int = 1024
    amax_compute_algo: AmaxAlgo = "max"
    interval: int = 1
    weight_scales: Granularity = "tensor"
    method: Method = "max"
    methods: tuple[str, ...] = ()
    percentile: float = 99.99

    @property
    def propagated(self) -> bool:
        """Whether scales are propagated through the program."""
        return self.kind == "propagated"


@dataclass(frozen=True, slots=True)
class StateOptions:
    """The formats of the state of a training step; for signature ``scaled``.

    Attributes:
        weight: Format of master weights between steps.
        gradient: Format in which gradients of weights reach the optimizer; f8 is for those of
            matrices, and leaves biases and gains.
        first_moment: Format of an optimizer's moments of degree 1 in the gradients.
        second_moment: Format of its moments of degree 2.
    """

    weight: str = KEEP
    gradient: str = KEEP
    first_moment: str = KEEP
    second_moment: str = KEEP

    @property
    def narrow(self) -> bool:
        """Whether some state is kept in a format with less range than f32."""
        kept = {self.weight, self.first_moment, self.second_moment} - {KEEP}
        return not all(FORMATS[format_].wide for format_ in kept)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The roles of arguments, by patterns of their names; other roles are inferred.

    Attributes:
        weight: Patterns of master weights.
        first_moment: Patterns of moments of degree 1 in the gradients.
        second_moment: Patterns of moments of degree 2.
        activation: Patterns of what a model is fed with.
        gradient: Patterns of cotangents, as a vjp takes them.
        step: Patterns of a scalar integer that counts steps, for what is done every few of them.
        scale: Patterns with a size each, as in ``*.gain=2^0`` or ``w*=0.02``: those inputs
            are split at entry, at the power of two at or below. The last that matches counts,
            and an input scale that is given with the program before all of these.
        measure: Patterns of inputs whose scale the program takes from their amax in each run, where
            a cast to a narrow format depends on their size. No scale need be declared for them.
    """

    weight: tuple[str, ...] = ()
    first_moment: tuple[str, ...] = ()
    second_moment: tuple[str, ...] = ()
    activation: tuple[str, ...] = ()
    gradient: tuple[str, ...] = ()
    step: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    measure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rescale:
    """A dynamic rescaling of values to rms or amax near 1 (Scalify paper, section 3.3).

    Attributes:
        statistic: What of the data becomes the scale: their rms (``l2``), their mean magnitude
            (``l1``) or their largest one (``max``); ``none`` for no rescaling.
        rounding: How it becomes a power of two; ``default`` is the recipe's.
        every: In each of how many steps; `inputs.step` names what counts them.
    """

    statistic: Statistic = "none"
    rounding: Rounding = "default"
    every: int = 1


@dataclass(frozen=True, slots=True)
class NamedRescale(Rescale):
    """A dynamic rescaling of the results of ops, chosen by name.

    Attributes:
        statistic: As of `norm_gradients`.
        rounding: As of `norm_gradients`.
        every: As of `norm_gradients`.
        names: Patterns of name stacks, as jax writes them into locations.
    """

    statistic: Statistic = "l2"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """The options of a rewrite.

    Attributes:
        name: The preset it started from.
        meet: Where unrelated dynamic scales meet: ``anchor`` keeps the scale of one operand, so
            that one factor is built instead of two; ``max`` takes the larger, a new generator.
        rounding: How scales become powers of two that are none: ``default`` rounds roots and
            statistics like rms down, and largest absolute values up.
        saturate: Whether what is beyond a format's range becomes its largest number.
        epsilon: What normalizations guard against: with ``exact`` they add the epsilon that the
            model says, which their data meet at their own scale; with ``data`` they add it to data
            near unit, which is not what the model says but finds small variances (Scalify paper,
            appendix C.2).
        compute: Format of all other f32 values of the model, ``keep`` for the program's own. Sums
            over many terms stay f32, and so does the optimizer; with ``f16``, what is made of
            gradients does too, since f16 is short of range for it.
        predict: How sizes of data are told where they become narrow: with ``none`` they are
            followed roughly, for scales that statistics correct; with ``unit`` they are predicted
            by the factors of the Unit Scaling paper (table A.2), from those of the inputs.
        untrusted: What is done at a cast of data whose predicted size is uncertain by more than the
            format has room for: ``measure`` takes their amax at run time, ``bounded`` divides them
            by no more than what is certain, and ``wide`` keeps the operands of the matmul as they
            are. Each such place is a remark.
        target: What the program is for; it decides between the variants of formats, and whether
            FP8 matmuls say how they are computed (``algorithm``), as XLA wants it on GPUs. ``gpu``
            is NVIDIA's, and AMD's newer ones; ``rocm`` AMD's with FNUZ formats. Compilers for
            ``tpu`` and ``iree`` refuse the attribute, and ``cpu`` has no use for it. ``portable``
            is any reader of StableHLO, also of versions before 1.6: without it and without CHLO.
            ``any`` is as ``gpu``, but as ``tpu`` for what jax.export wrote for TPUs, too.
        matmul: See `MatmulOptions`.
        scaling: See `Scaling`.
        state: See `StateOptions`.
        inputs: See `Inputs`.
        norm_gradients: Rescales the gradient of the input of each normalization that is recognized
            (the paper's algorithm 5).
        state_gradients: Rescales the gradient of each weight.
        matmul_operands: Rescales each operand of each matmul and convolution.
        state_rescale: Rescales master weights and moments as the program returns them; for
            signature ``scaled``. With ``none`` it does so to those that are kept in f16 or f8, by
            their rms or amax: they always take their scales from themselves.
        sites: Rescales the results of ops by name.
    """

    name: str = "propagate"
    meet: Meet = "anchor"
    rounding: Rounding = "default"
    saturate: bool = True
    epsilon: Epsilon = "exact"
    compute: str = KEEP
    predict: Predict = "none"
    untrusted: Untrusted = "measure"
    target: Target = "any"
    matmul: MatmulOptions = field(default_factory=MatmulOptions)
    scaling: Scaling = field(default_factory=Scaling)
    state: StateOptions = field(default_factory=StateOptions)
    inputs: Inputs = field(default_factory=Inputs)
    norm_gradients: Rescale = field(default_factory=Rescale)
    state_gradients: Rescale = field(default_factory=Rescale)
    matmul_operands: Rescale = field(default_factory=Rescale)
    state_rescale: Rescale = field(default_factory=Rescale)
    sites: NamedRescale = field(default_factory=NamedRescale)

    @property
    def rescales(self) -> bool:
        """Whether dynamic rescalings are inserted."""
        kinds = (getattr(self, table).statistic for table in RESCALES if table != "sites")
        return any(kind != NONE for kind in kinds) or bool(self.sites.names) or self.state.narrow

    @property
    def narrow(self) -> bool:
        """Whether any value is cast to another format."""
        return self.matmul.narrow or self.compute != KEEP or self.state != StateOptions()

    @property
    def narrow_data(self) -> bool:
        """Whether data with propagated scales are cast to low precision, so must be near unit."""
        scaled = self.matmul.narrow and self.scaling.propagated
        return scaled or self.compute != KEEP or self.state != StateOptions()

    @property
    def short_of_range(self) -> bool:
        """Whether some data with propagated scales are in a format with less range than f32."""
        matmul = self.matmul if self.scaling.propagated else MatmulOptions()
        formats = {matmul.activation, matmul.weight, matmul.gradient, self.compute}
        formats.add(self.state.gradient)
        return not all(FORMATS[format_].wide for format_ in formats - {KEEP})
