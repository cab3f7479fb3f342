"""Programs with ops that are unscaled around, and with values that are not looked at."""

from __future__ import annotations

from tests.py.programs.program import READ, Program

PROGRAMS = (
    Program(
        "passed_through",
        "func.return",
        """
func.func @main(%x: $mn, %i: $mn_i32) -> ($mn, $mn_i32, $mn, $mn) {
  %c = stablehlo.constant dense<0.0> : $mn
  return %x, %i, %x, %c : $mn, $mn_i32, $mn, $mn
}""",
        "any integer",
        "a-",
        READ,
    ),
    Program(
        "custom_call_of_sharding",
        "stablehlo.custom_call",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : ($mn) -> $mn
  return %0 : $mn
}""",
        "any",
        "a",
        {"a": 1},
        judge="report",
        scales=("s0",),
    ),
    Program(
        "custom_call",
        "stablehlo.custom_call",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0 = stablehlo.custom_call @some_kernel(%x) : ($mn) -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
  return %0, %1 : $mn, $mn
}""",
        "any any",
        "aa",
        judge="report",
        scales=("unscaled", "s1"),
    ),
    Program(
        "outfeed",
        "stablehlo.outfeed",
        """
func.func @main(%x: $mn, %t: !stablehlo.token) -> ($mn, !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}>
    : ($mn, !stablehlo.token) -> !stablehlo.token
  return %x, %0 : $mn, !stablehlo.token
}""",
        "any token",
        "a-",
        judge="report",
        scales=("s0", "unscaled"),
    ),
    Program(
        "send",
        "stablehlo.send",
        """
func.func @main(%x: $mn, %t: !stablehlo.token) -> ($mn, !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true
  }> : ($mn, !stablehlo.token) -> !stablehlo.token
  return %x, %0 : $mn, !stablehlo.token
}""",
        "any token",
        "a-",
        judge="report",
        scales=("s0", "unscaled"),
    ),
)
