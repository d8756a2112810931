"""Real PyTorch graphs as documents, and backward passes through them step by step. Only this package imports torch.

From the bottom up: reading < recording < stepping < asking < run < ranks.
"""

import torch

LEAST = (2, 2)  # older.py replaces what PyTorch has had since 2.5

if tuple(map(int, torch.__version__.split(".")[:2])) < LEAST:
    raise ImportError(
        f"autograd_viz needs PyTorch {'.'.join(map(str, LEAST))} or newer; this is {torch.__version__}. "
        "Update it with: pip install --upgrade torch"
    )
