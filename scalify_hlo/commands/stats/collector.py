"""Collects statistics of a function that `scalify` made, while it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from scalify_hlo.commands.stats.prepare import Prepared, Selection
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.commands.stats.record import StatsRecord, VariantStats
from scalify_hlo.commands.stats.run import Request, effects_of, operand_stats
from scalify_hlo.program.tensors import Array
from scalify_hlo.recipes.fields import Count, values_of

_EVERY: Final = 100


class Stats:
    """Collects statistics of the values of a function every few of its calls.

    It is an argument of `scalify`. The calls that are measured run another program, which returns
    statistics as well; it is compiled when it runs first. All other calls run the program that runs
    without statistics.
    Calls inside of another trace, such as in a function under `jax.jit`, are not measured.

    Args:
        every: The interval: calls 0, `every`, 2 · `every` ... are measured.
        values: A pattern of name stacks and of argument names, such as ``*attention*``.
        turns: ``pooled`` if the turns of a loop share a record; ``each`` if each has its own.
        sink: Called with each new record; None to only keep it.
        keep: The number of the last records that are kept; None for all.

    Attributes:
        records: The records, the last call last. Each has one variant, the rewritten function, and
            its ``steps`` has the number of the call.
        calls: The number of calls so far.

    Raises:
        UsageError: An argument is not possible.

    Example:
        >>> stats = Stats(every=2)
        >>> double = scalify(lambda x: x + x, stats=stats)
        >>> for _ in range(4):
        ...     y = double(as_scaled_array(jnp.float32([3.0, 4.0])))
        >>> [record.steps for record in stats.records]
        [(0,), (2,)]
        >>> stats.records[-1].variants[0].values[-1].amax
        (4.0,)
    """

    def __init__(
        self,
        every: int = _EVERY,
        *,
        values: str = "*",
        turns: str = "pooled",
        sink: Callable[[StatsRecord], None] | None = None,
        keep: int | None = None,
    ) -> None:
        for name, number in (("every", every), ("keep", keep)):
            if number is not None:
                values_of(Count).read(name, number, spelt=False)
        request = Request(values=values, turns=turns)
        self.selection = Selection(values, each_turn=request.turns == "each")
        self.records: list[StatsRecord] = []
        self.calls = 0
        self._every, self._turns, self._sink, self._keep = every, turns, sink, keep

    @property
    def is_due(self) -> bool:
        """Whether the next call is measured."""
        return self.calls % self._every == 0

    def add(self, about: tuple[Prepared, str, str], results: Sequence[Array]) -> None:
        """Adds the record of a call.

        Args:
            about: The program that ran, the name of the function, and the structural hash of the
                function.
            results: The results with statistics.
        """
        prepared, name, hash_ = about
        readout = Readout(prepared.instrumented, scaled=True)
        readout.add(results)
        record = StatsRecord(
            name,
            hash_,
            (self.calls,),
            self._turns,
            (VariantStats(prepared.name, prepared.recipe, readout.values()),),
            operand_stats(prepared, [effects_of(prepared, readout)]),
            tuple(prepared.instrumented.remarks),
        )
        self.records = [*self.records, record][-(self._keep or 0) :]
        if self._sink is not None:
            self._sink(record)
