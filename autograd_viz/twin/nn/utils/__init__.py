"""Helpers for parameters and gradients, by the names of torch.nn.utils."""

from ...core.base.missing import module_getattr
from . import parametrizations, parametrize, prune, rnn, stateless

from .gradients import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm  # isort: skip
from .gradients import parameters_to_vector, vector_to_parameters
from .recomputed import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

__getattr__ = module_getattr("torch.nn.utils", globals())

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "prune", "remove_spectral_norm", "remove_weight_norm", "rnn", "spectral_norm",
    "stateless", "vector_to_parameters", "weight_norm",
]  # fmt: skip
