"""The functions of torch.nn.functional."""

from ..core.base.missing import module_getattr
from ..core.base.public import names_of
from ..core.op import NAMESPACES

globals().update(NAMESPACES["nn.functional"])
__getattr__ = module_getattr("torch.nn.functional", globals())

__all__ = list(names_of("nn.functional"))


def __dir__() -> list[str]:
    return __all__
