"""Damaged arrays, recipes and profiles: each is read, or refused in one sentence."""

from __future__ import annotations

import io
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np

import scalify_hlo
from scalify_hlo.errors import InputError, ScalifyError, UsageError
from scalify_hlo.profile.file import dump_profile, parse_profile
from scalify_hlo.program.arrays import arrays_of
from scalify_hlo.recipes.loading import OPTIONS, load_recipe
from scalify_hlo.recipes.toml import preset_text, recipe_names
from scalify_hlo.run.runner import Runner
from tests.py.fuzzing.edits import NUMBERS, damaged
from tests.py.fuzzing.files import require_one_sentence
from tests.py.fuzzing.finding import FindingError
from tests.py.shared import samples

NAMES = ("a\x1b[2Jb", "\u202e", "x\nerror: y", "\x00", "é" * 300, "*", "", "../x", "[")
"""Names that do harm where they are printed raw, or that patterns may take for others."""
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 1e400, -0.0, 1e-320, "", "f8E4M3FN", "1e3", [], {}, [[]], {"": 0}),
    *NAMES,
)


def check(kind: str, random: Random) -> str:
    """Damages a file and has it read.

    Args:
        kind: ``array``, ``recipe`` or ``profile``.
        random: What to draw from.

    Returns:
        What became of it.

    Raises:
        FindingError: Something that must not be.
    """
    data = _DRAWS[kind](random)
    try:
        _READERS[kind](data)
    except (InputError, UsageError) as error:
        require_one_sentence(error)
        return f"{kind}, refused"
    except ScalifyError as error:
        raise FindingError(
            "neither the input's fault nor the user's", f"{error}\n{data!r}"
        ) from None
    except Exception as error:
        kind = f"traceback: {type(error).__name__}"
        raise FindingError(kind, f"{error!r}\n{data!r}") from error
    return f"{kind}, read"


def _arrays(random: Random) -> bytes:
    file = io.BytesIO()
    write = random.choice((np.savez, np.savez_compressed))
    write(file, **_given(random))
    data = file.getvalue()
    if random.random() < 0.5:
        return data.replace(*random.choice(_HEADERS), 1)
    return damaged(data, _arrays(random), random)


_HEADERS = (
    *((b"(4, 3)", b"(32, -1)"), (b"(4, 3)", b"(9**99,)"), (b"'<f4'", b"'|O8'")),
    *((b"'<f4'", b"'<f9'"), (b"False", b"True "), (b"NUMPY\x01", b"NUMPY\x03")),
    *((b"'descr'", b"'shape'"), (b"arg0.npy", b"arg1.npy"), (b"(4, 3)", b"(1e9, 2)")),
)
"""Parts of an archive, and what is put in their place."""


def _given(random: Random) -> dict[str, Any]:
    """Draws the arguments of the sample program, some of which do not fit."""
    shape, dtype = random.choice(((4, 3), (4,), ())), random.choice(("f4", "f2", "i4", "c8", "U3"))
    fits = random.random() < 0.5
    drawn = np.zeros((4, 3), "f4") if fits else np.zeros(shape, dtype)
    second = random.choice(("arg1", "arg1", "arg2", "arr_0", *NAMES[:4]))
    return {"arg0": drawn, second: np.zeros((3, 2), "f4")}


def _recipe(random: Random) -> bytes:
    text = preset_text(random.choice(recipe_names()))
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.choice([match.start() for match in re.finditer(r"^", text, re.MULTILINE)])
        value = json.dumps(random.choice(VALUES))
        key = random.choice((*OPTIONS, *map(json.dumps, NAMES)))
        line = random.choice((f"{key} = {value}\n", f"[{key}]\n", f"{key}.{key} = {value}\n"))
        text = text[:place] + line + text[place:]
    data = text.encode()
    return damaged(data, data, random) if random.random() < 0.4 else data


def _profile(random: Random) -> bytes:
    tree = json.loads(_whole_profile())
    for _ in range(random.choice((0, 1, 1, 2))):
        _edit(tree, random)
    data = json.dumps(tree).encode()
    return damaged(data, data, random) if random.random() < 0.3 else data


def _edit(tree: Any, random: Random) -> None:
    """Puts a value in the place of another, takes one out, or adds one, anywhere in a tree."""
    while isinstance(tree, dict | list) and tree:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        key = random.choice(list(keys))
        if random.random() < 0.3 or not isinstance(tree[key], dict | list):
            kind = random.randrange(4)
            if kind == 0:
                del tree[key]
            elif kind == 1 and isinstance(tree, dict):
                tree[random.choice(NAMES)] = tree[key]
            elif kind == 2:
                tree[key] = random.choice(NUMBERS)
            else:
                tree[key] = random.choice(VALUES)
            return
        tree = tree[key]


@cache
def _whole_profile() -> str:
    """The profile of the sample program."""
    x, w = np.ones((4, 3), np.float32), np.ones((3, 2), np.float32)
    return dump_profile(scalify_hlo.calibrate(samples.TEXT, [(x, w)]))


def _read_arrays(data: bytes) -> None:
    Runner(samples.TEXT, [arrays_of(data, "file")])


def _read_recipe(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(data)
        file.flush()
        load_recipe(file.name)


def _read_profile(data: bytes) -> None:
    profile = parse_profile(data, "file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = {"matmul.smallest": 1}
        scalify_hlo.rewrite(samples.TEXT, profile=profile, settings=small)


_DRAWS: Mapping[str, Callable[[Random], bytes]] = {
    "array": _arrays,
    "recipe": _recipe,
    "profile": _profile,
}
_READERS: Mapping[str, Callable[[bytes], None]] = {
    "array": _read_arrays,
    "recipe": _read_recipe,
    "profile": _read_profile,
}
KINDS = tuple(_DRAWS)
