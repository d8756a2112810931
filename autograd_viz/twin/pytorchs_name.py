"""The twin under PyTorch's name, for programs that say ``import torch`` where there is no PyTorch."""

from __future__ import annotations

import sys

from ..runtime.forwarding import Forward
from ..runtime.pytorch import pytorch


class as_torch:  # noqa: N801 -- it is called, as PyTorch's `no_grad` is
    """From this call on, ``import torch`` means the twin; likewise ``torch.nn``, ``torch.utils.data`` and what is inside.

    As a context manager it ends with the block: ``import torch`` then means PyTorch again. What was imported inside stays
    the twin. Blocks may be nested. Raises ImportError: PyTorch is imported already, and a program that has both would mix them.
    """

    def __init__(self) -> None:
        if pytorch() is not None:
            said = "as_torch() was called after PyTorch was imported, and its tensors are not the twin's; call it before the"
            raise ImportError(f"{said} first `import torch`, in a new process", name="torch")
        self._forward = Forward("torch", __package__)
        sys.meta_path.insert(0, self._forward)

    def __enter__(self) -> as_torch:
        return self

    def __exit__(self, *error: object) -> None:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._forward]
        if not any(isinstance(finder, Forward) and finder.name == "torch" for finder in sys.meta_path):
            for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
                del sys.modules[name]
