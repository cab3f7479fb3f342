"""Registration of ScaledArray with jax.export as soon as jax is imported, before or after this.

`jax.export.deserialize` reads the nodes of a file only if their types are registered. Registration
needs jax, which is slow to import and which the command line often does not need. So an import hook
waits for jax, and runs when a program imports it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final

_JAX: Final = "jax"
_NODES: Final = "scalify_hlo.jax_api.scaled_array"


def register_nodes() -> None:
    """Registers ScaledArray with jax.export: now if jax is imported, else right after it is."""
    if _JAX in sys.modules:
        importlib.import_module(_NODES)
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds jax by the other finders, and lets its loader register the nodes."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`. A spec alone imports nothing, and the hook stays."""
        if name != _JAX:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((each for each in found if each is not None), None)
        if spec is not None and spec.loader is not None:
            loading: Any = _Loader(spec.loader, self._done)
            spec.loader = loading
        return spec

    def _done(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        importlib.import_module(_NODES)


class _Loader:
    """Loads a module, and then calls a function.

    Args:
        loader: The loader of the module, which the module keeps as its own.
        then: The function.
    """

    def __init__(self, loader: Any, then: Callable[[], None]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """See `importlib.abc.Loader`."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._then()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
