"""Calibration: what programs of every kind are seen to compute with, against NumPy."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from jax import export, lax

from scalify_hlo.commands.calibrate.calibration import Calibration, calibrate
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.profile.file import load_profile
from scalify_hlo.profile.model import Profile, TensorProfile
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_text
from tests.py.devices import eight_devices, sharded_calibration
from tests.py.devices.sharded_steps import CASES, step
from tests.py.profile.test_profile import profile_of
from tests.py.shared import commands
from tests.py.shared.judge import normal, program_of
from tests.py.shared.lifted import calls, left_of_calls, left_of_nested, nested

ROOT = Path(__file__).resolve().parents[3]
Array = npt.NDArray[Any]

DOT = """func.func @main(%x: TYPE, %w: TYPE) -> TYPE {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (TYPE, TYPE) -> TYPE loc("dot")
  return %0 : TYPE
}"""
SQUARE = DOT.replace("TYPE", "tensor<2x2xf32>")


def assert_sees(tensor: TensorProfile, values: Array) -> None:
    """Whether a tensor's profile is that of an array."""
    expected = profile_of(values)
    assert tensor.count == expected.count
    assert tensor.histogram == expected.histogram
    assert tensor.amax == expected.amax
    assert tensor.rms == pytest.approx(expected.rms, rel=1e-6)


def operands(profile: Profile) -> list[TensorProfile]:
    return list(profile.tensors.values())


class TestStatistics:
    def test_of_a_matmul(self) -> None:
        x, w = normal(2, 2), 1e3 * normal(2, 2, seed=1)
        profile = calibrate(SQUARE, [{"arg0": x, "arg1": w}])
        assert list(profile.tensors) == ["arg1@forward:lhs", "arg1@forward:rhs"]
        assert_sees(profile.tensors["arg1@forward:lhs"], x)
        assert_sees(profile.tensors["arg1@forward:rhs"], w)

    def test_samples_are_merged(self) -> None:
        given = [(normal(2, 2, seed=i), 4.0**i * normal(2, 2, seed=9 - i)) for i in range(3)]
        profile = calibrate(SQUARE, given)
        assert profile.samples == 3
        for side, tensor in enumerate(operands(profile)):
            assert_sees(tensor, np.stack([sample[side] for sample in given]))

    def test_what_is_not_finite_counts_by_itself(self) -> None:
        x = np.array([[np.inf, -np.inf], [np.nan, -3]], np.float32)
        left, right = operands(calibrate(SQUARE, [(x, np.zeros_like(x))]))
        assert (left.count, left.nonfinite, left.amax, left.rms) == (4, 3, 3, 3)
        assert (right.zeros, right.amax, right.rms) == (4, 0, 0)

    def test_squares_beyond_the_range_of_f32(self) -> None:
        big, small = np.full((2, 2), 3e38, np.float32), np.full((2, 2), 2e-38, np.float32)
        left, right = operands(calibrate(SQUARE, [(big, small)] * 2))
        assert left.rms == pytest.approx(3e38)
        assert right.rms == pytest.approx(2e-38)

    @pytest.mark.parametrize(
        ("element", "dtype"),
        [
            ("bf16", ml_dtypes.bfloat16),
            ("f16", np.float16),
            ("f64", np.float64),
            ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
            ("f8E5M2", ml_dtypes.float8_e5m2),
        ],
    )
    def test_of_every_format(self, element: str, dtype: Any) -> None:
        text = DOT.replace("TYPE", f"tensor<4x4x{element}>")
        x, w = normal(4, 4).astype(dtype), normal(4, 4, seed=1).astype(dtype)
        left, right = operands(calibrate(text, [(x, w)]))
        assert_sees(left, x.astype(np.float32))
        assert_sees(right, w.astype(np.float32))

    def test_integers_and_complex_numbers_have_no_tensor(self) -> None:
        for element in ("i32", "complex<f32>"):
            text = DOT.replace("TYPE", f"tensor<2x2x{element}>")
            with pytest.raises(InputError, match="no matmul to observe"):
                calibrate(text, [])

    def test_of_a_convolution_and_an_operand_of_two_matmuls(self) -> None:
        def program(x: jax.Array, k: jax.Array, w: jax.Array) -> jax.Array:
            y = lax.conv(x, k, (1, 1), "SAME")[:, :, 0]
            return jnp.maximum(y @ w, 0) + y @ (2 * w)

        x, k, w = normal(1, 2, 4, 4), normal(3, 2, 3, 3), normal(4, 4)
        profile = calibrate(program_of(program, x, k, w), [(x, k, w)])
        tensors = profile.tensors
        assert len(tensors) == 6
        assert_sees(tensors["k@forward:lhs"], x)
        assert_sees(tensors["k@forward:rhs"], k)
        assert_sees(tensors["w@forward:rhs"], w)
        assert_sees(tensors["dot_general@forward:rhs"], 2 * w)
        assert tensors["w@forward:lhs"] is tensors["dot_general@forward:lhs"]

    def test_a_matmul_of_one_value_with_itself(self) -> None:
        text = SQUARE.replace("%x, %w,", "%x, %x,")
        profile = calibrate(text, [(normal(2, 2), normal(2, 2))])
        left, right = operands(profile)
        assert left is right
        assert left.count == 4


def integers() -> tuple[Array, Array, Array]:
    """Small whole numbers, of which NumPy and XLA make the same bits."""
    rng = np.random.default_rng(0)
    w = rng.integers(-1, 2, (8, 8)).astype(np.float32)
    xs = rng.integers(-2, 3, (4, 8, 8)).astype(np.float32)
    return w, xs, np.array([True, False, True, False])


class TestRegions:
    def test_loops_and_branches(self) -> None:
        profile = calibrate(program_of(nested, *integers()), [integers()])
        inside, outside = left_of_nested(*integers())
        names = list(profile.tensors)
        assert names == [f"w@forward{end}" for end in (":lhs", ":rhs", "#2:lhs", "#2:rhs")]
        tensors = operands(profile)
        assert_sees(tensors[0], np.stack(inside))
        assert_sees(tensors[2], np.stack(outside))
        assert_sees(tensors[1], np.stack([integers()[0]] * len(inside)))

    def test_each_call_of_a_function_is_a_site(self) -> None:
        w, xs, _ = integers()
        profile = calibrate(program_of(calls, w, xs), [(w, xs)])
        assert sorted({name.split()[-1] for name in profile.tensors}) == [
            f"w@forward{number}:{side}" for number in ("#2", "#3", "") for side in ("lhs", "rhs")
        ]
        for number, values in zip(("", "#2", "#3"), left_of_calls(w, xs), strict=True):
            tensor = next(
                t for n, t in profile.tensors.items() if n.endswith(f"w@forward{number}:lhs")
            )
            assert tensor.count == np.size(values)
            assert tensor.amax == pytest.approx(float(np.max(np.abs(values))), rel=1e-6)

    def test_a_composite_is_left_with_a_remark(self) -> None:
        text = """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.composite "a.b" %x {decomposition = @inner}
    : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot %0, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func private @inner(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}"""
        calibration = Calibration(text)
        assert [remark.op for remark in calibration.remarks] == ["stablehlo.composite"]
        x = normal(2, 2)
        calibration.add([x], "x")
        left, right = operands(calibration.profile())
        assert_sees(left, (x @ x))
        assert_sees(right, x)


class TestSamples:
    """Samples that do not fit are named, and told what the program takes."""

    @pytest.mark.parametrize(
        ("sample", "message"),
        [
            ([normal(2, 2)], "there are 1 arrays, and the program takes 2: arg0 float32[2, 2]"),
            ([normal(2, 2)] * 3, "there are 3 arrays"),
            ([normal(2, 3), normal(2, 2)], "the array for 'arg0' is float32[2, 3], and the argum"),
            ([np.ones((2, 2), np.int32), normal(2, 2)], "the array for 'arg0' is int32[2, 2]"),
            ({"arg0": normal(2, 2)}, "the inputs have no array for the argument 'arg1'"),
            ({"arg0": normal(2, 2), "argo": normal(2, 2)}, "'argo', which is no argument"),
            (3, "a sample is no int"),
        ],
    )
    def test_of_a_module(self, sample: Any, message: str) -> None:
        good = [normal(2, 2), normal(2, 2)]
        with pytest.raises(UsageError) as caught:
            calibrate(SQUARE, [good, sample])
        assert message in caught.value.message
        assert caught.value.location == "sample 2"
        assert caught.value.hint

    @pytest.mark.parametrize(
        ("sample", "message"),
        [
            ([{"w": 1}], "is a tuple of its arguments, not a list"),
            ((normal(2, 2),), "the arguments are nested as"),
            (({"w": normal(2, 2), "v": 1}, normal(2, 2)), "the arguments are nested as"),
            (({"w": normal(3, 2)}, normal(2, 2)), "the array for \"params['w']\" is float32[3, 2]"),
        ],
    )
    def test_of_an_exported(self, sample: Any, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            calibrate(_tree_program(), [sample])
        assert message in caught.value.message
        assert caught.value.location == "sample 1"

    def test_trees_names_and_unused_arguments(self) -> None:
        w, x = normal(2, 2), normal(2, 2, seed=1)
        one = calibrate(_tree_program(), [({"w": w}, x)])
        assert one == calibrate(_tree_program(), [{"params['w']": w, "x": x}])
        unused = program_of(lambda a, _, c: a @ c, w, np.ones(3), x)
        left, right = operands(calibrate(unused, [(w, np.ones(3), x)]))
        assert_sees(left, w)
        assert_sees(right, x)

    def test_none_is_refused(self) -> None:
        with pytest.raises(UsageError, match="there is no sample"):
            calibrate(SQUARE, [])

    def test_what_is_no_program_is_refused(self) -> None:
        with pytest.raises(UsageError, match="an object of type list is not a program"):
            calibrate([], [])

    def test_the_program_is_left_as_it_was(self) -> None:
        module = read_text(SQUARE).module
        before = str(module)
        first = calibrate(module, [(normal(2, 2), normal(2, 2))])
        assert str(module) == before
        assert calibrate(module, [(normal(2, 2), normal(2, 2))]) == first

    def test_dynamic_shapes_are_those_of_samples(self) -> None:
        arrays = [normal(2, 2), normal(2, 2)]
        dynamic = calibrate(DOT.replace("TYPE", "tensor<?x?xf32>"), [arrays])
        assert dynamic.tensors == calibrate(SQUARE, [arrays]).tensors

    def test_what_is_no_tensor_is_refused(self) -> None:
        text = "func.func @main(%t: !stablehlo.token) { return }"
        with pytest.raises(InputError, match="cannot be fed"):
            calibrate(text, [])


def _tree_program() -> export.Exported:
    def program(params: Any, x: jax.Array) -> jax.Array:
        product: jax.Array = x @ params["w"]
        return product

    return program_of(program, {"w": normal(2, 2)}, normal(2, 2))


@pytest.fixture(scope="module")
def spread() -> dict[str, Any]:
    """Returns the results of steps for eight devices, in a process of its own."""
    found: dict[str, Any] = eight_devices.run(sharded_calibration.main)
    return found


@pytest.mark.slow
class TestDevices:
    @pytest.mark.parametrize("name", [case.name for case in CASES if case.plain is step])
    def test_a_step_that_is_spread_is_seen_as_on_one_device(
        self, spread: dict[str, Any], name: str
    ) -> None:
        for found, plain in zip(spread[name], spread[""], strict=True):
            # What several devices have the same of is counted on each.
            assert found["count"] % plain["count"] == 0
            # The gradient of a mean over a part of the batch is a power of two larger.
            factor = 2 ** round(math.log2(found["amax"] / plain["amax"]))
            assert factor in ((1, 2, 4, 8) if "shard_map" in name else (1,))
            assert found["amax"] == pytest.approx(factor * plain["amax"], rel=1e-5)
            assert found["rms"] == pytest.approx(factor * plain["rms"], rel=1e-5)

    def test_devices_of_which_nothing_is_known_are_refused(self) -> None:
        with pytest.raises(InputError, match="by hand among devices") as caught:
            calibrate(BY_HAND, [])
        assert "jax.export" in str(caught.value)

    def test_too_few_devices_are_named(self) -> None:
        exported = program_of(lambda x: x + x, normal(4, 4))
        artifact = write_artifact(read_text(BY_HAND).module, "compatible", "p")
        changes: dict[str, Any] = {"mlir_module_serialized": artifact, "nr_devices": 1024}
        with pytest.raises(InputError, match="is for 1024 devices, and there are") as caught:
            calibrate(dataclasses.replace(exported, **changes), [])
        assert "device_count=1024" in str(caught.value)


BY_HAND = """sdy.mesh @mesh = <["d"=2]>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"d"}, {}]>]
      out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%y: tensor<2x4xf32>) {
    %1 = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0]
      : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.slice %1 [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    sdy.return %2 : tensor<2x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""


call = partial(commands.call, "calibrate")


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        (tmp_path / "p.mlir").write_text(SQUARE)
        for i in range(3):
            np.savez(
                tmp_path / f"{i}.npz", arg0=normal(2, 2, seed=i), arg1=normal(2, 2, seed=5 + i)
            )
        return tmp_path

    def test_samples_and_merging(self, files: Path) -> None:
        out, more = files / "a.json", files / "b.json"
        samples = [("--inputs", files / f"{i}.npz") for i in range(3)]
        call(files / "p.mlir", *samples[0], *samples[1], "-o", out, code=0)
        call(files / "p.mlir", *samples[2], "--merge", out, "-o", more, code=0)
        given = [(normal(2, 2, seed=i), normal(2, 2, seed=5 + i)) for i in range(3)]
        merged, expected = load_profile(more), calibrate(SQUARE, given)
        assert merged.samples == 3
        assert merged.program == expected.program
        for tensor, whole in zip(operands(merged), operands(expected), strict=True):
            assert tensor.histogram == whole.histogram
            assert tensor.rms == pytest.approx(whole.rms)
        result = call(files / "p.mlir", *samples[0])
        assert json.loads(result.stdout)["samples"] == 1
        assert result.stderr == ""
