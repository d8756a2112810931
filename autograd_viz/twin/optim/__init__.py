"""Optimizers and learning rate schedules, by the names of torch.optim."""

from ..core.base.missing import module_getattr
from . import lr_scheduler, swa_utils
from .adaptive import ASGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sgd import SGD

__getattr__ = module_getattr("torch.optim", globals())

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
    "lr_scheduler", "swa_utils",
]  # fmt: skip
