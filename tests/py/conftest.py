"""Shared settings of the Python tests."""

import os

from hypothesis import HealthCheck, settings

# XLA and the interpreter compile on first use, so one example's time says nothing about the next.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# The judges are XLA CPU and the interpreter, also on a machine that has an accelerator.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
