"""Programs with control flow and calls."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
call | func.call | any any | ab | a:1 b:1
%x: $mn, %y: $mn
  %0 = call @f(%x, %y) : ($mn, $mn) -> $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.multiply %a, %b : $mn

call_that_meets | func.call | any any | aa | a:1
%x: $mn, %y: $mn
  %0:2 = call @f(%x, %y) : ($mn, $mn) -> ($mn, $mn)
  %1 = stablehlo.add %0#1, %x : $mn
  return %0#0, %1 : $mn, $mn
}
func.func private @f(%a: $mn, %b: $mn) -> ($mn, $mn) {
  %0 = stablehlo.add %a, %b : $mn
  %1 = stablehlo.subtract %b, %0 : $mn
  return %0, %1 : $mn, $mn

shared_callee | func.call | finite finite finite | aaa | read | span=3
%x: $mn, %y: $mn, %z: $mn
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

nested_calls | func.call | positive positive | aa | read
%x: $mn, %y: $mn
  %0 = call @outer(%x, %y) : ($mn, $mn) -> $mn
  %1 = call @inner(%y) : ($mn) -> $mn
  return %0, %1 : $mn, $mn
}
func.func private @outer(%a: $mn, %b: $mn) -> $mn {
  %0 = call @inner(%a) : ($mn) -> $mn
  %1 = call @inner(%b) : ($mn) -> $mn
  %2 = stablehlo.multiply %0, %1 : $mn
}
func.func private @inner(%a: $mn) -> $mn {
  %0 = stablehlo.sqrt %a : $mn

call_with_root | func.call | positive positive | aa | read | span=12
%x: $mn, %y: $mn
  %0 = stablehlo.multiply %x, %y : $mn
  %1 = call @f(%0) : ($mn) -> $mn
  %2 = stablehlo.add %1, %x : $mn
}
func.func private @f(%a: $mn) -> $mn {
  %0 = stablehlo.rsqrt %a : $mn
  %1 = stablehlo.divide %a, %0 : $mn

call_of_integers | func.call | any integer | a- | a:1
%x: $mn, %i: $mn_i32
  %0 = call @f(%i) : ($mn_i32) -> $mn_i32
  %1 = stablehlo.negate %x : $mn
  return %1, %0 : $mn, $mn_i32
}
func.func private @f(%a: $mn_i32) -> $mn_i32 {
  %0 = stablehlo.add %a, %a : $mn_i32

case | stablehlo.case | index any any | -aa | read
%i: $s_i32, %x: $mn, %y: $mn
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

if | stablehlo.if | bool any any | -aa | read
%p: $s_i1, %x: $mn, %y: $mn
  %0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %x, %y : $mn, $mn
  }, {
    %1 = stablehlo.multiply %y, %x : $mn
    stablehlo.return %1, %x : $mn, $mn
  }) : ($s_i1) -> ($mn, $mn)
  %2 = stablehlo.subtract %0#0, %x : $mn
  return %2, %0#1 : $mn, $mn

while | stablehlo.while | any any | aa | read
%x: $mn, %y: $mn
  COUNTS
  %z = stablehlo.multiply %x, %y : $mn
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : $mn, $s_i32
  BELOW_THREE
    %1 = stablehlo.add %a, %z : $mn
    %2 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %1, %2 : $mn, $s_i32
  }
  return %0#0, %0#1 : $mn, $s_i32

while_that_captures | stablehlo.while | index any any | -aa | read | span=12
%i: $s_i32, %x: $mn, %y: $mn
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

composite | stablehlo.composite | any any | aa | read
%x: $mn, %y: $mn
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f} : ($mn, $mn) -> $mn
  %1 = stablehlo.multiply %0, %x : $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.add %a, %b : $mn

if_that_moves | stablehlo.if | bool finite nonzero | -ab | a:1 b:1 | span=12
%p: $s_i1, %x: $mn, %y: $mn
  %zero = stablehlo.constant dense<0.0> : $mn
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.multiply %x, %y : $mn
    stablehlo.return %1, %x : $mn, $mn
  }, {
    %1 = stablehlo.multiply %y, %y : $mn
    %2 = stablehlo.divide %1, %y : $mn
    %3 = stablehlo.multiply %x, %2 : $mn
    stablehlo.return %3, %zero : $mn, $mn
  }) : ($s_i1) -> ($mn, $mn)
  %4 = stablehlo.multiply %0#1, %y : $mn
  return %0#0, %4 : $mn, $mn

case_that_moves | stablehlo.case | index any any | -aa | a:1
%i: $s_i32, %x: $mn, %y: $mn
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : $mn
  }, {
    %1 = stablehlo.add %y, %x : $mn
    stablehlo.return %1 : $mn
  }, {
    %c = stablehlo.constant dense<0.0> : $mn
    stablehlo.return %c : $mn
  }) : ($s_i32) -> $mn
  %2 = stablehlo.add %0, %x : $mn

while_that_moves | stablehlo.while | any any any | aba | a:1 b:1 | span=12
%x: $mn, %y: $mn, %u: $mn
  COUNTS
  %zeros = stablehlo.constant dense<0.0> : $mn
  %0:5 = stablehlo.while(%a = %zeros, %b = %x, %c = %zeros, %d = %zeros, %i = %zero)
    : $mn, $mn, $mn, $mn, $s_i32
  BELOW_THREE
    %1 = stablehlo.multiply %b, %y : $mn
    %2 = stablehlo.add %a, %1 : $mn
    %3 = stablehlo.maximum %b, %u : $mn
    %4 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %2, %3, %a, %d, %4 : $mn, $mn, $mn, $mn, $s_i32
  }
  %5 = stablehlo.multiply %0#1, %y : $mn
  return %0#0, %5, %0#2, %5 : $mn, $mn, $mn, $mn

while_of_one_value | stablehlo.while | finite finite | aa | read | span=6
%x: $mn, %y: $mn
  COUNTS
  %ones = stablehlo.constant dense<1.5> : $mn
  %0:3 = stablehlo.while(%a = %ones, %b = %ones, %i = %zero) : $mn, $mn, $s_i32
  BELOW_THREE
    %1 = stablehlo.multiply %a, %x : $mn
    %2 = stablehlo.add %b, %y : $mn
    %3 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %1, %2, %3 : $mn, $mn, $s_i32
  }
  return %0#0, %0#1 : $mn, $mn

while_that_ends_elsewhere | stablehlo.while | finite finite | aa | read | span=6
%x: $mn, %y: $mn
  COUNTS
  %zeros = stablehlo.constant dense<0.0> : $mn
  %halves = stablehlo.constant dense<0.5> : $mn
  %0:6 = stablehlo.while(%a = %x, %b = %x, %c = %halves, %d = %y, %e = %zeros, %i = %zero)
    : $mn, $mn, $mn, $mn, $mn, $s_i32
  BELOW_THREE
    %1 = stablehlo.sine %a : $mn
    %2 = stablehlo.add %d, %c : $mn
    %3 = stablehlo.add %2, %b : $mn
    %4 = stablehlo.add %3, %e : $mn
    %5 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %1, %halves, %zeros, %4, %halves, %5 : $mn, $mn, $mn, $mn, $mn, $s_i32
  }
  return %0#0, %0#1, %0#2, %0#3 : $mn, $mn, $mn, $mn

while_in_while | stablehlo.while | any any | ab | a:1 b:1 | span=12
%x: $mn, %y: $mn
  COUNTS
  %zeros = stablehlo.constant dense<0.0> : $mn
  %0:3 = stablehlo.while(%a = %zeros, %b = %zeros, %i = %zero) : $mn, $mn, $s_i32
  BELOW_THREE
    %1:2 = stablehlo.while(%c = %zeros, %j = %zero) : $mn, $s_i32
    cond {
      %2 = stablehlo.compare LT, %j, %three : ($s_i32, $s_i32) -> $s_i1
      stablehlo.return %2 : $s_i1
    } do {
      %2 = stablehlo.multiply %x, %y : $mn
      %3 = stablehlo.add %c, %2 : $mn
      %4 = func.call @f(%3) : ($mn) -> $mn
      %5 = stablehlo.add %j, %one : $s_i32
      stablehlo.return %4, %5 : $mn, $s_i32
    }
    %6 = stablehlo.subtract %a, %1#0 : $mn
    %7 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %6, %a, %7 : $mn, $mn, $s_i32
  }
  return %0#0, %0#1 : $mn, $mn
}
func.func private @f(%a: $mn) -> $mn {
  %0 = stablehlo.negate %a : $mn
  %1 = stablehlo.add %0, %a : $mn
  %2 = stablehlo.add %1, %a : $mn

composite_that_moves | stablehlo.composite | any any | ab | a:1 b:1 | span=12
%x: $mn, %y: $mn
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f} : ($mn, $mn) -> $mn
  %1 = stablehlo.composite "other.op" %x {decomposition = @g} : ($mn) -> $mn
  %2 = stablehlo.multiply %1, %y : $mn
  return %0, %2 : $mn, $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.maximum %a, %a : $mn
  %1 = stablehlo.multiply %0, %b : $mn
}
func.func private @g(%a: $mn) -> $mn {
  %0 = stablehlo.abs %a : $mn

composite_of_an_op | stablehlo.composite | any any | ab | read
%x: $mn, %y: $mn
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @f} : ($mn) -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
}
func.func private @f(%a: $mn) -> $mn {
  %c = stablehlo.constant dense<1.0e6> : $mn
  %0 = stablehlo.add %a, %c : $mn
  %1 = stablehlo.multiply %0, %0 : $mn
  %2 = stablehlo.multiply %1, %1 : $mn
  %3 = stablehlo.multiply %2, %2 : $mn
  %4 = stablehlo.minimum %3, %a : $mn
""")
