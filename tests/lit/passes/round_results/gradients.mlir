// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-round-results)' \
// RUN:   | %filecheck %s

// The gradient of a weight, transposed, widened and scaled twice before it is rounded to f8.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[DW:.*]] = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2
// CHECK-SAME:      -> tensor<32x16xbf16>
// CHECK-NEXT:    %[[FACTOR:.*]] = stablehlo.constant dense<1.562500e-02> : tensor<32x16xbf16>
// CHECK-NEXT:    %[[SCALED:.*]] = stablehlo.multiply %[[DW]], %[[FACTOR]] : tensor<32x16xbf16>
// CHECK:         %[[SAFE:.*]] = stablehlo.clamp %{{.*}}, %[[SCALED]], %{{.*}} : (tensor<bf16>, tensor<32x16xbf16>, tensor<bf16>)
// CHECK-NEXT:    %[[CAST:.*]] = stablehlo.convert %[[SAFE]] : (tensor<32x16xbf16>) -> tensor<32x16xf8E5M2>
// CHECK-NEXT:    return %[[CAST]]
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>) -> tensor<32x16xf8E5M2> {
  %low = stablehlo.constant dense<-57344.0> : tensor<f32>
  %high = stablehlo.constant dense<57344.0> : tensor<f32>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = f8E5M2, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %a = stablehlo.constant dense<9.31322575E-10> : tensor<16x32xbf16>
  %1 = stablehlo.multiply %0, %a : tensor<16x32xbf16>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x32xbf16>) -> tensor<32x16xbf16>
  %3 = stablehlo.convert %2 : (tensor<32x16xbf16>) -> tensor<32x16xf32>
  %b = stablehlo.constant dense<0x4B800000> : tensor<32x16xf32>
  %4 = stablehlo.multiply %3, %b : tensor<32x16xf32>
  %5 = stablehlo.clamp %low, %4, %high : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %6 = stablehlo.convert %5 : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
  return %6 : tensor<32x16xf8E5M2>
}

// -----

// The first product may overflow, so that the second one is of infinity.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.convert %{{.*}} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>) -> tensor<16x32xf8E5M2> {
  %low = stablehlo.constant dense<-57344.0> : tensor<f32>
  %high = stablehlo.constant dense<57344.0> : tensor<f32>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %a = stablehlo.constant dense<4.0> : tensor<16x32xbf16>
  %1 = stablehlo.multiply %0, %a : tensor<16x32xbf16>
  %2 = stablehlo.convert %1 : (tensor<16x32xbf16>) -> tensor<16x32xf32>
  %b = stablehlo.constant dense<0.5> : tensor<16x32xf32>
  %3 = stablehlo.multiply %2, %b : tensor<16x32xf32>
  %4 = stablehlo.clamp %low, %3, %high : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %5 = stablehlo.convert %4 : (tensor<16x32xf32>) -> tensor<16x32xf8E5M2>
  return %5 : tensor<16x32xf8E5M2>
}

// -----

// Numbers that the first product flushes would not be zero in f8.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.convert %{{.*}} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>) -> tensor<16x32xf8E5M2> {
  %low = stablehlo.constant dense<-57344.0> : tensor<f32>
  %high = stablehlo.constant dense<57344.0> : tensor<f32>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %a = stablehlo.constant dense<7.88860905E-31> : tensor<16x32xbf16>
  %1 = stablehlo.multiply %0, %a : tensor<16x32xbf16>
  %2 = stablehlo.convert %1 : (tensor<16x32xbf16>) -> tensor<16x32xf32>
  %b = stablehlo.constant dense<1.26765060E+30> : tensor<16x32xf32>
  %3 = stablehlo.multiply %2, %b : tensor<16x32xf32>
  %4 = stablehlo.clamp %low, %3, %high : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %5 = stablehlo.convert %4 : (tensor<16x32xf32>) -> tensor<16x32xf8E5M2>
  return %5 : tensor<16x32xf8E5M2>
}

// -----

// A factor that is no power of two rounds in bf16, and a result that something else reads is wide.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     stablehlo.constant dense<3.000000e+00> : tensor<16x32xf32>
// CHECK-DAG:     stablehlo.constant dense<2.500000e-01> : tensor<16x32xf32>
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>)
    -> (tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2>, tensor<16x32xf32>) {
  %low = stablehlo.constant dense<-57344.0> : tensor<f32>
  %high = stablehlo.constant dense<57344.0> : tensor<f32>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %1 = stablehlo.convert %0 : (tensor<16x32xbf16>) -> tensor<16x32xf32>
  %a = stablehlo.constant dense<3.0> : tensor<16x32xf32>
  %2 = stablehlo.multiply %1, %a : tensor<16x32xf32>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %4 = stablehlo.convert %3 : (tensor<16x32xf32>) -> tensor<16x32xf8E5M2>
  %5 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %6 = stablehlo.convert %5 : (tensor<16x32xbf16>) -> tensor<16x32xf32>
  %b = stablehlo.constant dense<0.25> : tensor<16x32xf32>
  %7 = stablehlo.multiply %6, %b : tensor<16x32xf32>
  %8 = stablehlo.clamp %low, %7, %high : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %9 = stablehlo.convert %8 : (tensor<16x32xf32>) -> tensor<16x32xf8E5M2>
  return %4, %9, %6 : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2>, tensor<16x32xf32>
}

// -----

// The heads of a weight are dimensions of one operand of the matmul, which is one of matrices.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[DW:.*]] = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0] : {{.*}} -> tensor<32x16xbf16>
// CHECK:         %[[CAST:.*]] = stablehlo.convert %{{.*}} : (tensor<32x16xbf16>) -> tensor<32x16xf8E5M2>
// CHECK-NEXT:    %[[HEADS:.*]] = stablehlo.reshape %[[CAST]] : (tensor<32x16xf8E5M2>) -> tensor<32x2x8xf8E5M2>
// CHECK-NEXT:    return %[[HEADS]]
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>) -> tensor<32x2x8xf8E5M2> {
  %low = stablehlo.constant dense<-57344.0> : tensor<bf16>
  %high = stablehlo.constant dense<57344.0> : tensor<bf16>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %1 = stablehlo.reshape %0 : (tensor<16x32xbf16>) -> tensor<2x8x32xbf16>
  %2 = stablehlo.transpose %1, dims = [2, 0, 1] : (tensor<2x8x32xbf16>) -> tensor<32x2x8xbf16>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<bf16>, tensor<32x2x8xbf16>, tensor<bf16>) -> tensor<32x2x8xbf16>
  %4 = stablehlo.convert %3 : (tensor<32x2x8xbf16>) -> tensor<32x2x8xf8E5M2>
  return %4 : tensor<32x2x8xf8E5M2>
}

// -----

// Another order of the heads is no matmul of swapped operands.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<2x8x32xbf16>) -> tensor<8x2x32xbf16>
func.func @main(%dy: tensor<64x16xf8E5M2>, %x: tensor<64x32xf8E4M3FN>) -> tensor<8x2x32xf8E5M2> {
  %low = stablehlo.constant dense<-57344.0> : tensor<bf16>
  %high = stablehlo.constant dense<57344.0> : tensor<bf16>
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<64x16xf8E5M2>, tensor<64x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %1 = stablehlo.reshape %0 : (tensor<16x32xbf16>) -> tensor<2x8x32xbf16>
  %2 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<2x8x32xbf16>) -> tensor<8x2x32xbf16>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<bf16>, tensor<8x2x32xbf16>, tensor<bf16>) -> tensor<8x2x32xbf16>
  %4 = stablehlo.convert %3 : (tensor<8x2x32xbf16>) -> tensor<8x2x32xf8E5M2>
  return %4 : tensor<8x2x32xf8E5M2>
}
