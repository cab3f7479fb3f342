"""The kernels of each matmul, by the numbers in their names."""

from __future__ import annotations

from collections.abc import Iterable

from scalify_hlo.dialect.matmul_names import number_in
from scalify_hlo.targets.kernels import Kernel


def kernels_by_number(kernels: Iterable[Kernel]) -> dict[int, list[Kernel]]:
    """Returns the kernels that compute matmuls, by the numbers of the matmuls.

    A kernel that computes several matmuls is listed at each. Matmuls that read the same scales
    share the casts of these, with the name of one. So of the kernels without a name, those come
    first whose scales have fewer names, and each is listed at a matmul that has none yet.
    """
    found: dict[int, list[Kernel]] = {}
    nameless: list[tuple[set[int], Kernel]] = []
    for kernel in kernels:
        for number in sorted(_numbers(kernel.products)):
            found.setdefault(number, []).append(kernel)
        if kernel.sources:
            nameless.append((_numbers(kernel.sources), kernel))
    for numbers, kernel in sorted(nameless, key=lambda each: len(each[0])):
        left = numbers - found.keys() or numbers
        if left:
            found.setdefault(max(left), []).append(kernel)
    return found


def _numbers(names: Iterable[str]) -> set[int]:
    """Returns the numbers of matmuls in names of ops."""
    numbers = map(number_in, names)
    return {number for number in numbers if number is not None}
