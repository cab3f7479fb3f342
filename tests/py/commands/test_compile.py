"""`compile`: programs compiled by XLA for described devices, and what is read from their HLO."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import signal
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo.errors import InputError
from scalify_hlo.recipes.formats import DEVICES
from scalify_hlo.storage import children, files
from scalify_hlo.storage.files import write_folder
from scalify_hlo.targets.compiling import require_fits
from scalify_hlo.targets.description import LAUNCH, WIDER, load_target, target_names
from scalify_hlo.targets.hlo import read_hlo, shapes_of
from scalify_hlo.targets.kernels import Kernel, kernels_of
from scalify_hlo.targets.products import FORMATS
from scalify_hlo.targets.record import compile_record
from scalify_hlo.targets.roofline import kernel_seconds, work_of
from tests.py.shared import commands, compiling
from tests.py.shared.compiling import compiled, report, require_plugin
from tests.py.shared.judge import program_of, shaped
from tests.py.shared.schemas import faults

DATA = Path(files.__file__).parents[1] / "targets" / "data"


@pytest.fixture(autouse=True, scope="module")
def _fast() -> Any:
    """XLA need not optimize the machine code of these programs."""
    with pytest.MonkeyPatch.context() as patch:
        flags = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
        patch.setenv("XLA_FLAGS", flags)
        yield


command = partial(commands.call, "compile")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "step.jax_export"
    path.write_bytes(compiling.loops().serialize())
    return path


def test_the_folder_has_the_hlo_and_a_report(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = command(program, "--target", "cpu", "-o", folder, code=0)
    assert sorted(os.listdir(folder)) == ["optimized.hlo", "report.json"]
    record = json.loads((folder / "report.json").read_text())
    assert faults(record, "compile") == []
    assert (folder / "optimized.hlo").read_text().startswith("HloModule")
    assert f"kernels            {record['launches']}" in done.stdout
    again = command(program, "--target", "cpu", "-o", folder, "--format", "json")
    printed = json.loads(again.stdout)
    assert {**printed, "compile_s": 0} == {**record, "compile_s": 0}


def test_matmuls_in_loops_count_for_each_turn() -> None:
    """Each layer has a matmul forward, and all but the first one two backward."""
    record = report(compiling.loops)
    one = 2 * compiling.BATCH * compiling.WIDTH**2
    assert record["flops"] == {"f32": one * 3 * compiling.LAYERS}
    assert record["causes"]["gemm"]["launches"] == 3 * compiling.LAYERS
    assert record["loops_of_unknown_length"] == 0


def test_donated_arguments_need_no_memory_for_results() -> None:
    memory = report(compiling.loops)["memory"]
    weights = 4 * compiling.LAYERS * compiling.WIDTH**2
    assert memory["aliased"] == memory["results"] == weights
    assert memory["arguments"] == weights + 4 * compiling.BATCH * compiling.WIDTH
    assert memory["peak"] == memory["arguments"] + memory["temporaries"]
    assert memory["device"] is None


def test_loops_of_unknown_length_are_told() -> None:
    def halved(x: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda x: jnp.max(x) > 1, lambda x: x @ x, x)

    exported = program_of(halved, shaped(64, 64))
    record = report(lambda: exported)
    assert record["loops_of_unknown_length"] == 1
    assert record["flops"] == {"f32": 2 * 64**3}


def test_convolutions_are_counted_without_their_padding() -> None:
    """All three multiply the same pairs, which are those that a convolution of ones adds up."""
    ones = compiling.convolved(jnp.ones(compiling.IMAGE), jnp.ones(compiling.KERNEL))
    record = report(compiling.convolutions)
    assert record["flops"] == {"f32": 3 * 2 * int(np.sum(np.asarray(ones)))}


@pytest.mark.parametrize("cause", ["amax", "transpose", "cast", "scalar"])
def test_kernels_have_causes(cause: str) -> None:
    record = report(compiling.kinds)
    assert record["causes"][cause]["launches"] >= 1
    assert record["causes"]["gemm"]["launches"] == 0
    assert record["flops"] == {}
    assert record["f8_share"] is None


def test_an_update_in_place_moves_the_update() -> None:
    record = report(compiling.kinds)
    (update,) = [k for k in record["kernels"] if "update-slice" in k["name"]]
    assert update["written"] == 4 * compiling.COLUMNS
    assert update["read"] < 3 * 4 * compiling.COLUMNS
    assert record["memory"]["arguments"] > 4 * compiling.ALL_ROWS * compiling.COLUMNS


def test_a_cast_reads_wide_and_writes_narrow() -> None:
    (cast,) = [k for k in report(compiling.kinds)["kernels"] if k["cause"] == "cast"]
    size = compiling.ROWS * compiling.COLUMNS
    assert (cast["read"], cast["written"]) == (4 * size + 4, size)


def test_collectives_are_counted_by_type() -> None:
    record = report(compiling.sharded)
    assert record["devices"] == 4
    assert record["collectives"] == {"f32": 4 * 32 * 48}
    assert record["flops"] == {"f32": 2 * 32 * 48 * 64 // 4}


def test_the_number_of_devices_is_that_of_the_program() -> None:
    with pytest.raises(InputError, match="is for 4 devices and not for 8"):
        compiled(compiling.sharded(), devices=8)
    with pytest.raises(InputError, match="is for 1 device and not for 2"):
        compiled(compiling.loops(), devices=2)


def test_shapes_in_memory_on_the_chip_are_told_apart() -> None:
    far, near = shapes_of("(f8e4m3fn[4,8]{1,0:T(8,128)(4,1)}, bf16[2]{0:T(256)S(1)})")
    assert (far.bytes, near.bytes) == (32, 4)
    assert (far.in_main_memory, near.in_main_memory) == (True, False)


def kernel(**changes: Any) -> Kernel:
    same = Kernel(
        "k", "", (), (), "fusion", "gemm", 3, {"f8": 4_000_000_000}, 10**6, 10**6, 0, "bf16"
    )
    return replace(same, **changes)


def test_a_kernel_takes_the_longer_of_its_flops_and_its_bytes() -> None:
    h200 = load_target("h200")
    assert kernel_seconds(kernel(), h200) == 4e9 / 1979e12
    assert kernel_seconds(kernel(read=10**9), h200) == (10**9 + 10**6) / 4.8e12
    assert kernel_seconds(kernel(flops={"bf16": 4 * 10**9}), h200) == 4e9 / 989e12
    assert kernel_seconds(kernel(flops={"f8": 10**9, "bf16": 10**9}), h200) == pytest.approx(
        1e9 / 1979e12 + 1e9 / 989e12
    )
    assert kernel_seconds(kernel(), load_target("cpu")) is None


def test_collectives_take_the_time_of_their_links() -> None:
    moved = kernel(kernel="all-reduce-start", cause="collective", flops={}, exchanged=10**6)
    assert kernel_seconds(moved, load_target("h200")) == 10**6 / 450e9


def test_kernels_are_added_up_and_launches_cost_two_microseconds() -> None:
    work = work_of([kernel(), kernel(times=1, cause="cast", flops={})], load_target("h200"))
    one, other = 4e9 / 1979e12, 2e6 / 4.8e12
    assert work.seconds == pytest.approx(3 * one + other)
    assert work.seconds_with_launches == pytest.approx(3 * one + other + 4 * LAUNCH)
    assert work.flops == {"f8": 12 * 10**9}
    assert work.f8_share == 1
    assert (work.causes["gemm"].launches, work.causes["cast"].launches) == (3, 1)


@pytest.mark.parametrize("name", target_names())
def test_targets_are_described(name: str) -> None:
    target = load_target(name)
    data = tomllib.loads((DATA / f"{name}.toml").read_text())
    assert set(target.peak) <= set(FORMATS)
    assert set(WIDER) == set(FORMATS) - {"f32_highest"}
    assert all(target.flops(key) for key in FORMATS) or name == "cpu"
    assert (target.flops("f8") is None) == (name == "cpu")
    assert bool(target.plugins) == bool(target.extra) == (name != "cpu")
    config = data["topology"].get("target_config", "")
    assert f"device_memory_size: {target.memory} " in config or not config
    assert f"memory_bandwidth: {data['memory'].get('bandwidth')} " in config or not config


def test_a_format_without_matmuls_runs_at_the_peak_of_a_wider_one() -> None:
    assert load_target("tpu-v5e").flops("f8") == load_target("tpu-v5e").flops("bf16") == 197e12
    assert load_target("h200").flops("f4") == load_target("h200").flops("f8")
    assert load_target("b200").flops("f4") == 9000e12
    assert load_target("l40s").flops("f8") == 733e12
    assert load_target("rtx4090").flops("f8") == 330.3e12  # With sums in f32.


def test_extras_have_the_compilers_of_all_targets() -> None:
    text = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert {load_target(name).extra for name in target_names()} - {""} <= set(extras)


def test_without_a_plugin_the_command_that_installs_it_is_named(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    for target, extra in (("h200", "cuda"), ("tpu7x", "tpu")):
        done = command(program, "--target", target, "-o", tmp_path / "out", code=1)
        assert f"XLA's compiler for {target} is not installed" in done.stderr
        assert f'pip install "scalify-hlo[{extra}]"' in done.stderr


def test_the_time_limit_is_kept(program: Path, tmp_path: Path) -> None:
    done = command(program, "--target", "cpu", "-o", tmp_path / "out", "--timeout", "0.01", code=1)
    assert "did not compile the program for cpu in 0.01 seconds" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_error_of_xla_is_told_with_its_op() -> None:
    (batch,) = jax.export.symbolic_shape("b")
    exported = program_of(lambda rows: rows @ rows.T, shaped(batch, 4))
    with pytest.raises(InputError, match=r"XLA cannot compile .*[Dd]ynami") as caught:
        compiled(exported)
    assert caught.value.hint == "the op is rows"


def test_a_process_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    dies = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    monkeypatch.setattr(children, "command", lambda *_: [sys.executable, "-c", dies])
    with pytest.raises(
        InputError, match=r"XLA cannot compile the program for cpu: it was ended by SIGKILL"
    ):
        compiled(compiling.loops())


def test_a_program_beyond_the_memory_of_the_target_is_refused() -> None:
    made = compiled(compiling.kinds())
    small = replace(load_target("cpu"), memory=made.peak - 2**20)
    with pytest.raises(InputError, match=f"needs {made.peak / 2**20:.2f} MiB .* 1.00 MiB too much"):
        require_fits(made, small, "program.mlir")
    require_fits(made, replace(small, memory=made.peak), "program.mlir")


def test_a_folder_with_other_files_is_kept(program: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = command(program, "--target", "cpu", "-o", tmp_path, code=1)
    assert "the folder has other files, such as 'mine.txt'" in done.stderr
    assert os.listdir(tmp_path) == ["mine.txt"]


@pytest.mark.parametrize("step", ["new", "old"])
def test_a_folder_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    folder = tmp_path / "out"
    write_folder(str(folder), {"a": "1"})
    replace_ = os.replace

    def full(source: Path, target: Path) -> None:
        if source == folder if step == "old" else source.name.endswith(".new"):
            raise OSError(28, "No space left on device")
        replace_(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="no space left on device"):
        write_folder(str(folder), {"a": "2"})
    assert os.listdir(tmp_path) == ["out"]
    assert (folder / "a").read_text() == "1"


@pytest.mark.parametrize("name", DEVICES)
def test_a_matmul_of_f8_is_a_kernel_of_cublas(name: str) -> None:
    """Without an algorithm, XLA would take one of its own kernels, if it is not told not to."""
    target = require_plugin(name)
    flags = {"xla_gpu_enable_triton_gemm": False}
    made = compile_record(
        compiled(compiling.quantized(2048, 4096, 1024), name, flags=flags), target, "m"
    )
    (gemm,) = [k for k in made["kernels"] if k["cause"] == "gemm"]
    assert gemm["kernel"] == "__cublas$lt$matmul$f8"
    assert (made["flops"], made["f8_share"]) == ({"f8": 2 * 2048 * 4096 * 1024}, 1.0)
    moved = 1024 * (2048 + 4096) + 2 * 2048 * 4096
    assert math.isclose(gemm["read"] + gemm["written"], moved, abs_tol=16)
    assert made["estimate"]["us"] > 1e6 * moved / (target.bandwidth or math.inf) - 1e-3
    assert made["memory"]["device"] == target.memory


@pytest.mark.parametrize("name", ["cpu", "h200", "tpu-v5e", "tpu7x"])
def test_a_gather_is_counted_once(name: str) -> None:
    """Also if it starts and ends in two instructions, of which the first returns its operand."""
    require_plugin(name)
    record = report(compiling.gathered, name)
    assert record["collectives"] == {"f32": 4 * 4096 * 64}


@pytest.mark.parametrize(
    ("name", "one", "eight"), [("tpu-v6e", "v6e:1x1", "v6e:2x4"), ("tpu7x", "tpu7x:1x1x1", "2x2x1")]
)
def test_a_host_with_one_chip_says_so(name: str, one: str, eight: str) -> None:
    """libtpu takes four for a host, and refuses a grid that is smaller."""
    target = load_target(name)
    assert target.described(1) == {"topology_name": one, "chips_per_host_bounds": [1, 1, 1]}
    described = target.described(8)
    assert described["topology_name"].endswith(eight)
    assert "chips_per_host_bounds" not in described


@pytest.mark.parametrize("name", ["tpu-v5e", "tpu-v6e", "tpu7x"])
def test_a_program_compiles_for_tpus(name: str) -> None:
    require_plugin(name)
    record = report(compiling.loops, name)
    assert faults(record, "compile") == []
    one = 2 * compiling.BATCH * compiling.WIDTH**2
    assert sum(record["flops"].values()) == one * 3 * compiling.LAYERS
    assert record["loops_of_unknown_length"] == 0
    assert record["estimate"]["us"] > 0


GATHER = (
    "gather({of}, %i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
    "index_vector_dim=1, slice_sizes={{1,1}}"
)


def bytes_read(body: str, result: str = "f32[8,1]") -> int:
    """The bytes that a fusion reads of bf16[64,256], of indices s32[8,1] and of f32[64,256]."""
    text = f"""HloModule m, is_scheduled=true

%fused (x: bf16[64,256], i: s32[8,1], y: f32[64,256]) -> {result} {{
  %x = bf16[64,256]{{1,0}} parameter(0)
  %i = s32[8,1]{{1,0}} parameter(1)
  %y = f32[64,256]{{1,0}} parameter(2)
{body}
}}

ENTRY %main (x: bf16[64,256], i: s32[8,1], y: f32[64,256]) -> {result} {{
  %x = bf16[64,256]{{1,0}} parameter(0)
  %i = s32[8,1]{{1,0}} parameter(1)
  %y = f32[64,256]{{1,0}} parameter(2)
  ROOT %f = {result} fusion(%x, %i, %y), kind=kLoop, calls=%fused
}}
"""
    (kernel,) = kernels_of(read_hlo(text))
    return kernel.read


WHOLE, INDICES = 64 * 256, 8 * 4
CONVERTED = "  %c = f32[64,256]{1,0} convert(%x)\n"
ADDED = CONVERTED + "  %a = f32[64,256]{1,0} add(%c, %y)\n"


def picked(of: str) -> str:
    return f"  ROOT %g = f32[8,1]{{1,0}} {GATHER.format(of=of)}"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        # The logits of labels, in f32: what is not picked is not converted.
        (CONVERTED + picked("%c"), 8 * 2 + INDICES),
        (ADDED + picked("%a"), 8 * 2 + 8 * 4 + INDICES),
        # Two ways to the same pick are counted once.
        (
            ADDED + "  %d = f32[64,256]{1,0} multiply(%a, %c)\n" + picked("%d"),
            8 * 2 + 8 * 4 + INDICES,
        ),
    ],
)
def test_what_is_picked_of_a_computed_value_is_read(body: str, read: int) -> None:
    assert bytes_read(body) == read


def test_a_value_that_is_also_returned_is_read_as_a_whole() -> None:
    body = CONVERTED + picked("%c").replace("ROOT ", "")
    body += "\n  ROOT %t = (f32[8,1]{1,0}, f32[64,256]{1,0}) tuple(%g, %c)"
    assert bytes_read(body, "(f32[8,1], f32[64,256])") == 2 * WHOLE + INDICES


def test_a_value_that_is_the_result_is_read_as_a_whole() -> None:
    body = "  ROOT %c = f32[64,256]{1,0} convert(%x)"
    assert bytes_read(body, "f32[64,256]") == 2 * WHOLE


def test_a_reduction_reads_the_whole() -> None:
    body = CONVERTED + "  ROOT %r = f32[64,1]{1,0} reduce-window(%c, %y), window={size=1x256}"
    assert bytes_read(body, "f32[64,1]") == 2 * WHOLE + 4 * WHOLE


TRANSPOSED = """HloModule m, is_scheduled=true

%fused (x: bf16[64,8,64]) -> bf16[64,64,8] {
  %x = bf16[64,8,64]{2,1,0} parameter(0)
  ROOT %t = bf16[64,64,8]{LAYOUT} transpose(%x), dimensions={0,2,1}
}

ENTRY %main (x: bf16[64,8,64]) -> bf16[64,64,8] {
  %x = bf16[64,8,64]{2,1,0} parameter(0)
  ROOT %f = bf16[64,64,8]{LAYOUT} fusion(%x), kind=kLoop, calls=%fused
}
"""


def test_a_transpose_to_few_adjacent_numbers_is_slow() -> None:
    """It is the order in memory that counts."""
    few, many = (
        kernels_of(read_hlo(TRANSPOSED.replace("LAYOUT", layout)))[0]
        for layout in ("2,1,0", "1,2,0")
    )
    assert few.few
    assert not many.few
    target = load_target("h200")
    slow, fast = (kernel_seconds(kernel, target, reached=True) or 0 for kernel in (few, many))
    assert slow / fast == pytest.approx(target.share("transpose") / target.share("transpose_few"))
    assert kernel_seconds(few, target) == kernel_seconds(many, target)


@pytest.mark.parametrize(
    ("shape", "adjacent"),
    [
        ("bf16[2,3,5]{2,1,0}", 5),
        ("bf16[2,3,5]{0,1,2}", 2),
        ("bf16[2,3,1]{2,1,0:T(8,128)}", 3),
        ("f32[]", 1),
        ("f32[1,1]{1,0}", 1),
    ],
)
def test_the_adjacent_numbers_of_a_shape(shape: str, adjacent: int) -> None:
    (found,) = shapes_of(shape)
    assert found.adjacent == adjacent
