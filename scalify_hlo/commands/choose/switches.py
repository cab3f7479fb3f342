"""A rewrite in which each site is in low precision or wide as its switch says, compiled once."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from functools import cached_property

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.choose.sites import left_wide
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.report.model import Report
from scalify_hlo.run.runner import Runner, divides
from scalify_hlo.run.session import Run, Session
from scalify_hlo.transforms.inlining import inline_calls


class Switches:
    """The switches of a rewrite; see `SwitchMatmulsPass`.

    They become an argument of the program, ``i1[sites]``. A program that is divided among devices
    by hand takes no argument more, and is compiled for each setting.

    Args:
        runner: Compiles programs.
        module: The rewrite, which is not edited. All its switches are on.
        report: Its report.

    Attributes:
        report: As given.
    """

    def __init__(self, runner: Runner, module: ir.Module, report: Report) -> None:
        self._runner, self._module, self.report = runner, module, report

    def report_of(self, narrow: Container[str]) -> Report:
        """Returns the report of the rewrite with only some sites in low precision, by name."""
        wide = {each.name for each in self.report.matmuls if each.name not in narrow}
        return replace(self.report, matmuls=left_wide(self.report.matmuls, wide))

    def session(self, narrow: Container[str]) -> Session:
        """Returns steps of the rewrite with only some sites in low precision.

        Args:
            narrow: The names of the sites.
        """

        def compiled() -> Run:
            if divides(self._module):
                return self._runner.compiled(self.fixed(narrow))
            run, names = self._run
            on = np.array([name in narrow for name in names])
            return lambda arrays: run([*arrays, on])

        return self._runner.session(self._module, compiled=compiled)

    def fixed(self, narrow: Container[str]) -> ir.Module:
        """Returns the rewrite with only some sites in low precision, given by name."""
        module = copy_module(self._module)
        with module.context:
            for op in _switches(module.operation):
                on = emit.constant(op.results[0].type, _site(op) in narrow, op)
                replace_op(op, [on])
        return module

    @cached_property
    def _run(self) -> tuple[Run, list[str]]:
        """The compiled program, with the names of the sites in the order of its last argument."""
        module = copy_module(self._module)
        with module.context, ir.Location.unknown():
            inline_calls(module.operation, (attributes.SWITCH,))
            names = list(dict.fromkeys(map(_site, _switches(module.operation))))
            _add_argument(module, names)
        return self._runner.compiled(module), names


def _switches(module: ir.Operation) -> list[ir.Operation]:
    return ops_in(module, where=lambda op: attributes.SWITCH in op.attributes)


def _site(op: ir.Operation) -> str:
    return attributes.texts(op.attributes[attributes.SWITCH])[0]


def _add_argument(module: ir.Module, names: list[str]) -> None:
    """Replaces the switches of a program by elements of an argument, in the order of names."""
    main = main_function(module.operation)
    if main is None:
        return
    block, element = main.regions[0].blocks[0], ir.IntegerType.get_signless(1)
    marks, first = attributes.argument_attributes(main), block.operations[0].operation
    every = block.add_argument(ir.RankedTensorType.get([len(names)], element), main.location)
    attributes.renew_function_type(main)
    attributes.set_argument_attributes(main, [*marks, {}])
    where, chosen = emit.before(first), dict[str, ir.Value]()
    for i, name in enumerate(names):
        one = stablehlo.slice(every, [i], [i + 1], [1], **where)
        chosen[name] = emit.reshape(one, emit.scalar_type(element), first)
    for op in _switches(module.operation):
        replace_op(op, [chosen[_site(op)]])
