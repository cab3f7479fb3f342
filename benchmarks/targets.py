"""The H200 for benchmarks that read `HloModule`s, compiled in their own process.

`scalify-hlo compile` has targets as data files; its extra `cuda` has the plugin.
"""

import os
from typing import Any

from jaxlib import xla_client

from scalify_hlo._compat import ir, new_context
from scalify_hlo.targets.description import Target, load_target

H200 = load_target("h200")


def use_no_device() -> None:
    """Keeps plugins from looking for devices; to be called before JAX has made a backend."""
    os.environ.update({"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3", **H200.environment})


def compile_for(target: Target, text: str) -> Any:
    """The optimized HLO module of StableHLO text.

    Raises:
        RuntimeError: The plugin is not installed, or XLA can't compile the program.
    """
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform=target.platform, **target.described(1))
    device: Any = topology.devices[0]
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(target.flags.items())
    with new_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList((device,))
        (optimized,) = device.client.compile(module, devices, options).hlo_modules()
    return optimized
