"""The measured times of the kernels of a program, by cause, beside the roofline's estimates.

    python -m benchmarks.gpu --profile --output benchmarks/results/gpu_kernels.json
    python -m benchmarks.gpu_profile  # the shares of peaks and bandwidth that they reached

The descriptions of targets have these shares, rounded, for the estimate at the speeds that kernels
reached.

JAX's profiler records each kernel with the instruction of the optimized HLO that it runs. Kernels
of command buffers are recorded without it; `NO_COMMAND_BUFFERS` is the option of XLA that keeps
them apart.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from scalify_hlo.targets.description import Target, load_target
from scalify_hlo.targets.kernels import Kernel
from scalify_hlo.targets.roofline import kernel_seconds

RESULTS = Path(__file__).parent / "results" / "gpu_kernels.json"
NO_COMMAND_BUFFERS = "--xla_gpu_enable_command_buffer="
CALLS = 3
UNKNOWN = "without an instruction"
"""The class of kernels for which the profiler records no instruction."""
MOST = 40
"""The kernels that are listed."""
CLASSES = {
    "f8": "gemm f8",
    "bf16": "gemm bf16",
    "memory": "other",
    "cast": "cast",
    "transpose": "transpose",
}
"""The classes of kernels by the keys of shares in the description of a target."""
NAMES = {"f8_batched": "batch-gemm", "pad": "loop_pad"}
"""Parts of the names of kernels by the keys of further shares."""
_COLUMNS = ("us", "estimate_us", "launches", "bytes", "flops")


def instruction_times(run: Callable[[], Any]) -> dict[str, float]:
    """The seconds of a call by instruction of the optimized HLO."""
    jax.block_until_ready(run())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(CALLS):
                jax.block_until_ready(run())
        (path,) = Path(folder).rglob("*.xplane.pb")
        data = jax.profiler.ProfileData.from_file(str(path))
        total: dict[str, float] = defaultdict(float)
        for name, nanoseconds in _events(data):
            total[name] += nanoseconds
    return {name: 1e-9 * count / CALLS for name, count in total.items()}


def _events(data: Any) -> Iterator[tuple[str, float]]:
    """Instructions and their nanoseconds; of a GPU those of its streams, else those of the host."""
    planes = list(data.planes)
    devices = [plane for plane in planes if plane.name.startswith("/device:GPU")]
    for plane in devices or planes:
        for line in plane.lines:
            if devices and not line.name.startswith("Stream"):
                continue
            for event in line.events:
                stats = {name: value for name, value in event.stats if name == "hlo_op"}
                if devices or stats:
                    yield str(stats.get("hlo_op", UNKNOWN)), event.duration_ns


def class_of(kernel: Kernel) -> str:
    """The cause of a kernel; matmuls are told apart by the format of their operands."""
    formats = "+".join(sorted(kernel.flops))
    return f"{kernel.cause} {formats}".strip()


def by_class(
    kernels: Sequence[Kernel], times: dict[str, float], target: Target
) -> dict[str, dict[str, float]]:
    """Microseconds, estimates, launches, bytes and operations by class of kernels."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(_COLUMNS, 0.0))
    left = dict(times)
    for kernel in kernels:
        entry = found[class_of(kernel)]
        entry["us"] += 1e6 * left.pop(kernel.name, 0.0)
        entry["estimate_us"] += 1e6 * kernel.times * (kernel_seconds(kernel, target) or 0)
        entry["launches"] += kernel.times
        entry["bytes"] += kernel.times * kernel.bytes
        entry["flops"] += kernel.times * sum(kernel.flops.values())
    if left:
        found[UNKNOWN]["us"] = 1e6 * sum(left.values())
        found[UNKNOWN]["launches"] = len(left)
    return {name: {k: round(v, 2) for k, v in entry.items()} for name, entry in found.items()}


def of_kernels(
    kernels: Sequence[Kernel], times: dict[str, float], target: Target
) -> list[dict[str, Any]]:
    """The kernels that take most time, with what they do."""
    rows: list[dict[str, Any]] = [
        {
            "name": kernel.name,
            "op": kernel.op_name[-80:],
            "kernel": kernel.kernel,
            "class": class_of(kernel),
            "times": kernel.times,
            "us": round(1e6 * times.get(kernel.name, 0.0), 2),
            "estimate_us": round(1e6 * kernel.times * (kernel_seconds(kernel, target) or 0), 2),
        }
        for kernel in kernels
    ]
    return sorted(rows, key=lambda row: -row["us"])[:MOST]


def shares(record: Mapping[str, Any]) -> dict[str, float]:
    """The estimated time of all kernels of a class over the measured one, by the key of a share."""
    programs = [p for model in record["models"].values() for p in model["programs"].values()]
    found = {}
    for key, name in CLASSES.items():
        entries = [p["classes"][name] for p in programs if name in p.get("classes", {})]
        found[key] = _share(entries)
    kernels = [kernel for program in programs for kernel in program["kernels"]]
    for key, part in NAMES.items():
        found[key] = _share([kernel for kernel in kernels if part in kernel["name"]])
    return found


def _share(entries: Sequence[Mapping[str, float]]) -> float:
    measured = sum(entry["us"] for entry in entries)
    return sum(entry["estimate_us"] for entry in entries) / measured


def main() -> int:
    """Prints the shares of the last profile beside those of the target."""
    record = json.loads(RESULTS.read_text())
    target = load_target(record["target"])
    print(f"{record['device']}: share reached, and share that {target.name} is described with")
    for key, share in shares(record).items():
        print(f"{key:10} {share:.2f}  {target.share(key):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
