"""Real PyTorch graphs as documents, and backward passes through them step by step. Only this package imports torch.

A tensor and a node:     values.py, summary.py, nodes.py, saved.py; reference_op.py: the core's node for the op, with formulas
The forward pass:        record.py and calls.py record it, handles.py is what they know of tensors and ops;
                         signatures.py: what the schema of an op says; cuts.py: what ops without a node keep
A document:              found_graph.py finds it, graph.py writes it, from the boxes of boxes.py and the ops of forward.py;
                         asked.py answers `explain`; deep.py: makes a very deep graph freeable
The backward pass:       schedule.py is PyTorch's engine, one node at a time, with hooks.py, user_function.py, graph_task.py;
                         hook_results.py: what hooks may return; devices.py: on accelerators
Stepping it:             torch_pass.py, and snapshots.py to take steps back; hooked.py: the tensors whose hooks a step runs;
                         unused_parameters.py: what a step that is taken back must restore
PyTorch 2.2 to 2.4:      older.py, and dry_run.py, which finds out what nodes tell since 2.5
"""

import torch

LEAST = (2, 2)  # older.py replaces what PyTorch has had since 2.5

if tuple(map(int, torch.__version__.split(".")[:2])) < LEAST:
    raise ImportError(
        f"autograd_viz needs PyTorch {'.'.join(map(str, LEAST))} or newer; this is {torch.__version__}. "
        "Update it with: pip install --upgrade torch"
    )
