"""Layers, losses and modules, by the names of torch.nn. Each file has its names in `__all__`."""

from ..core.base.missing import module_getattr
from . import (
    activation, container, convolution, functional, init, lazy, linear, loss, module, normalization, parallel, parameter,
    pooling, recurrent, shape, transformer, utils,
)  # fmt: skip
from .activation import *
from .container import *
from .convolution import *
from .lazy import *
from .linear import *
from .loss import *
from .module import *
from .normalization import *
from .parallel import *
from .parameter import *
from .pooling import *
from .recurrent import *
from .shape import *
from .transformer import *

__getattr__ = module_getattr("torch.nn", globals())

__all__ = ["functional", "init", "utils"]
for _file in (
    activation, container, convolution, lazy, linear, loss, module, normalization, parallel, parameter, pooling, recurrent,
    shape, transformer,
):  # fmt: skip
    __all__ += _file.__all__
