"""Passes list the ops of `main` once, as long as none of them adds or erases any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import pytest

from examples import gpt2
from scalify_hlo._compat import ir, new_context
from scalify_hlo.api import make_options
from scalify_hlo.casts.casts import Casts
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.index import LISTING as LISTED
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, run_passes
from scalify_hlo.passes.quantize_matmuls import QuantizeMatmulsPass
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.text import run_pipeline
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import Report
from tests.py.programs import PROGRAMS, Program
from tests.py.shared.judge import body_of, parse, stablehlo_of
from tests.py.shared.role_models import DISTINCT, Model, Sizes
from tests.py.shared.role_programs import MODELS

GPT2 = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=64, batch=4)
ROLES = "scalify-normalize,scalify-signature{every},scalify-roles,scalify-recognize{inputs}"
REST = (
    "scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},"
    "scalify-propagate{recipe=unit},scalify-verify"
)


def step() -> str:
    """A training step, in which whole layers are computed twice: MLIR's cse erases ops of it."""

    def twice(*arguments: object) -> object:
        return gpt2.adamw_step(*arguments), gpt2.adamw_step(*arguments)

    state = gpt2.abstract_state(GPT2, gpt2.ADAMW)
    return stablehlo_of(twice, *state)


def text_of(module: ir.Module) -> str:
    return str(module.operation.get_asm())


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_ops_are_counted_wherever_they_are(program: Program) -> None:
    module = parse(program.text())
    counted = Counter(op.name for op in ops_in(module.operation))
    index, report = ModuleIndex(), Report()
    with module.context, ir.Location.unknown():
        NormalizePass().apply(module.operation, index, report)
    assert index.ops == report.ops == counted


@pytest.mark.slow
@pytest.mark.parametrize("between", ["cse", "canonicalize", "symbol-dce"])
def test_what_mlir_erases_between_passes_is_not_looked_at(between: str) -> None:
    source = step()
    whole, parts = parse(source), parse(source)
    run_pipeline(whole, f"{ROLES},{between},{REST}")
    for part in (ROLES, between, REST):
        run_pipeline(parts, part)
    assert text_of(whole) == text_of(parts)


@dataclass(frozen=True)
class Listed(NormalizePass):
    """Notes whether the pass before it handed a list on.

    Attributes:
        seen: Takes that.
    """

    seen: list[bool] = field(default_factory=list)

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """Notes it."""
        del module, report
        self.seen.append(index.listing is not None)


def listing_passes(recipe: str, *more: str) -> set[str]:
    """The passes of a rewrite after which there is a list, if others are run after them."""
    seen: list[bool] = []
    passes = Options(recipe=load_recipe(recipe), signature="scaled").passes()
    watched = [each for one in passes for each in (one, Listed(seen=seen))]
    run_passes(parse(step()), [*watched, *more])
    return {type(one).__name__ for one, was in zip(passes, seen, strict=True) if was}


MARKING = {"NormalizePass", "SignaturePass", "RolesPass", "RecognizePass"}
LISTING = MARKING | {"QuantizeMatmulsPass", "NarrowStatePass", "QuantizePass"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "passes"),
    [
        ("unit", LISTING),
        ("fp8-state", MARKING),
        ("fp8-current", MARKING),
        ("fp16", MARKING | {"QuantizeMatmulsPass"}),
    ],
)
def test_it_is_handed_on_between_passes_that_know_what_they_change(
    recipe: str, passes: set[str]
) -> None:
    assert listing_passes(recipe) == passes


def test_it_is_not_where_mlir_s_own_passes_run() -> None:
    """They do not say what they erased."""
    assert not listing_passes("unit", "cse")


def test_a_program_that_counts_in_a_narrow_format_has_one() -> None:
    index = ModuleIndex()
    module = parse("""func.func @main() -> tensor<4xf8E4M3FN> {
      %0 = stablehlo.iota dim = 0 : tensor<4xf8E4M3FN>
      return %0 : tensor<4xf8E4M3FN>
    }""")
    with module.context, ir.Location.unknown():
        NormalizePass().apply(module.operation, index, Report())
    assert index.own


def test_ops_that_take_the_place_of_marked_ones_may_have_any_name() -> None:
    """A quantized matmul hands its mark of a gradient to the op that ends it."""
    index = ModuleIndex()
    module = parse(step())
    recipe = load_recipe("unit")
    with module.context, ir.Location.unknown():
        for each in Options(recipe=recipe).passes():
            each.apply(module.operation, index, Report())
            listing = index.listing
            if isinstance(each, RecognizePass):
                assert listing is not None
                marked = {op.name for op in _having_marks(listing)}
                assert listing.with_roles is not None
                assert marked <= listing.with_roles < {name for name, _ in listing.ops}
            if isinstance(each, QuantizeMatmulsPass):
                assert listing is not None
                assert listing.with_roles is None
                return


def _having_marks(listing: Listing) -> list[ir.Operation]:
    """Returns the listed ops that have a mark of `scalify-roles`."""
    marks = (attributes.ROLES, attributes.STATE_GRADIENT)
    return [op for _, op in listing.ops if any(mark in op.attributes for mark in marks)]


@dataclass(frozen=True)
class Compared(NormalizePass):
    """Compares the list that a pass handed on with the program.

    Attributes:
        marked: How many ops had marks, each time.
    """

    marked: list[int] = field(default_factory=list)

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """Compares them."""
        del report
        listing = index.listing
        if listing is None:
            return
        main = next(f for f in module.regions[0].blocks[0].operations if f.sym_name.value == "main")
        assert listing.ops == named(main.regions[0].blocks[0])
        behind = [op for _, op in listing.ops[listing.touched :]]
        assert not [op for op in behind if "scalify." in str(op)]
        before = [op for _, op in listing.ops[: listing.touched]]
        self.marked.append(sum("scalify." in str(op) for op in before))


def classified(x: jax.Array, v: jax.Array, w: jax.Array) -> jax.Array:
    """A model with layers behind its last matmul."""
    return jax.nn.softmax(jax.nn.gelu(jnp.tanh(x @ v) @ w))


def source_of(model: Model) -> str:
    fn, arguments = model.build(DISTINCT)
    return stablehlo_of(fn, *arguments)


def classifier(_: Sizes) -> tuple[Callable[..., jax.Array], tuple[jax.Array, ...]]:
    return classified, (jnp.zeros((8, 16)), jnp.zeros((16, 32)), jnp.zeros((32, 16)))


ALL = (*MODELS, Model("softmax-last", classifier))
SMALL: dict[str, object] = {"matmul.smallest": 1}
MATMULS_ONLY = SMALL | {
    "norm_gradients.statistic": "none",
    "state.weight": "keep",
    "state.gradient": "keep",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "settings"), [("unit", SMALL), ("fp8", MATMULS_ONLY)], ids=["unit", "fp8"]
)
@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_what_is_handed_on_is_the_program(
    model: Model, recipe: str, settings: dict[str, object]
) -> None:
    """No op is missing, and none behind the last that is said to be marked has a mark."""
    passes = make_options(recipe, input_scale={"*": 1.0}, settings=settings).passes()
    compared = Compared()
    run_passes(parse(source_of(model)), [each for one in passes for each in (one, compared)])
    assert len(compared.marked) > len(MARKING)


def test_ops_are_noted_by_what_they_are_inside_of() -> None:
    module = parse(
        """func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
          %0 = stablehlo.negate %x : tensor<4xf32>
          %1 = "stablehlo.if"(%p) ({
            %3 = stablehlo.sine %0 : tensor<4xf32>
            stablehlo.return %3 : tensor<4xf32>
          }, {
            stablehlo.return %0 : tensor<4xf32>
          }) : (tensor<i1>) -> tensor<4xf32>
          %2 = func.call @other(%1) : (tensor<4xf32>) -> tensor<4xf32>
          return %2 : tensor<4xf32>
        }
        func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.cosine %x : tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    )
    found = {op.name.removeprefix("stablehlo."): op for op in ops_in(module.operation)}
    listing = Listing(body_of(module))
    noted = []
    for name in ("cosine", "negate", "sine", "negate", "func.call", "cosine"):
        listing.touch([found[name]])
        noted.append(listing.touched)
    assert noted == [0, 1, 2, 2, 3, 3]


def test_ops_in_regions_are_listed_until_the_listing_is_renewed() -> None:
    module = parse(
        """func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
            : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
          %1 = "stablehlo.if"(%p) ({
            %2 = "stablehlo.if"(%p) ({
              stablehlo.return %0 : tensor<f32>
            }, {
              stablehlo.return %z : tensor<f32>
            }) : (tensor<i1>) -> tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }, {
            stablehlo.return %z : tensor<f32>
          }) : (tensor<i1>) -> tensor<f32>
          return %0, %1 : tensor<f32>, tensor<f32>
        }"""
    )
    main = module.body.operations[0].operation
    listing = Listing(main.regions[0].blocks[0])
    found = {nest.name: [name for name, _ in nest.inner] for nest in listing.nests}
    returned = "stablehlo.return"
    assert found == {
        "stablehlo.reduce": ["stablehlo.add", returned],
        "stablehlo.if": [returned, returned, "stablehlo.if", returned, returned],
    }
    assert levels_of(module.operation) == 2
    before = listing.nests
    assert listing.nests is before
    listing.renew()
    assert listing.nests is not before


def test_passes_find_what_earlier_ones_share() -> None:
    with new_context():
        index, casts = ModuleIndex(), Casts()
    assert index.shared(Casts) is None
    assert index.share(casts) is casts
    index.invalidate({LISTED})
    assert index.shared(Casts) is casts
    index.keeps = False  # as where MLIR's own passes run
    index.invalidate({LISTED})
    assert index.shared(Casts) is None
