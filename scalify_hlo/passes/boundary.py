"""Where scales enter `main` and leave it."""

from __future__ import annotations

from dataclasses import dataclass

from scalify_hlo._compat import func, ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.passes.report import ValueReport
from scalify_hlo.rules import emit
from scalify_hlo.rules.split import Split
from scalify_hlo.scale import ONE, Form, Scale, Scaled

_ALIAS = "tf.aliasing_output"


@dataclass
class Boundary:
    """The arguments and results of `main` as they were.

    Attributes:
        arguments: What became of the arguments.
        results: What became of the results, filled in by `leave`.
    """

    main: ir.OpView
    split: Split
    arguments: list[ValueReport]
    results: list[ValueReport]

    @classmethod
    def enter(cls, main: ir.OpView, split: Split, top: ir.Operation) -> Boundary:
        """Replaces the arguments that are marked, and tells the split of their scales."""
        boundary = cls(main, split, [], [])
        block = main.regions[0].blocks[0]
        old = list(block.arguments)
        names = attributes.argument_names(main)
        new_attributes: list[Attributes] = []
        for name, argument, marks in zip(
            names, old, attributes.argument_attributes(main), strict=True
        ):
            new_attributes += boundary._enter_one(block, name, argument, marks, top)
        for _ in old:
            block.erase_argument(0)
        inputs = [argument.type for argument in block.arguments]
        results = list(attributes.function_type(main).results)
        attributes.set_function_type(main, inputs, results)
        attributes.set_argument_attributes(main, new_attributes)
        split.unscaled_results = frozenset(
            i for i, pair in enumerate(attributes.result_pairs(main)) if not pair
        )
        return boundary

    def _enter_one(
        self, block: ir.Block, name: str, old: ir.Value, marks: Attributes, top: ir.Operation
    ) -> list[Attributes]:
        data = block.add_argument(old.type, old.location)
        old.replace_all_uses_with(data)
        exponent, pair = marks.pop(attributes.SCALE, None), marks.pop(attributes.PAIR, None)
        form: Form = None
        if pair is not None:
            form = Scaled(self._bind(block, name, data))
        elif exponent is not None:
            form = Scaled(Scale(ir.IntegerAttr(exponent).value))
            _split_statically(data, form, self.split, top)
        if pair is not None:
            self.split.set(data, form)
        text = "unscaled" if form is None else str(form)
        self.arguments.append(
            ValueReport(name, str(old.type), pair is not None, form is not None, text)
        )
        return [marks, {}] if pair is not None else [marks]

    def _bind(self, block: ir.Block, name: str, data: ir.Value) -> Scale:
        location = ir.Location.name(f"{name}.scale", data.location)
        scalar = block.add_argument(emit.scalar_type(scale_element(data.type)), location)
        return Scale(0, ((self.split.factors.bind(scalar, state=True), 1),))

    def leave(self, names: list[str]) -> None:
        """Turns the results that are marked into pairs, and unscales the others."""
        block = self.main.regions[0].blocks[0]
        returned = block.operations[-1]
        marks = attributes.result_attributes(self.main)
        operands = list(returned.operands)
        values: list[ir.Value] = []
        new_attributes: list[Attributes] = []
        positions: dict[int, int] = {}
        for i, mark in enumerate(marks):
            positions[i] = len(values)
            pair = mark.pop(attributes.PAIR, None) is not None
            form = self.split.form(operands[i])
            new_attributes += [mark, _scale_attributes(mark)] if pair else [mark]
            values += self._leave_one(operands[i], returned.operation, pair=pair)
            self.results.append(_result_report(names[i], operands[i], form, pair))
        func.return_(values, loc=returned.location, ip=ir.InsertionPoint(returned))
        returned.operation.erase()
        inputs = list(attributes.function_type(self.main).inputs)
        attributes.set_function_type(self.main, inputs, [v.type for v in values])
        attributes.set_result_attributes(self.main, new_attributes)
        _move_aliases(self.main, positions)

    def _leave_one(self, value: ir.Value, at: ir.Operation, *, pair: bool) -> list[ir.Value]:
        form = self.split.form(value)
        if not pair:
            return [self.split.bring(value, ONE, at) if isinstance(form, Scaled) else value]
        if isinstance(form, Scaled) and not form.scale.state:
            value = self.split.settle(value, at)
            form = self.split.form(value)
        scale = form.scale if isinstance(form, Scaled) else ONE
        wide = scale_element(value.type) == ir.F64Type.get()
        return self.split.as_pair(value, scale, at, wide=wide)


def scale_element(type_: ir.Type) -> ir.Type:
    """The element type of a scale: f64 for f64 and complex<f64> data, f32 for all others."""
    element = type_.element_type
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    return element if isinstance(element, ir.F64Type) else ir.F32Type.get()


def _split_statically(data: ir.Value, form: Scaled, split: Split, top: ir.Operation) -> None:
    """X_d = X / 2^e at entry; what asks for X at scale 1 gets the argument itself."""
    uses = [(use.owner, use.operand_number) for use in data.uses]
    if not uses or form.scale == ONE:
        split.set(data, form)
        return
    divided = split.multiply(data, form.scale**-1, top)
    split.set(divided, form)
    split.known(divided, ONE, data)
    split.discardable(divided)
    for owner, index in uses:
        owner.operands[index] = divided


def _scale_attributes(data: Attributes) -> Attributes:
    info = data.get("jax.result_info")
    return {"jax.result_info": ir.StringAttr.get(f"{info.value}.scale")} if info else {}


def _result_report(name: str, value: ir.Value, form: Form, pair: bool) -> ValueReport:
    text = "unscaled" if form is None else str(form)
    return ValueReport(name, str(value.type), pair, isinstance(form, Scaled), text)


def _move_aliases(main: ir.OpView, positions: dict[int, int]) -> None:
    """Donated arguments name the result that they become by its number."""
    marks = attributes.argument_attributes(main)
    if not any(_ALIAS in mark for mark in marks):
        return
    for mark in marks:
        if _ALIAS in mark:
            old = ir.IntegerAttr(mark[_ALIAS])
            mark[_ALIAS] = ir.IntegerAttr.get(old.type, positions[old.value])
    attributes.set_argument_attributes(main, marks)
