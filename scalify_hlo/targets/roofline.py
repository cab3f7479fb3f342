"""Estimated times of compiled programs: the roofline of each kernel, one after the other.

A kernel takes the time of its matmuls at the peak of their formats, or that of its bytes at the
bandwidth of the memory, whichever is longer. Other arithmetic costs nothing. The estimate is a
lower bound, which no program reaches; it says which of two programs is likely to be faster.

Kernels of FP8 are further from their bounds than those of bf16. For a device on which kernels were
timed, a second estimate takes the shares of peak and bandwidth that they reached there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from scalify_hlo.results.kinds import Count, Microseconds, named
from scalify_hlo.results.model import keys
from scalify_hlo.targets.description import CONVOLVED, LAUNCH, Target
from scalify_hlo.targets.kernels import CAUSES, Kernel


@keys("launches bytes us=seconds")
@dataclass(frozen=True, slots=True)
class Share:
    """The kernels of one cause.

    Attributes:
        launches: How many kernels a run of the program launches.
        bytes: The bytes that they move.
        seconds: Their estimated time; None without an estimate.
    """

    launches: Count
    bytes: Count
    seconds: Microseconds | None


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a compiled program.

    Attributes:
        flops: Floating-point operations of matmuls and convolutions, by class of formats.
        read: The bytes that are read.
        written: The bytes that are written.
        causes: The kernels by cause.
        collectives: The bytes of the results of collectives, by element type.
        seconds: The estimated time; None if the target describes no peaks.
        seconds_with_launches: The same with `LAUNCH` for each kernel.
        seconds_reached: The same at the speeds that kernels reached on the device; None if none
            were timed there.
    """

    flops: dict[str, int]
    read: Count
    written: Count
    causes: Annotated[dict[str, Share], named(CAUSES)]
    collectives: dict[str, int]
    seconds: Microseconds | None
    seconds_with_launches: Microseconds | None
    seconds_reached: Microseconds | None

    @property
    def launch(self) -> Microseconds:
        """The time for each launch in the second estimate."""
        return LAUNCH

    @property
    def launches(self) -> Count:
        """The number of kernels that a run of the program launches."""
        return sum(share.launches for share in self.causes.values())

    @property
    def f8_share(self) -> float | None:
        """The share of the floating-point operations that has f8 operands; None without any."""
        total = sum(self.flops.values())
        return self.flops.get("f8", 0) / total if total else None


def kernel_seconds(kernel: Kernel, target: Target, *, reached: bool = False) -> float | None:
    """Returns the estimated time of one launch of a kernel; None without an estimate.

    Args:
        kernel: The kernel.
        target: The device.
        reached: Whether the speeds are those that kernels reached on the device.
    """
    if target.bandwidth is None:
        return None
    share = target.share if reached else lambda _: 1.0
    cause = kernel.cause if kernel.cause in ("cast", "transpose") else "memory"
    cause = "transpose_few" if kernel.few else cause
    times = [kernel.bytes / target.bandwidth / share(cause)]
    if target.interconnect is not None:
        times.append(kernel.exchanged / target.interconnect)
    products = ((target.flops(key), key, flops) for key, flops in kernel.flops.items())
    end = CONVOLVED * kernel.convolves
    times.append(sum(flops / peak / share(key + end) for peak, key, flops in products if peak))
    return max(times)


def work_of(kernels: Sequence[Kernel], target: Target) -> Work:
    """Returns the work of a program and its estimated time.

    Args:
        kernels: The kernels of the program.
        target: The device.
    """
    flops: Counter[str] = Counter()
    collectives: Counter[str] = Counter()
    for kernel in kernels:
        flops.update({key: kernel.times * count for key, count in kernel.flops.items()})
        if kernel.exchanged:
            collectives[kernel.result] += kernel.times * kernel.exchanged
    groups = {cause: [k for k in kernels if k.cause == cause] for cause in CAUSES}
    seconds = _seconds(kernels, target)
    launches = LAUNCH * sum(kernel.times for kernel in kernels)
    reached = _seconds(kernels, target, reached=True) if target.reached else None
    return Work(
        flops=dict(flops),
        read=sum(k.times * k.read for k in kernels),
        written=sum(k.times * k.written for k in kernels),
        causes={cause: _share(group, target) for cause, group in groups.items()},
        collectives=dict(collectives),
        seconds=seconds,
        seconds_with_launches=None if seconds is None else seconds + launches,
        seconds_reached=None if reached is None else reached + launches,
    )


def _share(kernels: Sequence[Kernel], target: Target) -> Share:
    launches = sum(kernel.times for kernel in kernels)
    moved = sum(kernel.times * kernel.bytes for kernel in kernels)
    return Share(launches, moved, _seconds(kernels, target))


def _seconds(kernels: Iterable[Kernel], target: Target, *, reached: bool = False) -> float | None:
    if target.bandwidth is None:
        return None
    times = ((kernel.times, kernel_seconds(kernel, target, reached=reached)) for kernel in kernels)
    return sum((count * (seconds or 0.0) for count, seconds in times), 0.0)
