"""Programs for the rules of Shardy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.py.programs.program import Program, read

_WORDS = {
    "ON_ONE": """sdy.manual_computation(%x)
    in_shardings=[WHOLE] out_shardings=[WHOLE, WHOLE] manual_axes={"x"} (%xx: $mn) {""",
    "ON_TWO": """sdy.manual_computation(%x, %y)
    in_shardings=[WHOLE, WHOLE] out_shardings=[WHOLE, WHOLE] manual_axes={"x"}
    (%xx: $mn, %yy: $mn) {""",
    "SUM": """"stablehlo.all_reduce"(%p) <{
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      replica_groups = dense<[[0]]> : tensor<1x1xi64>, use_global_device_ids
    }> ({
    ^bb0(%a: $s, %b: $s):
      %r = stablehlo.add %a, %b : $s
      stablehlo.return %r : $s
    }) : ($mn) -> $mn""",
    "WHOLE": "<@mesh, [{}, {}]>",
}
"""Computations on each of the devices, of which there is one, and a sum over them."""


def _placed(table: str) -> Iterator[Program]:
    """Programs with a mesh where they name it."""
    for program in read(table, _WORDS):
        mesh = '\nsdy.mesh @mesh = <["x"=1, "y"=1]>' if "@mesh" in program.body else ""
        yield replace(program, body=mesh + program.body)


PROGRAMS = tuple(
    _placed("""
for OP = PLACED = REST in all_gather = [{"x"}, {}] = [{"x"}, {}] %x out_sharding=WHOLE;
  all_reduce = [{"x"}, {}], unreduced={"y"} = {"y"} %x out_sharding=<@mesh, [{"x"}, {}]>;
  all_slice = [{}, {}] = [{"x"}, {}] %x out_sharding=<@mesh, [{"x"}, {}]>;
  all_to_all = [{"x"}, {}] = [{"x"}: 0->1] %x out_sharding=<@mesh, [{}, {"x"}]>;
  collective_permute = [{"x"}, {}] = %x out_sharding=<@mesh, [{"y"}, {}]>;
  data_flow_edge = [{"x"}, {}] = %x sharding=<@mesh, [{"x"}, {}]>;
  func_data_flow_edge = [{"x"}, {}] = %x;
  propagation_barrier = [{"x"}, {}] = %x allowed_direction=BACKWARD;
  reduce_scatter = [{"x"}, {}], unreduced={"y"}
    = [{}, {"y"}] %x out_sharding=<@mesh, [{"x"}, {"y"}]>;
  replicated_to_unreduced = [{"x"}, {}]
    = {"y"} %x out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>;
  reshard = [{"x"}, {}] = %x <@mesh, [{"y"}, {}]>;
  sharded_to_unreduced = [{"x"}, {}]
    = [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}], unreduced={"x"}>;
  sharding_constraint = [{"x"}, {}] = %x <@mesh, [{"x"}, {}]>
sdy_OP | sdy.OP | any any | aa | a:1 | judge=report | scales=s0
%x: $mn {sdy.sharding = #sdy.sharding<@mesh, PLACED>}, %y: $mn
  %0 = sdy.OP REST : $mn
  %1 = stablehlo.subtract %0, %y : $mn

sharding_group | sdy.sharding_group | any any | ab | a:1 b:1 | judge=xla
%x: $mn, %y: $mn
  %0 = stablehlo.multiply %x, %y : $mn
  sdy.sharding_group %0 group_id=0 : $mn

sharded_constant | sdy.constant | any | a | read | span=12 | judge=report | scales=s0 s0
%x: $mn
  %c = sdy.constant dense<3.0> : $mn
  %0 = stablehlo.add %c, %x : $mn
  %1 = stablehlo.multiply %c, %x : $mn
  return %0, %1 : $mn, $mn

manual | sdy.manual_computation | any any | aa | a:1 | judge=xla
%x: $mn, %y: $mn
  %0:2 = ON_TWO
    %p = stablehlo.add %xx, %yy : $mn
    %s = SUM
    %m = stablehlo.maximum %xx, %s : $mn
    sdy.return %s, %m : $mn, $mn
  } : ($mn, $mn) -> ($mn, $mn)

manual_that_takes_no_scale | sdy.manual_computation | any | a | a:1 | judge=xla
%x: $mn
  %0:2 = ON_ONE
    %p = stablehlo.negate %xx : $mn
    %s = SUM
    sdy.return %s, %xx : $mn, $mn
  } : ($mn) -> ($mn, $mn)

manual_that_reads | sdy.manual_computation | finite finite | aa | read | span=3 | judge=xla
%x: $mn, %y: $mn
  %0:2 = ON_TWO
    %e = stablehlo.exponential %yy : $mn
    %m = stablehlo.multiply %e, %xx : $mn
    sdy.return %m, %e : $mn, $mn
  } : ($mn, $mn) -> ($mn, $mn)

manual_with_roots | sdy.manual_computation | positive positive | aa | read | judge=xla
%x: $mn, %y: $mn
  %0:2 = ON_TWO
    %m = stablehlo.multiply %xx, %yy : $mn
    %q = stablehlo.sqrt %m : $mn
    %c = stablehlo.cbrt %xx : $mn
    %a = stablehlo.add %q, %yy : $mn
    sdy.return %q, %a : $mn, $mn
  } : ($mn, $mn) -> ($mn, $mn)

manual_of_constants | sdy.manual_computation | any | a | read | judge=xla
%x: $mn
  %0:2 = ON_ONE
    %c = stablehlo.constant dense<3.0> : $mn
    %z = stablehlo.constant dense<0.0> : $mn
    %m = stablehlo.maximum %xx, %z : $mn
    sdy.return %z, %c : $mn, $mn
  } : ($mn) -> ($mn, $mn)

nested_manual | sdy.manual_computation | positive positive | aa | read | judge=xla
%x: $mn, %y: $mn
  %0:2 = ON_TWO
    %n:2 = sdy.manual_computation(%xx, %yy)
      in_shardings=[WHOLE, WHOLE] out_shardings=[WHOLE, WHOLE] manual_axes={"y"}
      (%u: $mn, %v: $mn) {
      %q = stablehlo.sqrt %u : $mn
      %d = stablehlo.add %u, %v : $mn
      sdy.return %q, %d : $mn, $mn
    } : ($mn, $mn) -> ($mn, $mn)
    %s = stablehlo.add %n#0, %n#1 : $mn
    sdy.return %s, %n#1 : $mn, $mn
  } : ($mn, $mn) -> ($mn, $mn)

manual_in_a_loop | sdy.manual_computation | any any | aa | read | span=12 | judge=xla
%x: $mn, %y: $mn
  COUNTS
  %start = stablehlo.constant dense<0.0> : $mn
  %0:2 = stablehlo.while(%a = %start, %i = %zero) : $mn, $s_i32
  BELOW_THREE
    %1 = sdy.manual_computation(%a, %x, %y)
      in_shardings=[WHOLE, WHOLE, WHOLE] out_shardings=[WHOLE] manual_axes={"x"}
      (%u: $mn, %v: $mn, %w: $mn) {
      %p = stablehlo.maximum %v, %w : $mn
      %q = func.call @f(%p, %v) : ($mn, $mn) -> $mn
      %r = stablehlo.add %q, %u : $mn
      sdy.return %r : $mn
    } : ($mn, $mn, $mn) -> $mn
    %2 = stablehlo.add %i, %one : $s_i32
    stablehlo.return %1, %2 : $mn, $s_i32
  }
  return %0#0 : $mn
}
func.func private @f(%a: $mn, %b: $mn) -> $mn {
  %0 = stablehlo.add %a, %b : $mn

named_computation | sdy.named_computation | any any integer | aa- | read | judge=report
  | scales=s0 unscaled
%x: $mn, %y: $mn, %i: $mn_i32
  %0:2 = sdy.named_computation<"f">(%i, %x, %y)
    in_shardings=[WHOLE, WHOLE, WHOLE] out_shardings=[WHOLE, WHOLE]
    (%j: $mn_i32, %u: $mn, %v: $mn) {
    %1 = stablehlo.add %u, %v : $mn
    sdy.return %1, %j : $mn, $mn_i32
  } : ($mn_i32, $mn, $mn) -> ($mn, $mn_i32)

named_computation_placed_anyhow | sdy.named_computation | any any | aa | a:1 | judge=report
  | scales=s0
%x: $mn, %y: $mn
  %0 = sdy.named_computation<"f">(%x, %y) (%u: $mn, %v: $mn) {
    %1 = stablehlo.add %u, %v : $mn
    sdy.return %1 : $mn
  } : ($mn, $mn) -> $mn
""")
)
