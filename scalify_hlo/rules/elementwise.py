"""Elementwise ops."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import FloatFormat, format_of
from scalify_hlo.rules import emit
from scalify_hlo.rules.choices import extreme, is_zero, one_hot, select
from scalify_hlo.rules.families import (
    align,
    keep,
    odd,
    on_data,
    product,
    product_uncertainty,
    quotient,
    rise,
    root,
    sized,
    steep,
    total,
    unscale,
)
from scalify_hlo.rules.read_sizes import size_of_angle
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.source_sizes import form_of_integers
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.unit_scaling import ACTIVATIONS
from scalify_hlo.rules.untrusted import Trusted, handled
from scalify_hlo.scale import ANY, ONE, Form, Scale, Scaled, Splat
from scalify_hlo.uncertainty import UNKNOWN

_MEET = "s = meet(A_s, B_s); Y_d = {}(A_d*A_s/s, B_d*B_s/s); Y_s = s"
_ADD = "algorithm 3 of the Scalify paper; for powers of two its add rule is max"

for _name in ("add", "subtract"):
    rule(_name, total, family="align", formula=_MEET.format(_name), source=_ADD)
for _name, _apply in {"maximum": extreme, "minimum": extreme, "remainder": align()}.items():
    rule(
        _name,
        _apply,
        family="align",
        formula=_MEET.format(_name),
        source="homogeneous of degree 1: f(s*a, s*b) = s*f(a, b)",
    )
rule(
    "complex",
    align(),
    family="align",
    formula=_MEET.format("complex"),
    source="linear in both parts",
)
rule(
    "compare",
    align(scaled=False),
    family="align",
    formula="s = meet(A_s, B_s); Y = compare(A_d*A_s/s, B_d*B_s/s)",
    source="a common positive factor keeps the order",
)


def atan2(op: ir.Operation, split: Split) -> None:
    """The angle of a ratio, which is about as small as the ratio is."""
    y, x = (f.at(ONE) if isinstance(f, Scaled) else f for f in split.forms(list(op.operands)))
    split.align(op, (0, 1))
    if split.narrow:
        ratio = Scaled(ONE, split.size(y) - split.size(x), product_uncertainty(y, x, -1))
        split.set(op.results[0], size_of_angle(ratio))


rule(
    "atan2",
    atan2,
    family="align",
    formula="s = meet(A_s, B_s); Y = atan2(A_d*A_s/s, B_d*B_s/s)",
    source="homogeneous of degree 0",
)
rule(
    "select",
    select,
    family="align",
    formula="s = meet(A_s, B_s); Y_d = select(P, A_d*A_s/s, B_d*B_s/s); Y_s = s",
    source="data movement; §3.4 of the Scalify paper for masks",
)
rule(
    "clamp",
    align(0, 1, 2),
    family="align",
    formula="s = meet(L_s, X_s, H_s); Y_d = clamp(L_d*L_s/s, X_d*X_s/s, H_d*H_s/s); Y_s = s",
    source="minimum and maximum",
)

rule(
    "multiply",
    product(),
    family="product",
    formula="Y_d = A_d*B_d; Y_s = A_s*B_s",
    source="§3.2 of the Scalify paper",
)
rule(
    "divide",
    quotient(),
    family="quotient",
    formula="Y_d = A_d/B_d; Y_s = A_s/B_s",
    source="§3.2 of the Scalify paper",
)
rule(
    "sqrt",
    root(2),
    family="root",
    formula="X_s = h^2*r; Y_d = sqrt(X_d*r); Y_s = h",
    source="sqrt(h^2*x) = h*sqrt(x); rounding down as in §3.2 of the Scalify paper",
)
rule(
    "rsqrt",
    root(2, -1),
    family="root",
    formula="X_s = h^2*r; Y_d = rsqrt(X_d*r); Y_s = 1/h",
    source="rsqrt(h^2*x) = rsqrt(x)/h",
)
rule(
    "cbrt",
    root(3),
    family="root",
    formula="X_s = h^3*r; Y_d = cbrt(X_d*r); Y_s = h",
    source="cbrt(h^3*x) = h*cbrt(x)",
    exact=False,
)

for _name in ("real", "imag"):
    rule(
        _name,
        keep,
        family="keep",
        formula=f"Y_d = {_name}(X_d); Y_s = X_s",
        source="data movement",
    )
rule(
    "negate",
    odd(lambda value: -value),
    family="keep",
    formula="Y_d = -X_d; Y_s = X_s",
    source="linear",
)
rule(
    "abs",
    odd(abs),
    family="keep",
    formula="Y_d = |X_d|; Y_s = X_s",
    source="homogeneous of degree 1",
)

for _name in ("sign", "is_finite"):
    rule(
        _name,
        on_data,
        family="degree 0",
        formula=f"Y = {_name}(X_d)",
        source="scales are positive and finite",
    )

for _name in (
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "round_nearest_afz",
    "round_nearest_even",
    "sine",
    "tan",
):
    rule(
        _name,
        unscale,
        family="read",
        formula=f"Y = {_name}(X_d*X_s)",
        source="no homogeneity to use",
    )
for _name, _activation in {"logistic": "sigmoid", "tanh": "tanh"}.items():
    rule(
        _name,
        sized(ACTIVATIONS[_activation]),
        family="read",
        formula=f"Y = {_name}(X_d*X_s)",
        source="no homogeneity to use",
    )
rule(
    "bitcast_convert",
    unscale,
    family="read",
    formula="Y = bitcast_convert(X_d*X_s)",
    source="bits belong to the value",
)


def power(op: ir.Operation, split: Split) -> None:
    """Integer powers by constants keep a scale; any other power reads values."""
    base, exponent = split.forms(op.operands)
    if isinstance(base, Scaled) and isinstance(exponent, Splat) and exponent.value.is_integer():
        n = int(exponent.value)
        fits = abs(n) <= _MAX_POWER and format_of(op.operands[0].type) is not None
        if fits and not steep(op.results[0], base.scale**n, split, most=5):
            uncertainty = (base.uncertainty**n).with_root(abs(n))
            return split.result(op, base.scale**n, base.level * n, uncertainty)
    split.read_all(op)
    if split.narrow and isinstance(base, Scaled):
        split.set(op.results[0], _size_of_power(op, exponent, split))
    return None


def _size_of_power(op: ir.Operation, exponent: Form, split: Split) -> Scaled:
    """The size of a power of a value at scale 1; nothing tells it where the exponent varies."""
    base = split.form(op.operands[0])
    if not isinstance(base, Scaled) or not isinstance(exponent, Splat):
        return Scaled(ONE, 0, UNKNOWN)
    n = exponent.value
    uncertainty = (base.uncertainty**n).with_root(abs(n))
    return Scaled(ONE, round(base.level * n), uncertainty)


_MAX_POWER = 16

rule(
    "power",
    power,
    family="power",
    formula="Y_d = X_d^n; Y_s = X_s^n for a constant integer n; else Y = (X_d*X_s)^(P_d*P_s)",
    source="§3.2 of the Scalify paper, product",
)


def convert(op: ir.Operation, split: Split) -> None:
    """Between floats data are converted; narrowing pays what is certain of the level first.

    What is read at scale 1 right after is converted there, as the program has it.

    To integers and booleans, values are read, and to formats of 8 bits.
    """
    if attributes.CAST in op.attributes:
        return cast(op, split)
    value, result = op.operands[0], op.results[0]
    form = split.form(value)
    source, target = split.format(value), split.format(result)
    if target is None or source is None:
        if source is not None or target is None:
            return split.read_all(op)
        if split.predicts and (classes := one_hot(value)):
            split.result(op, ONE, -rise(classes, split))
        elif split.keeps_values(result):
            split.set(result, form_of_integers(value))
        return None
    if target.bits <= _SMALL and target != source:
        return _to_small(op, split)
    if isinstance(form, Scaled):
        if target.exponent_bits < source.exponent_bits:
            scale = ONE if split.read_next(result) else split.bounded(value, form, target)
            split.replace(op, 0, split.bring(value, scale, op.operation))
        return split.set(result, split.form(op.operands[0]))
    if form is ANY or (isinstance(form, Splat) and target.holds(form.value)):
        return split.set(result, form)
    return None


_SMALL = 8


def _to_small(op: ir.Operation, split: Split) -> None:
    """A model's own cast to 8 bits or fewer: it is there to round, so what it rounds matters.

    Values, as the model says, unless a recipe of low precision keeps data in such formats anyway.
    """
    if not split.narrow:
        return split.read_all(op)
    op.attributes[attributes.CAST] = ir.StringAttr.get(attributes.DATA)
    return cast(op, split)


def cast(op: ir.Operation, split: Split) -> None:
    """A recipe's cast: of data near unit, which saturate; ``Y_s = X_s * 2^level``.

    StableHLO's convert does not saturate, and only an exact clamp before it fuses into matmuls.
    """
    kind = ir.StringAttr(op.attributes[attributes.CAST]).value
    del op.attributes[attributes.CAST]
    split.changed = True
    if kind == attributes.VALUE:
        return unscale(op, split)
    value, result = op.operands[0], op.results[0]
    form, target = split.form(value), split.format(result)
    source = split.format(value)
    if target is None or source is None:
        raise TypeError(f"no cast between floats: {value.type} to {result.type}")
    if is_zero(value) or (isinstance(form, Splat) and target.holds(form.value)):
        return split.set(result, form)
    if form is ANY and target.infinite:
        return split.set(result, form)
    if form is ANY:
        split.replace(op, 0, _held(value, source, target, op.operation, split))
        return split.set(result, form)
    known = None
    if kind != attributes.STATE and not isinstance(form, Splat):
        known = handled(op, form, target, split)
    if known is None:
        known = _predicted(op, form, kind, split)
    value, scale = known.value, known.form.scale
    if kind == attributes.DATA:
        split.observe(value, scale, op.operation)
    split.replace(op, 0, _held(value, source, target, op.operation, split))
    return split.assume(result, known.form)


def _held(
    value: ir.Value, source: FloatFormat, target: FloatFormat, at: ir.Operation, split: Split
) -> ir.Value:
    """Data on their way from one format to another, within the range of both if casts saturate."""
    narrower = target.max_finite < source.max_finite and target.exponent_bits < source.exponent_bits
    if not narrower or not split.recipe.saturate:
        return value
    if not source.holds(target.max_finite):
        value = emit.convert(value, ir.F32Type.get(), at)
    return _saturated(value, target, at, split)


def _predicted(op: ir.Operation, form: Form, kind: str, split: Split) -> Trusted:
    """Data at the scale that their predicted size asks for."""
    scale = _cast_scale(op, form, kind, split)
    value = split.bring(op.operands[0], scale, op.operation)
    if not isinstance(form, Scaled):
        return Trusted(value, Scaled(scale))
    return Trusted(value, Scaled(scale, split.unpaid(form, scale), form.uncertainty))


def _saturated(value: ir.Value, target: FloatFormat, at: ir.Operation, split: Split) -> ir.Value:
    """Data held within a format; most casts share the bounds, which stand at the top."""
    most = target.max_finite
    if not isinstance(value.type.element_type, ir.F32Type):
        return emit.saturate(value, most, at)
    split.factors.location = at.location
    low, high = (split.factors.number(end, wide=False) for end in (-most, most))
    return emit.clamp(low, value, high, at)


def _is_multiplied(op: ir.Operation) -> bool:
    """Whether matmuls alone take a value; elsewhere a constant takes the scale of its partner."""
    waiting = [op.results[0]]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name in _MOVES:
                waiting.append(user.results[0])
            elif user.name not in _CONTRACTIONS:
                return False
    return True


_MOVES = frozenset(
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "reshape", "slice", "transpose")
)

_CONTRACTIONS = frozenset(
    {
        *("chlo.ragged_dot", "stablehlo.convolution", "stablehlo.dot"),
        *("stablehlo.dot_general", "stablehlo.dynamic_conv"),
    }
)


def _cast_scale(op: ir.Operation, form: Form, kind: str, split: Split) -> Scale:
    """The scale at which data are cast: near unit, but that of state is chosen elsewhere.

    State in a wide format leaves the program at the scale of an argument. In a narrow one it was
    measured, so that its level is 0, unless it is a cotangent of state. The size of a constant with
    one value is known, and counts where the format would flush or saturate that.
    """
    target = split.format(op.results[0])
    if isinstance(form, Splat) and target is not None:
        inside = 2.0**target.min_exponent <= abs(form.value) <= target.max_finite
        return ONE if inside or not _is_multiplied(op) else ONE.shift(form.level)
    if not isinstance(form, Scaled):
        return ONE
    if kind == attributes.STATE and (form.decayed or (target is not None and target.wide)):
        return form.scale
    return split.settled_alike(op, form) if split.predicts else form.settled


rule(
    "convert",
    convert,
    family="keep",
    formula="Y_d = convert(X_d); Y_s = X_s between floats of more than 8 bits; "
    "else Y = convert(X_d*X_s)",
    source="rounding commutes with powers of two",
)


def reduce_precision(op: ir.Operation, split: Split) -> None:
    """Cutting mantissa bits commutes with scaling; cutting exponent bits is about values."""
    format_ = split.format(op.operands[0])
    if format_ is not None and op.attributes["exponent_bits"].value >= format_.exponent_bits:
        return keep(op, split) if isinstance(split.form(op.operands[0]), Scaled) else None
    return split.read_all(op)


rule(
    "reduce_precision",
    reduce_precision,
    family="keep",
    formula="Y_d = reduce_precision(X_d); Y_s = X_s unless exponent bits are cut",
    source="rounding commutes with powers of two",
)
