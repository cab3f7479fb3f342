"""What the checks share: how one is described, and how commands are run."""

import contextlib
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import jax
import jax.export

_SECONDS = 300


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: What has to be so.
        run: Raises AssertionError where it is not.
    """

    name: str
    run: Callable[[], None]


def exported(function: Callable[..., Any], *types: Any, **options: Any) -> jax.export.Exported:
    """A function as users export it."""
    return jax.export.export(jax.jit(function), **options)(*types)


def text_of(function: Callable[..., Any], *types: Any, **options: Any) -> str:
    """The StableHLO of a function."""
    return str(exported(function, *types, **options).mlir_module())


def command(
    *arguments: str, text: str | bytes | None = None, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Runs ``scalify-hlo`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "scalify_hlo", *arguments],
        input=text.encode() if isinstance(text, str) else text,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
        timeout=_SECONDS,
    )


def require(condition: object, otherwise: str) -> None:
    """Says that something is so, and what is wrong otherwise."""
    if not condition:
        raise AssertionError(otherwise)


def expect(done: subprocess.CompletedProcess[bytes], code: int, *told: str) -> None:
    """Says that a command ended with a code and said some things, without a traceback."""
    said = done.stderr.decode()
    require(done.returncode == code, f"it exits with {done.returncode}: {said[-300:]}")
    require("Traceback" not in said, "it prints a traceback")
    require("defect" not in said, f"it calls it a defect: {said[:300]}")
    for words in told:
        require(words in said, f"it does not say {words!r}: {said[:300]}")


def refused(call: Callable[[], Any], error: type[Exception], *told: str) -> None:
    """Says that a call raises an error that says some things."""
    said = ""
    try:
        call()
    except error as raised:
        said = str(raised)
    require(said, "nothing is raised")
    for words in told:
        require(words in said, f"it does not say {words!r}: {said}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of rewrites."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """An empty folder, as long as it is needed."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
