"""Descriptions of targets: data files that say what a device can do and how XLA compiles for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from scalify_hlo.errors import InputError, nearest
from scalify_hlo.results.kinds import Count

_DATA: Final = Path(__file__).parent / "data"
_SUFFIX: Final = ".toml"
_TERA: Final = 1e12
BATCHED: Final = "_batched"
"""The end of the kind of a share for matmuls with batch dimensions."""
CONVOLVED: Final = "_convolution"
"""The end of the kind of a share for convolutions."""
LAUNCH: Final = 2e-6
"""The seconds that each launch takes in the second estimate."""
_HOST: Final = 2
"""The chips of a host in each of the first two dimensions of a grid."""

WIDER: Final[Mapping[str, str]] = {
    "f4": "f8",
    "f8": "bf16",
    "int8": "bf16",
    "f16": "bf16",
    "bf16": "f32",
    "f32": "f32_highest",
    "f64": "f32_highest",
}
"""For each class of formats, the class in which a device without it computes its matmuls."""


@dataclass(frozen=True)
class Target:
    """A device, of which XLA's compiler knows all that it needs.

    Attributes:
        name: The name of the target, such as ``h200``.
        title: The name of the device.
        platform: The platform of XLA: ``cpu``, ``cuda`` or ``tpu``.
        extra: The extra of this package that installs the compiler; empty if jaxlib has it.
        plugins: The distributions that the compiler consists of.
        native: The element types whose matmuls the device computes without a conversion.
        environment: Environment variables of the process that compiles.
        flags: Options of XLA.
        peak: Floating-point operations per second of dense matmuls, by class of formats.
        topology: The description of a group of devices for XLA.
        memory: The memory of a device in bytes; None if it is not described.
        bandwidth: The bandwidth of the memory in bytes per second; None if it is not described.
        interconnect: The bandwidth between devices in bytes per second and direction; None if it is
            not described.
        reached: The shares of a peak, by class of formats, and of the bandwidth, by kind of kernel,
            that were measured on such a device; see `share`.
        contracted_last: Whether kernels multiply f8 operands only if the dimension that is summed
            over is the last one of both, so that others are transposed first.
    """

    name: str
    title: str
    platform: str
    extra: str
    plugins: tuple[str, ...]
    native: tuple[str, ...]
    environment: Mapping[str, str]
    flags: Mapping[str, int | bool | str]
    peak: Mapping[str, float]
    topology: Mapping[str, Any]
    memory: Count | None
    bandwidth: float | None = None
    interconnect: float | None = None
    reached: Mapping[str, float] = field(default_factory=dict)
    contracted_last: bool = False

    def flops(self, format_class: str) -> float | None:
        """Returns the peak for a class of formats, or that of the class that takes its place.

        Args:
            format_class: A key of `WIDER`.

        Returns:
            Floating-point operations per second; None if the target describes no peaks.
        """
        seen: set[str] = set()
        while format_class and format_class not in seen:
            if format_class in self.peak:
                return self.peak[format_class]
            seen.add(format_class)
            format_class = WIDER.get(format_class, "")
        return min(self.peak.values(), default=None)

    def share(self, kind: str) -> float:
        """Returns the share of a peak, or of the bandwidth, that kernels reach on the device.

        Args:
            kind: A class of formats for a peak, with the end ``_batched`` or ``_convolution`` for
                matmuls with batch dimensions or convolutions; ``memory``, ``cast``, ``transpose``,
                ``transpose_few``, ``pad`` or ``pad_f8``, for the bandwidth.

        Returns:
            What was measured of that kind, or of the class of formats; 1 for devices on which
            nothing was.
        """
        whole = kind.removesuffix(BATCHED).removesuffix(CONVOLVED)
        return self.reached.get(kind, self.reached.get(whole, 1.0))

    def described(self, devices: int) -> dict[str, Any]:
        """Returns the arguments of `jax.experimental.topologies.get_topology_desc`.

        Args:
            devices: The number of devices.

        Raises:
            InputError: No described group has so many devices.
        """
        if "grids" not in self.topology:
            shape = str(self.topology["devices"]).format(devices=devices)
            config = str(self.topology["target_config"])
            return {"topology_name": "", "topology": shape, "target_config": config}
        grids = {int(count): str(grid) for count, grid in self.topology["grids"].items()}
        fits = [count for count in grids if count >= devices]
        if not fits:
            raise InputError(
                f"the target {self.name} is described with at most {max(grids)} devices",
                hint="give --devices a smaller number",
            )
        return _grid(grids[min(fits)])


def _grid(name: str) -> dict[str, Any]:
    """Returns the description of a grid of chips, such as ``v6e:2x4``.

    libtpu takes four chips for a host, and refuses a smaller grid unless the host is said to have
    fewer.
    """
    chips = [int(extent) for extent in name.partition(":")[2].split("x")]
    if min(chips[:2]) >= _HOST:
        return {"topology_name": name}
    bounds = [min(extent, _HOST) for extent in chips[:2]]
    return {"topology_name": name, "chips_per_host_bounds": [*bounds, 1]}


def target_names() -> list[str]:
    """Returns the names of all targets, sorted."""
    names = (entry.name for entry in _DATA.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


@cache
def load_target(name: str) -> Target:
    """Returns the description of a target.

    Args:
        name: The name, such as ``h200``.

    Raises:
        InputError: There is no target of that name.
    """
    names = target_names()
    if name not in names:
        raise InputError(
            f"no target is named {name!r}{nearest(name, names)}",
            hint=f"the targets are: {', '.join(names)}",
        )
    return _target(name, tomllib.loads((_DATA / f"{name}{_SUFFIX}").read_text("utf-8")))


def _target(name: str, data: Mapping[str, Any]) -> Target:
    memory = dict(data["memory"])
    given = {**data, "memory": memory.pop("bytes", None), **memory, "name": name}
    given["peak"] = {key: value * _TERA for key, value in data["peak"].items()}
    given |= {key: tuple(data[key]) for key in ("plugins", "native")}
    return Target(**given)


def plugin_versions(target: Target) -> dict[str, str]:
    """Returns the installed distributions of a target's compiler and their versions.

    Raises:
        InputError: One of them is not installed.
    """
    from importlib import metadata  # It is slow to import, and most commands read no plugin.

    try:
        return {name: metadata.version(name) for name in target.plugins}
    except metadata.PackageNotFoundError as error:
        raise InputError(
            f"XLA's compiler for {target.name} is not installed: there is no {error.name}",
            hint=install_hint(target),
        ) from None


def install_hint(target: Target) -> str:
    """Returns a sentence with the command that installs the compiler of a target."""
    return f'install it with: pip install "scalify-hlo[{target.extra}]"'
