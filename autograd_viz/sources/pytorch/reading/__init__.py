"""Real PyTorch graphs as documents.

A tensor and a node:     values.py, nodes.py, saved.py; reference_op.py: the twin's node for the op, with formulas
What is known of both:   handles.py: of tensors and ops; op_log.py, op_pages.py: what the recorder noted
A document:              found_graph.py finds it, graph.py writes it, from the boxes of boxes.py and the ops of forward.py
A compiled region:       compiled.py knows what PyTorch keeps of it; regions.py opens it into nodes, region_op.py
Hooks:                   hooks.py
PyTorch 2.2 to 2.4:      older.py, and dry_run.py, which finds out what nodes tell since 2.5
"""
