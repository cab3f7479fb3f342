"""Programs and their runs, on XLA for one CPU device or several, or on the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import InputError, UsageError, warn
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.value_map import erase_argument, replace_uses, run_native
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.artifact import copy_module, write_artifact, write_bytecode
from scalify_hlo.program.given import readable
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import refuse_rewritten
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.run import child
from scalify_hlo.run.bounds import require_runnable, require_shallow
from scalify_hlo.run.given import Sample, arrays_in, arrays_read, flat_arguments, ignored
from scalify_hlo.run.session import Run, Session, with_added
from scalify_hlo.run.xla import Source, compile_here, require_plain_meshes

if TYPE_CHECKING:
    from jax.export import Exported

Backend: TypeAlias = Literal["xla", "interpreter"]
Shape: TypeAlias = tuple[int, ...]

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many parts of the work are done, of how many."""

_BY_HAND: Final = "sdy.manual_computation"
"""The op that `jax.shard_map` becomes."""

_ARGUMENTS: Final = "builtin.module(stablehlo-refine-arguments{types=TYPES})"
_CANONICALIZE: Final = "builtin.module(func.func(stablehlo-canonicalize-dynamism))"
_ASSERTION: Final = "Input shapes do not match"
"""The start of the message of jax.export on arguments of wrong shapes."""

_REFUSED: Final = "check that it is for one CPU device, or use --backend interpreter"
_HINT: Final = "run the program as it is exported for the CPU"


def untold(_done: int, _parts: int) -> None:
    """Tells no one of progress."""


def compiled(program: Program, backend: Backend = "xla", *, hint: str = _REFUSED) -> Run:
    """Compiles a program for as many devices as it needs.

    Args:
        program: The program. Its module may have more results than its Exported.
        backend: ``xla`` for XLA on the CPU, or ``interpreter`` for the reference interpreter.
        hint: The hint of the error if XLA refuses the program.

    Returns:
        A function from the flat list of arguments to the flat list of results, as NumPy arrays.

    Raises:
        InputError: XLA refuses the program, or would crash on it, or there are too few devices.
            Its loops have too many turns, or it needs too much memory.
    """
    module, name = program.module, program.name
    require_runnable(module, name)
    if backend == "interpreter":
        text: str = module.operation.get_asm()
        return lambda arrays: child.interpret(text, arrays, name)
    require_shallow(module, name)
    if not divides(module):
        return compile_module(module, name, hint=hint)
    require_plain_meshes(module.operation.get_asm(large_elements_limit=1), name)
    return _compiled(bytes(_divided(program).serialize()), name, hint)


def compile_module(
    module: ir.Module | str, name: str = "<program>", *, hint: str = _REFUSED
) -> Run:
    """Compiles StableHLO with XLA for one CPU device; see `compiled`.

    Args:
        module: A module, or MLIR text.
        name: The name of the program in diagnostics.
        hint: The hint of the error if XLA refuses the program.
    """
    text = module if isinstance(module, str) else module.operation.get_asm()
    require_plain_meshes(text, name)
    return _compiled(text, name, hint)


def _compiled(source: Source, name: str, hint: str) -> Run:
    return (child.compiled if child.is_isolated() else compile_here)(source, name, hint)


def divides(module: ir.Module) -> bool:
    """Whether a program divides its data by hand among devices."""
    return bool(ops_in(module.operation, {_BY_HAND}))


def _divided(program: Program) -> Exported:
    """Returns an Exported of a program whose arguments and results are flat lists.

    Raises:
        InputError: There is no Exported, it has other arguments, or their shapes are symbolic.
    """
    import jax

    exported, module, name = program.exported, program.module, program.name
    if exported is None:
        raise InputError(
            "the program divides its data by hand among devices, of which it does not say enough",
            location=name,
            hint="give it as jax.export has it, in a jax.export file or as an Exported",
        )
    kept, described = exported.module_kept_var_idx, interface(module, name)
    if len(described.arguments) != len(kept):
        raise InputError(
            "a program that is divided by hand among devices is run with its own arguments "
            "only, and the recipe adds scales to them",
            location=name,
            hint="give --signature same, and no recipe of delayed scales",
        )
    if not all(isinstance(size, int) for aval in exported.in_avals for size in aval.shape):
        raise InputError(
            "the program divides its data by hand among devices, and its shapes are symbolic",
            location=name,
            hint="export it with the shapes of the samples",
        )
    results = [jax.core.ShapedArray(t.shape, t.dtype) for t in described.results]
    added = len(results) - len(exported.out_avals)
    return _compat.replace_exported(
        exported,
        arguments=kept,
        results=[*range(len(exported.out_avals)), *[-1] * added],
        vjp=None,
        mlir_module_serialized=write_artifact(module, "compatible", name),
        module_kept_var_idx=tuple(range(len(kept))),
        in_avals=tuple(exported.in_avals[i] for i in kept),
        out_avals=tuple(results),
        in_tree=jax.tree.structure(((0,) * len(kept), {})),
        out_tree=jax.tree.structure([0] * len(results)),
    )


def refined(module: ir.Module, shapes: Sequence[Shape]) -> ir.Module:
    """Returns a program with static shapes.

    Args:
        module: The program, which is edited in place. Attributes of ops and names are kept.
        shapes: The shapes of its arguments.

    Returns:
        A new module in the same context.

    Raises:
        UsageError: The program does not take arguments of these shapes.
    """
    _compat.register_passes()
    with module.context, ir.Location.unknown():
        main = main_function(module.operation)
        given = list(attributes.function_type(main).inputs) if main is not None else []
        names = attributes.argument_names(main) if main is not None else []
        types = [
            ir.RankedTensorType.get(shape, type_.element_type)
            for shape, type_ in zip(shapes, given, strict=True)
        ]
        pipeline = _ARGUMENTS.replace("TYPES", ",".join(map(str, types)))
        try:
            run_native(pipeline, module.operation)
            static = ir.Module.parse(_compat.refine_shapes(write_bytecode(module)))
        except (ValueError, ir.MLIRError) as error:
            raise _misfit(str(error)) from None
        run_native(_CANONICALIZE, static.operation)
        _name_arguments(static, names)
        return static


def _name_arguments(module: ir.Module, names: Sequence[str]) -> None:
    """Gives the arguments of a program names, which a refinement of its shapes drops."""
    main = main_function(module.operation)
    if main is None:
        return
    block = main.regions[0].blocks[0]
    for old, name in zip(list(block.arguments), names, strict=True):
        replace_uses(old, block.add_argument(old.type, ir.Location.name(name)))
    for _ in names:
        erase_argument(block, 0)


def _misfit(reason: str) -> UsageError:
    """Returns the error for wrong shapes, with the message of jax.export if there is one."""
    start = reason.find(_ASSERTION)
    said = reason[start:].partition("\n")[0].partition(". Please see")[0]
    why = f": {said}" if start >= 0 else ", whose sizes do not fit each other"
    return UsageError(
        f"the program does not take arrays of these shapes{why}",
        hint="give arrays whose sizes agree with those that the program was exported with",
    )


def at_inputs(
    original: Runner, rewritten: Program, values: Sequence[Array]
) -> tuple[Program, Program]:
    """Returns a program and a rewrite of it with the shapes of their arguments.

    Args:
        original: The program.
        rewritten: The rewrite.
        values: The arguments of the original.

    Raises:
        InputError: The rewrite does not fit the original.
        UsageError: The programs do not take arguments of these shapes.
    """
    if original.static:
        return original.program, rewritten
    steps = Session(
        partial(compiled, rewritten), original.interface, rewritten.module, rewritten.name
    )
    module = refined(copy_module(rewritten.module), steps.shapes(values))
    own = original.at([value.shape for value in values])
    return replace(original.program, module=own), replace(rewritten, module=module)


class Runner:
    """A program, and the arguments of its runs.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of each run, all of the same shapes, at which the program is refined;
            None if they are not known yet.
        steps: The number of steps, which may be more than the samples.
        again: Whether a program that was rewritten before is accepted.

    Attributes:
        program: The program.
        module: Its module.
        name: Its name in diagnostics.
        hash: The structural hash of the program as it was given.
        interface: The arguments and results of the program.
        static: Whether the shapes of its arguments were known before the refinement.
        values: The flat arguments of each run.

    Raises:
        InputError: The program is not valid, or was rewritten before.
        UsageError: There are no arguments, they do not fit the program or each other, or there are
            more than steps.
    """

    def __init__(
        self,
        program: Any,
        samples: Sequence[Sample] | None = None,
        steps: int = 1,
        *,
        again: bool = True,
    ) -> None:
        self.program = readable(program)
        self.name, self.module = self.program.name, self.program.module
        if not again:
            refuse_rewritten(self.module, self.name)
        self.hash = structural_hash(self.module)
        self.interface = interface(self.module, self.name, dynamic=True)
        self.static = all(tensor.static for tensor in self.interface.arguments)
        self.values: list[list[Array]] = []
        if samples is not None and len(samples) > steps:
            raise UsageError(
                f"there are inputs of {len(samples)} steps, and {steps} "
                f"{'is' if steps == 1 else 'are'} to run",
                hint=f"give --steps {len(samples)} (steps={len(samples)}), or fewer inputs",
            )
        if samples is not None:
            self._take(samples)

    def _take(self, samples: Sequence[Sample]) -> None:
        if not samples:
            raise UsageError(
                "there are no inputs to run the program with",
                hint="give an array for each argument",
            )
        several = len(samples) > 1
        for number, sample in enumerate(samples, 1):
            self.values.append(self.flat(sample, f"inputs {number}" if several else "the inputs"))
            if [a.shape for a in self.values[-1]] != [a.shape for a in self.values[0]]:
                raise UsageError(
                    f"inputs {number} have other shapes than the first",
                    hint="give inputs of the same shapes, or run each by itself",
                )
        self.module = self.at([array.shape for array in self.values[0]])
        self.program = replace(self.program, module=self.module)
        self.interface = interface(self.module, self.name)

    def flat(self, sample: Sample, name: str) -> list[Array]:
        """Returns the flat arguments of a run; see `flat_arguments` and `with_added`."""
        if isinstance(sample, Mapping):
            read, unread = arrays_read(self.interface, self.program.exported, arrays_in(sample))
            if unread:
                warn(f"{name}: {ignored(unread)}")
            sample = with_added(self.module, self.interface, read)
        return flat_arguments(self.interface, self.program.called, sample, name)

    def at(self, shapes: Sequence[Shape]) -> ir.Module:
        """Returns the program for arguments of these shapes; a copy if its own are symbolic."""
        return self.module if self.static else refined(copy_module(self.module), shapes)

    def compiled(self, module: ir.Module) -> Run:
        """Compiles a program that was made of this one; see `compiled`."""
        return compiled(replace(self.program, module=module), hint=_HINT)

    def session(
        self, module: ir.Module, added: int = 0, *, compiled: Callable[[], Run] | None = None
    ) -> Session:
        """Returns steps of a program that was made of this one; see `Session`.

        Args:
            module: The program.
            added: The number of its last results that are no results of a rewrite.
            compiled: Compiles the program, if that is not all of it.
        """
        own = compiled or partial(self.compiled, module)
        return Session(own, self.interface, module, self.name, added)
