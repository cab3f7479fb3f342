"""Programs with control flow and calls."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = (
    *read(
        """
call | func.call | any any | ab | a:1 b:1
x y: $mn
  0 = call f x y : $mn; return 0
def f(a b: $mn)
  0 = multiply a b; return 0

call_that_meets | func.call | any any | aa | a:1
x y: $mn
  0:2 = call f x y : ($mn, $mn); 1 = add 0#1 x; return 0#0 1
def f(a b: $mn)
  0 = add a b; 1 = subtract b 0; return 0 1

shared_callee | func.call | finite finite finite | aaa | read | span=3
x y z: $mn
  c = const 0.5 : $mn; 0 = call f x y : $mn; 1 = call f y z : $mn; 2 = call f 0 c : $mn
  3 = call f c c : $mn; 4 = multiply 3 z; return 0 1 2 4
def f(a b: $mn)
  e = exponential a; 0 = multiply b e; 1 = add 0 a; return 1

nested_calls | func.call | positive positive | aa | read
x y: $mn
  0 = call outer x y : $mn; 1 = call inner y : $mn; return 0 1
def outer(a b: $mn)
  0 = call inner a : $mn; 1 = call inner b : $mn; 2 = multiply 0 1; return 2
def inner(a: $mn)
  0 = sqrt a; return 0

call_with_root | func.call | positive positive | aa | read | span=12
x y: $mn
  0 = multiply x y; 1 = call f 0 : $mn; 2 = add 1 x; return 2
def f(a: $mn)
  0 = rsqrt a; 1 = divide a 0; return 1

call_of_integers | func.call | any integer | a- | a:1
x: $mn, i: $mn_i32
  0 = call f i : $mn_i32; 1 = negate x; return 1 0
def f(a: $mn_i32)
  0 = add a a; return 0

case | stablehlo.case | index any any | -aa | read
i: $s_i32, x y: $mn
  p = multiply x y
  %0 = "stablehlo.case"(%i) ({
    return p
  }, {
    1 = add p x; return 1
  }, {
    c = const 0.0 : $mn; return c
  }) : ($s_i32) -> $mn
  2 = add 0 p; return 2

if | stablehlo.if | bool any any | -aa | read
p: $s_i1, x y: $mn
  %0:2 = "stablehlo.if"(%p) ({
    return x y
  }, {
    1 = multiply y x; return 1 x
  }) : ($s_i1) -> ($mn, $mn)
  2 = subtract 0#0 x; return 2 0#1

while | stablehlo.while | any any | aa | read
x y: $mn
  zero = const 0 : $s_i32; one = const 1 : $s_i32; three = const 3 : $s_i32; z = multiply x y
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : $mn, $s_i32
  cond {
    1 = LT i three; return 1
  } do {
    1 = add a z; 2 = add i one; return 1 2
  }
  return 0#0 0#1

while_that_captures | stablehlo.while | index any any | -aa | read | span=12
i: $s_i32, x y: $mn
  one = const 1 : $s_i32; three = const 3 : $s_i32; start = const 0.0 : $mn
  %0:2 = stablehlo.while(%a = %start, %j = %i) : $mn, $s_i32
  cond {
    1 = LT j three; return 1
  } do {
    p = LT j one
    %1 = "stablehlo.if"(%p) ({
      return y
    }, {
      4 = multiply y x; return 4
    }) : ($s_i1) -> $mn
    2 = add a 1; 3 = add j one; return 2 3
  }
  5 = multiply 0#0 x; return 5

composite | stablehlo.composite | any any | aa | read
x y: $mn
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f} : ($mn, $mn) -> $mn
  1 = multiply 0 x; return 1
def f(a b: $mn)
  0 = add a b; return 0

if_that_moves | stablehlo.if | bool finite nonzero | -ab | a:1 b:1 | span=12
p: $s_i1, x y: $mn
  zero = const 0.0 : $mn
  %0:2 = "stablehlo.if"(%p) ({
    1 = multiply x y; return 1 x
  }, {
    1 = multiply y y; 2 = divide 1 y; 3 = multiply x 2; return 3 zero
  }) : ($s_i1) -> ($mn, $mn)
  4 = multiply 0#1 y; return 0#0 4

case_that_moves | stablehlo.case | index any any | -aa | a:1
i: $s_i32, x y: $mn
  %0 = "stablehlo.case"(%i) ({
    return x
  }, {
    1 = add y x; return 1
  }, {
    c = const 0.0 : $mn; return c
  }) : ($s_i32) -> $mn
  2 = add 0 x; return 2

while_that_moves | stablehlo.while | any any any | aba | a:1 b:1 | span=12
x y u: $mn
  zero = const 0 : $s_i32; one = const 1 : $s_i32; three = const 3 : $s_i32
  zeros = const 0.0 : $mn
  %0:5 = stablehlo.while(%a = %zeros, %b = %x, %c = %zeros, %d = %zeros, %i = %zero)
    : $mn, $mn, $mn, $mn, $s_i32
  cond {
    1 = LT i three; return 1
  } do {
    1 = multiply b y; 2 = add a 1; 3 = maximum b u; 4 = add i one; return 2 3 a d 4
  }
  5 = multiply 0#1 y; return 0#0 5 0#2 5

while_of_one_value | stablehlo.while | finite finite | aa | read | span=6
x y: $mn
  zero = const 0 : $s_i32; one = const 1 : $s_i32; three = const 3 : $s_i32
  ones = const 1.5 : $mn
  %0:3 = stablehlo.while(%a = %ones, %b = %ones, %i = %zero) : $mn, $mn, $s_i32
  cond {
    1 = LT i three; return 1
  } do {
    1 = multiply a x; 2 = add b y; 3 = add i one; return 1 2 3
  }
  return 0#0 0#1

while_that_ends_elsewhere | stablehlo.while | finite finite | aa | read | span=6
x y: $mn
  zero = const 0 : $s_i32; one = const 1 : $s_i32; three = const 3 : $s_i32
  zeros = const 0.0 : $mn; halves = const 0.5 : $mn
  %0:6 = stablehlo.while(%a = %x, %b = %x, %c = %halves, %d = %y, %e = %zeros, %i = %zero)
    : $mn, $mn, $mn, $mn, $mn, $s_i32
  cond {
    1 = LT i three; return 1
  } do {
    1 = sine a; 2 = add d c; 3 = add 2 b; 4 = add 3 e; 5 = add i one
    return 1 halves zeros 4 halves 5
  }
  return 0#0 0#1 0#2 0#3

while_in_while | stablehlo.while | any any | ab | a:1 b:1 | span=12
x y: $mn
  zero = const 0 : $s_i32; one = const 1 : $s_i32; three = const 3 : $s_i32
  zeros = const 0.0 : $mn
  %0:3 = stablehlo.while(%a = %zeros, %b = %zeros, %i = %zero) : $mn, $mn, $s_i32
  cond {
    1 = LT i three; return 1
  } do {
    %1:2 = stablehlo.while(%c = %zeros, %j = %zero) : $mn, $s_i32
    cond {
      2 = LT j three; return 2
    } do {
      2 = multiply x y; 3 = add c 2; 4 = call f 3 : $mn; 5 = add j one; return 4 5
    }
    6 = subtract a 1#0; 7 = add i one; return 6 a 7
  }
  return 0#0 0#1
def f(a: $mn)
  0 = negate a; 1 = add 0 a; 2 = add 1 a; return 2

composite_that_moves | stablehlo.composite | any any | ab | a:1 b:1 | span=12
x y: $mn
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f} : ($mn, $mn) -> $mn
  %1 = stablehlo.composite "other.op" %x {decomposition = @g} : ($mn) -> $mn
  2 = multiply 1 y; return 0 2
def f(a b: $mn)
  0 = maximum a a; 1 = multiply 0 b; return 1
def g(a: $mn)
  0 = abs a; return 0

composite_of_an_op | stablehlo.composite | any any | ab | read
x y: $mn
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @f} : ($mn) -> $mn
  1 = multiply 0 y; return 1
def f(a: $mn)
  c = const 1.0e6 : $mn; 0 = add a c; 1 = multiply 0 0; 2 = multiply 1 1; 3 = multiply 2 2
  4 = minimum 3 a; return 4
"""
    ),
)
