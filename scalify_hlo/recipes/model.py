"""Recipes: the options of a rewrite, as frozen dataclasses that are read from TOML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.recipes import effects
from scalify_hlo.recipes.activations import ActivationOptions as ActivationOptions
from scalify_hlo.recipes.effects import RESCALED, RESCALES, of_kinds
from scalify_hlo.recipes.fields import (
    Amount,
    Count,
    Positive,
    Share,
    formed,
    number,
    numbers,
    option,
    values_of,
)
from scalify_hlo.recipes.formats import ANY, AUTO, MICRO, PLATFORMS, SMALL, Formats, Platform
from scalify_hlo.recipes.formats import KEEP as KEEP
from scalify_hlo.recipes.loss_scale import LossScale as LossScale
from scalify_hlo.recipes.state import DataRounding as DataRounding
from scalify_hlo.recipes.state import MomentScales as MomentScales
from scalify_hlo.recipes.state import StateOptions as StateOptions
from scalify_hlo.recipes.toml import parse_input_blocks, parse_input_scale

NONE = "none"
"""The value of a statistic option for no rescaling."""

PORTABLE = "portable"
"""The target for any reader of StableHLO."""

UNIT = "unit"
"""The value of `predict` with which sizes are predicted as in the Unit Scaling paper."""

MEASURE, BOUNDED, WIDE = "measure", "bounded", "wide"
"""The values of the option `untrusted`."""

Meet = Literal["anchor", "max"]
Rounding = Literal["default", "down", "up", "nearest", "stochastic"]
Epsilon = Literal["exact", "data"]
Statistic = Literal["none", "l2", "l1", "max"]
Residuals = Literal["default", "auto", "keep"]
Gpu = Literal["l40s", "rtx4090", "h100", "h200", "b200"]
Target = Literal["any", "cpu", "gpu", "rocm", "tpu", "iree", "portable", Gpu]
Scales = Literal["propagated", "current", "delayed", "calibrated", "block", "static", "none"]
BlockScale = Literal["e8m0", "e4m3", "f32"]
BlockRounding = Literal["floor", "even", "ceil", "rceil"]
WeightBlock = Literal["row", "square"]
Fp8Format = Literal["matmul", "HYBRID", "E4M3"]
AmaxAlgo = Literal["max", "most_recent"]
Method = Literal["max", "percentile", "rms", "mse"]
Granularity = Literal["tensor", "row"]
WeightGranularity = Literal["tensor", "channel", "row"]
Hadamard = Literal["none", "wgrad", "all"]
Predict = Literal["none", "unit"]
Untrusted = Literal["measure", "bounded", "wide"]
_EXPONENT = number(int, f"a whole number, from -{NORMAL} to {NORMAL}", lambda e: abs(e) <= NORMAL)
Operand = Annotated[str, Formats.of(*ANY, *MICRO)]
Result = Annotated[str, Formats.of(KEEP, "f32", "bf16", "f16")]
Compute = Annotated[str, Formats.of(AUTO, KEEP, "bf16", "f16")]
Exponents = Annotated[tuple[int, int, int], numbers(3, _EXPONENT)]
Sizes = Annotated[tuple[int, int, int], numbers(3, values_of(Count))]
Declared = Annotated[tuple[str, ...], formed(parse_input_scale, "a list of PATTERN=2^k")]
Shapes = Annotated[tuple[str, ...], formed(parse_input_blocks, "a list of PATTERN=AxB")]


@dataclass(frozen=True, slots=True)
class MatmulOptions:
    """The matmuls and convolutions whose operands are quantized, and their formats.

    Attributes:
        activation: The format of activations, such as ``f8E4M3FN``; ``keep`` does not cast them.
        weight: The format of weights.
        gradient: The format of gradients, in backward matmuls.
        output: The format of results: ``f32``, ``bf16``, ``f16``, or ``keep``. With ``keep``, f8
            matmuls return bf16 if the program reads their results in bf16, and otherwise f32. The
            scales of single operands are applied in bf16 too if they are powers of two, and
            otherwise in f32. Powers of two change no normal number.
        smallest: The least M, N and K of a quantized matmul. M is the free size of the operand that
            a weight is multiplied with, and N that of the weight. If no operand is a weight, both
            free sizes have the bound N. K is the number of terms of each sum. One number sets all
            three.
        vocabulary: Whether matmuls that project to a vocabulary, and their backward matmuls, are
            quantized. In the Unit Scaling paper (appendix J.2) they are not. Such a
            weight is that of an embedding that the program looks up, or has its transposed shape.
            Or it has at least 8192 outputs, and 8 times as many outputs as inputs.
        last_wide: The share of the linear layers that are not quantized, counted from the end of
            the program. A linear layer is a weight, with its forward and backward matmuls. Those of
            a vocabulary do not count if `vocabulary` leaves them wide. The number of layers is
            rounded down, so 0.15 of fewer than seven is none. Turns of a loop over layers share
            their matmuls, as do calls of a function: the last ones cannot be left wide without the
            others, which a remark says. The NVFP4 paper (arXiv 2509.25149, section 4.1) keeps about
            0.15 wide.
        first_wide: As `last_wide`, counted from the start of the program.
        slower: ``wide`` does not quantize matmuls that are estimated to be no faster in FP8 on the
            device that `target` names, with casts and transposes included; ``narrow`` does. The
            report has the estimates.
        include: Patterns of names of layers and weights; one of them has to match. ``mlp`` matches
            all matmuls of the layer ``mlp``, forward and backward, and ``mlp/*`` those of the
            layers in it. A pattern may end in a tag: ``mlp@wgrad`` matches the matmul for the
            gradient of the weight. Tags are ``forward``, ``dgrad``, ``wgrad``, ``backward``,
            ``other``, ``vocabulary``, and ``product`` for matmuls without a weight.
        exclude: Patterns of names of layers and weights, as for ``include``; none of them may
            match.
    """

    activation: Operand = KEEP
    weight: Operand = KEEP
    gradient: Operand = KEEP
    output: Result = option(KEEP, needs=effects.NARROW)
    smallest: Sizes = option((2, 16, 16), needs=effects.F8)
    vocabulary: bool = option(False, needs=effects.F8)
    last_wide: Share = option(0.0, needs=effects.NARROW)
    first_wide: Share = option(0.0, needs=effects.NARROW)
    slower: Literal["wide", "narrow"] = option("wide", needs=effects.DEVICE)
    include: tuple[str, ...] = option(("*",), needs=effects.NARROW)
    exclude: tuple[str, ...] = option((), needs=effects.NARROW)

    @property
    def narrow(self) -> bool:
        """Whether any operand is cast to another format."""
        return (self.activation, self.weight, self.gradient) != (KEEP, KEEP, KEEP)

    @property
    def small(self) -> bool:
        """Whether any operand is cast to 8 or 4 bits."""
        formats = {self.activation, self.weight, self.gradient} - {KEEP}
        return any(FORMATS[format_].small for format_ in formats)


@dataclass(frozen=True, slots=True)
class Scaling:
    """The scales of quantized matmul operands; names follow Transformer Engine's.

    Attributes:
        kind: The source of the scales. ``propagated`` scales follow from the scales of inputs. All
            other scales belong to single operands, and the result of the matmul is multiplied by
            them. ``current`` scales follow from the amax of the operand when it is cast.
            ``delayed`` scales follow from its amax in past steps, which the program takes and
            returns. ``calibrated`` scales follow from a profile of runs on samples. With ``block``
            there is one scale for each block of numbers; see `Blocks`. ``static`` scales are those
            of `exponents`, whatever the data: what does not fit is flushed or saturates. ``none``
            casts values as they are: a baseline, under which numbers outside of a format underflow
            or overflow.
        fp8_format: ``HYBRID`` is E4M3, and E5M2 for gradients. ``E4M3`` is E4M3 for all operands.
            ``matmul`` uses the formats of the table `matmul`.
        margin: The scale leaves room for ``2^margin`` times the amax.
        power_2_scale: Whether scales are rounded up to powers of two; otherwise they are exact f32.
        amax_history_len: The number of past steps from which a delayed scale follows.
        amax_compute_algo: The amax of a history: the largest, or the most recent.
        interval: The number of steps after which delayed scales change.
        weight_scales: ``tensor`` gives a weight one scale. ``channel`` gives it, in forward
            matmuls, one scale for each output channel; it does not apply to ``delayed``. ``row``
            does so in backward matmuls too: one scale for each index that is not summed over.
        data_scales: ``tensor`` gives an activation or a gradient one scale. ``row`` gives it, in
            each matmul, one scale for each index that is not summed over.
        exponents: log2 of the ``static`` scales of activations, weights and gradients.
        batch: The dimensions for each index of which an operand has a scale. With ``members``, they
            are those that weights have too: the members of a sweep or ensemble, and experts. With
            ``each``, batches and heads are among them, if they are batch dimensions of a matmul.
        method: The statistic of a profile from which the scale follows: the amax (``max``), a
            percentile of the magnitudes, the rms, or the least mean squared error (``mse``).
        methods: Other methods for some operands, as ``pattern=method``; the last match counts. The
            pattern is one of matmuls, as for ``matmul.exclude``, and may end in ``:lhs`` or
            ``:rhs``.
        percentile: The percentage for the method ``percentile``.
    """

    kind: Scales = option("propagated", needs=effects.NARROW)
    fp8_format: Fp8Format = "matmul"
    margin: Amount = option(0, needs=of_kinds("current", "delayed", "calibrated"))
    power_2_scale: bool = option(True, needs=of_kinds("current", "delayed"))
    amax_history_len: Count = option(1024, needs=of_kinds("delayed"))
    amax_compute_algo: AmaxAlgo = option("max", needs=of_kinds("delayed"))
    interval: Count = option(1, needs=of_kinds("delayed"))
    weight_scales: WeightGranularity = option("tensor", needs=of_kinds("current", "calibrated"))
    data_scales: Granularity = option("tensor", needs=of_kinds("current"))
    exponents: Exponents = option((0, 0, 0), needs=of_kinds("static"))
    batch: Literal["members", "each"] = option("members", needs=of_kinds("current", "delayed"))
    method: Method = option("max", needs=of_kinds("calibrated"))
    methods: tuple[str, ...] = option((), needs=of_kinds("calibrated"))
    percentile: Positive = option(99.99, needs=effects.PERCENTILE)

    @property
    def propagated(self) -> bool:
        """Whether scales are propagated through the program."""
        return self.kind == "propagated"

    @property
    def in_powers(self) -> bool:
        """Whether scales are powers of two; those of a profile and static ones always are."""
        return self.power_2_scale or self.kind in ("calibrated", "static")


@dataclass(frozen=True, slots=True)
class Blocks:
    """The scales of blocks, if `scaling.kind` is ``block``; `docs/blocks.md` has the formulas.

    Attributes:
        size: The number of elements in a block, along the contracted dimension of the matmul. The
            last block is padded with zeros.
        scale: The format of scales. ``e8m0`` scales are powers of two. ``e4m3`` scales are E4M3
            numbers, times one f32 scale for the tensor.
        rounding: The rounding of ``e8m0`` scales. ``floor``, ``even`` and ``ceil`` round log2 of
            the amax: down, to the nearest after the amax is rounded to the digits of the format,
            and up. With ``rceil``, the scale is the least one at which no data saturate.
        weight: The blocks of weights: a ``row``, as those of other operands, or a ``square`` of as
            many rows, for which forward and backward matmuls read the same numbers.
        gradient_rounding: The rounding of data of gradients: ``nearest``, or ``stochastic``, which
            rounds up or down at random, so that the mean is right.
        activation_rounding: The rounding of data of activations in matmuls with gradients, as
            those for the gradients of weights; as `gradient_rounding`.
        hadamard: The matmuls whose operands get a random Hadamard transform before they are
            quantized: those of an activation and a gradient, as for the gradient of a weight
            (``wgrad``), or ``all``. It mixes each 16 terms of a sum, so that a large one is spread
            over all of them.
    """

    size: Count = option(32, needs=of_kinds("block"))
    scale: BlockScale = option("e8m0", needs=of_kinds("block"))
    rounding: BlockRounding = option("rceil", needs=effects.ROUNDED)
    weight: WeightBlock = option("row", needs=of_kinds("block"))
    gradient_rounding: DataRounding = option("nearest", needs=of_kinds("block"))
    activation_rounding: DataRounding = option("nearest", needs=of_kinds("block"))
    hadamard: Hadamard = option("none", needs=of_kinds("block"))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The roles of arguments, by patterns of their names; other roles are inferred.

    Attributes:
        weight: Patterns of master weights.
        first_moment: Patterns of moments of degree 1 in the gradients.
        second_moment: Patterns of moments of degree 2 in the gradients.
        activation: Patterns of inputs of the model.
        gradient: Patterns of cotangents, which a vjp takes.
        step: Patterns of a scalar integer that counts steps, for the options ``every``.
        scale: Patterns with the rms of the inputs, as in ``*.gain=2^0`` or ``w*=0.02``. Such an
            input is divided at entry by the power of two at or below its rms, which becomes its
            scale. The last match counts. An input scale that is given with the program takes
            precedence.
        verify: Patterns of inputs whose declared size is verified. Where a cast to a narrow format
            depends on it, the program measures their rms in each run, with one statistic for each
            input. Data are divided by the measured power of two, so that a declared size may be
            wrong. Inputs without a scale are measured in this way too. Pairs are if a pattern
            matches them.
        blocks: Patterns of pairs with a scale for each block of numbers, for signature ``scaled``.
            ``*kernel=0x1`` is a scale for each column of a matrix, and ``*kernel=128x128`` one for
            each block of 128 by 128 numbers. 0 is the whole dimension. The last match counts.
    """

    weight: tuple[str, ...] = option((), needs=effects.ROLES)
    first_moment: tuple[str, ...] = option((), needs=effects.ROLES)
    second_moment: tuple[str, ...] = option((), needs=effects.ROLES)
    activation: tuple[str, ...] = option((), needs=effects.ROLES)
    gradient: tuple[str, ...] = option((), needs=effects.ROLES)
    step: tuple[str, ...] = option((), needs=effects.STEPS)
    scale: Declared = ()
    verify: tuple[str, ...] = option((), needs=effects.DATA)
    blocks: Shapes = option((), pairs=True)


@dataclass(frozen=True, slots=True)
class Rescale:
    """A dynamic rescaling of values to rms or amax near 1 (Scalify paper, section 3.3).

    Attributes:
        statistic: The statistic of the data that is moved into the scale: their rms (``l2``), their
            mean magnitude (``l1``) or their largest magnitude (``max``); ``none`` for no rescaling.
        rounding: The rounding of the statistic to a power of two; ``default`` is that of the
            recipe.
        every: The number of steps after which values are rescaled; `inputs.step` names the count.
    """

    statistic: Statistic = "none"
    rounding: Rounding = option("default", needs=RESCALED)
    every: Count = option(1, needs=RESCALED)


@dataclass(frozen=True, slots=True)
class NamedRescale(Rescale):
    """A dynamic rescaling of the results of ops, chosen by name.

    Attributes:
        statistic: As of `norm_gradients`.
        rounding: As of `norm_gradients`.
        every: As of `norm_gradients`.
        names: Patterns of name stacks, as jax writes them into locations.
    """

    statistic: Statistic = option("l2", needs=effects.SITES)
    rounding: Rounding = option("default", needs=effects.SITES)
    every: Count = option(1, needs=effects.SITES)
    names: tuple[str, ...] = option((), needs=RESCALED)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The options of a rewrite.

    Attributes:
        name: The name of the preset from which the recipe starts.
        meet: The scale to which operands with unrelated run-time scales are rescaled. ``anchor``
            keeps the scale of one operand, so that only the other one is multiplied. ``max`` takes
            the larger scale, which is a new run-time scale.
        rounding: The rounding of scales that are not powers of two: of roots, of the root of K by
            which a matmul of K products divides, and of statistics. ``default`` rounds all down but
            largest magnitudes, which it rounds up. ``stochastic`` rounds statistics up or down by a
            hash of their bits, so that their mean is kept, and the others down. Where sizes are
            predicted, the root of K is exact until data are cast.
        saturate: Whether numbers beyond the range of a format become its largest number.
        epsilon: The epsilon that normalizations add. ``exact`` adds the epsilon of the model, at
            the scale of the data. ``data`` adds it to data near unit. This changes the result, but
            keeps small variances (Scalify paper, appendix C.2).
        compute: The format of all other f32 values of the model; ``keep`` is that of the program.
            ``auto`` is bf16 if the target is a GPU or a TPU and matmuls have operands in 8 or 4
            bits, as f32 outside of them costs more there than FP8 saves. For other targets, and for
            ``any``, it is ``keep``. Sums over many terms, the loss and the optimizer stay in f32.
            With ``f16``, values computed from gradients stay in f32 too, since f16 has too little
            range for them, and members share the scales that are predicted. With ``auto``, what is
            computed from arguments keeps its format up to the first matmul that is quantized. A
            program with matmuls in 16 bits keeps its formats.
        predict: The prediction of the sizes of data that are cast. ``none`` follows them roughly,
            and statistics correct the scales. ``unit`` predicts them from the sizes of the inputs,
            with the factors of the Unit Scaling paper (table A.2).
        untrusted: The cast of data whose predicted size is more uncertain than the format has room
            for. ``measure`` measures their amax at run time. ``bounded`` divides them only by the
            certain part of their size. ``wide`` does not quantize the matmul. Each such cast gives
            a remark.
        target: The compiler for which the program is written. It selects the variants of formats,
            and decides whether FP8 matmuls have the attribute ``algorithm``, which XLA needs on
            GPUs. ``gpu`` is for GPUs of NVIDIA and newer ones of AMD, and ``rocm`` for GPUs of AMD
            with FNUZ formats. Compilers for ``tpu`` and ``iree`` refuse the attribute, and ``cpu``
            does not need it. ``portable`` is for any reader of StableHLO, versions before 1.6
            included: it has no ``algorithm``, and no CHLO. ``l40s``, ``rtx4090``, ``h100``,
            ``h200`` and ``b200`` are as ``gpu``, and leave matmuls wide that are no faster in FP8
            there. ``any`` is as ``gpu``, but as ``tpu`` for programs that jax.export wrote for
            TPUs. With it, casts and matmuls are in the orders of GPUs only in programs for CUDA
            alone.
        residuals: What the forward pass keeps for the backward pass: with ``auto`` the fewest bytes
            from which cheap ops compute the same values again, and with ``keep`` what the program
            does. ``default`` is ``auto`` for recipes that make something narrow.
        matmul: See `MatmulOptions`.
        scaling: See `Scaling`.
        blocks: See `Blocks`.
        loss_scale: The scale of the loss, a power of two; see `LossScale`.
        state: See `StateOptions`.
        activations: See `ActivationOptions`.
        inputs: See `Inputs`.
        norm_gradients: Rescales the gradient of the input of each normalization that is recognized
            (the paper's algorithm 5).
        state_gradients: Rescales the gradient of each weight.
        matmul_operands: Rescales each operand of each matmul and convolution.
        state_rescale: Rescales master weights and moments as the program returns them; for
            signature ``scaled``. With ``none`` it rescales only state that is stored in f16 or f8,
            by its rms or amax: the scale of such state always follows from its own values.
        sites: Rescales the results of ops by name.
    """

    name: str = "propagate"
    meet: Meet = "anchor"
    rounding: Rounding = "default"
    saturate: bool = option(True, needs=effects.CASTS)
    epsilon: Epsilon = "exact"
    compute: Compute = AUTO
    predict: Predict = option("none", needs=effects.DATA)
    untrusted: Untrusted = option("measure", needs=effects.DATA)
    target: Target = "any"
    residuals: Residuals = "default"
    matmul: MatmulOptions = option(MatmulOptions)
    scaling: Scaling = option(Scaling)
    blocks: Blocks = option(Blocks)
    loss_scale: LossScale = option(LossScale)
    state: StateOptions = option(StateOptions)
    activations: ActivationOptions = option(ActivationOptions)
    inputs: Inputs = option(Inputs)
    norm_gradients: Rescale = option(Rescale)
    state_gradients: Rescale = option(Rescale)
    matmul_operands: Rescale = option(Rescale)
    state_rescale: Rescale = option(Rescale, pairs=True)
    sites: NamedRescale = option(NamedRescale)

    @property
    def platform(self) -> Platform:
        """The facts of the target."""
        return PLATFORMS[self.target]

    @property
    def keeps_scales(self) -> bool:
        """Whether scales are state, which the program takes and returns."""
        return self.scaling.kind == "delayed" or self.loss_scale.kind == "automatic"

    @property
    def baseline(self) -> str:
        """The effect of a baseline of the literature, in words; empty for other recipes.

        A baseline may be worse than the original, where numbers leave the range of a format.
        """
        loss = self.loss_scale
        scale = f"the loss is scaled by 2^{int(math.log2(loss.value))}"
        cast = "values are cast without scales"
        later = f", doubled each {loss.period} steps and halved on overflow"
        told = [
            cast if self.scaling.kind == NONE and self.narrow else "",
            "" if loss.kind == NONE else scale + later * (loss.kind == "automatic"),
        ]
        return " and ".join(filter(None, told))

    @property
    def rest(self) -> str:
        """The format of f32 values other than operands of matmuls; see the attribute `compute`."""
        if self.compute != AUTO:
            return self.compute
        return "bf16" if self.casts_to_f8 and self.platform.accelerator else KEEP

    @property
    def cuts_residuals(self) -> bool:
        """Whether loops keep less for the backward pass; see the attribute `residuals`."""
        narrow = self.matmul.narrow or self.rest != KEEP or self.activations.saved != KEEP
        return self.residuals == AUTO or (self.residuals == "default" and narrow)

    @property
    def casts_again(self) -> bool:
        """Whether matmuls may read weights in f8 in two orders, each of which is a copy."""
        return self.casts_to_f8 and self.scaling.kind != "block" and self.platform.turns

    @property
    def orders_dims(self) -> bool:
        """Whether matmuls have their dimensions in the order that is best for GPUs."""
        return self.casts_to_f8 and self.platform.gpu

    @property
    def rounds_gradients(self) -> bool:
        """Whether matmuls of f8 operands may write gradients of weights that are rounded to f8."""
        return self.casts_to_f8 and self.state.gradient in SMALL and self.platform.algorithms

    @property
    def casts_to_f8(self) -> bool:
        """Whether operands of matmuls may be f8."""
        matmul = self.matmul
        return not {matmul.activation, matmul.weight, matmul.gradient}.isdisjoint(SMALL)

    @property
    def rescales(self) -> bool:
        """Whether dynamic rescalings are inserted."""
        kinds = (getattr(self, table).statistic for table in RESCALES if table != "sites")
        return any(kind != NONE for kind in kinds) or bool(self.sites.names) or self.state.narrow

    @property
    def narrow(self) -> bool:
        """Whether any value is cast to another format."""
        return self.matmul.narrow or self.rest != KEEP or self.state != StateOptions()

    @property
    def narrow_data(self) -> bool:
        """Whether data with propagated scales are cast to low precision, so must be near unit."""
        if self.scaling.kind == NONE:
            return False
        scaled = self.matmul.narrow and self.scaling.propagated
        return scaled or self.computes_last or self.state != StateOptions()

    @property
    def depends_on_sizes(self) -> bool:
        """Whether casts of the recipe depend on the sizes of inputs."""
        return self.narrow_data and self.short_of_range

    @property
    def computes_first(self) -> bool:
        """Whether the rest of the model gets its format before the operands of matmuls get theirs.

        This is so if it is bf16, unless operands are f16, which has more digits than bf16.
        """
        matmul = self.matmul
        operands = {matmul.activation, matmul.weight, matmul.gradient}
        return self.rest != KEEP and FORMATS[self.rest].wide and "f16" not in operands

    @property
    def computes_last(self) -> bool:
        """Whether the rest of the model gets its format after the operands of matmuls."""
        return self.rest != KEEP and not self.computes_first

    @property
    def short_of_range(self) -> bool:
        """Whether some data with propagated scales are in a format with less range than f32."""
        matmul = self.matmul if self.scaling.propagated else MatmulOptions()
        formats = {matmul.activation, matmul.weight, matmul.gradient, self.rest}
        formats.add(self.state.gradient)
        return not all(FORMATS[format_].wide for format_ in formats - {KEEP})
