"""Programs for the rules of contractions."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
for NAME = LEFT = RIGHT = RESULT = DIMS in matmul = $mk = $kn = $mn = contracting_dims = [1] x [0];
  matmul_transposed = $km = $nk = $mn = contracting_dims = [0] x [1];
  matmul_batched = $mnk = $mkn = $mnn = batching_dims = [0] x [0], contracting_dims = [2] x [1];
  outer = $m = $n = $mn = contracting_dims = [] x [];
  inner = tensor<64x${K}xf32> = tensor<64x${K}xf32> = $s = contracting_dims = [0, 1] x [0, 1]
NAME | stablehlo.dot_general | any any | ab | a:1 b:1
%x: LEFT, %y: RIGHT
  %0 = stablehlo.dot_general %x, %y, DIMS : (LEFT, RIGHT) -> RESULT

matmul_by_constant | stablehlo.dot_general | any | a | a:1
%x: $mk
  %y = stablehlo.constant dense<0.3> : $kn
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ($mk, $kn) -> $mn

matmul_by_zero | stablehlo.dot_general | any any | ab | b:1
%x: $mk, %z: $mn
  %y = stablehlo.constant dense<0.0> : $kn
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ($mk, $kn) -> $mn
  %1 = stablehlo.add %z, %0 : $mn

matmul_chain | stablehlo.dot_general | finite finite finite finite | aaaa | read
%x: tensor<${M}x40xf32>, %y: tensor<40x50xf32>, %z: tensor<50x${N}xf32>, %b: $n
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<${M}x40xf32>, tensor<40x50xf32>) -> tensor<${M}x50xf32>
  %1 = stablehlo.dot_general %0, %z, contracting_dims = [1] x [0]
    : (tensor<${M}x50xf32>, tensor<50x${N}xf32>) -> $mn
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : ($n) -> $mn
  %3 = stablehlo.add %1, %2 : $mn

matmul_f64 | stablehlo.dot_general | any any | ab | a:1 b:1 | element=f64
%x: $mk, %y: $kn
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ($mk, $kn) -> $mn

dot | stablehlo.dot | any any | ab | a:1 b:1 | judge=xla
%x: $mk, %y: $kn
  %0 = stablehlo.dot %x, %y : ($mk, $kn) -> $mn

einsum | stablehlo.einsum | any any | ab | a:1 b:1 | judge=xla
%x: $mk, %y: $kn
  %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "mk,kn->mn"}> : ($mk, $kn) -> $mn

for NAME = FEATURES = KERNEL = RESULT = GROUPS = WINDOW in
  convolution = ${K} = ${K}x${N} = 6x8x${N} = 1 = {};
  convolution_strided = ${K} = ${K}x${N} = 4x5x${N} = 1 = {stride = [2, 2], pad = [[1, 1], [1, 1]]};
  convolution_dilated = ${K} = ${K}x${N} = 13x7x${N} = 1
    = {lhs_dilate = [2, 1], rhs_dilate = [1, 2]};
  convolution_grouped = 4 = 2x6 = 6x8x6 = 2 = {};
  convolution_depthwise = ${K} = 1x${K} = 6x8x${K} = $K = {}
NAME | stablehlo.convolution | any any | ab | a:1 b:1
%x: tensor<${M}x8x9xFEATURESxf32>, %w: tensor<3x2xKERNELxf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = WINDOW
    {batch_group_count = 1 : i64, feature_group_count = GROUPS : i64}
    : (tensor<${M}x8x9xFEATURESxf32>, tensor<3x2xKERNELxf32>) -> tensor<${M}xRESULTxf32>

dynamic_conv | stablehlo.dynamic_conv | any any | ab | a:1 b:1
%x: tensor<${M}x8x${K}xf32>, %w: tensor<3x${K}x${N}xf32>
  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<${M}x8x${K}xf32>, tensor<3x${K}x${N}xf32>, tensor<1x2xi64>)
    -> tensor<${M}x8x${N}xf32>

fft | stablehlo.fft | finite finite | aa | a:1 | judge=xla
%x: $mn, %y: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.fft %0, type = FFT, length = [$N] : ($mn_c) -> $mn_c
  %2 = stablehlo.fft %1, type = IFFT, length = [$N] : ($mn_c) -> $mn_c
  %3 = stablehlo.real %2 : ($mn_c) -> $mn
  %4 = stablehlo.imag %1 : ($mn_c) -> $mn
  return %3, %4 : $mn, $mn

cholesky | stablehlo.cholesky | definite | a | a:0.5 | judge=xla
%x: $nn
  %0 = stablehlo.cholesky %x, lower = true : $nn

triangular_solve | stablehlo.triangular_solve | nonzero finite | ab | a:-1 b:1
%a: $nn, %b: $nk
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
    unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
    : ($nn, $nk) -> $nk

triangular_solve_unit_diagonal | stablehlo.triangular_solve | nonzero finite | -b | read
%a: $nn, %b: $nk
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
    unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
    : ($nn, $nk) -> $nk

batch_norm_inference | stablehlo.batch_norm_inference | finite finite finite finite positive
  | aaaaa | read | judge=xla
%x: $mn, %g: $n, %o: $n, %m: $n, %v: $n
  %0 = "stablehlo.batch_norm_inference"(%x, %g, %o, %m, %v)
    <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}> : ($mn, $n, $n, $n, $n) -> $mn

batch_norm_training | stablehlo.batch_norm_training | finite finite finite | aaa | read | judge=xla
%x: $mn, %g: $n, %o: $n
  %0:3 = "stablehlo.batch_norm_training"(%x, %g, %o)
    <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}> : ($mn, $n, $n) -> ($mn, $n, $n)

batch_norm_grad | stablehlo.batch_norm_grad | finite finite finite positive finite | aaaaa | read
  | judge=xla
%x: $mn, %g: $n, %m: $n, %v: $n, %d: $mn
  %0:3 = "stablehlo.batch_norm_grad"(%x, %g, %m, %v, %d)
    <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
    : ($mn, $n, $n, $n, $mn) -> ($mn, $n, $n)
""")
