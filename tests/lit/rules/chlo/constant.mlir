// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main() -> tensor<3xf32> {
  // CHECK: stablehlo.constant
  %0 = "chlo.constant"() {value=dense<1.0> : tensor<3xf32>}: () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
