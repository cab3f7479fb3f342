"""Programs of several elementwise ops, and of those that stand for no other op."""

from __future__ import annotations

from tests.py.programs.program import READ, Program

OTHERS = (
    Program(
        "square",
        "stablehlo.multiply",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.multiply %x, %x : $mn
  return %0 : $mn
}""",
        "any",
        "a",
        {"a": 2},
    ),
    Program(
        "itself",
        "stablehlo.divide",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.divide %x, %x : $mn
  return %0 : $mn
}""",
        "any",
        "a",
        {"a": 0},
    ),
    Program(
        "double",
        "stablehlo.add",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.add %x, %x : $mn
  return %0 : $mn
}""",
        "any",
        "a",
        {"a": 1},
    ),
    Program(
        "complex",
        "stablehlo.complex",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.real %0 : ($mn_c) -> $mn
  %2 = stablehlo.imag %0 : ($mn_c) -> $mn
  return %1, %2 : $mn, $mn
}""",
        "any any",
        "aa",
        {"a": 1},
    ),
    *(
        Program(
            f"{part}_of_product",
            f"stablehlo.{part}",
            """
func.func @main(%x: $mn, %y: $mn, %z: $mn) -> $mn {
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.complex %z, %x : $mn_c
  %2 = stablehlo.multiply %0, %1 : $mn_c
  %3 = stablehlo.negate %2 : $mn_c
  %4 = stablehlo.part %3 : ($mn_c) -> $mn
  return %4 : $mn
}""".replace("part", part),
            "finite finite finite",
            "aaa",
            {"a": 2},
        )
        for part in ("real", "imag")
    ),
    Program(
        "complex_sum_with_constant",
        "stablehlo.complex",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %c = stablehlo.constant dense<(0.5, -2.0)> : $mn_c
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.add %0, %c : $mn_c
  %2 = stablehlo.abs %1 : ($mn_c) -> $mn
  return %2 : $mn
}""",
        "finite finite",
        "aa",
        READ,
    ),
    *(
        Program(
            f"{op}_of_splat",
            f"stablehlo.{op}",
            """
func.func @main(%x: $mn) -> ($mn, $mn) {
  %c = stablehlo.constant dense<-0.3> : $mn
  %0 = stablehlo.OP %c : $mn
  %1 = stablehlo.add %0, %x : $mn
  %2 = stablehlo.multiply %0, %x : $mn
  return %1, %2 : $mn, $mn
}""".replace("OP", op),
            "any",
            "a",
            READ,
        )
        for op in ("negate", "abs", "sign", "exponential", "ceil")
    ),
    Program(
        "splat_through_bf16",
        "stablehlo.convert",
        """
func.func @main(%x: $mn) -> $mn {
  %c = stablehlo.constant dense<0.3> : $mn
  %0 = stablehlo.convert %c : ($mn) -> $mn_bf16
  %1 = stablehlo.convert %0 : ($mn_bf16) -> $mn
  %2 = stablehlo.add %1, %x : $mn
  return %2 : $mn
}""",
        "any",
        "a",
        READ,
    ),
    Program(
        "select",
        "stablehlo.select",
        """
func.func @main(%p: $mn_i1, %x: $mn, %y: $mn) -> $mn {
  %0 = stablehlo.select %p, %x, %y : $mn_i1, $mn
  return %0 : $mn
}""",
        "bool any any",
        "-aa",
        {"a": 1},
    ),
    Program(
        "select_by_scalar",
        "stablehlo.select",
        """
func.func @main(%p: $s_i1, %x: $mn, %b: $n) -> $mn {
  %y = stablehlo.broadcast_in_dim %b, dims = [1] : ($n) -> $mn
  %0 = stablehlo.select %p, %y, %x : $s_i1, $mn
  return %0 : $mn
}""",
        "bool any any",
        "-aa",
        {"a": 1},
    ),
    *(
        Program(
            f"mask_{name}",
            "stablehlo.select",
            """
func.func @main(%p: $mn_i1, %x: $mn) -> $mn {
  %y = stablehlo.constant dense<value> : $mn
  %0 = stablehlo.select %p, %x, %y : $mn_i1, $mn
  return %0 : $mn
}""".replace("value", value),
            "bool any",
            "-a",
            moves,
        )
        for name, value, moves in (
            ("zero", "0.0", {"a": 1}),
            ("ninf", "$NINF", {"a": 1}),
            ("nan", "$NAN", {"a": 1}),
            ("splat", "-7.0", READ),
        )
    ),
    Program(
        "select_of_masks",
        "stablehlo.select",
        """
func.func @main(%p: $mn_i1, %x: $mn) -> $mn {
  %low = stablehlo.constant dense<$NINF> : $mn
  %zero = stablehlo.constant dense<0.0> : $mn
  %0 = stablehlo.select %p, %low, %zero : $mn_i1, $mn
  %1 = stablehlo.add %0, %x : $mn
  return %1 : $mn
}""",
        "bool any",
        "-a",
        {"a": 1},
    ),
    Program(
        "clamp",
        "stablehlo.clamp",
        """
func.func @main(%l: $mn, %x: $mn, %h: $mn) -> $mn {
  %0 = stablehlo.clamp %l, %x, %h : $mn
  return %0 : $mn
}""",
        "any any any",
        "aaa",
        {"a": 1},
    ),
    Program(
        "clamp_by_scalars",
        "stablehlo.clamp",
        """
func.func @main(%l: $s, %x: $mn, %h: $s) -> $mn {
  %0 = stablehlo.clamp %l, %x, %h : ($s, $mn, $s) -> $mn
  return %0 : $mn
}""",
        "any any any",
        "aaa",
        {"a": 1},
    ),
    Program(
        "clamp_by_constants",
        "stablehlo.clamp",
        """
func.func @main(%x: $mn) -> $mn {
  %l = stablehlo.constant dense<0.0> : $s
  %h = stablehlo.constant dense<1.5> : $s
  %0 = stablehlo.clamp %l, %x, %h : ($s, $mn, $s) -> $mn
  return %0 : $mn
}""",
        "any",
        "a",
        READ,
    ),
    Program(
        "from_i32",
        "stablehlo.convert",
        """
func.func @main(%x: $mn_i32, %y: $mn) -> $mn {
  %0 = stablehlo.convert %x : ($mn_i32) -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
  return %1 : $mn
}""",
        "integer any",
        "-a",
        {"a": 1},
    ),
    Program(
        "through_f16",
        "stablehlo.convert",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = stablehlo.convert %x : ($mn) -> $mn_f16
  %1 = stablehlo.convert %y : ($mn) -> $mn_f16
  %2 = stablehlo.add %0, %1 : $mn_f16
  %3 = stablehlo.convert %2 : ($mn_f16) -> $mn
  return %3 : $mn
}""",
        "nonzero nonzero",
        "aa",
        {"a": 1},
        2,
    ),
    Program(
        "through_bf16",
        "stablehlo.convert",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %0 = stablehlo.convert %x : ($mn) -> $mn_bf16
  %1 = stablehlo.convert %y : ($mn) -> $mn_bf16
  %2 = stablehlo.add %0, %1 : $mn_bf16
  %3 = stablehlo.convert %2 : ($mn_bf16) -> $mn
  return %3 : $mn
}""",
        "any any",
        "aa",
        {"a": 1},
    ),
    Program(
        "through_f8",
        "stablehlo.convert",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.convert %x : ($mn) -> $mn_f8E5M2
  %1 = stablehlo.convert %0 : ($mn_f8E5M2) -> $mn
  return %1 : $mn
}""",
        "any",
        "a",
        READ,
        6,
    ),
    Program(
        "polynomial",
        "stablehlo.add",
        """
func.func @main(%x: $mn, %y: $mn) -> $mn {
  %a = stablehlo.constant dense<0.044715> : $mn
  %b = stablehlo.constant dense<-2.5> : $mn
  %0 = stablehlo.multiply %x, %x : $mn
  %1 = stablehlo.multiply %0, %a : $mn
  %2 = stablehlo.add %1, %y : $mn
  %3 = stablehlo.multiply %2, %b : $mn
  %4 = stablehlo.subtract %3, %x : $mn
  %5 = stablehlo.divide %4, %y : $mn
  return %5 : $mn
}""",
        "nonzero nonzero",
        "aa",
        READ,
    ),
    Program(
        "horner",
        "stablehlo.multiply",
        "\nfunc.func @main(%x: $mn) -> ($mn, $mn) {\n"
        "  %c = stablehlo.constant dense<0.75> : $mn\n"
        "  %0 = stablehlo.multiply %x, %x : $mn\n"
        + "".join(
            f"  %{2 * i + 1} = stablehlo.multiply %{2 * i}, %x : $mn\n"
            f"  %{2 * i + 2} = stablehlo.add %{2 * i + 1}, %c : $mn\n"
            for i in range(8)
        )
        + "  %17 = stablehlo.divide %c, %16 : $mn\n"
        "  return %16, %17 : $mn, $mn\n}",
        "positive",
        "a",
        READ,
        span=10,
    ),
    Program(
        "ninth_power",
        "stablehlo.multiply",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = stablehlo.multiply %x, %x : $mn
  %1 = stablehlo.multiply %0, %0 : $mn
  %2 = stablehlo.multiply %1, %1 : $mn
  %3 = stablehlo.multiply %2, %x : $mn
  return %3 : $mn
}""",
        "positive",
        "a",
        READ,
        span=12,
    ),
    Program(
        "roots_of_products",
        "stablehlo.sqrt",
        """
func.func @main(%x: $mn, %y: $mn, %z: $mn) -> ($mn, $mn) {
  %0 = stablehlo.multiply %x, %y : $mn
  %1 = stablehlo.sqrt %0 : $mn
  %2 = stablehlo.multiply %0, %z : $mn
  %3 = stablehlo.rsqrt %2 : $mn
  %4 = stablehlo.add %1, %z : $mn
  return %4, %3 : $mn, $mn
}""",
        "positive positive positive",
        "aaa",
        READ,
    ),
)
