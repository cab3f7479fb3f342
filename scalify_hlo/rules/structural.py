"""Tuples, tokens, and terminators."""

from __future__ import annotations

from scalify_hlo.rules.families import opaque, source, unscale
from scalify_hlo.rules.registry import rule

rule(
    "tuple",
    unscale,
    "a tuple has one type, and as many scales as elements",
    "Y = tuple(X_d*X_s, ...); an element that is read in the same block is X itself",
)
rule("get_tuple_element", source, "tuples hold values at scale 1")
rule(("after_all", "recv"), source, "no float operand")
rule(
    "return", source, "a terminator has no rule of its own", "the op of the region has the results"
)
rule(
    "async_start",
    opaque,
    "a future has one type, and as many scales as values",
    "F = async_start(X_d*X_s, ...)",
)
rule("async_done", source, "futures hold values at scale 1")
rule(
    "uniform_quantize",
    opaque,
    "a quantized type has a scale of its own, and jaxlib cannot parse it",
    "the program is refused",
    family="refused",
)
rule(
    "uniform_dequantize",
    source,
    "a quantized type has a scale of its own, and jaxlib cannot parse it",
    "the program is refused",
    family="refused",
)
