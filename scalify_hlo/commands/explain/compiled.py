"""Compiles a program and its original for a target, and joins their kernels with the matmuls.

The locations of matmuls have their numbers, by which their kernels are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.commands.explain.device import chosen_target, recipe_target
from scalify_hlo.commands.explain.memory import Memory, memory_of
from scalify_hlo.commands.explain.model import ExplainedMatmul, Explanation
from scalify_hlo.dialect.matmul_names import number_in
from scalify_hlo.errors import InputError, UsageError, refuse_without
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.name_matmuls import NameMatmulsPass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, Signature, rewrite_module, run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.given import readable
from scalify_hlo.program.program import Program as Source
from scalify_hlo.program.wellformed import located
from scalify_hlo.recipes.fields import values_of
from scalify_hlo.recipes.loading import load_recipe, require_pairs
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.model import Estimate, Report
from scalify_hlo.run.runner import Progress, untold
from scalify_hlo.targets.compiling import compile_program, require_fits
from scalify_hlo.targets.description import Target, load_target, plugin_versions
from scalify_hlo.targets.kernels import Kernel
from scalify_hlo.targets.record import Program
from scalify_hlo.targets.roofline import kernel_seconds

_OWN: Final = "scalify."
_WIDE: Final = frozenset({"f32", "f64"})


class Prepared(NamedTuple):
    """A program in which the locations of matmuls have numbers.

    Attributes:
        module: The program.
        report: The report of its rewrite, or only its matmuls if it was not rewritten.
    """

    module: ir.Module
    report: Report


def rewritten(module: ir.Module, options: Options, how: CompileOptions, name: str) -> Prepared:
    """Returns the rewrite of a program for a target.

    Args:
        module: The program, which is not changed.
        options: The options of the rewrite.
        how: The device, which decides on the target of the recipe unless the recipe has one, and
            whether memory is explained too.
        name: The name of the program in diagnostics.

    Raises:
        UsageError: The recipe quantizes no matmul, and memory is not explained.
        InputError: The program cannot be rewritten.
    """
    recipe = options.recipe
    if not recipe.narrow and not how.memory:
        raise UsageError(
            f"the recipe {recipe.name} quantizes no matmul, so there is nothing to explain",
            hint="give --recipe one that does, such as fp8-current, or leave it out",
        )
    if recipe.target == "any":
        recipe = replace(recipe, target=recipe_target(how.target))
    new = copy_module(module)
    with located(name):
        asked = replace(options, recipe=recipe, named=True, listed=True)
        return Prepared(new, rewrite_module(new, asked))


def as_it_is(module: ir.Module, name: str) -> Prepared:
    """Returns a program that is not rewritten.

    Args:
        module: The program, which is not changed.
        name: The name of the program in diagnostics.

    Raises:
        InputError: The program is not valid.
    """
    new = copy_module(module)
    passes = [NormalizePass(), RolesPass(), NameMatmulsPass()]
    with located(name):
        report = run_passes(new, [*passes, LegalizePass(expand=False, composites=True)])
    with new.context:
        _clear(new.operation)
    return Prepared(new, report)


def in_bf16(module: ir.Module, how: CompileOptions, name: str) -> Prepared:
    """Returns a program with all matmuls, and most other values, in bf16.

    A program that has no matmul of f32 operands is left as it is.

    Args:
        module: The program, which is not changed.
        how: The device, and how programs are compiled for it.
        name: The name of the program in diagnostics.
    """
    own = as_it_is(module, name)
    if not any(_is_wide(matmul) for matmul in own.report.matmuls):
        return own
    return rewritten(module, Options(recipe=_bf16()), how, name)


def _bf16() -> Recipe:
    return load_recipe("bf16", {"compute": "bf16", "residuals": "keep"})


def _is_wide(matmul: MatmulReport) -> bool:
    return not _WIDE.isdisjoint(matmul.formats[:2])


def _clear(module: ir.Operation) -> None:
    """Removes the attributes of passes, which no compiler knows."""
    for op in ops_in(module):
        present = op.attributes
        own: Sequence[str] = [key for key in present if key.startswith(_OWN)]
        for key in own:
            del present[key]


def explain(
    program: Any,
    target: str,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    signature: str = "same",
    input_scale: Mapping[str, float] | None = None,
    settings: Mapping[str, object] | None = None,
    against: Any = None,
    timeout: float = 600.0,
    free_layouts: bool = False,
    memory: bool = False,
) -> Explanation:
    """Explains what XLA makes of each matmul of a program on a device that need not be there.

    Args:
        program: As for `rewrite`; it is not changed. With a recipe, it is the original.
        target: The name of the device: ``cpu``, ``l40s``, ``rtx4090``, ``h100``, ``h200``,
            ``b200``, ``tpu-v5e``, ``tpu-v6e`` or ``tpu7x``. All but ``cpu`` need an extra of this
            package.
        recipe: The recipe of the rewrite that is explained, as for `rewrite`; None to explain the
            program as it is.
        signature: As for `rewrite`.
        input_scale: The expected rms of arguments, as for `rewrite`.
        settings: As for `rewrite`.
        against: The original of a program that was rewritten before.
        timeout: The most seconds that XLA may take for a program.
        free_layouts: Whether XLA chooses the layouts of arguments, as for a caller that compiles
            with `jax.experimental.layout.Format` of ``Layout.AUTO``; for the original in bf16 too.
        memory: Whether what is in memory at the peak is listed.

    Returns:
        The matmuls with their kernels and estimated times, beside the original in bf16;
        `dump_explanation` makes JSON of it.

    Raises:
        InputError: There is no such target, its compiler is not installed, or XLA cannot compile a
            program, or does not say where it places values; or a program is not valid.
        UsageError: An option is not known, the recipe quantizes no matmul, or there are both a
            recipe and a program `against`.

    Example:
        >>> exported = jax.export.export(jax.jit(jnp.dot))(jnp.ones((32, 32)), jnp.ones((32, 32)))
        >>> explanation = explain(exported, "cpu", recipe="fp8-current")
        >>> explanation.matmuls[0].falls_back  # A CPU multiplies no f8.
        True
    """
    known = values_of(Signature).read("signature", signature, spelt=False)
    if recipe is None:
        scaled = signature != "same"
        given = {"signature": scaled, "input_scale": input_scale, "settings": settings}
        refuse_without(given, "recipe")
    if recipe is not None and against is not None:
        raise UsageError(
            "with a recipe, the program is the original", hint="leave out `against` or the recipe"
        )
    options, device = None, load_target(target)
    if recipe is not None:
        own = settings or {}
        loaded = load_recipe(recipe, {**own, **chosen_target(device, recipe, own)})
        require_pairs(loaded, signature)
        scales = dict(input_scale or {})
        options = Options(loaded, known, scales)
    read, original = readable(program), None if against is None else readable(against).module
    how = CompileOptions(device, timeout, free_layouts, memory)
    return explain_module(read, how, options, against=original)


class CompileOptions(NamedTuple):
    """The device for which programs are compiled, and how.

    Attributes:
        target: The device.
        timeout: The time limit of each compilation in seconds.
        free_layouts: Whether XLA chooses the layouts of arguments.
        memory: Whether XLA says where it places values in memory.
    """

    target: Target
    timeout: float = 600.0
    free_layouts: bool = False
    memory: bool = False

    def compiled(self, prepared: Prepared, name: str) -> tuple[Program, Memory | None]:
        """Returns a program as it is compiled, and what it holds at the peak of memory.

        Args:
            prepared: The program.
            name: Its name in diagnostics.

        Raises:
            InputError: XLA cannot compile it, or does not say where it places values.
        """
        target, module = self.target, prepared.module
        made = compile_program(
            module,
            target,
            name=name,
            timeout=self.timeout,
            free_layouts=self.free_layouts,
            buffers=self.memory,
        )
        held = memory_of(made, module, prepared.report, target, name) if self.memory else None
        return Program.of(made, target), held


def explain_module(
    source: Source,
    how: CompileOptions,
    options: Options | None,
    *,
    against: ir.Module | None = None,
    progress: Progress = untold,
) -> Explanation:
    """Explains what a compiler makes of the matmuls of a program.

    Args:
        source: The program: the original if there are options, and otherwise what is explained.
        how: The device, and how programs are compiled for it.
        options: The options of a rewrite; None for a program that is not rewritten.
        against: The original; by default, the program that is rewritten.
        progress: Called with the number of compilations that are done, and of all.

    Raises:
        UsageError: The recipe quantizes no matmul.
        InputError: The compiler is not installed or cannot compile a program; or the program cannot
            be rewritten, or does not fit into the memory of the device.
    """
    module, name, target = source.module, source.name, how.target
    if options is None:
        new = as_it_is(module, name)
    else:
        new, against = rewritten(module, options, how, name), against or module
    total = 1 + (against is not None)
    program, memory = how.compiled(new, name)
    require_fits(program.compiled, target, name)
    progress(1, total)
    original, before, old_memory = None, dict[int, float | None](), None
    if against is not None:
        original, old_memory = how.compiled(in_bf16(against, how, name), f"{name} in bf16")
        before = _times(original.kernels, target)
        progress(2, total)
    # Numbers are those of the same program only if it is rewritten here.
    joined = before if options is not None and against is module else None
    matmuls = tuple(_explained(new.report.matmuls, program.kernels, target, joined))
    recipe, blocks = ("", "") if options is None else (options.recipe.name, _blocks(options.recipe))
    unique = _remarks(new.report, name) if recipe else ()
    return Explanation(
        target, recipe, program, original, matmuls, unique, blocks, memory, old_memory
    )


def _remarks(report: Report, name: str) -> tuple[str, ...]:
    """Returns the remarks of a rewrite, those of one op and one message once."""
    kinds = {(each.op, each.message): each for each in reversed(report.remarks)}
    return tuple(f"{each.place(name)}: {each.sentence}" for each in reversed(kinds.values()))


def _blocks(recipe: Recipe) -> str:
    """Returns the format of the block scales of a recipe; empty without them."""
    return recipe.blocks.scale if recipe.scaling.kind == "block" else ""


def _times(kernels: Sequence[Kernel], target: Target) -> dict[int, float | None]:
    """Returns the estimated time of each matmul, by its number."""
    return {number: _seconds(some, target) for number, some in kernels_by_number(kernels).items()}


def _seconds(kernels: Sequence[Kernel], target: Target) -> float | None:
    if target.bandwidth is None:
        return None
    return sum(kernel.times * (kernel_seconds(kernel, target) or 0.0) for kernel in kernels)


def _explained(
    matmuls: Sequence[MatmulReport],
    kernels: Sequence[Kernel],
    target: Target,
    before: dict[int, float | None] | None,
) -> list[ExplainedMatmul]:
    """Returns the matmuls; those of one number, which are calls of one function, once."""
    found = kernels_by_number(kernels)
    unique = {matmul.number: matmul for matmul in reversed(matmuls)}
    return [
        ExplainedMatmul(
            matmul,
            tuple(found.get(number, ())),
            _seconds(found.get(number, []), target),
            None if before is None else before.get(number),
        )
        for number, matmul in sorted(unique.items())
    ]


def kernels_by_number(kernels: Iterable[Kernel]) -> dict[int, list[Kernel]]:
    """Returns the kernels that compute matmuls, by the numbers of the matmuls.

    A kernel that computes several matmuls is listed at each. Matmuls that read the same scales
    share the casts of these, with the name of one. So of the kernels without a name, those come
    first whose scales have fewer names, and each is listed at a matmul that has none yet.
    """
    found: dict[int, list[Kernel]] = {}
    nameless: list[tuple[set[int], Kernel]] = []
    for kernel in kernels:
        for number in sorted(_numbers(kernel.products)):
            found.setdefault(number, []).append(kernel)
        if kernel.sources:
            nameless.append((_numbers(kernel.sources), kernel))
    for numbers, kernel in sorted(nameless, key=lambda each: len(each[0])):
        left = numbers - found.keys() or numbers
        if left:
            found.setdefault(max(left), []).append(kernel)
    return found


def _numbers(names: Iterable[str]) -> set[int]:
    """Returns the numbers of matmuls in names of ops."""
    numbers = map(number_in, names)
    return {number for number in numbers if number is not None}


def reason_without(target: Target, options: Options) -> str:
    """Returns why there can be no estimate, with a cure; empty if there can be one.

    Args:
        target: The device.
        options: The options of the rewrite.
    """
    if target.bandwidth is None:
        return f"the target {target.name} describes no speeds"
    if not options.recipe.narrow:
        return f"the recipe {options.recipe.name} changes no format"
    try:
        plugin_versions(target)
    except InputError as error:
        return f"{error.message}; {error.hint}"
    return ""


def estimate(
    source: Source,
    target: Target,
    options: Options,
    *,
    progress: Progress = untold,
) -> Estimate:
    """Returns the estimated time of the rewrite of a program, beside the original in bf16.

    Both are compiled for the device, which need not be there; see `explain`.

    Args:
        source: The original, which is not changed.
        target: The device, for which `reason_without` has no reason.
        options: The options of the rewrite.
        progress: Called with the number of compilations that are done, and of all.

    Raises:
        InputError: XLA cannot compile one of both, or the program does not fit into the memory of
            the device.
    """
    explained = explain_module(source, CompileOptions(target), options, progress=progress)
    seconds, original = explained.program.work.seconds, explained.original
    before = None if original is None else original.work.seconds
    launches = explained.speedup_with_launches
    if not seconds or not before or launches is None:
        raise InputError(
            "XLA made no kernel of the program, or of the original", location=source.name
        )
    return Estimate(target.name, seconds, before, launches, explained.speedup_reached)
