"""Programs with ops that are unscaled around, and with values that are not looked at."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
passed_through | func.return | any integer | a- | read
%x: $mn, %i: $mn_i32
  %c = stablehlo.constant dense<0.0> : $mn
  return %x, %i, %x, %c : $mn, $mn_i32, $mn, $mn

custom_call_of_sharding | stablehlo.custom_call | any | a | a:1 | judge=report | scales=s0
%x: $mn
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : ($mn) -> $mn

custom_call | stablehlo.custom_call | any any | aa | read | judge=report | scales=unscaled s1
%x: $mn, %y: $mn
  %0 = stablehlo.custom_call @some_kernel(%x) : ($mn) -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
  return %0, %1 : $mn, $mn

outfeed | stablehlo.outfeed | any token | a- | read | judge=report | scales=s0 unscaled
%x: $mn, %t: !stablehlo.token
  %0 = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}>
    : ($mn, !stablehlo.token) -> !stablehlo.token
  return %x, %0 : $mn, !stablehlo.token

send | stablehlo.send | any token | a- | read | judge=report | scales=s0 unscaled
%x: $mn, %t: !stablehlo.token
  %0 = "stablehlo.send"(%x, %t) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true
  }> : ($mn, !stablehlo.token) -> !stablehlo.token
  return %x, %0 : $mn, !stablehlo.token
""")
