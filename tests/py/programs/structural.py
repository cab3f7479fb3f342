"""Programs with calls, and with regions that are unscaled around."""

from __future__ import annotations

from tests.py.programs.program import READ, Program

PROGRAMS = (
    Program(
        "call",
        "func.call",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = call @f(%x, %y) : ($mn, $mn) -> $mn
  return %0 : $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.multiply %a, %b : $mn
  return %0 : $mn
}""",
        "any any",
        "ab",
        {"a": 1, "b": 1},
    ),
    Program(
        "call_that_meets",
        "func.call",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0:2 = call @f(%x, %y) : ($mn, $mn) -> ($mn, $mn)
  %1 = stablehlo.add %0#1, %x : $mn
  return %0#0, %1 : $mn, $mn
}
func.func private @f(%a: $mn, %b: $mn) -> ($mn, $mn) {
  %0 = stablehlo.add %a, %b : $mn
  %1 = stablehlo.subtract %b, %0 : $mn
  return %0, %1 : $mn, $mn
}""",
        "any any",
        "aa",
        {"a": 1},
    ),
    Program(
        "shared_callee",
        "func.call",
        """
func.func @main(%x: $mn, %y: $mn, %z: $mn) -> ($mn, $mn, $mn, $mn) {
  %c = stablehlo.constant dense<0.5> : $mn
  %0 = call @f(%x, %y) : ($mn, $mn) -> $mn
  %1 = call @f(%y, %z) : ($mn, $mn) -> $mn
  %2 = call @f(%0, %c) : ($mn, $mn) -> $mn
  %3 = call @f(%c, %c) : ($mn, $mn) -> $mn
  %4 = stablehlo.multiply %3, %z : $mn
  return %0, %1, %2, %4 : $mn, $mn, $mn, $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %e = stablehlo.exponential %a : $mn
  %0 = stablehlo.multiply %b, %e : $mn
  %1 = stablehlo.add %0, %a : $mn
  return %1 : $mn
}""",
        "finite finite finite",
        "aaa",
        READ,
        3,
    ),
    Program(
        "nested_calls",
        "func.call",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0 = call @outer(%x, %y) : ($mn, $mn) -> $mn
  %1 = call @inner(%y) : ($mn) -> $mn
  return %0, %1 : $mn, $mn
}
func.func private @outer(%a: $mn, %b: $mn) -> $mn {
  %0 = call @inner(%a) : ($mn) -> $mn
  %1 = call @inner(%b) : ($mn) -> $mn
  %2 = stablehlo.multiply %0, %1 : $mn
  return %2 : $mn
}
func.func private @inner(%a: $mn) -> $mn {
  %0 = stablehlo.sqrt %a : $mn
  return %0 : $mn
}""",
        "positive positive",
        "aa",
        READ,
    ),
    Program(
        "call_with_root",
        "func.call",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = stablehlo.multiply %x, %y : $mn
  %1 = call @f(%0) : ($mn) -> $mn
  %2 = stablehlo.add %1, %x : $mn
  return %2 : $mn
}
func.func private @f(%a: $mn) -> $mn {
  %0 = stablehlo.rsqrt %a : $mn
  %1 = stablehlo.divide %a, %0 : $mn
  return %1 : $mn
}""",
        "positive positive",
        "aa",
        READ,
        12,
    ),
    Program(
        "call_of_integers",
        "func.call",
        """
func.func @main(%x: $mn, %i: $mn_i32) -> ($mn, $mn_i32) {
  %0 = call @f(%i) : ($mn_i32) -> $mn_i32
  %1 = stablehlo.negate %x : $mn
  return %1, %0 : $mn, $mn_i32
}
func.func private @f(%a: $mn_i32) -> $mn_i32 {
  %0 = stablehlo.add %a, %a : $mn_i32
  return %0 : $mn_i32
}""",
        "any integer",
        "a-",
        {"a": 1},
    ),
    Program(
        "case",
        "stablehlo.case",
        """
func.func @main(%i: $s_i32, %x: $mn, %y: $mn) -> $mn {
  %p = stablehlo.multiply %x, %y : $mn
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %p : $mn
  }, {
    %1 = stablehlo.add %p, %x : $mn
    stablehlo.return %1 : $mn
  }, {
    %c = stablehlo.constant dense<0.0> : $mn
    stablehlo.return %c : $mn
  }) : ($s_i32) -> $mn
  %2 = stablehlo.add %0, %p : $mn
  return %2 : $mn
}""",
        "index any any",
        "-aa",
        READ,
    ),
    Program(
        "if",
        "stablehlo.if",
        """
func.func @main(%p: $s_i1, %x: $mn, %y: $mn) -> ($mn, $mn) {
  %0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %x, %y : $mn, $mn
  }, {
    %1 = stablehlo.multiply %y, %x : $mn
    stablehlo.return %1, %x : $mn, $mn
  }) : ($s_i1) -> ($mn, $mn)
  %2 = stablehlo.subtract %0#0, %x : $mn
  return %2, %0#1 : $mn, $mn
}""",
        "bool any any",
        "-aa",
        READ,
    ),
    Program(
        "while",
        "stablehlo.while",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $s_i32) {
  %zero = stablehlo.constant dense<0> : $s_i32
  %one = stablehlo.constant dense<1> : $s_i32
  %three = stablehlo.constant dense<3> : $s_i32
  %z = stablehlo.multiply %x, %y : $mn
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : $mn, $s_i32
  cond {
    %1 = stablehlo.compare LT, %i, %three : ($s_i32, $s_i32) -> $s_i1
    stablehlo.return %1 : $s_i1
  } do {
    %1 = stablehlo.add %a, %z : $mn
    %2 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %1, %2 : $mn, $s_i32
  }
  return %0#0, %0#1 : $mn, $s_i32
}""",
        "any any",
        "aa",
        READ,
    ),
    Program(
        "while_that_captures",
        "stablehlo.while",
        """
func.func @main(%i: $s_i32, %x: $mn, %y: $mn) -> $mn {
  %one = stablehlo.constant dense<1> : $s_i32
  %three = stablehlo.constant dense<3> : $s_i32
  %start = stablehlo.constant dense<0.0> : $mn
  %0:2 = stablehlo.while(%a = %start, %j = %i) : $mn, $s_i32
  cond {
    %1 = stablehlo.compare LT, %j, %three : ($s_i32, $s_i32) -> $s_i1
    stablehlo.return %1 : $s_i1
  } do {
    %p = stablehlo.compare LT, %j, %one : ($s_i32, $s_i32) -> $s_i1
    %1 = "stablehlo.if"(%p) ({
      stablehlo.return %y : $mn
    }, {
      %4 = stablehlo.multiply %y, %x : $mn
      stablehlo.return %4 : $mn
    }) : ($s_i1) -> $mn
    %2 = stablehlo.add %a, %1 : $mn
    %3 = stablehlo.add %j, %one : $s_i32
    stablehlo.return %2, %3 : $mn, $s_i32
  }
  %5 = stablehlo.multiply %0#0, %x : $mn
  return %5 : $mn
}""",
        "index any any",
        "-aa",
        READ,
        12,
    ),
    Program(
        "sort",
        "stablehlo.sort",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    %1 = stablehlo.compare LT, %a, %b : ($s, $s) -> $s_i1
    stablehlo.return %1 : $s_i1
  }) : ($mn, $mn) -> ($mn, $mn)
  return %0#0, %0#1 : $mn, $mn
}""",
        "finite any",
        "ab",
        READ,
    ),
    Program(
        "map",
        "stablehlo.map",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: $s, %b: $s):
    %1 = stablehlo.multiply %a, %b : $s
    %2 = stablehlo.add %1, %b : $s
    stablehlo.return %2 : $s
  }) : ($mn, $mn) -> $mn
  return %0 : $mn
}""",
        "any any",
        "aa",
        READ,
    ),
    Program(
        "composite",
        "stablehlo.composite",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f} : ($mn, $mn) -> $mn
  %1 = stablehlo.multiply %0, %x : $mn
  return %1 : $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.add %a, %b : $mn
  return %0 : $mn
}""",
        "any any",
        "aa",
        READ,
    ),
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
