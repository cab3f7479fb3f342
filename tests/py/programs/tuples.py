"""Programs with tuples, tokens and futures."""

from __future__ import annotations

from tests.py.programs.program import READ, Program

_TUPLE = "tuple<$mn, $n>"

PROGRAMS: tuple[Program, ...] = (
    Program(
        "element_of_a_new_tuple",
        "stablehlo.tuple",
        f"""
func.func @main(%x: $mn, %y: $n) -> ($mn, $n) {{
  %0 = stablehlo.tuple %x, %y : {_TUPLE}
  %1 = stablehlo.get_tuple_element %0[0] : ({_TUPLE}) -> $mn
  %2 = stablehlo.get_tuple_element %0[1] : ({_TUPLE}) -> $n
  %3 = stablehlo.negate %1 : $mn
  %4 = stablehlo.abs %2 : $n
  return %3, %4 : $mn, $n
}}""",
        "any any",
        "aa",
        {"a": 1},
    ),
    Program(
        "tuple_of_tuples",
        "stablehlo.get_tuple_element",
        f"""
func.func @main(%x: $mn, %y: $n) -> $mn {{
  %0 = stablehlo.tuple %x, %y : {_TUPLE}
  %1 = stablehlo.tuple %0, %x : tuple<{_TUPLE}, $mn>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<{_TUPLE}, $mn>) -> {_TUPLE}
  %3 = stablehlo.get_tuple_element %2[0] : ({_TUPLE}) -> $mn
  %4 = stablehlo.negate %3 : $mn
  return %4 : $mn
}}""",
        "any any",
        "aa",
        {"a": 1},
    ),
    Program(
        "tuple_as_a_result",
        "stablehlo.tuple",
        f"""
func.func @main(%x: $mn, %y: $n) -> ({_TUPLE}, $mn) {{
  %0 = stablehlo.tuple %x, %y : {_TUPLE}
  %1 = stablehlo.get_tuple_element %0[0] : ({_TUPLE}) -> $mn
  return %0, %1 : {_TUPLE}, $mn
}}""",
        "any any",
        "aa",
        READ,
        judge="report",
        scales=("unscaled", "s0"),
    ),
    Program(
        "received",
        "stablehlo.recv",
        """
func.func @main(%x: $mn, %t: !stablehlo.token) -> ($mn, !stablehlo.token) {
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true
  }> : (!stablehlo.token) -> ($mn, !stablehlo.token)
  %2 = stablehlo.multiply %x, %1#0 : $mn
  return %2, %1#1 : $mn, !stablehlo.token
}""",
        "any token",
        "a-",
        judge="report",
        scales=("s0", "unscaled"),
    ),
    Program(
        "futures",
        "stablehlo.async_start",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: $mn):
    %1 = "stablehlo.all_gather"(%a) <{
      all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
    }> : ($mn) -> $mn
    stablehlo.return %1 : $mn
  }) : ($mn) -> !stablehlo.future<$mn>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<$mn>) -> $mn
  %3 = stablehlo.multiply %2, %y : $mn
  return %3 : $mn
}""",
        "any any",
        "ab",
        judge="report",
        scales=("s1",),
    ),
    Program(
        "unary_einsum",
        "stablehlo.unary_einsum",
        """
func.func @main(%x: $mn) -> $m {
  %0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "ab->a"}> : ($mn) -> $m
  return %0 : $m
}""",
        "any",
        "a",
        {"a": 1},
        judge="report",
        scales=("s0",),
    ),
)
