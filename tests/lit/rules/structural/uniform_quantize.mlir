// RUN: not %scalify-hlo rewrite %s 2>&1 | %filecheck %s

// Quantized types are refused.
// CHECK: uniform_quantize.mlir:{{[0-9]+:[0-9]+}}: error: a type of the program is quantized already
func.func @main(%x: tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 0.5>>
}
