"""Layers are recognized by what they compute, in all the ways in which libraries write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.models.__main__ import load
from benchmarks.models.measure import export
from examples import gpt2
from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.layers import samples
from scalify_hlo.layers.graph import Node
from scalify_hlo.layers.model import NORMS, Layer
from scalify_hlo.layers.recognition import recognize
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.run.runner import compile_module
from tests.py.programs import PROGRAMS, Program
from tests.py.shared.commands import call
from tests.py.shared.judge import body_of, main_of, parse, shaped, stablehlo_of
from tests.py.shared.layer_programs import EXAMPLES, IMAGE, NEAR_MISSES, arguments

CASES = [(name, shape) for name, example in EXAMPLES.items() for shape in example.shapes]
EVERY_CASE = pytest.mark.parametrize(
    ("name", "shape"), CASES, ids=lambda v: str(v).replace(" ", "")
)
EVERY_NAMING = pytest.mark.parametrize("stripped", [False, True], ids=["names", "stripped"])
PARTS_OF_OTHERS = {"softmax", "log_softmax", "logsumexp"}


def module_of(text: str, *, stripped: bool) -> ir.Module:
    """A module; without names, its functions are called otherwise too."""
    module = parse(text)
    if stripped:
        run_passes(module, ["strip-debuginfo"])
        rename_functions(module)
    return module


def rename_functions(module: ir.Module) -> None:
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    with module.context, ir.Location.unknown():
        table = ir.SymbolTable(module.operation)
        for number, function in enumerate(functions):
            old = function.attributes["sym_name"].value
            if old != "main":
                new = f"f{number}"
                table.replace_all_symbol_uses(old, new, module.operation)
                function.attributes["sym_name"] = ir.StringAttr.get(new)


def counted(layers: list[Layer], part: str = "forward") -> Counter[str]:
    return Counter(layer.name for layer in layers if layer.part == part)


def weighted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The value and the gradient of what a layer's output is multiplied with."""

    def loss(params: Any, x: jax.Array, weights: jax.Array) -> jax.Array:
        return jnp.sum(function(params, x) * weights)

    return jax.value_and_grad(loss, argnums=1)


@cache
def forward_text(name: str, shape: tuple[int, ...]) -> str:
    function, params = EXAMPLES[name].build(shape)
    return stablehlo_of(function, *arguments(shape, params))


@cache
def gradient_text(name: str, shape: tuple[int, ...]) -> str:
    function, params = EXAMPLES[name].build(shape)
    given = arguments(shape, params)
    out = jax.eval_shape(function, *given)
    return stablehlo_of(weighted(function), *given, jax.ShapeDtypeStruct(out.shape, out.dtype))


@pytest.mark.slow
@EVERY_NAMING
@EVERY_CASE
def test_layers_are_found(name: str, shape: tuple[int, ...], *, stripped: bool) -> None:
    found = counted(recognize(module_of(forward_text(name, shape), stripped=stripped)))
    wanted = EXAMPLES[name].layer
    assert found[wanted] == 1
    assert found.keys() - PARTS_OF_OTHERS <= {wanted}


@pytest.mark.slow
@EVERY_NAMING
@EVERY_CASE
def test_layers_and_their_gradients_are_found(
    name: str, shape: tuple[int, ...], *, stripped: bool
) -> None:
    layers = recognize(module_of(gradient_text(name, shape), stripped=stripped))
    wanted = EXAMPLES[name].layer
    assert counted(layers)[wanted] == 1
    if EXAMPLES[name].gradient:
        assert counted(layers, "backward")[wanted] == 1
        assert all(layer.exact for layer in layers)


COMPARED = [
    name
    for name, example in EXAMPLES.items()
    if example.gradient and example.layer != "dropout" and not name.endswith("bf16")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_gradients_are_what_the_program_returns_as_such(name: str) -> None:
    """The only result that is a gradient is that of the layer's input, or it in another shape."""
    shape = EXAMPLES[name].shapes[0]
    module = parse(gradient_text(name, shape))
    layers = recognize(module)
    gradients = [layer.input_gradient for layer in layers if layer.input_gradient is not None]
    assert len(gradients) == 1
    number = len(results_of(module)) - 1
    values = run_with(module, [gradients[0].value])
    if values is not None:
        np.testing.assert_array_equal(values[number].ravel(), values[number + 1].ravel())


def results_of(module: ir.Module) -> list[ir.Value]:
    return list(body_of(module).operations[-1].operands)


def run_with(module: ir.Module, more: list[ir.Value]) -> list[Any] | None:
    """The results of a program, and more of its values; None if those are not in `main`."""
    function = main_of(module)
    block = function.regions[0].blocks[0]
    owners = [v.owner if isinstance(v.owner, ir.Block) else v.owner.operation.block for v in more]
    if any(owner != block for owner in owners):
        return None
    type_ = attributes.function_type(function)
    marks = attributes.result_attributes(function)
    returned = block.operations[-1]
    values = [*returned.operands, *more]
    with module.context, ir.Location.unknown():
        with ir.InsertionPoint(returned):
            ir.Operation.create("func.return", operands=values)
        returned.operation.erase()
        attributes.set_function_type(function, list(type_.inputs), [v.type for v in values])
        attributes.set_result_attributes(function, [*marks, *({} for _ in more)])
    module.operation.verify()
    results: list[Any] = compile_module(module)([drawn(t, i) for i, t in enumerate(type_.inputs)])
    return results


def drawn(type_: ir.Type, seed: int) -> Any:
    return draw(tuple(type_.shape), seed)


def draw(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# Input gradients amid a network


def stack(norm: Any, params: Any, x: jax.Array, inner: Any, outer: Any) -> jax.Array:
    """Blocks with residuals; `outer` is added to the stream, `inner` to what norms take of it."""
    for (weights, norm_params), to_norm, to_stream in zip(params, inner, outer, strict=True):
        x = x if to_stream is None else x + to_stream
        taken = x if to_norm is None else x + to_norm
        x = x + 0.1 * jnp.sin(norm(norm_params, taken) @ weights) @ weights.T
    return x


STACKED = (
    "gpt2-norm",
    "linen-layer",
    "linen-rms",
    "rms-gain-first",
    "linen-layer-slow",
    "nnx-layer",
)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoint", [False, True], ids=["kept", "checkpoint"])
@pytest.mark.parametrize("name", STACKED)
def test_gradients_of_norms_are_right(name: str, *, checkpoint: bool) -> None:
    """Each is what jax says of the norm's input, or of the stream where another was added."""
    shape, blocks = (2, 5, 12), 3
    norm, made = EXAMPLES[name].build(shape)
    made = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), made)
    params = [(shaped(12, 7), made)] * blocks
    zeros = [jnp.zeros(shape)] * blocks
    norm = jax.checkpoint(norm) if checkpoint else norm

    def loss(inner: Any, outer: Any, params: Any, x: jax.Array) -> jax.Array:
        return jnp.cos(stack(norm, params, x, inner, outer)).sum()

    def step(params: Any, x: jax.Array) -> Any:
        nothing = (None,) * blocks
        return jax.value_and_grad(lambda x: loss(nothing, nothing, params, x))(x)

    module = parse(stablehlo_of(step, params, jnp.ones(shape)))
    layers = [
        layer for layer in recognize(module) if layer.name in NORMS and layer.part == "forward"
    ]
    assert len(layers) == blocks
    found = [layer.input_gradient for layer in layers]
    assert None not in found
    values = run_with(module, [node.value for node in found if node is not None])
    assert values is not None
    leaves, tree = jax.tree.flatten((params, jnp.ones(shape)))
    given = jax.tree.unflatten(tree, [draw(leaf.shape, i) for i, leaf in enumerate(leaves)])
    alone, whole = jax.grad(loss, argnums=(0, 1))(zeros, zeros, *given)
    for number, layer in enumerate(layers):
        wanted = alone[number] if layer.exact else whole[number]
        np.testing.assert_allclose(values[2 + number], wanted, rtol=2e-4, atol=2e-5)


# Models


def gpt2_text(layers: int = 4) -> str:
    config = gpt2.Config(layers=layers, width=32, heads=4, sequence=16, vocab=64, batch=2)
    return stablehlo_of(gpt2.adamw_step, *gpt2.abstract_state(config, gpt2.ADAMW))


GPT2 = {"layer_norm": 9, "softmax": 4, "masked_attention": 4, "gelu": 4, "logsumexp": 1}


@pytest.mark.slow
@EVERY_NAMING
def test_layers_of_gpt2(*, stripped: bool) -> None:
    layers = recognize(module_of(gpt2_text(), stripped=stripped))
    assert counted(layers) == {**GPT2, "cross_entropy": 1}
    backward = {name: n for name, n in GPT2.items() if name != "masked_attention"}
    assert counted(layers, "backward") == backward
    norms = [layer for layer in layers if layer.name == "layer_norm" and layer.part == "forward"]
    assert all(layer.input_gradient is not None and layer.epsilon is not None for layer in norms)
    # All but the last are in the residual stream, whose gradient comes first.
    assert sum(layer.exact for layer in norms) == 1


MODELS: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "bert": (
        {"layer_norm": 10, "gelu": 5, "softmax": 4, "masked_attention": 4, "dropout": 9},
        {"layer_norm": 10, "gelu": 5, "softmax": 4, "dropout": 9},
    ),
    "llama": (
        {"rms_norm": 9, "silu": 4, "softmax": 4, "masked_attention": 4, "cross_entropy": 1},
        {"rms_norm": 9, "silu": 4, "softmax": 4},
    ),
    "resnet50": ({"batch_norm": 53, "relu": 49}, {"batch_norm": 53, "relu": 49}),
    "unet": (
        {"layer_norm": 18, "group_norm": 17, "instance_norm": 14, "silu": 27, "gelu": 6},
        {"layer_norm": 18, "group_norm": 17, "instance_norm": 14, "silu": 27, "gelu": 6},
    ),
    "gpt2-scan": ({"layer_norm": 3, "gelu": 1}, {"layer_norm": 3, "gelu": 1}),
    # What a loop computes again, of weights it takes again, counts again.
    # The gradient of a norm is not found if its gain is, and its statistics are not.
    "gpt2-scan-checkpoint": ({"layer_norm": 4, "gelu": 2}, {"layer_norm": 2, "gelu": 1}),
}


@EVERY_NAMING
@pytest.mark.parametrize("name", MODELS)
def test_layers_of_models(name: str, *, stripped: bool) -> None:
    layers = recognize(module_of(model_text(name), stripped=stripped))
    forward, backward = MODELS[name]
    found = counted(layers), counted(layers, "backward")
    assert {name: found[0][name] for name in forward} == forward
    assert {name: found[1][name] for name in backward} == backward


@cache
def model_text(name: str) -> str:
    pytest.importorskip("transformers")
    pytest.importorskip("diffusers")
    pytest.importorskip("keras")
    return str(export(load(name).case("train")).text)


# What is none


@pytest.mark.slow
@EVERY_NAMING
@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_only_looks_like_a_layer_is_none(name: str, *, stripped: bool) -> None:
    function, never = NEAR_MISSES[name]
    x = jnp.ones((6, 6))

    def loss(x: jax.Array, y: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(function(x, y) * w)

    out = jax.eval_shape(function, x, x)
    texts = stablehlo_of(function, x, x), stablehlo_of(jax.value_and_grad(loss), x, x, out)
    for text in texts:
        layers = recognize(module_of(text, stripped=stripped))
        assert not {layer.name for layer in layers} & set(never)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0,)], ids=str)
@pytest.mark.parametrize("layer", [jax.nn.softmax, jax.nn.standardize], ids=["softmax", "norm"])
def test_sums_of_nothing_are_no_layers(layer: Callable[..., Any], shape: tuple[int, ...]) -> None:
    found = counted(recognize(parse(stablehlo_of(layer, jnp.ones(shape)))))
    assert not found.keys() & (NORMS | PARTS_OF_OTHERS)


@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_what_is_shifted_otherwise(axis: int) -> None:
    """Where the maximum is not one for each sum, it is a part of the input."""

    def shares(x: jax.Array) -> jax.Array:
        exponentials = jnp.exp(x - jnp.max(x, axis=0, keepdims=True))
        return exponentials / exponentials.sum(axis, keepdims=True)

    (layer,) = recognize(parse(stablehlo_of(shares, jnp.ones((6, 6)))))
    assert layer.name == "softmax"
    assert layer.inputs[0].name == ("leaf" if axis == 0 else "subtract")


def test_layers_are_the_same_without_composites() -> None:
    """An erf that is written out is one too."""
    text = gradient_text("jax-gelu-erf", (6, 8))
    module = parse(text)
    call_decompositions(module)
    assert "composite" not in str(module)
    layers = recognize(module)
    assert counted(layers) == {"gelu": 1}


def call_decompositions(module: ir.Module) -> None:
    for op in ops_in(module.operation, {"stablehlo.composite"}):
        callee = {"callee": op.attributes["decomposition"]}
        types = [result.type for result in op.results]
        with ir.InsertionPoint(op), op.location:
            call = ir.Operation.create("func.call", types, list(op.operands), callee)
        op.results[0].replace_all_uses_with(call.results[0])
        op.erase()


# What is written


def marks(module: ir.Module, name: str) -> list[str]:
    found = ops_in(module.operation, where=lambda op: name in op.attributes)
    return [str(op.attributes[name]).strip('"') for op in found]


def test_ops_are_marked() -> None:
    module = parse(gpt2_text(layers=2))
    report = run_passes(module, [NormalizePass(), RecognizePass()])
    module.operation.verify()
    ends = Counter(marks(module, attributes.LAYER))
    assert ends["layer_norm"] == 5
    assert ends["gelu"] == 2
    assert Counter(marks(module, attributes.LAYER_GRADIENT))["layer_norm"] == 5
    assert len(marks(module, attributes.EPSILON)) == 5
    assert Counter(layer.gradient for layer in report.layers if layer.name == "layer_norm") == {
        "alone": 1,
        "with others": 4,
        "": 5,
    }


def test_both_ends_of_a_gate_are_marked_and_one_is_listed() -> None:
    """As 1 - sigmoid(x) is sigmoid(-x), it has the size of a sigmoid."""

    def mixed(x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
        gate = jax.nn.sigmoid(x)
        return gate * y + (1 - gate) * z

    module = parse(stablehlo_of(mixed, *[jnp.ones((4, 4))] * 3))
    layers = run_passes(module, [RecognizePass()]).layers
    assert [layer.name for layer in layers] == ["sigmoid"]
    assert marks(module, attributes.LAYER) == ["sigmoid", "sigmoid"]


def test_functions_that_are_a_layer_in_some_calls_only_are_not_marked() -> None:
    @jax.jit
    def gate(x: jax.Array, y: jax.Array) -> jax.Array:
        return x * jax.lax.logistic(y)

    module = parse(stablehlo_of(lambda x, y: gate(gate(x, x), y), jnp.ones(4), jnp.ones(4)))
    layers = run_passes(module, [RecognizePass()]).layers
    assert [layer.name for layer in layers] == ["silu", "sigmoid"]
    assert marks(module, attributes.LAYER) == []


def test_inspect_lists_layers(tmp_path: Path) -> None:
    path = tmp_path / "step.mlir"
    path.write_text(gpt2_text(layers=2))
    result = call("inspect", path, "--rows", "0", code=0)
    lines = [line.split() for line in result.output.splitlines()]
    assert any(line[:5] == ["layer_norm", "forward", "with", "others", "4"] for line in lines)
    assert any(line[:4] == ["gelu", "forward", "alone", "2"] for line in lines)


def test_recognition_leaves_the_program_as_it_is() -> None:
    module = parse(gradient_text("linen-group", IMAGE))
    before = str(module)
    recognize(module)
    assert str(module) == before


def test_what_is_looked_at_grows_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the layers need four times the evaluations."""
    looked = Counter[int]()
    evaluate = samples.Samples.evaluate

    def counting(self: samples.Samples, node: Node) -> bool:
        looked[layers] += 1
        return evaluate(self, node)

    monkeypatch.setattr(samples.Samples, "evaluate", counting)
    for layers in (2, 8):
        recognize(parse(gpt2_text(layers)))
    assert looked[8] < 4.5 * looked[2]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_every_op_are_read(program: Program) -> None:
    """There is nothing in them to recognize, but nothing may stop the search either."""
    recognize(parse(program.text()))
