"""The files of PyTorch that are paths to names here, for ``from torch.nn.modules.linear import Linear``; and torch.func."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from . import distributions, nn, optim
from .autograd import func as transforms
from .namespaces import module

func = module(
    "func", "Functions of functions, by the names of torch.func.",
    **{n: getattr(transforms, n) for n in ("grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap")},
    **{n: getattr(nn.utils.stateless, n) for n in ("functional_call", "stack_module_state")},
)  # fmt: skip


def _also(target: ModuleType, paths: str) -> None:
    """Other paths to a module: where PyTorch has a file, for ``from torch.nn.modules.linear import Linear``."""
    for path in paths.split():
        room, _, name = path.rpartition(".")
        sys.modules[f"{__package__}.{path}"] = target
        setattr(sys.modules[f"{__package__}.{room}"], name, target)


def _ntuple(n: int) -> Callable[[Any], Any]:
    """A function that makes `n` equal numbers of one: ``_pair(3)`` is (3, 3)."""
    return lambda x: tuple(x) if isinstance(x, Iterable) else (x,) * n


_layers = module(
    "nn.modules", "The layers, by the names of torch.nn.modules and its files.",
    **{name: getattr(nn, name) for name in nn.__all__},
    _BatchNorm=nn.normalization._BatchNorm, _InstanceNorm=nn.normalization._InstanceNorm,
    _NormBase=nn.normalization._RunningNorm, _ConvNd=nn.convolution._Convolution, _DropoutNd=nn.activation._Dropout,
    _Loss=nn.loss._Loss, _ntuple=_ntuple, _single=_ntuple(1), _pair=_ntuple(2), _triple=_ntuple(3), _quadruple=_ntuple(4),
)  # fmt: skip
_also(_layers, """
    nn.modules nn.modules.activation nn.modules.batchnorm nn.modules.container nn.modules.conv nn.modules.distance
    nn.modules.dropout nn.modules.flatten nn.modules.instancenorm nn.modules.linear nn.modules.loss nn.modules.module
    nn.modules.normalization nn.modules.padding nn.modules.pixelshuffle nn.modules.pooling nn.modules.rnn nn.modules.sparse
    nn.modules.transformer nn.modules.upsampling nn.modules.utils
""")  # fmt: skip
_also(distributions, """
    distributions.bernoulli distributions.beta distributions.categorical distributions.dirichlet distributions.exponential
    distributions.independent distributions.multivariate_normal distributions.normal distributions.uniform
""")  # fmt: skip
_also(nn.utils, "nn.utils.clip_grad nn.utils.convert_parameters")
_also(optim, """
    optim.adadelta optim.adagrad optim.adam optim.adamax optim.adamw optim.asgd optim.nadam optim.radam optim.rmsprop
    optim.rprop
""")  # fmt: skip
