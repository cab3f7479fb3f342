"""Contractions: sums of K products."""

from __future__ import annotations

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.scale import ANY, ONE, Scaled
from scalify_hlo.algebra.uncertainty import UNKNOWN
from scalify_hlo.ir.contraction import RAGGED_DOT, contraction_of
from scalify_hlo.ir.ragged import terms
from scalify_hlo.ir.scaled_dot import BLOCK_SCALED_DOT, SCALED_DOT, dimensions
from scalify_hlo.ir.traits import BATCH_NORMS, CONVOLUTIONS, DOTS
from scalify_hlo.rules.families import (
    keep,
    linear,
    product,
    quotient,
    rise,
    static_product,
    unscale,
)
from scalify_hlo.rules.registry import CUSTOM_CALLS, rule
from scalify_hlo.rules.roots import root
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_MATMUL = "algorithm 3 of the Scalify paper"
_GROUPED = ", K that of an average group if groups share the contracted dimension"


def contracted(op: ir.Operation) -> int | None:
    """Returns the number of terms of each element of a dot or dot_general."""
    shape = op.operands[0].type.shape
    return static_product([shape[d] for d in contraction_of(op).lhs.summed])


def window(op: ir.Operation) -> int | None:
    """Returns the number of terms of an element of a convolution: the size of one kernel."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    shape = op.operands[1].type.shape
    output = numbers.kernel_output_feature_dimension
    return static_product([size for d, size in enumerate(shape) if d != output])


for _ops, _name, _terms, _which in (
    (DOTS, "dot", contracted, ""),
    (CONVOLUTIONS, "conv", window, ", K the elements of the kernel for each output feature"),
    (RAGGED_DOT, "ragged_dot", terms, _GROUPED),
):
    _formula = f"Y_d = {_name}(A_d, B_d)/k; Y_s = A_s*B_s*k; k = 2^floor(log2(sqrt(K)))"
    rule(_ops, product(_terms), f"{_MATMUL}{_which}", _formula)


def scaled_dot(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Multiplies the scales of the data and of their block scales: linear in all four operands."""
    infos = rewriter.infos(list(op.operands))
    if ANY in infos:
        return rewriter.set(op.results[0], ANY)
    scaled = [info for info in infos if isinstance(info, Scaled)]
    if not scaled and not rewriter.narrow:
        return None
    shape = op.operands[0].type.shape
    terms = static_product([shape[d] for d in dimensions(op).lhs.summed])
    found = Scaled(ONE, rise(terms, rewriter))
    for info in scaled:
        uncertainty = found.uncertainty * info.uncertainty
        found = Scaled(found.scale * info.scale, found.level + info.level, uncertainty)
    if len(scaled) < len(infos):  # The sizes of block scales are seldom known.
        found = found._replace(uncertainty=UNKNOWN)
    return rewriter.set(op.results[0], found)


for _name in (SCALED_DOT, BLOCK_SCALED_DOT):
    CUSTOM_CALLS[_name] = scaled_dot
rule("einsum", product(), "bilinear", "Y_d = einsum(A_d, B_d); Y_s = A_s*B_s")
rule("unary_einsum", keep, "linear")


def transform_length(op: ir.Operation) -> int | None:
    """Returns the number of terms of a forward FFT; an inverse one divides by it."""
    return static_product(list(op.attributes["fft_length"]))


def fft(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Applies a linear transform; an inverse one of n unit terms has rms 1/sqrt(n)."""
    info = rewriter.info(op.operands[0])
    linear(transform_length)(op, rewriter)
    inverse = stablehlo.FftTypeAttr(op.attributes["fft_type"]).value in ("IFFT", "IRFFT")
    if inverse and isinstance(info, Scaled):
        raised = rewriter.info(op.results[0])
        if isinstance(raised, Scaled):
            rewriter.result(op, info.scale, 2 * info.level - raised.level)


rule("fft", fft, "linear", family="keep")
rule("cholesky", root(2), "A = L*L^T is of degree 2 in L")


def triangular_solve(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Divides scales, unless the diagonal of A is assumed to be 1."""
    if op.attributes["unit_diagonal"].value:
        rewriter.read(op, 0)
        product()(op, rewriter)
    else:
        quotient(dividend=1, divisor=0)(op, rewriter)


rule(
    "triangular_solve",
    triangular_solve,
    "bilinear in A*Y = B",
    "Y_d = solve(A_d, B_d); Y_s = B_s/A_s; with unit_diagonal Y_d = solve(A_d*A_s, B_d)",
    family="quotient",
)
rule(
    BATCH_NORMS,
    unscale,
    "epsilon is an attribute, which cannot be rescaled at run time",
    "Y = {op}(X_d*X_s, ...)",
)
