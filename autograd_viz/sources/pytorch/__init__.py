"""Real PyTorch graphs as documents, and backward passes through them step by step. Only this package imports torch.

From the bottom up: reading < recording < stepping < asking < run < ranks.
"""

import torch

from ...runtime.pytorch import pytorch

LEAST = (2, 2)  # older.py replaces what PyTorch has had since 2.5

if pytorch() is None:  # a verb for PyTorch says that there is none
    raise ModuleNotFoundError("`torch` is autograd_viz.twin here: as_torch() is on", name="torch")
if tuple(map(int, torch.__version__.split(".")[:2])) < LEAST:
    raise ImportError(
        f"autograd_viz needs PyTorch {'.'.join(map(str, LEAST))} or newer; this is {torch.__version__}. "
        "Update it with: pip install --upgrade torch"
    )
