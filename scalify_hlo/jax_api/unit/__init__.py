"""Unit scaling for authors of models: ops of plain JAX whose values and gradients have rms 1.

Source: Unit Scaling paper (seed 001): §5 and table A.2.
"""

from scalify_hlo.jax_api.unit.constraints import amean as amean
from scalify_hlo.jax_api.unit.constraints import gmean as gmean
from scalify_hlo.jax_api.unit.constraints import hmean as hmean
from scalify_hlo.jax_api.unit.constraints import to_input as to_input
from scalify_hlo.jax_api.unit.constraints import to_output as to_output
from scalify_hlo.jax_api.unit.contractions import attention as attention
from scalify_hlo.jax_api.unit.contractions import conv as conv
from scalify_hlo.jax_api.unit.contractions import linear as linear
from scalify_hlo.jax_api.unit.contractions import matmul as matmul
from scalify_hlo.jax_api.unit.cut_edges import CutEdges as CutEdges
from scalify_hlo.jax_api.unit.cut_edges import Factor as Factor
from scalify_hlo.jax_api.unit.cut_edges import cut_edges as cut_edges
from scalify_hlo.jax_api.unit.elementwise import cross_entropy as cross_entropy
from scalify_hlo.jax_api.unit.elementwise import dropout as dropout
from scalify_hlo.jax_api.unit.elementwise import embedding as embedding
from scalify_hlo.jax_api.unit.elementwise import gelu as gelu
from scalify_hlo.jax_api.unit.elementwise import layer_norm as layer_norm
from scalify_hlo.jax_api.unit.elementwise import relu as relu
from scalify_hlo.jax_api.unit.elementwise import rms_norm as rms_norm
from scalify_hlo.jax_api.unit.elementwise import silu as silu
from scalify_hlo.jax_api.unit.elementwise import softmax as softmax
from scalify_hlo.jax_api.unit.residuals import FFN as FFN
from scalify_hlo.jax_api.unit.residuals import residual_add as residual_add
from scalify_hlo.jax_api.unit.residuals import residual_split as residual_split
from scalify_hlo.jax_api.unit.residuals import running_mean_tau as running_mean_tau
from scalify_hlo.jax_api.unit.residuals import weighted_add as weighted_add
from scalify_hlo.jax_api.unit.scaled import identity as identity
from scalify_hlo.jax_api.unit.scaled import scaled as scaled
