"""Regions that see no value from outside: functions, and the bodies of per-device computations.

The scales that are born outside and that a body needs go in as arguments; the scales of its
results are monomials over those, and come back without any IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scalify_hlo._compat import ir
from scalify_hlo.rules import emit
from scalify_hlo.rules.split import Split
from scalify_hlo.scale import Form, Generator, Scale, Scaled


def placeholder(block: ir.Block) -> ir.Operation:
    """An op at the top of a block, before which factors are built; erased in the end."""
    type_ = emit.scalar_type(ir.IntegerType.get_signless(32))
    return emit.constant(type_, 0, block.operations[0].operation).owner.operation


def finish(split: Split, top: ir.Operation) -> None:
    """Removes what a split does not need any more, and its placeholder."""
    split.finish()
    top.erase()


def generators(forms: Sequence[Form]) -> tuple[Generator, ...]:
    """The generators of several forms, each once, in order of appearance."""
    return tuple(dict.fromkeys(g for form in forms for g in generators_of(form)))


def generators_of(form: Form) -> Iterator[Generator]:
    """The generators of a form's scale."""
    return (g for g, _ in form.scale.powers) if isinstance(form, Scaled) else iter(())


def add_parameters(block: ir.Block, forms: Sequence[Form], split: Split) -> tuple[Generator, ...]:
    """Gives a block the generators of its arguments' scales as extra arguments.

    Args:
        block: The block.
        forms: Of its arguments, over the generators outside.
        split: The split of the block.

    Returns:
        Its own generators, in the order of `generators` of the forms.
    """
    arguments = list(block.arguments)
    inner: dict[Generator, Generator] = {}
    for argument, form in zip(arguments, forms, strict=True):
        for generator in generators_of(form):
            if generator not in inner:
                type_ = emit.scalar_type(scale_element(argument.type))
                value = block.add_argument(type_, argument.location)
                inner[generator] = split.factors.bind(
                    value,
                    state=generator.state,
                    bound=generator.bound,
                    like=generator,
                )
    for argument, form in zip(arguments, forms, strict=True):
        split.assume(argument, _renamed(form, inner))
    return tuple(inner.values())


def drop_unused(block: ir.Block, count: int) -> tuple[int, ...]:
    """Erases those of the last arguments that nothing uses; returns the numbers of the others."""
    start = len(block.arguments) - count
    used = [next(iter(a.uses), None) is not None for a in list(block.arguments)[start:]]
    for i in reversed(range(count)):
        if not used[i]:
            block.erase_argument(start + i)
    return tuple(i for i in range(count) if used[i])


def scale_element(type_: ir.Type) -> ir.Type:
    """The element type of a scale: f64 for f64 and complex<f64> data, f32 for all others."""
    element = type_.element_type
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    return element if isinstance(element, ir.F64Type) else ir.F32Type.get()


def scale_operands(
    block: ir.Block, taken: Sequence[Generator], split: Split, at: ir.Operation
) -> list[ir.Value]:
    """The values of generators outside, as the last arguments of a block want them."""
    arguments = list(block.arguments)
    wanted = [argument.type for argument in arguments[len(arguments) - len(taken) :]]
    return [
        emit.convert(split.factors.value(generator), type_.element_type, at)
        for generator, type_ in zip(taken, wanted, strict=True)
    ]


def translated(form: Form, split: Split, inner: Split, names: dict[Generator, Generator]) -> Form:
    """A form of a body's result, over the generators outside.

    Args:
        form: The form in the body.
        split: The split outside.
        inner: The split of the body.
        names: The body's parameters and what they are outside.
    """
    if not isinstance(form, Scaled):
        return form
    split.factors.location = split.next.location
    scale = split.factors.translate(form.scale, inner.factors, names)
    return Scaled(scale, form.level, form.uncertainty)


def _renamed(form: Form, names: Mapping[Generator, Generator]) -> Form:
    if not isinstance(form, Scaled):
        return form
    powers = ((names[g], k) for g, k in form.scale.powers)
    return Scaled(Scale.of(form.scale.exponent, powers), form.level, form.uncertainty)
