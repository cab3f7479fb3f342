"""Accelerators that XLA compiles for without there being one, as descriptions of what they are.

XLA's plugins compile for a described topology; nothing can be run or timed. What a plugin needs
is the dependency group `gpu`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxlib import xla_client

from scalify_hlo._compat import ir, new_context

_HOPPER = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048
  shared_memory_per_block: 49152 shared_memory_per_core: 233472
  shared_memory_per_block_optin: 232448 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  memory_bandwidth: 4800000000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 151397597184 cuda_compute_capability { major: 9 }
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 }
runtime_version { major: 12 minor: 8 }
device_description_str: "NVIDIA H200 141GB HBM3e"
"""


@dataclass(frozen=True)
class Target:
    """A machine with one accelerator.

    Attributes:
        platform: the plugin's name.
        description: what `get_topology_desc` takes.
        flags: options of XLA.
    """

    platform: str
    description: Mapping[str, str]
    flags: Mapping[str, int | bool] = field(default_factory=dict)


H200 = Target(
    "cuda",
    {"topology_name": "", "topology": "1x1x1", "target_config": _HOPPER},
    {"xla_gpu_autotune_level": 0},  # there is nothing to time on
)

_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def use_no_device() -> None:
    """Keeps plugins from looking for devices; to be called before JAX has made a backend."""
    os.environ.update(_ENVIRONMENT)


def compile_for(target: Target, text: str) -> Any:
    """The optimized HLO module of StableHLO text.

    Raises:
        RuntimeError: The plugin is not installed, or XLA can't compile the program.
    """
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform=target.platform, **target.description)
    device: Any = topology.devices[0]
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(target.flags.items())
    with new_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList((device,))
        (optimized,) = device.client.compile(module, devices, options).hlo_modules()
    return optimized
