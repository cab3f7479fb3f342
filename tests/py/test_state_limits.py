"""What is found of long programs does not depend on what was asked before."""

from __future__ import annotations

from scalify_hlo.passes.base import main_function
from scalify_hlo.roles.degrees import Degrees
from scalify_hlo.roles.frames import Frame, Place
from scalify_hlo.roles.monomials import MIXED, degree_of
from scalify_hlo.roles.reach import Reach
from tests.py.judge import parse


def chain(op: str, length: int) -> tuple[object, list[Place]]:
    """A program that applies an op again and again: its module, and all its values."""
    lines = ["%0 = stablehlo.exponential %x : !t"]
    for i in range(length):
        operands = ", ".join([f"%{i}"] * (2 if op == "add" else 1))
        lines.append(f"%{i + 1} = stablehlo.{op} {operands} : !t")
    body = "\n".join([*lines, f"return %{length} : !t"]).replace("!t", "tensor<4x4xf32>")
    module = parse(f"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{ {body} }}")
    main = main_function(module.operation)
    assert main is not None
    frame = Frame({})
    operations = list(main.regions[0].blocks[0].operations)
    return module, [(op.results[0], frame) for op in operations[:-1]]


def test_long_chains_are_followed_to_their_start() -> None:
    """Each op uses the one before twice, so that no path is walked again."""
    module, values = chain("add", 1500)
    reach = Reach({values[0]: 1})
    assert reach.of(values[-1]) == 1
    assert all(reach.of(value) == 1 for value in values)
    del module


def test_what_is_found_at_a_limit_is_not_kept() -> None:
    module, values = chain("abs", 120)
    degrees = Degrees(Reach({}), lambda _: None)
    assert degrees.of(values[-1]) is MIXED  # too far away
    for value in values[:60]:
        assert degree_of(degrees.of(value)) == 1
    assert degree_of(degrees.of(values[-1])) == 1  # and now it is not
    del module
