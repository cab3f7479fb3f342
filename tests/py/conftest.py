"""Shared settings of the Python tests."""

import gc
import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# XLA and the interpreter compile on first use, so one example's time says nothing about the next.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# The judges are XLA CPU and the interpreter, also on a machine that has an accelerator.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Tables have the names that tests look for, whatever the terminal; see `WIDTH` in `tools.pages`.
os.environ["COLUMNS"] = "400"

# Most tests compile small programs and run each once or twice: machine code that is not optimized,
# of one part and from the older of two code generators, takes a fifth of the time to make. XLA
# ends the process at a flag that it does not know, and only jaxlib 0.10 has both generators.
FAST_COMPILATION = {
    "xla_backend_optimization_level": "0",
    "xla_cpu_parallel_codegen_split_count": "1",
}
WITH_BOTH = "0.10"
if importlib.metadata.version("jaxlib").startswith(f"{WITH_BOTH}."):
    FAST_COMPILATION["xla_cpu_use_fusion_emitters"] = "false"
# Where there is one generator, results may be rounded otherwise without optimizations, and some
# slow tests compare bits: FAST_COMPILATION=0.10 sets the options with that version of jaxlib only.
if os.environ.get("FAST_COMPILATION") in (
    "1",
    importlib.metadata.version("jaxlib")[: len(WITH_BOTH)],
):
    flags = [f"--{name}={value}" for name, value in FAST_COMPILATION.items()]
    os.environ["XLA_FLAGS"] = " ".join([*flags, os.environ.get("XLA_FLAGS", "")])


@pytest.fixture
def default_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiles with the code generator that XLA chooses: the older one rounds f4 to f16 before."""
    flag = "xla_cpu_use_fusion_emitters"
    if f"--{flag}=false" not in os.environ.get("XLA_FLAGS", ""):
        return
    from jaxlib import xla_client

    make: Any = xla_client.CompileOptions

    def options() -> Any:
        made = make()
        made.env_option_overrides = [(flag, True)]
        return made

    monkeypatch.setattr(xla_client, "CompileOptions", options)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Pauses garbage collection while tests are collected, and leaves them out of it later.

    Each collection would walk through the tens of thousands of objects that describe the tests.
    """
    gc.disable()
    yield
    gc.enable()
    gc.freeze()
