"""Scales that a recipe states, whatever the data are.

X_d = cast(X / 2^e), with one e for all activations, one for all weights and one for all gradients:
a bias that is added to the exponents of a format (arXiv 2206.02915). What is too small for the
format is flushed, and what is too large saturates.
"""

from __future__ import annotations

import numpy as np

from scalify_hlo.casts.matmuls import roles_of
from scalify_hlo.casts.operand_scales import Operand, QuantizeRequest, Quantizing
from scalify_hlo.casts.own_scales import OwnScales
from scalify_hlo.dataflow.matmuls import ACTIVATION, GRADIENT, WEIGHT
from scalify_hlo.report.matmuls import STATED


class Static(OwnScales):
    """Scales from `scaling.exponents`, by the role of each operand."""

    def operand(self, request: QuantizeRequest) -> Operand:
        """See `OwnScales`."""
        result, side = request.place
        role = roles_of(result.owner.opview)[side]
        exponent = self._recipe.scaling.exponents[(ACTIVATION, WEIGHT, GRADIENT).index(role)]
        return Quantizing(request.whole, self._recipe).static(np.asarray(exponent), STATED)
