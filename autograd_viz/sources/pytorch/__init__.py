"""Real PyTorch graphs as documents and as backward passes that can be stepped. The one package that imports torch.

A tensor and a node:     values.py, summary.py, nodes.py; twin.py: the core's node for the same op, which has formulas
The forward pass:        record.py follows it while it runs, handles.py is what is then known of its tensors and ops
A document:              graph.py, of the boxes of boxes.py and the ops of forward.py; asked.py answers `explain`
The backward pass:       schedule.py is torch's engine, one node at a time, with hooks.py, user_function.py, graph_task.py
Stepping it:             live.py, and cells.py to take steps back
"""
