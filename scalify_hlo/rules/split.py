"""The split of a function into data and scale, as it stands during the walk.

The walk edits in place: a value of the program becomes the data of its pair, and what else is
known of it, its form, is kept here. An op whose rule is "the same op on data" is therefore not
touched at all, and keeps its location, its attributes and its sharding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.diagnostics import Remark
from scalify_hlo.dialect.formats import FloatFormat, format_of, is_complex
from scalify_hlo.recipe import Recipe
from scalify_hlo.rules import emit
from scalify_hlo.rules.factors import SAFE_REACH, Factors
from scalify_hlo.scale import ANY, ONE, Any, Form, Maximum, Scale, Scaled, Splat, meet

_PURE = {f"stablehlo.{name}" for name in ("broadcast_in_dim", "constant", "convert", "divide", "multiply", "reshape")}

_PRODUCTS = frozenset({"stablehlo.multiply", "stablehlo.divide"})

READERS: set[str] = set()
"""The ops whose rule reads values at scale 1, as their rules say."""

LEVEL_BUDGET = 96
"""How far levels may drift in formats with f32's range before they are paid."""


class Split:
    """The forms of the values of one function, and the moves that rules make.

    Attributes:
        factors: Builds run-time factors.
        remarks: What the user should know.
        recipe: The options of the rewrite.
        next: The op after the one that the walk is at.
        unscaled_results: The operands of the function's return that leave at scale 1.
        changed: Whether any op was added, or an operand replaced.
    """

    def __init__(self, top: ir.Operation, recipe: Recipe, remarks: list[Remark]) -> None:
        self.factors = Factors(top)
        self.recipe = recipe
        self.remarks = remarks
        self._top = top
        self._forms: dict[ir.Value, Form] = {}
        self._scopes: list[dict[tuple[ir.Value, Scale], ir.Value]] = [{}]
        self._formats: dict[ir.Type, FloatFormat | None] = {}
        self._replaced: dict[ir.Value, None] = {}
        self.next = top
        self.unscaled_results: frozenset[int] = frozenset()
        self.changed = False

    def form(self, value: ir.Value) -> Form:
        """What is known of a value; None is unscaled."""
        return self._forms.get(value)

    def forms(self, values: Sequence[ir.Value]) -> list[Form]:
        """The forms of several values."""
        return [self._forms.get(v) for v in values]

    def format(self, value: ir.Value) -> FloatFormat | None:
        """The float format of a value's elements, None if they are no floats."""
        type_ = value.type
        if type_ not in self._formats:
            self._formats[type_] = format_of(type_)
        return self._formats[type_]

    def set(self, value: ir.Value, form: Form) -> None:
        """Says what a value is now; pays its level where the format is narrow."""
        if form is None:
            return
        self._forms[value] = form
        if isinstance(form, Scaled) and form.level:
            format_ = self.format(value)
            if format_ is None or not format_.wide or abs(form.level) > LEVEL_BUDGET:
                self._settle_definition(value, form)

    def result(self, op: ir.Operation, scale: Scale, level: int = 0) -> None:
        """Says that the only result of an op is scaled."""
        self.set(op.results[0], Scaled(scale, level))

    def remark(self, op: ir.Operation, message: str) -> None:
        """Tells the user something about an op."""
        self.remarks.append(Remark(message, str(op.location), op.operation.name))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Values brought to a scale inside a region are not known outside of it."""
        self._scopes.append({})
        try:
            yield
        finally:
            self._scopes.pop()

    # What rules do with operands.

    def read(self, op: ir.Operation, index: int) -> None:
        """Makes an operand unscaled: X_d * X_s."""
        value = op.operands[index]
        if isinstance(self._forms.get(value), Scaled):
            self.replace(op, index, self.bring(value, ONE, op.operation))

    def read_all(self, op: ir.Operation) -> None:
        """Makes all operands unscaled."""
        for index in range(len(op.operands)):
            self.read(op, index)

    def align(self, op: ir.Operation, indices: Sequence[int]) -> Scaled | Any | None:
        """Brings operands to one scale, the meet of theirs.

        Returns:
            Scale and level of a sum of the operands; ANY if each is; None if none is scaled.
        """
        values = [op.operands[i] for i in indices]
        target = self.meet(values)
        if isinstance(target, Scaled):
            if target.scale != ONE and self._read_next(op):
                target = self._cheaper_unscaled(values, target)
            for i, value in zip(indices, values, strict=True):
                self.replace(op, i, self.bring(value, target.scale, op.operation))
        return target

    def meet(self, values: Sequence[ir.Value]) -> Scaled | Any | None:
        """The scale to which several values are brought."""
        forms = self.forms(values)
        if all(f is ANY for f in forms):
            return ANY
        scaled = [f for f in forms if isinstance(f, Scaled)]
        if len(scaled) > 1 and self._fallback(values, scaled):
            origin = Maximum(tuple(dict.fromkeys(f.settled for f in scaled)))
            return Scaled(Scale(0, ((self.factors.derive(origin), 1),)))
        anchors = [True] * len(values)
        if len(scaled) > 1:
            anchors = [_broadcast_source(v) is None for v in values]
        return meet(forms, anchors)

    def _read_next(self, op: ir.OpView) -> bool:
        """Whether an op's result is read at scale 1: by the caller, or by its only user.

        What the caller reads in a wide format may be kept at scale 1 throughout: its level still
        tells how far from unit it is expected to be.
        """
        uses = list(op.results[0].uses)
        if any(u.operand_number in self.unscaled_results and _returns(u.owner) for u in uses):
            format_ = self.format(op.results[0])
            return len(uses) == 1 or (format_ is not None and format_.wide)
        return len(uses) == 1 and uses[0].owner.name in READERS

    def _cheaper_unscaled(self, values: Sequence[ir.Value], target: Scaled) -> Scaled:
        """Scale 1 if meeting there takes fewer factors than meeting elsewhere and unscaling."""
        if self._cost(values, ONE) >= self._cost(values, target.scale) + 1:
            return target
        return Scaled(ONE, target.level + (target.scale.exponent if target.scale.static else 0))

    def _cost(self, values: Sequence[ir.Value], target: Scale) -> int:
        """How many operands take a factor to come to a scale."""
        return sum(self._takes_factor(value, target) for value in values)

    def _takes_factor(self, value: ir.Value, target: Scale) -> bool:
        form = self._forms.get(value)
        if isinstance(form, Splat | Any):
            return False
        if (form.scale if isinstance(form, Scaled) else ONE) == target:
            return False
        if any((value, target) in scope for scope in self._scopes):
            return False
        return self._constant_operand(value) is None or len(list(islice(value.uses, 2))) > 1

    def _fallback(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether an anchor can't be trusted: unrelated dynamic scales and narrow data."""
        if all((f.scale / scaled[0].scale).static for f in scaled):
            return False
        if self.recipe.meet == "max":
            return True
        return any((form := self.format(v)) is not None and not form.wide for v in values)

    def replace(self, op: ir.Operation, index: int, value: ir.Value) -> None:
        """Puts another value in an operand's place."""
        old = op.operands[index]
        if old != value:
            op.operands[index] = value
            self._replaced[old] = None

    def settle(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Pays the level of a value: its data near unit, the scale moved accordingly."""
        form = self._forms.get(value)
        if not isinstance(form, Scaled) or not form.level:
            return value
        return self.bring(value, form.settled, at)

    def bring(self, value: ir.Value, target: Scale, at: ir.Operation) -> ir.Value:
        """The data of a value at another scale, built before `at` unless they stand already.

        Args:
            value: A float tensor; unscaled ones read as scale 1.
            target: The scale wanted.
            at: The op that wants them.
        """
        form = self._forms.get(value)
        if form is ANY:
            return value
        factor = (form.scale if isinstance(form, Scaled) else ONE) / target
        if factor == ONE or self.format(value) is None:
            return value
        key = (value, target)
        for scope in reversed(self._scopes):
            if key in scope:
                return scope[key]
        self.changed = True
        brought = self._build(value, form, factor, target, at)
        self.known(value, target, brought)
        if isinstance(form, Scaled):
            self._forms[brought] = Scaled(target, form.level + (factor.exponent if factor.static else 0))
            self.known(brought, form.scale, value)
        else:
            self._forms[brought] = Scaled(target)
        return brought

    def known(self, value: ir.Value, target: Scale, brought: ir.Value) -> None:
        """Remembers that `brought` is `value` at another scale."""
        self._scopes[-1][value, target] = brought

    def _build(
        self, value: ir.Value, form: Form, factor: Scale, target: Scale, at: ir.Operation
    ) -> ir.Value:
        if isinstance(form, Splat):
            return self._adopt(value, form.value, factor, at)
        source = _broadcast_source(value)
        if source is None:
            folded = self._fold(value, factor, at)
            return self.multiply(value, factor, at) if folded is None else folded
        moved = self.bring(source.operands[0], target, at)
        self._replaced[value] = None
        return stablehlo.broadcast_in_dim(
            value.type,
            moved,
            source.attributes["broadcast_dimensions"],
            loc=source.location,
            ip=ir.InsertionPoint(at),
        )

    def _constant_operand(self, value: ir.Value) -> tuple[ir.Operation, int, Splat] | None:
        """The op that multiplies by a constant, or divides by one, to make a value."""
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name not in _PRODUCTS:
            return None
        for index in (1, 0) if owner.name == "stablehlo.multiply" else (1,):
            form = self._forms.get(owner.operands[index])
            if isinstance(form, Splat):
                return owner, index, form
        return None

    def _fold(self, value: ir.Value, factor: Scale, at: ir.Operation) -> ir.Value | None:
        """Takes a factor into the constant that a value was multiplied with: x*(c*f) for (x*c)*f."""
        found, format_ = self._constant_operand(value), self.format(value)
        if found is None or format_ is None or not format_.wide or is_complex(value.type):
            return None
        owner, index, form = found
        if owner.name == "stablehlo.divide":
            factor = factor**-1
        constant = owner.operands[index]
        if not constant.type.has_static_shape or not _stays_normal(form.value, factor, format_):
            return None
        self._replaced[value] = None
        operands = list(owner.operands)
        operands[index] = self._adopt(constant, form.value, factor, at)
        name = owner.name.removeprefix("stablehlo.")
        return emit.binary(name, operands[0], operands[1], at, owner.location)

    def multiply(self, value: ir.Value, factor: Scale, at: ir.Operation) -> ir.Value:
        """Data times a factor; exact wherever the product is a normal number.

        In formats of few exponent bits the factor itself might not be representable although the
        product is, so the product is taken in f32.
        """
        format_ = self.format(value)
        if format_ is None:
            raise TypeError(f"no float tensor: {value.type}")
        reach = min(-format_.min_exponent, format_.max_exponent)
        if format_.wide or (factor.static and abs(factor.exponent) <= reach):
            return self._multiply_wide(value, factor, at, format_)
        element = value.type.element_type
        widened = emit.convert(value, ir.F32Type.get(), at)
        return emit.convert(self._multiply_wide(widened, factor, at, format_), element, at)

    def _multiply_wide(
        self, value: ir.Value, factor: Scale, at: ir.Operation, format_: FloatFormat
    ) -> ir.Value:
        wide = format_.name == "f64"
        if not factor.static:
            self.factors.location = at.location
            for scalar in self.factors.parts(factor, wide=wide):
                value = self._times(value, scalar, at)
            return value
        for part in factor.portions(SAFE_REACH[wide]):
            value = emit.times_power(value, part.exponent, at)
        return value

    def _times(self, value: ir.Value, scalar: ir.Value, at: ir.Operation) -> ir.Value:
        element = value.type.element_type
        if isinstance(element, ir.ComplexType):
            element = element.element_type
        return emit.times(value, emit.convert(scalar, element, at), at)

    def _adopt(self, value: ir.Value, number: float, factor: Scale, at: ir.Operation) -> ir.Value:
        """A splat constant at its partner's scale; it saturates, and never becomes zero."""
        format_ = self.format(value)
        if format_ is None or not value.type.has_static_shape or is_complex(value.type):
            return self.multiply(value, factor, at)
        if factor.static:
            return emit.constant(value.type, _saturated(number, factor.exponent, format_), at)
        self.factors.location = at.location
        scalar = self._adopt_scalar(value, number, factor, format_)
        return emit.broadcast_scalar(scalar, value, at)

    def _adopt_scalar(
        self, value: ir.Value, number: float, factor: Scale, format_: FloatFormat
    ) -> ir.Value:
        """The constant as a rank-0 tensor of the value's element type, built at the top."""
        wide, top = format_.name == "f64", self._top
        element = ir.F64Type.get() if wide else ir.F32Type.get()
        type_ = emit.scalar_type(element)
        scalar = emit.constant(type_, number, top)
        for part in self.factors.parts(factor, wide=wide):
            scalar = emit.binary("multiply", scalar, part, top)
        if not _stays_normal(number, factor, format_):
            sign = 1.0 if number > 0 else -1.0
            ends = sorted((sign * format_.smallest, sign * format_.max_finite))
            low, high = (emit.constant(type_, end, top) for end in ends)
            scalar = stablehlo.clamp(low, scalar, high, loc=top.location, ip=ir.InsertionPoint(top))
        return emit.convert(scalar, value.type.element_type, top)

    def _settle_definition(self, value: ir.Value, form: Scaled) -> None:
        """Pays a level right after the op that raised it, for all uses of the value."""
        uses = [(use.owner, use.operand_number) for use in value.uses]
        settled = self.bring(value, form.settled, self.next)
        for owner, index in uses:
            owner.operands[index] = settled

    def concerns(self, operation: ir.Operation) -> bool:
        """Whether something is known of an operand of an op."""
        forms = self._forms
        for operand in operation.operands:  # noqa: SIM110  (a generator costs twice as much)
            if operand in forms:
                return True
        return False

    def as_pair(
        self, value: ir.Value, scale: Scale, at: ir.Operation, *, wide: bool
    ) -> list[ir.Value]:
        """Data and scale of a program's result; what the scale can't hold goes to the data."""
        self.factors.location = at.location
        if not scale.static:
            scalar, rest = self.factors.clamped(scale, wide=wide)
            for factor in rest:
                value = self._times(value, factor, at)
            return [value, scalar]
        bound = SAFE_REACH[wide]
        kept = Scale(max(-bound, min(bound, scale.exponent)))
        element = ir.F64Type.get() if wide else ir.F32Type.get()
        scalar = emit.constant(emit.scalar_type(element), 2.0**kept.exponent, at)
        return [value if kept == scale else self.multiply(value, scale / kept, at), scalar]

    def finish(self) -> None:
        """Builds the factors, and removes what is not needed any more."""
        self.erase_dead()
        self.factors.finish()

    def discardable(self, value: ir.Value) -> None:
        """Says that a value the split made may turn out to be unused."""
        self._replaced[value] = None

    def erase_dead(self) -> None:
        """Erases what the split replaced, where nothing uses it any more."""
        while self._replaced:
            value, _ = self._replaced.popitem()
            owner = value.owner
            if isinstance(owner, ir.Block) or owner.name not in _PURE:
                continue
            if next(iter(value.uses), None) is None:
                self._replaced.update(dict.fromkeys(owner.operands))
                owner.erase()


def _returns(op: ir.Operation) -> bool:
    return bool(op.name == "func.return")


def _broadcast_source(value: ir.Value) -> ir.Operation | None:
    """The broadcast_in_dim that makes a value from fewer elements."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.broadcast_in_dim":
        return None
    if not value.type.has_static_shape:
        return None
    source = owner.operands[0].type
    return owner if math.prod(source.shape) < math.prod(value.type.shape) else None


def _saturated(number: float, exponent: int, format_: FloatFormat) -> float:
    """A constant times ``2^exponent``, held within the normal numbers of a format."""
    log = math.log2(abs(number)) + exponent
    if log > format_.max_exponent + 1:
        size = format_.max_finite
    elif log < format_.min_exponent:
        size = format_.smallest
    else:
        size = min(math.ldexp(abs(number), exponent), format_.max_finite)
    return math.copysign(size, number)


def _stays_normal(number: float, factor: Scale, format_: FloatFormat) -> bool:
    """Whether a constant times a factor within its reach is a normal number for sure."""
    log = math.log2(abs(number))
    return (
        log + factor.reach < format_.max_exponent and log - factor.reach > format_.min_exponent
    )
