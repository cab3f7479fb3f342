"""The groups of a convolution.

The features of the image are in groups, or its batch is, and so are the output features of the
kernel. Each group of the image is convolved with its group of the kernel alone.
"""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir, stablehlo

CONVOLUTION: Final = "stablehlo.convolution"


def groups(op: ir.Operation | ir.OpView) -> tuple[int, int, int]:
    """Returns the groups of a convolution, and the dimensions of image and kernel that have them.

    Returns:
        The number of groups, which is 1 if there are none.
    """
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    batches, features = (ir.IntegerAttr(op.attributes[name]).value for name in _COUNTS)
    image = numbers.input_batch_dimension if batches > 1 else numbers.input_feature_dimension
    return batches * features, image, numbers.kernel_output_feature_dimension


_COUNTS: Final = ("batch_group_count", "feature_group_count")
