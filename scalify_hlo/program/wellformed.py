"""Checks that a module is a program: StableHLO with a public function `main`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.limits import INLINED_OPS, MOST_TOLD, OPS_OF_OP
from scalify_hlo.algebra.unfolding import Unfolding
from scalify_hlo.errors import UNNAMED, InputError, place_of_text
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, main_function, referred_by, symbol_of, terminator
from scalify_hlo.ir.traits import CALLS, REFERENCES
from scalify_hlo.ir.walk import ops_in

_TENSORS = (ir.RankedTensorType, ir.UnrankedTensorType)


def check_calls(module: ir.Module, name: str) -> None:
    """Checks that a module stays within bounds if all its calls are inlined.

    Args:
        module: A module that MLIR's own verifier accepts.
        name: The name of the module in diagnostics.

    Raises:
        InputError: A function calls itself or one without a body, or does not end with a return of
            its results, or functions call others so often that the program would become too large.
            Analyses follow each call separately, and XLA inlines them.
    """
    with module.context:
        inlined = _Inlined(module.operation, name)
        for function in inlined.functions.values():
            _check_end(function, name)
            size = inlined.of(symbol_of(function)).size
            if size > INLINED_OPS + OPS_OF_OP * inlined.folded:
                raise InputError(
                    f"the function @{symbol_of(function)} has {min(size, MOST_TOLD):,} ops or more "
                    f"when its calls are inlined, and {INLINED_OPS:,} are the most",
                    location=place(function.location, name),
                    hint="call functions in a stablehlo.while, or fewer times",
                )


def _check_end(function: ir.OpView, name: str) -> None:
    """Refuses a function that ends with the return of a region, which MLIR's verifier accepts."""
    for block in function.regions[0].blocks:
        end = terminator(block)
        if end.operation.name.endswith(".return") and end.operation.name != "func.return":
            raise InputError(
                f"the function @{symbol_of(function)} ends with {end.operation.name}",
                location=place(end.location, name),
                hint="end it with func.return, which returns its results",
            )


class _Inlined(Unfolding[str]):
    """The numbers of ops of functions with all calls inlined.

    Args:
        module: The module.
        name: The name of the module in diagnostics.
    """

    def __init__(self, module: ir.Operation, name: str) -> None:
        super().__init__()
        self.functions = functions_in(module)
        self._name = name

    def parts(self, thing: str) -> tuple[int, list[str]]:
        """See `Unfolding.parts`."""
        function = self.functions.get(thing)
        if function is None:
            return 0, []
        ops = ops_in(function)
        called = [(op, callee) for op in ops for callee in _called(op)]
        for op, callee in called:
            if callee in self.functions and not self.functions[callee].regions[0].blocks:
                raise InputError(
                    f"the function @{callee} has no body",
                    location=place(op.location, self._name),
                    hint="give the module with all functions that it calls",
                )
        return len(ops), [callee for _, callee in called]

    def inside_itself(self, thing: str, part: str) -> InputError:
        """See `Unfolding.inside_itself`."""
        call = next(op for op in ops_in(self.functions[thing]) if part in _called(op))
        return InputError(
            f"the function @{part} calls itself",
            location=place(call.location, self._name),
            hint="StableHLO programs have no recursion; use stablehlo.while",
        )


def _called(op: ir.Operation) -> list[str]:
    """Returns the functions that an op calls, or refers to."""
    name = op.name
    if name in CALLS:
        return [callee_of(op)]
    return referred_by(op) if name in REFERENCES else []


def place(location: ir.Location, name: str) -> str:
    """Returns a location as ``file:line:column``, or only the name if it has no line."""
    if location.typeid != ir.FileLineColLoc.static_typeid:
        return name
    # Locations of diagnostics have the base class. To convert others would print them.
    line = ir.FileLineColLoc(location)
    file = name if line.filename == UNNAMED else line.filename
    return f"{file}:{line.start_line}:{line.start_col}" if line.start_line else str(file)


@contextmanager
def located(name: str) -> Iterator[None]:
    """Adds the name of the file to the locations of errors that are raised inside."""
    try:
        yield
    except InputError as error:
        if error.location and error.location.startswith("loc("):
            error.location = place_of_text(error.location, name)
        raise


def in_source(location: ir.Location, name: str) -> bool:
    """Whether a location is only the position of the op in the text that was parsed."""
    return isinstance(location, ir.FileLineColLoc) and location.filename in (UNNAMED, name)


def has_debug_locations(module: ir.Module, name: str) -> bool:
    """Whether the text from which a module was parsed had locations in it."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        blocks = list(op.regions[0].blocks) if op.name == "func.func" else []
        arguments = blocks[0].arguments if blocks else ()
        values = (op, *arguments)
        found = not all(in_source(value.location, name) for value in values)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)
    return found


def quantized(what: str, location: str) -> InputError:
    """Returns the error for values whose elements are quantized already."""
    return InputError(
        f"{what} is quantized already",
        location=location,
        hint="export the program before it is quantized, or legalize it to integer arithmetic",
    )


def check_main(module: ir.Module, name: str, entry: str) -> None:
    """Checks that a module has a public function `main` of tensors.

    Args:
        module: The module.
        name: The name of the module in diagnostics.
        entry: That of the function.

    Raises:
        InputError: There is no such function, or it has arguments or results of quantized types or
            buffers.
    """
    with module.context:
        main = main_function(module.operation)
        if main is not None:
            _check_main(main, name, entry)


def _check_main(main: func.FuncOp, name: str, entry: str) -> None:
    where = place(main.location, name)
    if "sym_visibility" in main.attributes and main.sym_visibility.value != "public":
        why, hint = "is private", f"make @{entry} a public function"
        raise InputError(f"the function `{entry}` {why}", location=where, hint=hint)
    if main.is_external:
        why, hint = "has no body", f"give @{entry} its definition"
        raise InputError(f"the function `{entry}` {why}", location=where, hint=hint)
    for type_ in dict.fromkeys((*main.type.inputs, *main.type.results)):
        element = type_.element_type if isinstance(type_, ir.ShapedType) else type_
        if str(element).startswith("!quant."):
            raise quantized(f"the type {type_}", where)
        if isinstance(type_, ir.ShapedType) and not isinstance(type_, _TENSORS):
            raise InputError(
                f"`{entry}` takes or returns {type_}, which is no tensor",
                location=where,
                hint="give the program as jax.export writes it, before it is lowered to buffers",
            )
