"""The dtype of everything but matmuls: the option ``compute`` of a recipe.

Values between matmuls are computed and saved in this dtype, and other values are cast to it. The
optimizer keeps its dtype. So do gradients if the format has few exponent bits: sums over correlated
terms take them further from unit, layer by layer, than a static scale can predict.

`scalify_hlo.dataflow.model_part` finds the ops of the model, and `scalify_hlo.dataflow.widths` the
values that become narrow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import compress

from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import Casts, convert_after, widened_from
from scalify_hlo.dataflow.model_part import ModelPart, model_of
from scalify_hlo.dataflow.widths import EACH, NARROWED, Width, Widths, body_of, is_f32
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import FORMATS, element_of, element_type, floats, with_element
from scalify_hlo.ir.functions import callee_of, copied, maker, symbol_of, terminator
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import BODIES, BRANCHES, LOOP, MATMULS, TAKES
from scalify_hlo.ir.value_map import OpSet, ValueCache, erase, replace_uses, run_native, uses_of

_BROADCAST = "stablehlo.broadcast_in_dim"
_CONSTANT = "stablehlo.constant"


def narrow_model(
    main: ir.OpView, format_: str, casts: Casts, kind: str, quantized: OpSet | None = None
) -> None:
    """Changes the format of the values of a model.

    Args:
        main: The entry function, in which ops that make gradients of weights are marked.
        format_: The new format.
        casts: The casts of the module.
        kind: The kind of casts to the format; see `scalify_hlo.dialect.attributes`.
        quantized: See `scalify_hlo.dataflow.widths.Widths`.
    """
    parts = model_of(main)
    widths = Widths(main, gradients=FORMATS[format_].wide, quantized=quantized)
    for part in parts:
        widths.enter(part.block)
        widths.find_loss(part.ops)
        widths.walk(part.ops)
    narrowing = _Narrowing(widths, format_, casts, kind)
    for part in parts:
        narrowing.part(part)
    narrowing.erase_replaced()
    if narrowing.copied:
        run_native("builtin.module(symbol-dce)", main.operation.parent)


class _Narrowing:
    """Changes the types of values.

    Attributes:
        copied: Whether functions were copied.
    """

    def __init__(self, widths: Widths, format_: str, casts: Casts, kind: str) -> None:
        self._widths, self._casts, self._kind = widths, casts, kind
        self._name, self._element = format_, element_of(format_)
        self._format = FORMATS[format_]
        self._narrow: ValueCache[ir.Value] = ValueCache()  # by wide value
        self._wide: ValueCache[ir.Value] = ValueCache()  # by narrow value
        self._retyped: list[ir.Value] = []
        self._done = OpSet()
        self._copies: dict[Hashable, ir.OpView] = {}
        self._replaced: list[ir.Value] = []
        self.copied = False

    def erase_replaced(self) -> None:
        """Erases the casts without uses. It runs last, since other casts may come to use them."""
        for value in self._replaced:
            erase(value.owner)

    def part(self, part: ModelPart) -> None:
        """Casts a part of the model; ops outside of it read the values that they read before."""
        self._ops(part.ops)
        for value in self._retyped:
            self._widen_uses(value)
        self._retyped.clear()

    def _widen_uses(self, value: ir.Value) -> None:
        outside = [use for use in uses_of(value) if use[0].operation not in self._done]
        for op, number in outside:
            if attributes.CAST in op.attributes:
                self._take_cast(op.operation)
            else:
                op.operands[number] = self._widened(value)

    def _ops(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            self._done.add(op)
            name = op.name
            if name == LOOP:
                self._loop(op)
            elif name in BRANCHES:
                self._branches(op)
            elif name in BODIES:
                self._body_op(op)
            elif name == "func.call":
                self._call(op)
            elif name == "stablehlo.convert":
                self._convert(op)
            elif name != _CONSTANT:
                self._op(op, name)

    def _op(self, op: ir.Operation, name: str) -> None:
        """Rewrites an op without regions: narrow if possible, and otherwise unchanged."""
        operands = op.operands
        if len(op.results) == len(operands) and name in EACH:
            self._match(op, op.results)
        elif name in MATMULS:
            self._matmul(op)
        elif self._computes_narrow(op, name):
            self._narrow_operands(op)
            self._retype(op.results[0])
        else:
            self._widen_operands(op)

    def _matmul(self, op: ir.Operation) -> None:
        """Rewrites a matmul, whose narrow operands are kept."""
        operands = floats(op.operands)
        narrow = self._is_narrow(op.results[0])
        if any(map(is_f32, operands)):
            if not narrow or not any(map(self._is_narrow, operands)):
                self._widen_operands(op)
                return
            self._narrow_operands(op)
        if narrow and self._format.wide and all(self._are_narrow(floats(op.operands))):
            # XLA always sums in f32, and has no mixed form on CPUs.
            self._retype(op.results[0])

    def _computes_narrow(self, op: ir.Operation, name: str) -> bool:
        if name not in NARROWED or not is_f32(op.results[0]):
            return False
        if self._widths.width(op.results[0]) != Width.NARROW:
            return False
        operands = op.operands
        if name in TAKES and is_f32(operands[0]) and widened_from(operands[0]) is None:
            return False  # A few rows of a large table are cast, instead of the whole table.
        return all(self._holds(v) for v in floats(operands))

    def _holds(self, value: ir.Value) -> bool:
        """Whether the format has a constant among its normal numbers."""
        number = filled_with(behind(value, {_BROADCAST}))
        if not number or number - number:  # Every format has zeros, infinities and NaN.
            return True
        smallest = 2.0**self._format.min_exponent
        return smallest <= abs(number) <= self._format.max_finite

    def _is_narrow(self, value: ir.Value) -> bool:
        return self._widths.width(value) == Width.NARROW

    def _narrow_operands(self, op: ir.Operation) -> None:
        operands = op.operands
        for i in range(len(operands)):
            if is_f32(operands[i]):
                operands[i] = self._narrowed(operands[i])

    def _widen_operands(self, op: ir.Operation) -> None:
        """Restores the wide operands of an op, and of the ops in its regions."""
        self._cast_operands(op, [False] * len(op.operands))
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self._widen_operands(inner.operation)

    def _convert(self, op: ir.Operation) -> None:
        """Rewrites a convert; casts of a recipe may read narrow values."""
        if attributes.CAST in op.attributes:
            self._take_cast(op)
        else:
            self._widen_operands(op)

    def _take_cast(self, op: ir.Operation) -> None:
        value, result = op.operands[0], op.results[0]
        if value.type == result.type:
            replace_uses(result, value)
            self._replaced.append(result)

    def _narrowed(self, value: ir.Value) -> ir.Value:
        """Returns a value in the format; the value itself if it has the format already."""
        if not is_f32(value):
            return value
        if value not in self._narrow:
            self._narrow[value] = self._make_narrow(value)
        return self._narrow[value]

    def _make_narrow(self, value: ir.Value) -> ir.Value:
        owner = value.owner
        if not isinstance(owner, ir.Block):
            number = filled_with(value)
            if number is not None and self._holds(value):
                return emit.constant(self._type(value), number, owner)
            if owner.name == _BROADCAST and widened_from(value) is None:
                return self._broadcast(owner)
        narrow = self._casts.cast(value, self._name, self._kind)
        if (op := maker(narrow)) is not None:
            self._done.add(op)
        return narrow

    def _broadcast(self, op: ir.Operation) -> ir.Value:
        """Casts the operand of a broadcast, instead of the result."""
        source, type_ = self._narrowed(op.operands[0]), self._type(op.results[0])
        made = emit.op(op, _BROADCAST, [type_], [source], attributes.all_of(op)).result
        self._done.add(made.owner)
        return made

    def _widened(self, value: ir.Value) -> ir.Value:
        """Returns a value in the format of the program."""
        if value not in self._wide:
            return value
        wide = self._wide[value]
        if wide == value:
            wide = self._wide[value] = convert_after(value, ir.F32Type.get())
            self._done.add(wide.owner)
        return wide

    def _retype(self, value: ir.Value) -> None:
        """Notes that a value is computed in the format."""
        if not is_f32(value):
            return
        value.set_type(self._type(value))
        self._wide[value] = value
        self._retyped.append(value)

    def _type(self, value: ir.Value) -> ir.Type:
        return with_element(value.type, self._element)

    def _cast_operands(self, op: ir.Operation, narrow: Iterable[bool]) -> None:
        """Casts operands to the format, or back."""
        operands = op.operands
        for i, is_narrow in enumerate(narrow):
            change = self._narrowed if is_narrow else self._widened
            operands[i] = change(operands[i])

    def _match(self, op: ir.Operation, values: Sequence[ir.Value]) -> None:
        """Casts operands to the widths of the values that they become, whose types are set."""
        narrow = [is_f32(value) and self._is_narrow(value) for value in values]
        self._cast_operands(op, narrow)
        for value in compress(values, narrow):
            self._retype(value)

    def _end(self, block: ir.Block, narrow: Iterable[bool]) -> None:
        """Casts the operands of a terminator to the format, or back."""
        returned = terminator(block)
        self._done.add(returned)
        self._cast_operands(returned, narrow)

    def _are_narrow(self, values: Sequence[ir.Value]) -> list[bool]:
        """Returns, for each value, whether it has the format."""
        return [element_type(value.type) == self._element for value in values]

    def _inside(self, block: ir.Block) -> None:
        self._ops([op.operation for op in block.operations][:-1])

    def _loop(self, op: ir.Operation) -> None:
        self._match(op, op.results)
        for region in op.regions:
            block = region.blocks[0]
            self._arguments(block, op.results)
            self._inside(block)
        self._end(op.regions[1].blocks[0], self._are_narrow(op.results))
        self._end(op.regions[0].blocks[0], [False])

    def _arguments(self, block: ir.Block, values: Sequence[ir.Value]) -> None:
        """Sets the types of the arguments of a block to those of values."""
        for argument, value in zip(block.arguments, values, strict=True):
            if value.type != argument.type:
                self._retype(argument)

    def _retype_narrow(self, values: Sequence[ir.Value]) -> None:
        for value in values:
            if is_f32(value) and self._is_narrow(value):
                self._retype(value)

    def _branches(self, op: ir.Operation) -> None:
        self._retype_narrow(op.results)
        for region in op.regions:
            self._inside(region.blocks[0])
            self._end(region.blocks[0], self._are_narrow(op.results))

    def _body_op(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        self._match(op, block.arguments)
        self._inside(block)
        self._retype_narrow(op.results)
        self._end(block, self._are_narrow(op.results))

    def _call(self, op: ir.Operation) -> None:
        """Calls the copy of a function whose arguments have the widths of the operands."""
        name = callee_of(op)
        function = self._widths.functions.get(name)
        if body_of(function) is None or function is None:
            self._widen_operands(op)
            return
        widths = [self._widths.width(value) for value in op.operands]
        self._cast_operands(op, [width == Width.NARROW for width in widths])
        key = (name, *widths)
        if key not in self._copies:
            self._copies[key] = self._copy(function, widths)
        copy = self._copies[key]
        op.attributes["callee"] = ir.FlatSymbolRefAttr.get(symbol_of(copy))
        for result, type_ in zip(op.results, attributes.function_type(copy).results, strict=True):
            if result.type != type_:
                self._retype(result)

    def _copy(self, function: ir.OpView, widths: Sequence[Width]) -> ir.OpView:
        self.copied = True
        name = f"{function.attributes['sym_name'].value}_{self._name}_{len(self._copies)}"
        while name in self._widths.functions:
            name += "_"
        copy = self._widths.functions[name] = copied(function, name)
        block = copy.regions[0].blocks[0]
        returned = self._widths.body(block, widths)
        self._retype_narrow(block.arguments)
        self._inside(block)
        self._end(block, [width == Width.NARROW for width in returned])
        attributes.renew_function_type(copy)
        return copy
