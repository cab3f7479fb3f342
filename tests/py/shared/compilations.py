"""The compilations of XLA while a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax import monitoring


@contextmanager
def compilations() -> Iterator[list[str]]:
    """Lists the functions that XLA compiles."""
    found: list[str] = []

    def note(event: str, duration_secs: float, **about: Any) -> None:
        del duration_secs
        if "backend_compile" in event:
            found.append(str(about.get("fun_name")))

    monitoring.register_event_duration_secs_listener(note)
    try:
        yield found
    finally:
        monitoring.unregister_event_duration_listener(note)
