"""The last linear layers stay wide, forward and backward (`matmul.last_wide`), and the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.casts.selection import FIRST, LAST
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.summary import summary
from scalify_hlo.passes.text import parse_pipeline
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import MatmulReport, Report
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, stablehlo_of
from tests.py.shared.role_models import DISTINCT, Sizes
from tests.py.shared.role_programs import MODELS, transformer_step

WIDTH, ROWS, HEADS = 16, 32, 2
BY_NAME = {model.name: model for model in MODELS}
SCOPE = re.compile(r"layer\d\d")


def linear(number: int, x: Any, w: Any) -> Any:
    with jax.named_scope(f"layer{number:02}"):
        return x @ w


def block(number: int, p: Any, x: Any) -> Any:
    """Self attention and an MLP, with six linear layers that are named by their numbers."""
    shape = ROWS, HEADS, WIDTH // HEADS
    q, k, v = (linear(number + i, x, p[name]).reshape(shape) for i, name in enumerate("qkv"))
    mixed = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k)), v)
    x = x + linear(number + 3, mixed.reshape(x.shape), p["o"])
    return x + linear(number + 5, jax.nn.gelu(linear(number + 4, x, p["up"])), p["down"])


def transformer(params: Any, x: Any, *, checkpoint: bool = False) -> Any:
    layer = jax.checkpoint(block, static_argnums=0) if checkpoint else block
    *blocks, head = params
    for i, p in enumerate(blocks):
        x = layer(6 * i, p, x)
    return linear(6 * len(blocks), x, head)


def weights(blocks: int = 2) -> Any:
    shapes = dict.fromkeys("qkvo", (WIDTH, WIDTH))
    shapes |= {"up": (WIDTH, 2 * WIDTH), "down": (2 * WIDTH, WIDTH)}
    key = iter(jax.random.split(jax.random.key(0), 6 * blocks))
    layers = [
        {k: jax.random.normal(next(key), v) / WIDTH**0.5 for k, v in shapes.items()}
        for _ in range(blocks)
    ]
    return [*layers, jnp.eye(WIDTH)]


def training(model: Callable[..., Any]) -> Callable[..., Any]:
    def step(params: Any, x: Any) -> Any:
        gradients = jax.grad(lambda params: jnp.mean(model(params, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

    return step


def model_text(name: str, sizes: Sizes = DISTINCT) -> str:
    return stablehlo_of(*_built(BY_NAME[name].build(sizes)))


def _built(built: tuple[Any, Any]) -> tuple[Any, ...]:
    function, arguments = built
    return function, *arguments


def reported(text: str, share: float, recipe: str = "mxfp8", **settings: Any) -> Report:
    more: dict[str, Any] = {} if recipe == "bf16" else {"matmul.smallest": 1}
    more |= {"matmul.last_wide": share}
    more |= {key.replace("__", "."): value for key, value in settings.items()}
    _, report = scalify_hlo.rewrite(text, recipe=recipe, settings=more, report=True)
    return report


def last(matmuls: Sequence[MatmulReport]) -> list[MatmulReport]:
    return [matmul for matmul in matmuls if matmul.wide == LAST]


def messages(report: Report) -> list[str]:
    return [remark.message for remark in report.remarks if "last_wide" in remark.message]


X = jnp.linspace(-1, 1, ROWS * WIDTH).reshape(ROWS, WIDTH)


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("stripped", [False, True], ids=["names", "stripped"])
def test_data_flow_finds_the_matmuls_that_names_tell(*, stripped: bool, checkpoint: bool) -> None:
    """At any share, queries, keys and values included, which read one activation."""
    step = training(lambda params, x: transformer(params, x, checkpoint=checkpoint))
    text = stablehlo_of(step, weights(), X)
    names = [m.name for m in reported(text, 0).matmuls]
    numbers = [int(found[0][5:]) if (found := SCOPE.findall(name)) else -1 for name in names]
    for count in range(14):
        module = parse(text)
        before: list[Any] = ["strip-debuginfo"] if stripped else []
        share = count / 13
        (roles,) = parse_pipeline(f"scalify-roles{{first-wide={share} last-wide={share}}}")
        run_passes(module, [*before, NormalizePass(), roles])
        matmuls = ops_in(module.operation, where=lambda op: "scalify.matmul" in op.attributes)
        marked = [{*op.attributes.keys()} & {"scalify.first", "scalify.last"} for op in matmuls]
        assert ["scalify.last" in marks for marks in marked] == [n >= 13 - count for n in numbers]
        assert ["scalify.first" in marks for marks in marked] == [0 <= n < count for n in numbers]


def without_record(program: str) -> str:
    """Returns a program without the recipe by which it was made."""
    return re.sub(r"^module @.*$", "", program, flags=re.MULTILINE)


@pytest.mark.filterwarnings("ignore::scalify_hlo.ScalifyWarning")
@pytest.mark.parametrize("recipe", ["nvfp4", "mxfp8", "fp8", "fp8-current", "bf16"])
def test_the_rewrite_is_that_without_the_layers_that_names_tell(recipe: str) -> None:
    text = stablehlo_of(training(transformer), weights(), X)
    small = {} if recipe == "bf16" else {"matmul.smallest": 1}
    names = [f"*layer{number:02}*" for number in (10, 11, 12)]
    by_share, by_name, whole = (
        without_record(scalify_hlo.rewrite(text, recipe=recipe, settings=small | more))
        for more in (
            {"matmul.last_wide": 0.25},
            {"matmul.last_wide": 0, "matmul.exclude": names},
            {"matmul.last_wide": 0},
        )
    )
    assert by_share == by_name
    assert by_share != whole


def test_both_backward_matmuls_of_the_last_layer_are_wide() -> None:
    report = reported(model_text("mlp"), 0.34)
    assert [(m.part, m.roles) for m in last(report.matmuls)] == [
        ("forward", ("activation", "weight")),
        ("backward", ("gradient", "activation")),
        ("backward", ("gradient", "weight")),
    ]
    assert last(report.matmuls)[0].arguments[1] == last(report.matmuls)[2].arguments[1]
    assert "; 3 wide: of the last layers (params[2]);" in summary(report)
    assert not report.remarks


def test_inference_has_forward_matmuls_only() -> None:
    found = last(reported(model_text("mlp-inference"), 0.34).matmuls)
    assert [m.arguments[1] for m in found] == ["params[2]"]


def test_the_preset_leaves_fifteen_percent_wide() -> None:
    assert load_recipe("nvfp4").matmul.last_wide == 0.15
    text = stablehlo_of(training(transformer), weights(4), X)
    settings = {"matmul.smallest": 1}
    _, report = scalify_hlo.rewrite(text, recipe="nvfp4", settings=settings, report=True)
    # 0.15 * 25 = 3.75
    assert {SCOPE.findall(m.name)[0] for m in last(report.matmuls)} == {
        "layer22",
        "layer23",
        "layer24",
    }
    assert len(last(report.matmuls)) == 9


def chain(layers: int) -> str:
    def model(params: Any, x: Any) -> Any:
        for w in params:
            x = x @ w
        return x

    return stablehlo_of(model, [jnp.ones((16, 16))] * layers, jnp.ones((16, 16)))


@pytest.mark.parametrize(
    ("layers", "share", "count"), [(2, 0.49, 0), (2, 0.5, 1), (6, 0.15, 0), (7, 0.15, 1)]
)
def test_the_number_of_layers_is_rounded_down(layers: int, share: float, count: int) -> None:
    assert len(last(reported(chain(layers), share).matmuls)) == count


def test_a_share_that_is_a_number_of_layers_is_exact() -> None:
    assert len(last(reported(chain(100), 0.29).matmuls)) == 29


def test_a_share_of_less_than_one_layer_is_told_if_it_was_asked_for() -> None:
    text = chain(2)
    told = ["matmul.last_wide has no effect: 0.3 of 2 linear layers is less than one"]
    assert messages(reported(text, 0.3)) == told
    assert messages(reported(text, 0.3, "nvfp4")) == told
    assert not messages(reported(text, 0.15, "nvfp4"))  # as the preset has it
    assert not messages(reported(text, 0))
    only = ["matmul.last_wide has no effect: 0.3 of 1 linear layer is less than one"]
    assert messages(reported(chain(1), 0.3)) == only


@pytest.mark.parametrize("checkpoint", [False, True])
def test_turns_of_a_loop_cannot_be_wide_apart_from_others(*, checkpoint: bool) -> None:
    text = stablehlo_of(
        *_built(transformer_step(scanned=True, layers=4, checkpoint=checkpoint)(DISTINCT))
    )
    report = reported(text, 0.15)  # 3.6 of 24
    assert not last(report.matmuls)
    assert messages(report) == [
        "matmul.last_wide cannot leave 3 of the last 3 of 24 linear layers wide: turns of a loop, "
        "or calls of a function, share their matmuls with earlier ones"
    ]
    assert any(m.part == "backward" and m.wide is None for m in report.matmuls)
    whole = reported(text, 1)
    assert not messages(whole)
    weighted = [m for m in whole.matmuls if "weight" in m.roles and not m.vocabulary]
    assert all(m.wide == LAST for m in weighted)


def test_layers_after_a_loop_are_wide() -> None:
    def model(params: Any, x: Any) -> Any:
        stack, w, v = params
        x, _ = lax.scan(lambda x, w: (x @ w, None), x, stack)
        return x @ w @ v

    square = jnp.ones((16, 16))
    params = [jnp.ones((6, 16, 16)), square, square]
    text = stablehlo_of(training(model), params, square)
    report = reported(text, 0.25)  # 2 of 8
    assert {m.arguments[1] for m in last(report.matmuls) if m.part == "forward"} == {
        "params[1]",
        "params[2]",
    }
    assert len(last(report.matmuls)) == 6
    assert not report.remarks
    report = reported(text, 0.5)  # 4 of 8, of which 2 are turns
    assert len(last(report.matmuls)) == 6
    assert messages(report)[0].startswith("matmul.last_wide cannot leave 2 of the last 4 of 8")


def test_layers_before_a_loop_are_wide() -> None:
    def model(params: Any, x: Any) -> Any:
        w, v, stack = params
        return lax.scan(lambda x, w: (x @ w, None), x @ w @ v, stack)[0]

    square = jnp.ones((16, 16))
    params = [square, square, jnp.ones((6, 16, 16))]
    text = stablehlo_of(training(model), params, square)
    for share, told in {
        0.25: [],
        0.5: [
            "matmul.first_wide cannot leave 2 of the first 4 of 8 linear layers wide: turns of a "
            "loop, or calls of a function, share their matmuls with later ones"
        ],
    }.items():
        report = reported(text, 0, matmul__first_wide=share)
        found = [matmul for matmul in report.matmuls if matmul.wide == FIRST]
        assert {m.arguments[1] for m in found if m.part == "forward"} == {"params[0]", "params[1]"}
        assert len(found) == 5  # The gradient of the input is not asked for.
        assert [remark.message for remark in report.remarks] == told


def test_turns_with_one_weight_are_one_layer() -> None:
    """Steps of a recurrent network, and parts of a batch, in a loop and written out."""
    for name in ("rnn-scanned", "rnn-unrolled"):
        report = reported(model_text(name), 0.34)  # 1 of 3
        assert {m.arguments[1] for m in last(report.matmuls) if m.part == "forward"} == {
            "params['out']"
        }
        assert not report.remarks
    for name, count in {"mlp-accumulated": 3, "mlp-accumulated-unrolled": 6, "mlp-loop": 3}.items():
        assert len(last(reported(model_text(name), 0.34).matmuls)) == count
        assert len(last(reported(model_text(name), 1).matmuls)) == len(
            reported(model_text(name), 1).matmuls
        )


def test_calls_of_one_function_share_their_matmul() -> None:
    """The second and the third layer of this model are calls of one function."""
    text = model_text("mlp-jitted")
    report = reported(text, 0.5)
    assert {m.arguments[1] for m in last(report.matmuls) if m.part == "forward"} == {"params[3]"}
    assert messages(report)[0].startswith("matmul.last_wide cannot leave 1 of the last 2 of 4")
    report = reported(text, 0.75)
    assert sum(m.calls for m in last(report.matmuls)) == 9
    assert not messages(report)


def test_the_head_counts_only_if_it_is_not_wide_already() -> None:
    text = model_text("transformer-inference")  # 12 layers, and the head
    found = last(reported(text, 0.1).matmuls)
    assert [m.arguments[1] for m in found] == ["params['blocks'][1]['down']"]
    for settings in ({"matmul__vocabulary": True}, {"recipe": "bf16"}):
        found = last(reported(text, 0.1, **settings).matmuls)
        assert [m.arguments[1] for m in found] == ["params['head']"]


def test_matrices_of_an_optimizer_are_no_layers() -> None:
    def step(params: Any, moment: Any, x: Any) -> Any:
        new = training(lambda params, x: jnp.tanh(x @ params[0]) @ params[1])(params, x)
        return new, jnp.sum(jnp.tanh(moment) @ moment, 0)

    square = jnp.ones((16, 16))
    report = reported(stablehlo_of(step, [square, square], square, square), 0.5)
    assert report.matmuls[-1].roles == ("activation", "weight")
    assert report.matmuls[-1].part == "forward"
    found = last(report.matmuls)
    assert {m.arguments[1] for m in found if m.part == "forward"} == {"params[1]"}


def test_patterns_do_not_move_the_last_layers() -> None:
    text = model_text("transformer-inference")
    before = {m.number for m in last(reported(text, 0.25).matmuls)}
    assert len(before) == 3
    excluded = ["params['blocks'][1]['down']"]
    report = reported(text, 0.25, matmul__exclude=excluded)
    left = {m.number for m in report.matmuls if m.wide is not None and m.wide.kind == "excluded"}
    assert len(left) == 1
    assert {m.number for m in last(report.matmuls)} | left == before


SMALL = ("--set", "matmul.smallest=1")


UNUSUAL = """
func.func @main(%i: tensor<9x8xf32>, %e: tensor<8x8xf32>, %q: tensor<8x8xf32>, %k: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) {
  %x = stablehlo.dot_general %i, %e, contracting_dims = [1] x [0] : FORWARD
  %a = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0] : FORWARD
  %b = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : FORWARD
  %da = stablehlo.sine %b : tensor<9x8xf32>
  %db = stablehlo.sine %a : tensor<9x8xf32>
  %dxa = stablehlo.dot_general %da, %q, contracting_dims = [1] x [1] : FORWARD
  %dxb = stablehlo.dot_general %db, %k, contracting_dims = [1] x [1] : FORWARD
  %dq = stablehlo.dot_general %da, %x, contracting_dims = [0] x [0] : BACKWARD
  %dk = stablehlo.dot_general %db, %x, contracting_dims = [0] x [0] : BACKWARD
  return %dq, %dk, %dxa, %dxb : tensor<8x8xf32>, tensor<8x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>
}
""".replace("FORWARD", "(tensor<9x8xf32>, tensor<8x8xf32>) -> tensor<9x8xf32>").replace(
    "BACKWARD", "(tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<8x8xf32>"
)
"""The gradients of two weights that read one activation, in the order of the weights."""


def test_gradients_tell_weights_of_one_activation_apart() -> None:
    matmuls = reported(UNUSUAL, 0.34).matmuls
    wide = [m.wide == LAST for m in matmuls]
    assert wide == [False, False, True, False, True, False, True]


def command(tmp_path: Path, name: str, *arguments: str, code: int) -> Any:
    file = tmp_path / "step.mlir"
    file.write_text(model_text("mlp-inference"))
    return call(name, file, "--recipe", "mxfp8", *SMALL, *arguments, code=code)


def test_requirements_count_the_last_layers_as_wide(tmp_path: Path) -> None:
    out = "-o", str(tmp_path / "out.mlir"), "--set", "matmul.last_wide=0.4"
    result = command(tmp_path, "rewrite", *out, "--require", "wide<=0", code=1)
    assert "wide<=0 is required, and the number of matmuls that stay wide is 1" in result.stderr
    command(tmp_path, "rewrite", *out, "--require", "wide<=1", "--strict", code=0)


@pytest.mark.parametrize("value", ["1.01", "-0.1", "nan", "inf", "true", "half", "", "1e1"])
def test_a_bad_share_is_one_sentence(value: str, tmp_path: Path) -> None:
    out = "-o", str(tmp_path / "out.mlir")
    result = command(tmp_path, "rewrite", *out, "--set", f"matmul.last_wide={value}", code=2)
    assert "matmul.last_wide" in result.stderr
    assert "a number from 0 to 1" in result.stderr
    assert "defect" not in result.stderr


def test_a_share_may_have_an_exponent() -> None:
    assert load_recipe("nvfp4", ["matmul.last_wide=1e-1"]).matmul.last_wide == 0.1


@pytest.mark.parametrize("value", ["7", "-1", "x", "nan"])
def test_a_bad_option_of_the_pass_is_refused(value: str) -> None:
    with pytest.raises(
        UsageError, match="'last-wide' of scalify-roles takes a number from 0 to 1, and"
    ):
        parse_pipeline(f"scalify-roles{{last-wide={value}}}")
