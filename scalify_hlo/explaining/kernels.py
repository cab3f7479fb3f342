"""The kernels of each matmul, by the numbers in their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from scalify_hlo.dialect.matmul_names import number_in
from scalify_hlo.targets.kernels import Kernel

_LIBRARIES: Final[Mapping[str, str]] = {
    "__cublas$lt": "cuBLASLt",
    "__cublas$": "cuBLAS",
    "__cudnn$": "cuDNN",
    "__triton": "Triton",
}
"""The names of libraries by the starts of XLA's names of their kernels."""


def kernels_by_number(kernels: Iterable[Kernel]) -> dict[int, list[Kernel]]:
    """Returns the kernels that compute matmuls, by the numbers of the matmuls.

    A kernel that computes several matmuls is listed at each.
    """
    found: dict[int, list[Kernel]] = {}
    for kernel in kernels:
        numbers = _numbers(kernel.products)
        # Matmuls that read the same scales share casts of these, with the name of the first.
        numbers |= set(sorted(_numbers(kernel.sources))[-1:])
        for number in sorted(numbers):
            found.setdefault(number, []).append(kernel)
    return found


def _numbers(names: Iterable[str]) -> set[int]:
    """Returns the numbers of matmuls in names of ops."""
    numbers = map(number_in, names)
    return {number for number in numbers if number is not None}


def label_of(kernel: Kernel) -> str:
    """Returns the library of a kernel and the classes of its formats, as in ``cuBLASLt f8``."""
    names = (label for start, label in _LIBRARIES.items() if kernel.kernel.startswith(start))
    return " ".join([next(names, "XLA"), *kernel.flops])
