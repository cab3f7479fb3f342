"""Inputs that are made up for a program, within what its data flow implies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.matmuls import Walk
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.dataflow.nonnegative import nonnegative_arguments
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.dataflow.state import state_of
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import are_floats
from scalify_hlo.ir.functions import entry
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.program import Program
from scalify_hlo.program.tensors import UNKNOWN, Array, Interface, interface
from scalify_hlo.run.given import random_inputs
from scalify_hlo.run.runner import Shape, refined
from scalify_hlo.storage.memory import require_memory

Values: TypeAlias = Mapping[str, int]
"""Values of symbolic sizes by name: ``b`` of an Exported, ``x.0`` for dimension 0 of ``x`` else."""


def made_up(
    program: Program, sizes: Values, rng: np.random.Generator, *, trained: bool = False
) -> dict[str, Array]:
    """Returns random arguments of a program by name; see `random_inputs`.

    Arguments of which the program takes the root or the logarithm are not negative. The scales of
    pairs, the state of delayed scales and the index of the platform are left out, as they follow
    from the others and from the place of the run.

    Args:
        program: The program.
        sizes: The values of all its symbolic sizes.
        rng: The generator.
        trained: Whether state is that at the start of training: the weights of a matmul are divided
            by the root of the number of terms in its sums, and moments are zero.

    Raises:
        UsageError: A symbolic size has no value, or a value is for none.
        InputError: The arguments are larger than memory.
    """
    given = interface(program.module, program.name, dynamic=True).arguments
    shapes = shapes_at(program, sizes)
    tensors = tuple(replace(t, shape=shape) for t, shape in zip(given, shapes, strict=True))
    require_memory(sum(math.prod(t.shape) * t.dtype.itemsize for t in tensors), program.name)
    with program.module.context:
        roots = nonnegative_arguments(entry(program.module))
        factors = _first_factors(program) if trained else {}
    values = random_inputs(Interface(tensors, ()), rng, roots)
    for i, factor in factors.items():
        values[i] = (values[i] * factor).astype(values[i].dtype)
    counts = Counter(tensor.name for tensor in tensors)
    return {
        tensor.name if counts[tensor.name] == 1 else f"arr_{i}": value
        for i, (tensor, value) in enumerate(zip(tensors, values, strict=True))
        if i >= _first(program, len(tensors)) and not (tensor.is_scale or tensor.is_state)
    }


def _first_factors(program: Program) -> dict[int, float]:
    """Returns factors of random arguments at the start of training, by number."""
    main = entry(program.module)
    block = main.regions[0].blocks[0]
    walk = Walk(functions_in(program.module.operation))
    walk.main(main, Listing(block).ops)
    types = [argument.type for argument in block.arguments]
    kept = [f and not _is_dynamic(t) for f, t in zip(are_floats(types), types, strict=True)]
    state = state_of(main, kept, trains=walk.trains)
    factors = dict.fromkeys(state.first | state.second, 0.0)
    sizes = Sizes()
    for matmul in walk.matmuls:
        number = None if matmul.weight is None else matmul.origins[matmul.weight].argument
        terms = sizes.of(matmul.op).k
        if matmul.part == FORWARD and number is not None and terms.known:
            own = min(factors.get(number, 1.0), max(terms.least, 1) ** -0.5)
            factors[number] = own
    walk.release()
    return {i: factor for i, factor in factors.items() if kept[i]}


def at_sizes(program: Program, sizes: Values) -> Program:
    """Returns a program with static shapes: itself, if its own are.

    Args:
        program: The program.
        sizes: The values of all its symbolic sizes.

    Raises:
        UsageError: As for `made_up`, or the program does not take arguments of these sizes.
    """
    with program.module.context:
        types = attributes.function_type(entry(program.module)).inputs
    if not sizes and not any(map(_is_dynamic, types)):
        return program
    shapes = shapes_at(program, sizes)
    return replace(program, module=refined(copy_module(program.module), shapes))


def shapes_at(program: Program, sizes: Values) -> list[Shape]:
    """Returns the shapes of the arguments of a program at values of its symbolic sizes.

    Args:
        program: The program.
        sizes: The values.

    Raises:
        UsageError: As for `made_up`.
    """
    tensors = interface(program.module, program.name, dynamic=True).arguments
    first, exported = _first(program, len(tensors)), program.exported
    avals = [] if exported is None else [exported.in_avals[i] for i in exported.module_kept_var_idx]
    if avals:
        known = set[str]().union(*(_compat.symbols_of(each.shape) for each in avals))
        _require_all(known, sizes, program.name)
        shapes = [_compat.shape_at(each.shape, sizes) for each in avals]
        for tensor, shape in zip(tensors[first:], shapes, strict=True):
            if min(shape, default=0) < 0:
                raise UsageError(
                    f"{tensor.name} would be of shape {list(shape)} at these sizes",
                    location=program.name,
                    hint="give larger symbolic sizes",
                )
        return [tensor.shape for tensor in tensors[:first]] + shapes
    named = [
        [f"{t.name}.{d}" if size == UNKNOWN else size for d, size in enumerate(t.shape)]
        for t in tensors
    ]
    _require_all({d for shape in named for d in shape if isinstance(d, str)}, sizes, program.name)
    return [tuple(sizes[d] if isinstance(d, str) else d for d in shape) for shape in named]


def _is_dynamic(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and not type_.has_static_shape


def _first(program: Program, count: int) -> int:
    """Returns how many arguments of a module are before those of its Exported."""
    exported = program.exported
    return 0 if exported is None else count - len(exported.module_kept_var_idx)


def _require_all(known: set[str], sizes: Values, name: str) -> None:
    """Refuses sizes that are not those of a program."""
    own = f"its symbolic sizes are: {', '.join(sorted(known))}" if known else "leave it out"
    for each in sizes:
        if each not in known:
            what = f"no symbolic size {each!r}" if known else "static shapes, and no symbolic size"
            raise UsageError(
                f"the program has {what}{nearest(each, known)}", location=name, hint=own
            )
    missing = sorted(known - sizes.keys())
    if missing:
        raise UsageError(
            f"the program has symbolic sizes without a value: {', '.join(missing)}",
            location=name,
            hint=f"give --dim {missing[0]}=16; inputs that are given have their sizes",
        )
