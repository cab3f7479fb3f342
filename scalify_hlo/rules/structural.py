"""Tuples, tokens, and terminators."""

from __future__ import annotations

from scalify_hlo.rules.families import opaque, source, unscale
from scalify_hlo.rules.registry import rule

rule(
    "tuple",
    unscale,
    family="read",
    formula="Y = tuple(X_d*X_s, ...); an element that is read in the same block is X itself",
    source="a tuple has one type, and as many scales as elements",
)
rule("get_tuple_element", source, family="source", source="tuples hold values at scale 1")
rule(("after_all", "recv"), source, family="source", source="no float operand")
rule(
    "return",
    source,
    family="source",
    formula="the op of the region has the results",
    source="a terminator has no rule of its own",
)
rule(
    "async_start",
    opaque,
    family="opaque",
    formula="F = async_start(X_d*X_s, ...)",
    source="a future has one type, and as many scales as values",
)
rule("async_done", source, family="source", source="futures hold values at scale 1")
rule(
    "uniform_quantize",
    opaque,
    family="refused",
    formula="the program is refused",
    source="a quantized type has a scale of its own, and jaxlib cannot parse it",
)
rule(
    "uniform_dequantize",
    source,
    family="refused",
    formula="the program is refused",
    source="a quantized type has a scale of its own, and jaxlib cannot parse it",
)
