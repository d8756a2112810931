"""Differentiation: backward, grad, user-defined Functions, hooks and checks, by the names of torch.autograd."""

from ..core.backward.backward import backward, grad
from ..core.backward.instrumentation import detect_anomaly, set_detect_anomaly
from ..core.backward.saved import SavedTensor
from ..core.base.grad_mode import is_multithreading_enabled
from ..core.function.function import Function
from . import function, functional, grad_mode, graph
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function", "SavedTensor", "Variable", "backward", "detect_anomaly", "enable_grad", "function", "functional", "grad",
    "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_multithreading_enabled", "no_grad",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip
