"""Compiles a program and its original for a target, and joins their kernels with the matmuls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.commands.explain.device import chosen_target
from scalify_hlo.commands.explain.kernels import kernels_by_number
from scalify_hlo.commands.explain.model import ExplainedMatmul, Explanation
from scalify_hlo.commands.explain.programs import Prepared, as_it_is, in_bf16, rewritten
from scalify_hlo.errors import UsageError, refuse_without
from scalify_hlo.passes.pipeline import Options, Signature
from scalify_hlo.program.given import readable
from scalify_hlo.recipes.fields import values_of
from scalify_hlo.recipes.loading import load_recipe, require_pairs
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.targets.compiling import compile_program, require_fits
from scalify_hlo.targets.description import Target, load_target
from scalify_hlo.targets.kernels import Kernel
from scalify_hlo.targets.record import Program
from scalify_hlo.targets.roofline import kernel_seconds

Progress: TypeAlias = Callable[[int, int], None]


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
) -> Explanation:
    """Explains what XLA makes of each matmul of a program on a device that need not be there.

    Args:
        program: As for `rewrite`; it is not changed. With a recipe, it is the original.
        target: The name of the device: ``cpu``, ``h100``, ``h200``, ``b200``, ``tpu-v5e``,
            ``tpu-v6e`` or ``tpu7x``. All but ``cpu`` need an extra of this package.
        recipe: The recipe of the rewrite that is explained, as for `rewrite`; None to explain the
            program as it is.
        signature: As for `rewrite`.
        input_scale: The expected rms of arguments, as for `rewrite`.
        settings: As for `rewrite`.
        against: The original of a program that was rewritten before.
        timeout: The most seconds that XLA may take for a program.
        free_layouts: Whether XLA chooses the layouts of arguments, as for a caller that compiles
            with `jax.experimental.layout.Format` of ``Layout.AUTO``; for the original in bf16 too.

    Returns:
        The matmuls with their kernels and estimated times, beside the original in bf16;
        `dump_explanation` makes JSON of it.

    Raises:
        InputError: There is no such target, its compiler is not installed, or XLA cannot compile a
            program; or a program is not valid.
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
    return explain_module(
        read.module,
        device,
        options,
        against=original,
        name=read.name,
        timeout=timeout,
        free_layouts=free_layouts,
    )


def explain_module(
    module: ir.Module,
    target: Target,
    options: Options | None,
    *,
    against: ir.Module | None = None,
    name: str = "<program>",
    timeout: float = 600.0,
    free_layouts: bool = False,
    progress: Progress = lambda *_: None,
) -> Explanation:
    """Explains what a compiler makes of the matmuls of a program.

    Args:
        module: The program: the original if there are options, and otherwise what is explained.
        target: The device.
        options: The options of a rewrite; None for a program that is not rewritten.
        against: The original; by default, the program that is rewritten.
        name: The name of the program in diagnostics.
        timeout: The time limit of each compilation in seconds.
        free_layouts: Whether XLA chooses the layouts of arguments.
        progress: Called with the number of compilations that are done, and of all.

    Raises:
        UsageError: The recipe quantizes no matmul.
        InputError: The compiler is not installed or cannot compile a program; or the program cannot
            be rewritten, or does not fit into the memory of the device.
    """
    if options is None:
        new = as_it_is(module, name)
    else:
        new, against = rewritten(module, options, target, name), against or module
    total = 1 + (against is not None)
    compiled = partial(_compiled, target=target, timeout=timeout, free_layouts=free_layouts)
    program = compiled(new, name=name)
    require_fits(program.compiled, target, name)
    progress(1, total)
    original, before = None, dict[int, float | None]()
    if against is not None:
        old = in_bf16(against, target, name)
        original = compiled(old, name=f"{name} in bf16")
        before = _times(original.kernels, target)
        progress(2, total)
    recipe = options.recipe.name if options is not None else ""
    remarks = [f"{r.op}: {r.message}" for r in new.report.remarks] if recipe else []
    # Numbers are those of the same program only if it is rewritten here.
    joined = before if options is not None and against is module else None
    matmuls = _explained(new.report.matmuls, program.kernels, target, joined)
    unique = tuple(dict.fromkeys(remarks))
    blocks = _blocks(options.recipe) if options is not None else ""
    return Explanation(target, recipe, program, original, tuple(matmuls), unique, blocks)


def _blocks(recipe: Recipe) -> str:
    """Returns the format of the block scales of a recipe; empty without them."""
    return recipe.blocks.scale if recipe.scaling.kind == "block" else ""


def _compiled(
    prepared: Prepared, *, name: str, target: Target, timeout: float, free_layouts: bool
) -> Program:
    compiled = compile_program(
        prepared.module, target, name=name, timeout=timeout, free_layouts=free_layouts
    )
    return Program.of(compiled, target)


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
