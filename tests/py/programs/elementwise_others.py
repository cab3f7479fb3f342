"""Programs of several elementwise ops, and of those that stand for no other op."""

from __future__ import annotations

from tests.py.programs.program import read

OTHERS = (
    *read(
        """
square | stablehlo.multiply | any | a | a:2
x: $mn
  0 = multiply x x; return 0

itself | stablehlo.divide | any | a | a:0
x: $mn
  0 = divide x x; return 0

double | stablehlo.add | any | a | a:1
x: $mn
  0 = add x x; return 0

complex | stablehlo.complex | any any | aa | a:1
x y: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  1 = real 0 : $mn; 2 = imag 0 : $mn; return 1 2

for PART in real; imag
PART_of_product | stablehlo.PART | finite finite finite | aaa | a:2
x y z: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.complex %z, %x : $mn_c
  2 = multiply 0 1; 3 = negate 2
  %4 = stablehlo.PART %3 : ($mn_c) -> $mn
  return 4

complex_sum_with_constant | stablehlo.complex | finite finite | aa | read
x y: $mn
  c = const (0.5, -2.0) : $mn_c
  %0 = stablehlo.complex %x, %y : $mn_c
  1 = add 0 c; 2 = abs 1 : $mn; return 2

for OP in negate; abs; sign; exponential; ceil
OP_of_splat | stablehlo.OP | any | a | read
x: $mn
  c = const -0.3 : $mn
  %0 = stablehlo.OP %c : $mn
  1 = add 0 x; 2 = multiply 0 x; return 1 2

splat_through_bf16 | stablehlo.convert | any | a | read
x: $mn
  c = const 0.3 : $mn; 0 = convert c : $mn_bf16; 1 = convert 0 : $mn; 2 = add 1 x; return 2

select | stablehlo.select | bool any any | -aa | a:1
p: $mn_i1, x y: $mn
  0 = select p x y; return 0

select_by_scalar | stablehlo.select | bool any any | -aa | a:1
p: $s_i1, x: $mn, b: $n
  y = broadcast_in_dim b, dims = [1] : $mn; 0 = select p y x; return 0

for NAME = VALUE = MOVES in zero = 0.0 = a:1; ninf = $NINF = a:1; nan = $NAN = a:1;
  splat = -7.0 = read
mask_NAME | stablehlo.select | bool any | -a | MOVES
p: $mn_i1, x: $mn
  y = const VALUE : $mn; 0 = select p x y; return 0

select_of_masks | stablehlo.select | bool any | -a | a:1
p: $mn_i1, x: $mn
  low = const $NINF : $mn; zero = const 0.0 : $mn; 0 = select p low zero; 1 = add 0 x; return 1

clamp | stablehlo.clamp | any any any | aaa | a:1
l x h: $mn
  0 = clamp l x h; return 0

clamp_by_scalars | stablehlo.clamp | any any any | aaa | a:1
l: $s, x: $mn, h: $s
  0 = clamp l x h; return 0

clamp_by_constants | stablehlo.clamp | any | a | read
x: $mn
  l = const 0.0 : $s; h = const 1.5 : $s; 0 = clamp l x h; return 0

from_i32 | stablehlo.convert | integer any | -a | a:1
x: $mn_i32, y: $mn
  0 = convert x : $mn; 1 = multiply 0 y; return 1

through_f16 | stablehlo.convert | nonzero nonzero | aa | a:1 | span=2
x y: $mn
  0 = convert x : $mn_f16; 1 = convert y : $mn_f16; 2 = add 0 1; 3 = convert 2 : $mn; return 3

through_bf16 | stablehlo.convert | any any | aa | a:1
x y: $mn
  0 = convert x : $mn_bf16; 1 = convert y : $mn_bf16; 2 = add 0 1; 3 = convert 2 : $mn; return 3

through_f8 | stablehlo.convert | any | a | read | span=6
x: $mn
  0 = convert x : $mn_f8E5M2; 1 = convert 0 : $mn; return 1

polynomial | stablehlo.add | nonzero nonzero | aa | read
x y: $mn
  a = const 0.044715 : $mn; b = const -2.5 : $mn; 0 = multiply x x; 1 = multiply 0 a; 2 = add 1 y
  3 = multiply 2 b; 4 = subtract 3 x; 5 = divide 4 y; return 5

horner | stablehlo.multiply | positive | a | read | span=10
x: $mn
  c = const 0.75 : $mn; 0 = multiply x x; 1 = multiply 0 x; 2 = add 1 c; 3 = multiply 2 x
  4 = add 3 c; 5 = multiply 4 x; 6 = add 5 c; 7 = multiply 6 x; 8 = add 7 c; 9 = multiply 8 x
  10 = add 9 c; 11 = multiply 10 x; 12 = add 11 c; 13 = multiply 12 x; 14 = add 13 c
  15 = multiply 14 x; 16 = add 15 c; 17 = divide c 16; return 16 17

ninth_power | stablehlo.multiply | positive | a | read | span=12
x: $mn
  0 = multiply x x; 1 = multiply 0 0; 2 = multiply 1 1; 3 = multiply 2 x; return 3

roots_of_products | stablehlo.sqrt | positive positive positive | aaa | read
x y z: $mn
  0 = multiply x y; 1 = sqrt 0; 2 = multiply 0 z; 3 = rsqrt 2; 4 = add 1 z; return 4 3
"""
    ),
)
