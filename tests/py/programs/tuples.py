"""Programs with tuples, tokens and futures."""

from __future__ import annotations

from tests.py.programs.program import Program, read

PROGRAMS: tuple[Program, ...] = read("""
element_of_a_new_tuple | stablehlo.tuple | any any | aa | a:1
%x: $mn, %y: $n
  %0 = stablehlo.tuple %x, %y : tuple<$mn, $n>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<$mn, $n>) -> $mn
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<$mn, $n>) -> $n
  %3 = stablehlo.negate %1 : $mn
  %4 = stablehlo.abs %2 : $n
  return %3, %4 : $mn, $n

tuple_of_tuples | stablehlo.get_tuple_element | any any | aa | a:1
%x: $mn, %y: $n
  %0 = stablehlo.tuple %x, %y : tuple<$mn, $n>
  %1 = stablehlo.tuple %0, %x : tuple<tuple<$mn, $n>, $mn>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<$mn, $n>, $mn>) -> tuple<$mn, $n>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<$mn, $n>) -> $mn
  %4 = stablehlo.negate %3 : $mn

tuple_as_a_result | stablehlo.tuple | any any | aa | read | judge=report | scales=unscaled s0
%x: $mn, %y: $n
  %0 = stablehlo.tuple %x, %y : tuple<$mn, $n>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<$mn, $n>) -> $mn
  return %0, %1 : tuple<$mn, $n>, $mn

received | stablehlo.recv | any token | a- | read | judge=report | scales=s0 unscaled
%x: $mn, %t: !stablehlo.token
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true
  }> : (!stablehlo.token) -> ($mn, !stablehlo.token)
  %2 = stablehlo.multiply %x, %1#0 : $mn
  return %2, %1#1 : $mn, !stablehlo.token

futures | stablehlo.async_start | any any | ab | read | judge=report | scales=s1
%x: $mn, %y: $mn
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: $mn):
    %1 = "stablehlo.all_gather"(%a) <{
      all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
    }> : ($mn) -> $mn
    stablehlo.return %1 : $mn
  }) : ($mn) -> !stablehlo.future<$mn>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<$mn>) -> $mn
  %3 = stablehlo.multiply %2, %y : $mn

unary_einsum | stablehlo.unary_einsum | any | a | a:1 | judge=report | scales=s0
%x: $mn
  %0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "ab->a"}> : ($mn) -> $m
""")
