"""Programs whose sizes are known at run time only, or at most bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir
from scalify_hlo.dialect.attributes import function_type
from tests.py.programs.program import Sizes, entries, parts_of
from tests.py.shared.judge import main_of, parse

Array = npt.NDArray[np.generic]

TWO_SIZES: tuple[Sizes, Sizes] = ((2, 3, 4), (5, 1, 2))
DTYPES: dict[str, npt.DTypeLike] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i32": np.int32,
}


@dataclass(frozen=True)
class DynamicProgram:
    """A program over sizes m, n and k that its text does not tell.

    Attributes:
        op: The op that it is about.
        body: Its text.
        shapes: The shape of each argument, a letter or a digit for each size; ``s`` is a scalar.
        judge: What runs it: ``interpreter`` after its shapes were refined, or ``xla``.
        name: Unique among all programs.
    """

    op: str
    body: str
    shapes: str
    judge: Literal["interpreter", "xla"] = "interpreter"
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.op

    def draw(self, sizes: Sizes, seed: int = 0) -> list[Array]:
        """Data for the arguments at given sizes; integers are indices below 2."""
        rng = np.random.default_rng(seed)
        letters = dict(zip("mnk", sizes, strict=True))
        shapes = [
            [letters[c] if c in letters else int(c) for c in word if c != "s"]
            for word in self.shapes.split()
        ]
        dtypes = [DTYPES[str(type_.element_type)] for type_ in inputs(parse(self.body))]
        return [_draw(rng, s, np.dtype(d)) for s, d in zip(shapes, dtypes, strict=True)]


def inputs(module: ir.Module) -> Sequence[ir.Type]:
    """The types of the arguments of `main`."""
    return list(function_type(main_of(module)).inputs)


def _draw(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype[np.generic]) -> Array:
    if dtype.kind != "f":
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    signs = rng.choice([-1.0, 1.0], shape)
    return np.asarray(np.exp2(rng.uniform(-2, 2, shape)) * signs).astype(dtype)


# The shape of %y, which is a matrix.
_SHAPE = """%y0 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %y1 = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %y0 : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.reshape %y1 : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %columns, dim = 0
    : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>"""
_CONVOLUTION = """batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>"""


def _read(table: str) -> tuple[DynamicProgram, ...]:
    """Programs of a table, whose fields are the op, the shapes and the name."""
    table = table.replace("SHAPE", _SHAPE).replace("CONVOLUTION", _CONVOLUTION)
    return tuple(
        DynamicProgram(fields[0], text, fields[1], name="".join(fields[2:]))
        for fields, text in map(parts_of, entries(table))
    )


MOVED = _read("""
dynamic_broadcast_in_dim | n mn
%x: tensor<?xf32>, %y: tensor<?x?xf32>
  SHAPE
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1]
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.add %0, %y : tensor<?x?xf32>

dynamic_reshape | 1nm mn
%x: tensor<?x?x?xf32>, %y: tensor<?x?xf32>
  SHAPE
  %0 = stablehlo.dynamic_reshape %x, %shape
    : (tensor<?x?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.add %0, %y : tensor<?x?xf32>

dynamic_reshape | 11 s | dynamic_reshape_to_a_scalar
%x: tensor<?x?xf32>, %y: tensor<f32>
  %shape = stablehlo.constant dense<> : tensor<0xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<0xi32>) -> tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>

dynamic_pad | mn s
%x: tensor<?x?xf32>, %p: tensor<f32>
  %low = stablehlo.constant dense<[1, -1]> : tensor<2xi32>
  %high = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %inside = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %low, %high, %inside
    : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
    -> tensor<?x?xf32>

dynamic_gather | mn k1 kn
%x: tensor<?x?xf32>, %i: tensor<?x1xi32>, %z: tensor<?x?xf32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %one, %n1, dim = 0
    : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false
  }> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.subtract %0, %z : tensor<?x?xf32>

dynamic_iota | mn
%y: tensor<?x?xf32>
  SHAPE
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.add %0, %y : tensor<?x?xf32>

real_dynamic_slice | mn mn
%x: tensor<?x?xf32>, %y: tensor<?x?xf32>
  SHAPE
  %start = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %step = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %shape, %step
    : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.real_dynamic_slice %y, %start, %shape, %step
    : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.add %0, %1 : tensor<?x?xf32>

get_dimension_size | mn s
%x: tensor<?x?xf32>, %y: tensor<f32>
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>
  %2 = stablehlo.divide %y, %1 : tensor<f32>

concatenate | mn mk
%x: tensor<?x?xf32>, %y: tensor<?x?xf32>
  %0 = stablehlo.concatenate %x, %y, dim = 1
    : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>

dynamic_update_slice | mn m1 s
%x: tensor<?x?xf32>, %y: tensor<?x1xf32>, %i: tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %i
    : (tensor<?x?xf32>, tensor<?x1xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32>
""")

CONTRACTED = _read("""
dot_general | mk kn mn
%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.add %0, %z : tensor<?x?xf32>

reduce | mn n
%x: tensor<?x?xf32>, %z: tensor<?xf32>
  %c = stablehlo.constant dense<-0.5> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = stablehlo.add %0, %z : tensor<?xf32>

reduce | mn | reduce_product
%x: tensor<?x?xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>

convolution | m5k 2kn
%x: tensor<?x?x?xf32>, %w: tensor<2x?x?xf32>
  %0 = "stablehlo.convolution"(%x, %w) <{
    padding = dense<[[1, 0]]> : tensor<1x2xi64>, CONVOLUTION
  }> : (tensor<?x?x?xf32>, tensor<2x?x?xf32>) -> tensor<?x?x?xf32>

dynamic_conv | m5k 2kn
%x: tensor<?x?x?xf32>, %w: tensor<2x?x?xf32>
  %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{CONVOLUTION}>
    : (tensor<?x?x?xf32>, tensor<2x?x?xf32>, tensor<1x2xi64>) -> tensor<?x?x?xf32>
""")

CONTROLLED = _read("""
while | mn mn
%x: tensor<?x?xf32>, %y: tensor<?x?xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<?x?xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.multiply %a, %y : tensor<?x?xf32>
      %3 = stablehlo.add %2, %y : tensor<?x?xf32>
      stablehlo.return %1, %3 : tensor<i32>, tensor<?x?xf32>
    }
  return %0#1 : tensor<?x?xf32>

if | s mn mn
%p: tensor<i1>, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.multiply %x, %y : tensor<?x?xf32>
    stablehlo.return %1 : tensor<?x?xf32>
  }, {
    stablehlo.return %y : tensor<?x?xf32>
  }) : (tensor<i1>) -> tensor<?x?xf32>
""")

TYPED = _read("""
for T in f16; f32; f64
add | mn mn | T
%x: tensor<?x?xT>, %y: tensor<?x?xT>
  %0 = stablehlo.multiply %x, %y : tensor<?x?xT>
  %1 = stablehlo.add %0, %y : tensor<?x?xT>
  %2 = stablehlo.tanh %1 : tensor<?x?xT>
  %3 = stablehlo.add %2, %x : tensor<?x?xT>

convert | mn mn | bf16
%a: tensor<?x?xf32>, %b: tensor<?x?xf32>
  %x = stablehlo.convert %a : (tensor<?x?xf32>) -> tensor<?x?xbf16>
  %y = stablehlo.convert %b : (tensor<?x?xf32>) -> tensor<?x?xbf16>
  %0 = stablehlo.multiply %x, %y : tensor<?x?xbf16>
  %1 = stablehlo.add %0, %y : tensor<?x?xbf16>
  %2 = stablehlo.convert %1 : (tensor<?x?xbf16>) -> tensor<?x?xf32>

complex | mn mn | complex
%a: tensor<?x?xf32>, %b: tensor<?x?xf32>
  %x = stablehlo.complex %a, %b : tensor<?x?xcomplex<f32>>
  %y = stablehlo.complex %b, %b : tensor<?x?xcomplex<f32>>
  %0 = stablehlo.multiply %x, %y : tensor<?x?xcomplex<f32>>
  %1 = stablehlo.add %0, %y : tensor<?x?xcomplex<f32>>
  %2 = stablehlo.exponential %1 : tensor<?x?xcomplex<f32>>
  %3 = stablehlo.add %1, %2 : tensor<?x?xcomplex<f32>>
  %4 = stablehlo.imag %3 : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>
""")

SPLATS = _read("""
for OP = NAME = VALUE in add = three = 3.0; add = zero = 0.0; add = ninf = 0xFF800000;
  maximum = three = 3.0; maximum = zero = 0.0; maximum = ninf = 0xFF800000;
  multiply = three = 3.0; multiply = zero = 0.0; multiply = ninf = 0xFF800000
OP | mn | OP_NAME
%y: tensor<?x?xf32>
  SHAPE
  %c = stablehlo.constant dense<VALUE> : tensor<f32>
  %0 = stablehlo.dynamic_broadcast_in_dim %c, %shape, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.OP %y, %0 : tensor<?x?xf32>
""")

RUN = (*MOVED, *CONTRACTED, *CONTROLLED, *TYPED, *SPLATS)

_B = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>"
_BB = "tensor<?x?xf32, #stablehlo.bounds<8, 4>>"
_BOUNDED = """
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %j = stablehlo.add %i, %n : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %j, dim = 0 : (tensor<8x4xf32>, tensor<i32>) -> $B
  %1 = stablehlo.set_dimension_size %y, %j, dim = 0 : (tensor<8x4xf32>, tensor<i32>) -> $B$BODY
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %9 = stablehlo.reduce(%8 init: %c) applies stablehlo.maximum across dimensions = [0]
    : ($B, tensor<f32>) -> tensor<4xf32>
  return %9 : tensor<4xf32>
}"""
_TWICE_BOUNDED = f"""
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %i: tensor<i32>) -> tensor<f32> {{
  %n = stablehlo.constant dense<2> : tensor<i32>
  %j = stablehlo.add %i, %n : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %j, dim = 0 : (tensor<8x4xf32>, tensor<i32>) -> {_B}
  %1 = stablehlo.set_dimension_size %y, %j, dim = 0 : (tensor<8x4xf32>, tensor<i32>) -> {_B}
  %2 = stablehlo.set_dimension_size %0, %n, dim = 1 : ({_B}, tensor<i32>) -> {_BB}
  %3 = stablehlo.set_dimension_size %1, %n, dim = 1 : ({_B}, tensor<i32>) -> {_BB}
  %4 = stablehlo.add %2, %3 : {_BB}
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.maximum across dimensions = [0, 1]
    : ({_BB}, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}}"""


def _bounded(name: str, body: str) -> DynamicProgram:
    text = _BOUNDED.replace("$BODY", body).replace("$B", _B)
    return DynamicProgram("set_dimension_size", text, "84 84 s", "xla", name)


BOUNDED = (
    _bounded("meet", "\n  %8 = stablehlo.add %0, %1 : $B"),
    _bounded(
        "read",
        "\n  %2 = stablehlo.tanh %0 : $B\n  %8 = stablehlo.add %1, %2 : $B",
    ),
    _bounded(
        "narrow",
        """
  %2 = stablehlo.convert %0 : ($B) -> tensor<?x4xf16, #stablehlo.bounds<8, ?>>
  %3 = stablehlo.convert %1 : ($B) -> tensor<?x4xf16, #stablehlo.bounds<8, ?>>
  %4 = stablehlo.maximum %2, %3 : tensor<?x4xf16, #stablehlo.bounds<8, ?>>
  %8 = stablehlo.convert %4 : (tensor<?x4xf16, #stablehlo.bounds<8, ?>>) -> $B""",
    ),
    _bounded(
        "complex",
        """
  %2 = stablehlo.complex %0, %1 : tensor<?x4xcomplex<f32>, #stablehlo.bounds<8, ?>>
  %3 = stablehlo.complex %1, %1 : tensor<?x4xcomplex<f32>, #stablehlo.bounds<8, ?>>
  %4 = stablehlo.add %2, %3 : tensor<?x4xcomplex<f32>, #stablehlo.bounds<8, ?>>
  %8 = stablehlo.real %4 : (tensor<?x4xcomplex<f32>, #stablehlo.bounds<8, ?>>) -> $B""",
    ),
    DynamicProgram("set_dimension_size", _TWICE_BOUNDED, "84 84 s", "xla", "twice"),
)
