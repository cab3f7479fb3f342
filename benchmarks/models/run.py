"""Runs StableHLO text on XLA CPU as it is, on XLA CPU without fusion, or on the interpreter."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import backend
from jaxlib import xla_client

from scalify_hlo.program.tensors import Array
from scalify_hlo.run.child import interpret

Run = Callable[[str, Sequence[Array]], list[Array]]
"""Runs `main` of a program on flat lists of arrays."""


def fused(text: str, arguments: Sequence[Array]) -> list[Array]:
    """XLA as it comes: what it fuses it also contracts to fused multiply-adds."""
    return _run_on_xla(text, arguments, {})


def unfused(text: str, arguments: Sequence[Array]) -> list[Array]:
    """XLA without fusion: every op is rounded by itself, as in the program."""
    return _run_on_xla(text, arguments, {"xla_disable_hlo_passes": "fusion"})


def _run_on_xla(
    text: str, arguments: Sequence[Array], options: Mapping[str, str | bool]
) -> list[Array]:
    client: Any = backend.get_backend("cpu")
    device = client.local_devices()[0]
    compile_options: Any = xla_client.CompileOptions()
    compile_options.env_option_overrides = list(options.items())
    loaded = client.compile_and_load(text, xla_client.DeviceList((device,)), compile_options)
    return [np.asarray(a) for a in loaded.execute([jax.device_put(a, device) for a in arguments])]


RUNS: Mapping[str, Run] = {"xla": fused, "unfused": unfused, "interpreter": interpret}
