"""`explain --memory`: what a step holds at its peak, and the ops that read its residuals."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.commands.explain import compiled
from scalify_hlo.commands.explain.compiled import CompileOptions, explain_module
from scalify_hlo.commands.explain.memory import KINDS, Buffer, Memory
from scalify_hlo.commands.explain.model import Explanation
from scalify_hlo.errors import InputError, UsageError, place_of_text
from scalify_hlo.program.given import readable
from scalify_hlo.targets import compiling
from scalify_hlo.targets.buffers import TOLD, Allocation, read_buffers
from scalify_hlo.targets.description import load_target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.peak import Peak
from scalify_hlo.targets.places import places_of
from tests.py.shared import commands
from tests.py.shared.compiling import require_plugin
from tests.py.shared.judge import program_of, shaped
from tests.py.shared.schemas import faults

LAYERS, WIDTH, ROWS = 4, 64, 128
STACK = 4 * LAYERS * ROWS * WIDTH
"""The bytes of a residual of all layers."""
Params = dict[str, jax.Array]
Layer = Callable[[jax.Array, Params], tuple[jax.Array, None]]


def layer(x: jax.Array, w: Params) -> tuple[jax.Array, None]:
    with jax.named_scope("mlp"):
        return x + jnp.tanh(x @ w["up"]) @ w["down"], None


def scanned(x: jax.Array, w: Params, layer: Layer = layer) -> jax.Array:
    return jnp.sum(jax.lax.scan(layer, x, w)[0])


def unrolled(x: jax.Array, w: Params) -> jax.Array:
    for i in range(LAYERS):
        x, _ = layer(x, {name: each[i] for name, each in w.items()})
    return jnp.sum(x)


def checkpointed(x: jax.Array, w: Params) -> jax.Array:
    return scanned(x, w, jax.checkpoint(layer))


def step(loss: Any, w: Params, x: jax.Array) -> Params:
    gradients: Params = jax.grad(loss, 1)(x, w)
    return {name: w[name] - 0.1 * each for name, each in gradients.items()}


def exported(loss: Any, platform: str = "cpu", **how: Any) -> jax.export.Exported:
    weights = dict.fromkeys(("up", "down"), shaped(LAYERS, WIDTH, WIDTH))
    jitted = jax.jit(partial(step, loss), **how)
    return jax.export.export(jitted, platforms=(platform,))(weights, shaped(ROWS, WIDTH))


@cache
def explained(loss: Any, recipe: str | None = None, target: str = "cpu") -> Explanation:
    program = exported(loss, load_target(target).platform, donate_argnums=0)
    settings = {"matmul.smallest": 1} if recipe and recipe != "propagate" else None
    return scalify_hlo.explain(program, target, recipe=recipe, settings=settings, memory=True)


def held(loss: Any, recipe: str | None = None, target: str = "cpu") -> Memory:
    memory = explained(loss, recipe, target).memory
    assert memory is not None
    return memory


def of_kind(memory: Memory, kind: str) -> list[Buffer]:
    return [each for each in memory.buffers if each.kind == kind]


def readers(buffer: Buffer) -> set[str]:
    return {each.name for each in buffer.readers}


LOSSES = [scanned, unrolled, checkpointed]


@pytest.mark.parametrize(
    ("loss", "recipe"), [*((loss, None) for loss in LOSSES), (scanned, "fp8-current")]
)
def test_all_bytes_are_those_of_the_compiler(loss: Any, recipe: str | None) -> None:
    found = explained(loss, recipe)
    assert found.memory is not None
    assert found.memory.bytes == found.program.compiled.peak
    assert sum(found.memory.kinds.values()) == found.memory.bytes
    sizes = [each.bytes for each in found.memory.buffers if each.kind != "unused"]
    assert sizes == sorted(sizes, reverse=True)


def test_residuals_of_a_loop_are_stacked() -> None:
    """The carry, the derivative of tanh and its value, each with its readers in the backward."""
    found = {each.name: each for each in of_kind(held(scanned), "residual")}
    assert found.keys() == {"carry of a loop", "mlp/sub", "mlp/tanh"}
    for each in found.values():
        assert (each.bytes, each.layers, each.part) == (STACK, LAYERS, "forward")
        assert (each.element, each.dims) == ("f32", (LAYERS, ROWS, WIDTH))
        assert {reader.part for reader in each.readers} == {"backward"}
    assert readers(found["carry of a loop"]) == {"mlp w['up']@wgrad"}
    assert readers(found["mlp/tanh"]) == {"mlp w['down']@wgrad", "mlp/mul"}
    (line,) = {place_of_text(each.location, "") for each in found["mlp/sub"].readers}
    assert Path(line.partition(":")[0]) == Path(__file__)


def test_arguments_state_and_gradients() -> None:
    """State is what results take the place of; gradients wait for the optimizer."""
    memory = held(scanned)
    assert {each.name for each in of_kind(memory, "state")} == {"w['up']", "w['down']"}
    assert [each.name for each in of_kind(memory, "argument")] == ["x"]
    gradients = {each.name: each for each in of_kind(memory, "gradient")}
    assert gradients.keys() == {"mlp w['up']@wgrad", "mlp w['down']@wgrad"}
    assert {each.bytes for each in gradients.values()} == {4 * LAYERS * WIDTH * WIDTH}


def test_state_that_is_not_donated_is_known_by_its_role() -> None:
    program = exported(unrolled)
    memory = scalify_hlo.explain(program, "cpu", memory=True).memory
    assert memory is not None
    assert {each.name for each in of_kind(memory, "state")} == {"w['up']", "w['down']"}
    assert memory.kinds["result"] >= memory.kinds["state"]


def test_residuals_of_layers_in_a_row_are_one_row() -> None:
    memory = held(unrolled)
    rows = {row.buffer.name: row for row in memory.grouped if row.buffer.kind == "residual"}
    assert rows["mlp/tanh"].number == LAYERS
    assert rows["mlp/tanh"].bytes == STACK
    assert rows["mlp/tanh"].buffer.layers is None


@pytest.mark.parametrize("recipe", [None, "fp8-current"])
def test_values_that_are_computed_again_are_no_residuals(recipe: str | None) -> None:
    """Only the carries cross from the forward pass; tanh is computed in both."""
    found = of_kind(held(checkpointed, recipe), "residual")
    assert [each.name for each in found] == ["carry of a loop"]


def test_a_rewrite_keeps_the_passes_of_its_ops() -> None:
    """Functions with matmuls are inlined, and name stacks of their ops say only parts."""
    found = explained(scanned, "fp8-current")
    names = {each.name for each in of_kind(held(scanned, "fp8-current"), "residual")}
    assert {"while", "mlp/tanh"} <= names
    before = found.memory_in_bf16
    assert before is not None
    assert found.original is not None
    assert before.bytes == found.original.compiled.peak
    assert before.kinds["residual"] == 3 * STACK


def test_recipes_without_a_format_have_memory_only() -> None:
    assert held(unrolled, "propagate").kinds["residual"] >= STACK
    with pytest.raises(UsageError, match="quantizes no matmul"):
        scalify_hlo.explain(exported(unrolled), "cpu", recipe="propagate")


def test_the_json_fits_its_schema() -> None:
    record = json.loads(scalify_hlo.dump_explanation(explained(scanned, "fp8-current")))
    assert not faults(record, "explain")
    memory = record["memory"]
    assert memory["kinds"].keys() == KINDS.keys()
    assert memory["bytes"] == record["compiled"]["memory"]["peak"]
    assert all(Path(each["location"]).name for each in memory["buffers"] if each["readers"])


def test_the_page_has_all_rows() -> None:
    page = scalify_hlo.explain_page(explained(scanned, "fp8-current"))
    table = page.partition("In memory at the peak")[2].partition("</table>")[0]
    assert table.count("<tr>") == 1 + len(held(scanned, "fp8-current").grouped)
    assert "mlp/tanh" in table


def test_programs_are_not_asked_without_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA writes files only for the option, since that takes time."""
    monkeypatch.setattr(compiling, "TOLD", None)
    monkeypatch.setattr(compiling, "read_buffers", None)
    found = scalify_hlo.explain(exported(unrolled), "cpu")
    assert found.memory is None is found.memory_in_bf16
    assert json.loads(scalify_hlo.dump_explanation(found))["memory"] is None


def test_a_compiler_that_says_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*given: Any, **how: Any) -> Any:
        return compiling.compile_program(*given, **{**how, "buffers": False})

    monkeypatch.setattr(compiled, "compile_program", silent)
    how = CompileOptions(load_target("cpu"), memory=True)
    with pytest.raises(InputError, match="does not say where it places values") as caught:
        explain_module(readable(exported(unrolled)), how, None)
    assert "--memory" in str(caught.value.hint)


def test_the_command_prints_rows_and_kinds(tmp_path: Path) -> None:
    path = tmp_path / "step.jax_export"
    path.write_bytes(exported(scanned, donate_argnums=0).serialize())
    call = partial(commands.call, "explain", path, "--target", "cpu", "--memory", code=0)
    text = call("--rows", "0").output
    head, _, kinds = text.partition("in memory at the peak\n")[2].partition("\n\n")
    rows = [line.split() for line in head.splitlines()]
    assert rows[0][:5] == ["name", "kind", "type", "number", "MiB"]
    assert any(row[:2] == ["mlp/tanh", "residual"] for row in rows)
    table = dict(line.split() for line in kinds.splitlines()[1:] if line)
    assert float(table["residual"]) == round(3 * STACK / 2**20, 1)
    assert "gradient" in table
    assert "workspace" not in table
    assert "in memory at the peak" not in commands.call("explain", path, "--target", "cpu").output


def test_on_a_described_gpu() -> None:
    require_plugin("h200")
    found = {each.name for each in of_kind(held(scanned, target="h200"), "residual")}
    assert found == {"carry of a loop", "mlp/sub", "mlp/tanh"}
    assert (
        held(scanned, target="h200").bytes == explained(scanned, None, "h200").program.compiled.peak
    )


# XLA's files.

ASSIGNED = """BufferAssignment:
allocation 0: size 64, parameter 1, shape |f32[16]| at ShapeIndex {}, maybe-live-out:
 value: <0 x @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 4, thread-local:
 value: <9 lhs @0> (size=4,offset=0): f32[]
allocation 2: size 4, constant:
 value: <1 one @0> (size=4,offset=0): f32[]
allocation 3: size 256, preallocated-temp:
 value: <2 exp @0> (size=128,offset=0): f32[32]{0}
 value: <3 loop{1} (phi) @0> (size=128,offset=0): f32[32]{0}
 value: <4 log @0> (size=128,offset=128): f32[32]{0:S(1)}
"""
LIVE = """HloLiveRange (max 9):
  BufferLiveRange:
    x{}:0-9
    exp{}:1-4
    loop{1}:4-6
    log{}:4-5
  Live ranges at 4 (peak):
    exp{}: 128 bytes (cumulative: 128 bytes)
"""
USES = """
Used values:
<2 exp @0>
 positions:
  exp
 uses:
  log, operand 0
  tuple, operand 1 {2}
 from instruction: %exp = f32[32]{0} exponential(%x)
<3 loop{1} (phi) @0>
 uses:
  (none)
"""
HLO = """HloModule m, is_scheduled=true

ENTRY %main (x: f32[32]) -> f32[32] {
  %x = f32[32]{0} parameter(0)
  %exp = f32[32]{0} exponential(%x)
  %tuple = (f32[32]{0}, f32[32]{0}) tuple(%x, %exp)
  %barrier = (f32[32]{0}, f32[32]{0}) opt-barrier(%tuple)
  %first = f32[32]{0} get-tuple-element(%barrier), index=0
  %abs = f32[32]{0} abs(%first)
  %second = f32[32]{0} get-tuple-element(%barrier), index=1
  %view = f32[4,8]{1,0} reshape(%second)
  %neg = f32[4,8]{1,0} negate(%view)
  ROOT %log = f32[32]{0} log(%exp)
}
"""


def written(folder: Path, name: str = "module_0001.m", assigned: str = ASSIGNED) -> Path:
    told = folder / str(TOLD["xla_dump_to"])
    told.mkdir(exist_ok=True)
    ends = {"buffer-assignment": assigned, "live-range": LIVE, "buffer-assignment-values": USES}
    for end, text in ends.items():
        (told / f"{name}.cpu_after_optimizations-{end}.txt").write_text(text)
    return folder


def allocations(folder: Path) -> tuple[Allocation, ...]:
    found = read_buffers(folder)
    assert found is not None
    return found


def test_allocations_are_read(tmp_path: Path) -> None:
    argument, rest = allocations(written(tmp_path))
    assert (argument.size, argument.parameter, argument.is_result) == (64, 1, True)
    assert (rest.size, rest.parameter, rest.is_result) == (256, None, False)
    first, second, _ = rest.values
    assert (first.name, first.index, first.joins) == ("exp", "{}", False)
    assert (second.name, second.index, second.joins) == ("loop", "{1}", True)
    assert (first.start, first.end, first.uses) == (1, 4, (("log", 0), ("tuple", 1)))
    assert [each.in_main_memory for each in (argument, rest)] == [True, False]


def test_the_whole_program_is_read_and_no_part_of_it(tmp_path: Path) -> None:
    written(tmp_path, "module_0000.part", "allocation 0: size 8, preallocated-temp:\n")
    assert len(allocations(written(tmp_path))) == 2
    assert read_buffers(tmp_path / "nothing") is None


def test_a_place_that_goes_from_value_to_value_counts_once(tmp_path: Path) -> None:
    """In instruction 4, `exp` becomes the carry of a loop, beside `log`."""
    peak = Peak(allocations(written(tmp_path)), read_hlo(HLO))
    _, first, second = peak.held()
    assert [each.name for each in first.values] == ["exp", "loop"]
    assert [each.name for each in second.values] == ["log"]
    assert {reader.name for reader, _ in peak.readers(first)} == {"log", "neg"}


FRAMES = """HloModule m

FileNames
1 "/lib/site-packages/jax/numpy.py"
2 "model.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=2 function_name_id=1 line=7 end_line=7 column=3 end_column=9}
2 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


ENTRY %main (x: f32[]) -> f32[] {
"""


def test_locations_are_those_of_users() -> None:
    """XLA writes the number of a parent plus one; without that, 0 is no parent."""
    for text in (FRAMES, FRAMES.replace("_id=1}", "_id=0}").replace("frame_id=2}", "frame_id=1}")):
        assert place_of_text(places_of(text)["2"], "") == "model.py:7:3"
    assert places_of("HloModule m") == {}


def test_memory_of_a_program_of_no_training() -> None:
    """Without a backward pass there are no residuals."""
    program = program_of(lambda x, w: jnp.tanh(x @ w) @ w, shaped(64, 64), shaped(64, 64))
    memory = scalify_hlo.explain(program, "cpu", memory=True).memory
    assert memory is not None
    assert memory.kinds["residual"] == memory.kinds["gradient"] == 0
    assert memory.kinds["argument"] == 2 * 64 * 64 * 4
