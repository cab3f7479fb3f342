"""Random programs, rewritten and judged by the interpreter and by NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.dialect.attributes import function_type
from scalify_hlo.errors import InputError, ScalifyError
from scalify_hlo.ir.functions import main_function
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.run.runner import compile_module
from scalify_hlo.transforms.chlo import expand
from scalify_hlo.transforms.held import Held
from scalify_hlo.transforms.matmul_dims import order_dims
from tests.py.fuzzing import jax_programs, mlir_programs
from tests.py.fuzzing.casts import assert_casts_are_numpys
from tests.py.fuzzing.finding import FindingError
from tests.py.fuzzing.steps import Steps, kinds_of, reduced
from tests.py.shared.judge import (
    Array,
    Evaluate,
    assert_all_same_bits,
    assert_invariant,
    evaluate,
    evaluate_with_xla,
    floats,
    main_of,
    parse,
    rewritten,
    run_plain,
    values_of,
)
from tests.py.shared.refining import evaluate_refined

REACH = {"f16": 8, "f32": 50, "f64": 400}
"""Values of programs lie within 2^±REACH, so that no factor takes them out of their format."""
_SPAN = {"f16": 2, "f32": 6, "f64": 6}
_WITH_STATE = "fp8-delayed"
"""A preset that is only tried: its programs take and give one more value, past amaxes."""
_OF_BLOCKS = ("mxfp8", "fp8-block", "nvfp4")
"""Presets that are only tried: no power of two divides their operands as a whole."""
_MOMENTS_OF_BLOCKS = "fp8-state8"
"""A preset that is only tried: it rounds moments at random."""
_ONLY_TRIED = frozenset({_WITH_STATE, *_OF_BLOCKS, _MOMENTS_OF_BLOCKS})
_WITH_WEIGHTS = ("fp8", "fp8-current", "unit")
"""Presets with which weights of programs that are no training steps are stored in E4M3."""
_RECIPES = (
    *("fp16", "fp16-state", "bf16", "fp8", "fp8-state", "fp8-current", "unit"),
    *(_WITH_STATE, *_OF_BLOCKS, _MOMENTS_OF_BLOCKS),
)
_STATE = ("state.weight", "state.gradient", "state.first_moment", "state.second_moment")
_OPERANDS = ("matmul.activation", "matmul.weight", "matmul.gradient")
_F16 = re.compile(r"(?<!b)f16(?=>)")


def every_matmul(recipe: str) -> dict[str, object]:
    """Settings with which a preset narrows matmuls of any size, with results in f32."""
    matmul = load_recipe(recipe).matmul
    settings: dict[str, object] = {"matmul.output": "f32"} if matmul.narrow else {}
    small = matmul.activation.startswith(("f8", "f4"))
    return settings | ({"matmul.smallest": 1} if small else {})


@dataclass(frozen=True)
class Drawn:
    """A random program, and how it is run.

    Attributes:
        level: ``mlir`` or ``jax``.
        steps: What it does.
        seed: Of all else about it.
        element: The element type of its floats.
        symbolic: Whether some sizes of its arguments are not known.
        exponents: log2 of the scales of its arguments.
        pairs: Which arguments enter scaled.
        propagate: The options of the recipe that changes no format.
        other: The preset that is tried besides.
    """

    level: str
    steps: Steps
    seed: int
    element: str
    symbolic: bool
    exponents: tuple[int, ...]
    pairs: tuple[bool, ...]
    propagate: Recipe
    other: str

    def text(self, *, everything: bool = False) -> str:
        """The program; it returns all its values, or some."""
        if self.level == "mlir":
            return mlir_programs.text_of(self.steps, self.seed, self.element, everything=everything)
        return jax_programs.export_steps(
            self.steps,
            self.seed,
            self.element,
            symbolic=self.symbolic,
            everything=everything,
        ).text

    def arrays(self) -> list[Array]:
        """The data of its arguments."""
        if self.level == "mlir":
            return mlir_programs.arrays_of(self.seed, self.element)
        return jax_programs.arrays_of(self.seed, self.element)

    def run(self) -> Evaluate:
        """The judge that runs the program."""
        return evaluate_refined if self.symbolic else evaluate


def draw(random: Random) -> Drawn:
    """Draws a program."""
    level = random.choices(("mlir", "jax"), (2, 1))[0]
    module = mlir_programs if level == "mlir" else jax_programs
    steps = module.draw(random)
    narrow = level == "mlir" and "complex" not in kinds_of(steps)
    element = random.choices(("f32", "f64", "f16"), (12, 3, int(narrow)))[0]
    span, count = _SPAN[element], len(module.ARGUMENTS)
    return Drawn(
        level,
        steps,
        random.randrange(2**31),
        element,
        symbolic=level == "jax" and random.random() < 0.3,
        exponents=tuple(random.randint(-span, span) for _ in range(count)),
        pairs=tuple(random.random() < 0.7 for _ in range(count)),
        propagate=Recipe(meet=random.choices(("anchor", "max"), (3, 1))[0]),
        other=random.choice(_RECIPES),
    )


def check(random: Random) -> str:
    """Draws a program and judges its rewrites.

    Returns:
        Which kind it was, or why it was left out.

    Raises:
        FindingError: Something is wrong, with the program reduced.
    """
    np.seterr(all="ignore")
    program = draw(random)
    for attempt in (program, replace(program, symbolic=False)):
        try:
            everything = attempt.text(everything=True)
        except (NotImplementedError, TypeError, ValueError) as error:
            left_out = f"left out: jax cannot export it ({type(error).__name__})"
            continue
        program = attempt
        break
    else:
        return left_out
    values = run_plain(everything, program.arrays(), program.exponents, program.run())
    if program.element == "f32" and not in_range(values, "f32"):
        program = replace(program, element="f64")
        everything = program.text(everything=True)
        values = run_plain(everything, program.arrays(), program.exponents, program.run())
    if program.element != "f16" and not in_range(values, program.element):
        return "left out: beyond f64"
    judged = _judged(program)
    sizes = "unknown sizes, " if program.symbolic else ""
    return f"{program.level}, {sizes}{program.element}{judged}"


def in_range(arrays: Sequence[Array], element: str) -> bool:
    """Whether no scale of these programs takes any number of theirs out of its format."""
    parts = [a.ravel() for a in arrays if a.dtype.kind == "f"]
    values = np.abs(np.concatenate(parts))
    finite = values[np.isfinite(values) & (values != 0)]
    reach = REACH[element]
    return not finite.size or bool(np.log2(finite.max()) < reach and np.log2(finite.min()) > -reach)


def _judged(program: Drawn) -> str:
    """Judges a program under each recipe.

    Returns:
        What has to be said of how it was judged.
    """
    said = ""
    for what, judge in _JUDGES.items():
        problem = _problem(program, judge)
        if problem is None:
            continue
        if problem.wrong and _holds_in_wider(program, judge):
            said = ", but for the range of f16"
            continue

        def fails(steps: Steps, judge: Judge = judge, kind: str = problem.kind) -> bool:
            found = _problem(replace(program, steps=steps), judge)
            return found is not None and found.kind == kind

        smaller = replace(program, steps=reduced(program.steps, fails))
        final = _problem(smaller, judge) or problem
        raise FindingError(
            f"{what}: {final.kind}",
            f"{final.message}\nscales: {smaller.exponents}, pairs: {smaller.pairs}, "
            f"recipe besides: {smaller.other}, meet: {smaller.propagate.meet}\n"
            f"{parse(smaller.text())}",
        )
    return said


@dataclass(frozen=True)
class _Problem:
    """The finding of a judge on a program.

    Attributes:
        kind: In a word or two.
        message: In full.
        wrong: Whether values are.
    """

    kind: str
    message: str
    wrong: bool = False


Judge = Callable[[Drawn, str], None]


def _problem(program: Drawn, judge: Judge, text: str | None = None) -> _Problem | None:
    try:
        judge(program, text if text is not None else program.text())
    except AssertionError as error:
        return _Problem("wrong value", str(error), wrong=True)
    except ScalifyError as error:
        return _Problem("refused", str(error))
    except Exception as error:
        return _Problem(type(error).__name__, repr(error))
    return None


def _holds_in_wider(program: Drawn, judge: Judge) -> bool:
    """Whether a program that has f16 in it, which soon under- or overflows, is right without."""
    if program.element == "f16":
        return _problem(replace(program, element="f32"), judge) is None
    text = program.text()
    wider = _F16.sub("bf16", text)
    return wider != text and _problem(program, judge, wider) is None


def _propagate(program: Drawn, text: str) -> None:
    """Bit-equal under both signatures; donated arguments have the types of their results."""
    arrays, run = program.arrays(), program.run()
    assert_invariant(
        text,
        arrays,
        program.exponents,
        recipe=program.propagate,
        pairs=[f and p for f, p in zip(floats(text), program.pairs, strict=True)],
        run=run,
    )
    for signature in ("same", "scaled"):
        _assert_aliases(text, signature)


def _assert_aliases(text: str, signature: str) -> None:
    module, _ = rewritten(text, signature)
    main = main_function(module.operation)
    if main is None or "arg_attrs" not in main.operation.attributes:
        return
    type_ = function_type(main)
    for taken, attributes in zip(type_.inputs, main.operation.attributes["arg_attrs"], strict=True):
        if "tf.aliasing_output" in attributes:
            given = type_.results[attributes["tf.aliasing_output"].value]
            assert taken == given, f"an argument of type {taken} is given back as {given}"


def _scaled_loss(program: Drawn, _: str) -> None:
    """Bit-equal if gradients are larger by a power of two until something else reads them."""
    if program.level == "mlir":
        return
    text = program.text(everything=True)
    settings = {"loss_scale.kind": "constant", "loss_scale.value": 2.0 ** (program.seed % 24)}
    module = rewritten(text, "same", recipe=load_recipe("propagate", settings))[0]
    arrays, run = values_of(text, program.arrays(), program.exponents), program.run()
    assert_all_same_bits(run(module, arrays), run(parse(text), arrays))


def _formats_of_f32(program: Drawn, text: str) -> None:
    """Bit-equal where every format of a recipe is f32."""
    if program.other in (*_OF_BLOCKS, _MOMENTS_OF_BLOCKS):  # Their data have 8 bits or fewer.
        return
    settings = dict.fromkeys((*_OPERANDS, *_STATE), "f32") | {"matmul.output": "f32"}
    recipe = load_recipe(program.other, {**settings, "scaling.fp8_format": "matmul"})
    if program.element == "f32" and program.other not in _ONLY_TRIED:
        run = program.run()
        assert_invariant(text, program.arrays(), program.exponents, recipe=recipe, run=run)
    else:
        rewritten(text, "scaled", recipe=recipe)


def _casts(program: Drawn, text: str) -> None:
    """Casts are NumPy's, as far as they can be seen."""
    settings = every_matmul(program.other)
    if program.other != _MOMENTS_OF_BLOCKS:
        settings = dict.fromkeys(_STATE, "keep") | settings
    recipe = load_recipe(program.other, settings)
    rewritten(text, "scaled", recipe=load_recipe(program.other, {**settings, "compute": "bf16"}))
    weights = {"state.weight": "bf16", "state.weight_rounding": "stochastic"}
    rewritten(text, "scaled", recipe=load_recipe(program.other, settings | weights))
    if program.other in _OF_BLOCKS:
        random = {"blocks.hadamard": "wgrad", "blocks.gradient_rounding": "stochastic"}
        rewritten(text, "scaled", recipe=load_recipe(program.other, settings | random))
    if program.element == "f32" and not program.symbolic and program.other not in _ONLY_TRIED:
        assert_casts_are_numpys(text, program.arrays(), program.exponents, recipe)
    else:
        rewritten(text, "scaled", recipe=recipe)


def _stored_weights(program: Drawn, text: str) -> None:
    """A program that takes weights in E4M3 computes what one computes that casts the same data."""
    if program.other not in _WITH_WEIGHTS or program.element != "f32" or program.symbolic:
        return
    settings = dict.fromkeys(_STATE, "keep") | every_matmul(program.other)
    casting, plain = rewritten(text, "scaled", recipe=load_recipe(program.other, settings))
    stored = load_recipe(program.other, {**settings, "state.weight": "f8E4M3FN"})
    module, report = rewritten(text, "scaled", recipe=stored)
    returned = [[str(t) for t in function_type(m).results] for m in map(main_of, (module, casting))]
    if report.state_bytes is None or returned[0] != returned[1]:  # Steps return rounded state.
        return
    taken: list[list[Array]] = [[], []]
    types = iter(function_type(main_of(module)).inputs)
    given = zip(program.arrays(), program.exponents, floats(text), strict=True)
    for array, exponent, is_float in given:
        small = "f8E4M3FN" in str(next(types))
        data = np.clip(array, -448, 448).astype(ml_dtypes.float8_e4m3fn) if small else array
        scale = [np.asarray(2.0**exponent, np.float32)] if is_float else []
        _ = [next(types) for _ in scale]
        taken[0] += [data, *scale]
        taken[1] += [data.astype(array.dtype), *scale]
    try:
        found = [_values(module, report, taken[0]), _values(casting, plain, taken[1])]
    except InputError:
        if _is_refused(text):
            return
        raise
    for one, other in zip(*found, strict=True):
        largest = np.max(np.abs(other[np.isfinite(other)]), initial=0) if other.size else 0
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6 * float(largest))


def _ordered(program: Drawn, text: str) -> None:
    """Matmuls in the order of the transposes that read them have the same bits."""
    module = parse(text)
    with module.context, ir.Location.unknown():
        if program.symbolic or not order_dims(module.operation, sums=False):
            return
    module.operation.verify()
    found, wanted = (evaluate(each, program.arrays()) for each in (module, parse(text)))
    assert_all_same_bits(found, wanted)


def _residuals(program: Drawn, text: str) -> None:
    """The second half of a program reads less of the first half, and has the same bits."""
    module = parse(text)
    with module.context, ir.Location.unknown():
        block = main_of(module).regions[0].blocks[0]
        start = len(block.operations) // 2
        if program.symbolic or not start or not Held(block, start).apply():
            return
    module.operation.verify()
    found, wanted = (evaluate(each, program.arrays()) for each in (module, parse(text)))
    assert_all_same_bits(found, wanted)


def _is_refused(text: str) -> bool:
    """Whether XLA refuses the original, as it does if the region of a scatter captures values."""
    module = parse(text)
    with module.context, ir.Location.unknown():
        expand(module.operation)
    try:
        compile_module(module)
    except InputError:
        return True
    return False


def _values(module: ir.Module, report: Report, arrays: Sequence[Array]) -> list[Array]:
    """The results of a program, with data and scales multiplied."""
    results: Iterator[Any] = iter(evaluate_with_xla(module, arrays))
    return [next(results) * (next(results) if r.paired else 1) for r in report.results]


_JUDGES = {
    "propagate": _propagate,
    "scaled loss": _scaled_loss,
    "formats of f32": _formats_of_f32,
    "casts": _casts,
    "stored weights": _stored_weights,
    "order of matmuls": _ordered,
    "residuals": _residuals,
}
