"""English: what an error of PyTorch's means, and what to do about it."""

from __future__ import annotations

CAUSE_MODIFIED = "a tensor that {op} had saved ({saved}) was changed in place ({line})."
DO_MODIFIED = "Make a new tensor there (x = x + 1, not x += 1), or change a clone()."
CAUSE_MODIFIED_BY_STEP = "the optimizer's step() changed a weight ({line}) that {op} had saved ({saved})."
DO_MODIFIED_BY_STEP = "Run all backward passes before step(), or compute the loss again after it."
CAUSE_MODIFIED_UNSEEN = "a tensor that {op} saved ({line}) was changed in place; the change was not recorded."
DO_MODIFIED_UNSEEN = "Look for op_() calls, += and indexing on it; or call av.watch() first."
CAUSE_TWICE = "{op} ({line}) belongs to a graph that an earlier backward() has used up ({pass})."
DO_TWICE = "detach() what is carried over from one pass to the next, or compute it anew."
CAUSE_TWICE_SHARED = "{op} ({line}) is shared by two losses, and the first backward() has freed it ({pass})."
DO_TWICE_SHARED = "Add the losses and call backward() once, or pass retain_graph=True to the first."
CAUSE_TWICE_BEFORE = "{op} ({line}) ran once, before the loop; the first backward() has freed it ({pass})."
DO_TWICE_BEFORE = "Compute it inside the loop, for each pass."
CAUSE_TWICE_ROOT = "backward() has already run on this graph ({pass}), and its saved tensors are freed."
DO_TWICE_ROOT = "Compute the loss again, or pass retain_graph=True to the first backward()."
CAUSE_ROOT_FROZEN = "nothing that the loss was computed from requires grad; it was switched off ({line})."
DO_ROOT_FROZEN = "Switch requires_grad on for what should learn, before the forward pass."
CAUSE_ROOT_OF_DATA = "nothing that the loss was computed from requires grad ({line})."
DO_ROOT_OF_DATA = "Compute the loss from the model's parameters, outside no_grad()."
CAUSE_OPTIMIZER_NOT_LEAF = "the optimizer was given a tensor that is not a leaf; {op} made it ({line})."
DO_OPTIMIZER_NOT_LEAF = "Compute the values first, then detach().requires_grad_()."
CAUSE_ERROR = "{meaning} ({line})."
CAUSE_UNKNOWN_ERROR = "No more is known of this error than what it says itself."
CAUSE_NO_ERROR = "There is no error to explain. Ask in the except block, or explain(error), or explain(tensor)."

SEMICOLON = "; "  # between what an error means and what to do

# in one sentence, by a part of the message (sentences/errors.py)
EXPLAIN_FREED = (
    "{node} has given up its saved tensors in an earlier backward pass, so it cannot compute again; run that pass with "
    "retain_graph=True, or compute the loss anew."
)
EXPLAIN_MODIFIED = (
    "{node} saved a tensor for backward, and the tensor was changed in place afterwards; change a copy instead (x = x + 1, "
    "not x += 1)."
)
EXPLAIN_LEAF = (
    "A leaf that requires grad was changed in place while autograd was recording; do it under torch.no_grad(), or make a "
    "new tensor."
)
EXPLAIN_VIEW_OF_LEAF = (
    "A view shares the memory of a leaf that requires grad, and changing it would change the leaf; do it under "
    "torch.no_grad(), or change a clone."
)
EXPLAIN_DETACHED = "A tensor that {node} saved was cut off from the graph by detach_(); use detach(), which makes a new one."
EXPLAIN_NO_GRAPH = "Nothing led here that requires grad, so there is no graph to go back through."
EXPLAIN_NOT_SCALAR = (
    "backward() starts with 1 only for a single element; give a gradient of the tensor's shape, or sum() first."
)
EXPLAIN_SHAPE = "{node} returned a gradient whose shape does not fit what it was asked for."
EXPLAIN_UNUSED = (
    "No path leads from one of the outputs to one of the inputs of grad(): it was not used, or was cut off; allow_unused=True "
    "gives None for it."
)
EXPLAIN_MULTI_VIEW = (
    "A view that an op with several results gave (unbind, split, chunk) is changed in place: clone() it first, or use an op "
    "that gives one result."
)
EXPLAIN_INFERENCE = (
    "A tensor that was made in inference_mode() is used where backward() would need it: clone() it outside, or use no_grad()."
)
EXPLAIN_NUMPY = "NumPy keeps no history, so PyTorch asks that the cut be written down: x.detach().numpy()."
EXPLAIN_DEEPCOPY = "A tensor inside a graph is copied: its history cannot be; copy x.detach(), or copy before it is computed."

# about what grad() and backward() were given
EXPLAIN_NOT_REQUIRED = (
    "grad() was asked for the gradient of a tensor that does not require grad: call requires_grad_() before it is used."
)
EXPLAIN_MISMATCH = "A gradient that is given to backward() or grad() has the shape of the output that it belongs to."
EXPLAIN_COMPLEX = "backward() starts with 1 only for real numbers; give a gradient, or make the loss real first (abs(), real)."
EXPLAIN_PLAIN = (
    "A plain number has no graph: .item(), float() or the like took it out of the tensor; call backward() on the tensor itself."
)
EXPLAIN_NO_RULE = "{node} has no formula for backward: use an op that has one, or write it in an autograd.Function."
EXPLAIN_NAN_STOP = (
    "detect_anomaly() stops at the first node that gives nan, which was {node}: the warning above the error shows the line of "
    "its op. Run without detect_anomaly(), and explain() of a leaf says how the nan came about."
)

# about requires_grad, grad and hooks
EXPLAIN_FLAG = "requires_grad can be switched off for leaves only; y.detach() is y without its history."
EXPLAIN_DTYPE = "Integers and booleans cannot be differentiated; convert with float() first."
EXPLAIN_PARAMETER = (
    "A module's parameter is a leaf, and what was computed is none: change its values in place under no_grad(), or call the "
    "module with other values by torch.func.functional_call()."
)
EXPLAIN_GRAD_SIZE = "What is put into .grad has the shape and the dtype of the tensor itself."
EXPLAIN_RETAIN = (
    "This tensor does not require grad, so there is no gradient to retain: it was computed from tensors that do not require "
    "grad, or where nothing is recorded, or was cut off (detach())."
)
EXPLAIN_HOOK = (
    "This tensor does not require grad, so its hook would never be called: it was computed from tensors that do not require "
    "grad, or where nothing is recorded."
)

# about a Function of the user's
EXPLAIN_COUNT = (
    "{node} belongs to a Function: its backward() returns one gradient for each argument of forward() without ctx, None for "
    "those that want none."
)
EXPLAIN_NO_TENSOR = "The backward() of a Function returned something that is neither a tensor nor None."
EXPLAIN_SAVES = "save_for_backward() takes tensors only; put other values on ctx: ctx.n = n."
EXPLAIN_NO_BACKWARD = "The Function has no backward(): write one."
EXPLAIN_ONCE = "The backward() of this Function is marked @once_differentiable, so its gradient cannot be differentiated again."
EXPLAIN_JACOBIAN = (
    "gradcheck compares what backward() gives (analytical) with differences of the results of forward() (numerical), and they "
    "differ: where they do, the formula in backward() is wrong."
)

# about optimizers and mixed precision
EXPLAIN_OPTIMIZER = (
    "An optimizer changes leaves, and this tensor was computed (as by .to(...) or * 0.1 behind requires_grad=True): compute "
    "first, then detach().requires_grad_()."
)
EXPLAIN_NO_PARAMETERS = (
    "The optimizer was given no parameters: parameters() is a generator that was used up, or the module has none registered "
    "(layers in a plain list, not in nn.ModuleList), or none is left of them (all are frozen, and only those that require grad "
    "were asked for)."
)
EXPLAIN_NO_INF_CHECKS = (
    "None of this optimizer's parameters has a gradient, so GradScaler has nothing to check: ask explain() of one of them."
)
EXPLAIN_UNSCALED = "unscale_() may be called once between two calls of update(), for each optimizer."
EXPLAIN_NONFINITE = "A gradient has nan or inf, so the norm of all has: ask explain() of the parameters where it was born."

# about shared memory, inference mode and copies
EXPLAIN_INFERENCE_CHANGED = "A tensor that was made in inference_mode() is changed in place outside: clone() it first."
EXPLAIN_EXPANDED = (
    "Several elements of what expand() gives share one place in memory, so it cannot be changed in place: clone() it."
)
EXPLAIN_SENT = "A tensor inside a graph cannot be sent to another process: send x.detach()."
EXPLAIN_RECOMPUTED = (
    "checkpoint() runs the forward pass again during backward, and the second run did not do the same as the first: it may not "
    "depend on what changes in between (counters, globals, random numbers)."
)
EXPLAIN_FUNC_SCALAR = "torch.func.grad differentiates functions that give one number: sum() first, or use vjp or jacrev."

# what a step or an op of the user's raised
RAISED_BY = "{function}() raised it, called by {node}, at line {line}: {code}"
THE_NODE = "A node"
