func.func public @main(%x: tensor<128x256xf32>, %w: tensor<256x64xf32>, %b: tensor<64xf32>) -> tensor<128x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<128x256xf32>, tensor<256x64xf32>) -> tensor<128x64xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<128x64xf32>
  %2 = stablehlo.add %0, %1 : tensor<128x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<128x64xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<128x64xf32>
  return %3 : tensor<128x64xf32>
}
