"""Probability distributions, by the names of torch.distributions."""

from ..core.base.missing import module_getattr
from . import constraints, kl
from .continuous import Beta, Dirichlet, Exponential, MultivariateNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical
from .distribution import Distribution, Independent
from .kl import kl_divergence, register_kl

__getattr__ = module_getattr("torch.distributions", globals())

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "Distribution", "Exponential", "Independent", "MultivariateNormal",
    "Normal", "Uniform", "constraints", "kl", "kl_divergence", "register_kl",
]  # fmt: skip
