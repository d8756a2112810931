"""The Kullback-Leibler divergence of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .continuous import Beta, Dirichlet, Exponential, Normal
from .discrete import Bernoulli, Categorical
from .distribution import Distribution, Independent

_FORMULAS: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Register a formula of ``kl_divergence(p, q)`` for two classes; a decorator."""

    def decorate(formula: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """E_p[log p - log q]. Raises NotImplementedError: no formula for these two classes."""
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _FORMULAS:
                return _FORMULAS[kind_p, kind_q](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Categorical, Categorical)
def _categoricals(p: Categorical, q: Categorical) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = float("inf")
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Bernoulli, q: Bernoulli) -> Any:
    if_one = p.probs * ((-q.logits).logaddexp(q.logits * 0) - (-p.logits).logaddexp(p.logits * 0))
    if_zero = (1 - p.probs) * (q.logits.logaddexp(q.logits * 0) - p.logits.logaddexp(p.logits * 0))
    return if_one + if_zero


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Dirichlet, q: Dirichlet) -> Any:
    a, b = p.concentration, q.concentration
    ratio = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return ratio + ((a - b) * (a.digamma() - a.sum(-1).digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Any:
    return _dirichlets(p._both, q._both)


@register_kl(Independent, Independent)
def _independents(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
