"""What to say when somebody asks for a feature of PyTorch that is not here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

# big features, with what to do instead
INSTEAD = {
    "compile": "there is nothing to compile; call the function as it is",
    "jit": "there is nothing to compile; call the function as it is",
    "vmap": "loop over the batch",
    "func": "autograd.functional has jacobian, hessian, vjp and jvp",
    "sparse": "all tensors are dense",
    "quantization": "all tensors are plain NumPy arrays",
    "distributed": "everything runs in one process",
    "onnx": "save the state_dict as .npz",
    "forward_ad": "autograd.functional.jvp computes the same numbers",
    "to_sparse": "all tensors are dense",
}


def sentence(namespace: str, name: str, known: Iterable[str]) -> str:
    """A sentence like: autograd_viz has no torch.einsumm; did you mean einsum?"""
    text = f"autograd_viz has no {namespace}.{name}"
    if name in INSTEAD:
        return f"{text}; {INSTEAD[name]}"
    near = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 3)
    return f"{text}; did you mean {' or '.join(near)}?" if near else text


def module_getattr(namespace: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that stands for `namespace` of PyTorch.

    Args:
        namespace: "torch", "torch.linalg", ...
        names: the module's globals.
    """

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        raise AttributeError(sentence(namespace, name, names))

    return missing


def tensor_getattr(self: Any, name: str) -> Any:
    """Tensor.__getattr__: nothing of this name was found."""
    if name.startswith("_"):
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")
    raise AttributeError(f"'Tensor' object has no attribute {name!r}: {sentence('torch.Tensor', name, dir(type(self)))}")
