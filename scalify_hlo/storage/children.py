"""The command line of child processes, which import nothing from the working folder.

Others may have filled it: a file ``json.py`` there would be run in place of Python's own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_OWN: Final = os.path.realpath(Path(__file__).parents[2])
"""The folder of this package, which may be the working folder of its developers."""


def trusted(path: Iterable[str]) -> list[str]:
    """Returns the folders of an import path that are neither relative nor the working folder."""
    try:
        here = os.path.realpath(os.curdir)
    except OSError:  # The working folder was removed.
        here = _OWN
    absolute = filter(os.path.isabs, path)
    return [each for each in absolute if here == _OWN or os.path.realpath(each) != here]


def command(module: str, function: str, *arguments: str) -> list[str]:
    """Returns the command line of a child that calls a function of this package.

    Args:
        module: The name of the module.
        function: The name of the function, which takes no arguments.
        arguments: What the child has in `sys.argv`.
    """
    path = [*trusted(sys.path), _OWN]
    start = f"import sys; sys.path[:] = {path!a}; from {module} import {function}; {function}()"
    return [sys.executable, "-I", "-c", start, *arguments]
