"""Real PyTorch graphs as documents and as backward passes that can be stepped. The one package that imports torch.

values.py    a tensor as a picture needs it
nodes.py     what can be asked of a torch node
twin.py      the core's node for the same op, which has formulas
record.py    follows a forward pass while it runs
graph.py     a document of what led to a tensor
schedule.py  torch's engine, one node at a time
hooks.py     the user's hooks around a node that is called by hand
live.py      a backward pass that the stepper can run, take back and run anew
"""
