"""English: why there is no gradient. CAUSE_X goes on from the head; DO_X is what helps; MORE_X is said on request."""

from __future__ import annotations

HEAD_NONE = "{name}.grad is None: "
HEAD_ZERO = "{name}.grad is all zero: "
HEAD_BAD = "{name}.grad has {what}: "
HEAD = "{name}: "
HEAD_NO_GRAPH = "{name} has no graph: "
THE_LOSS = "The loss"
THE_TENSOR = "the tensor"
AT_LINE = "line {line}"
AT_LINE_IN_CELL = "In [{cell}], line {line}"
AT_LINE_OF = "{file}, line {line}"
NO_LINE = "line not recorded"
NOT_KEPT = "not kept"
IN_BACKWARD = "in a backward pass with create_graph=True"
DO = "→ {advice}"

# nothing is known
CAUSE_NOT_RECORDED = "what ran was not recorded."
DO_NOT_RECORDED = "Run this cell again under %%record, or call av.watch() first."
CAUSE_NOT_ASKED_UNSEEN = "it does not require grad, and how it was made was not recorded."
DO_NOT_ASKED_UNSEEN = DO_NOT_RECORDED

# it does not require grad
CAUSE_DTYPE = "it is {dtype}; only floating point and complex tensors have gradients ({line})."
DO_DTYPE = "Use a floating point type where a gradient should flow."
CAUSE_INFERENCE = "it was made in inference mode ({line})."
DO_INFERENCE = "Compute it outside torch.inference_mode()."
CAUSE_SWITCHED_OFF = "requires_grad was switched off ({line})."
DO_SWITCHED_OFF = "Call {name}.requires_grad_() before the forward pass if it should learn."
CAUSE_NOT_ASKED = "it was made without requires_grad=True ({line})."
DO_NOT_ASKED = "If it should learn, make it with requires_grad=True. Inputs and targets need none."
CAUSE_MADE_OF_NUMBER = "it was made from a plain number: {op} took the value without its history ({line})."
DO_MADE_OF_NUMBER = "Compute with the tensor itself."
CAUSE_MADE_EARLY = "{operand} did not require grad yet when {op} ran ({line})."
DO_MADE_EARLY = "Call {operand}.requires_grad_() first, then compute it."
CAUSE_CUT_DETACH = "{op} cut it from the graph ({line})."
DO_CUT_DETACH = "Use the tensor itself where a gradient should flow."
CAUSE_CUT_DATA = ".data gave the values without their history ({line})."
DO_CUT_DATA = DO_CUT_DETACH
CAUSE_CUT_NEW = "{op} copied the values into a new tensor without history ({line})."
DO_CUT_NEW = "Use the tensor itself, or torch.stack() for several."
CAUSE_CUT_LEAF = "{op} made a new leaf of its value, without history ({line})."
DO_CUT_LEAF = "Use the value itself in the forward pass, without nn.Parameter()."
CAUSE_CUT_NUMBER = "{op} turned the tensor into a plain value without history ({line})."
DO_CUT_NUMBER = "Compute with the tensor itself; use {op} only to print."
CAUSE_CUT_NO_GRAD = "it was computed under no_grad() ({line})."
DO_CUT_NO_GRAD = "Run the forward pass outside torch.no_grad()."
CAUSE_CUT_GRADIENT = "autograd.grad() gave it without a graph ({line})."
DO_CUT_GRADIENT = "Pass create_graph=True to autograd.grad()."
CAUSE_PATH_CUT_GRADIENT = "the path to the loss goes through autograd.grad(), which gives gradients without a graph ({line})."
DO_PATH_CUT_GRADIENT = DO_CUT_GRADIENT
CAUSE_CHANGED_SINCE = "its weights have changed since that pass, so what ran cannot be shown again."
DO_CHANGED_SINCE = "Ask after backward() and before step()."
CAUSE_CUT_SAMPLE = "sample() drew it without history ({line})."
DO_CUT_SAMPLE = "Use rsample() if the distribution has it, else log_prob()."
CAUSE_PATH_CUT_SAMPLE = "sample() cut the path to the loss: it draws without history ({line})."
DO_PATH_CUT_SAMPLE = DO_CUT_SAMPLE
CAUSE_CUT_CHECKPOINT = "checkpoint(use_reentrant=True) ran it without a graph, because no input required grad ({line})."
DO_CUT_CHECKPOINT = "Pass use_reentrant=False to checkpoint()."
CAUSE_PATH_CUT_CHECKPOINT = "checkpoint(use_reentrant=True) ran the path to the loss without a graph ({line})."
DO_PATH_CUT_CHECKPOINT = DO_CUT_CHECKPOINT
CAUSE_CUT_MODE = "set_grad_enabled(False) was still in effect ({line})."
DO_CUT_MODE = "Switch it on again: torch.set_grad_enabled(True)."
CAUSE_PATH_CUT_MODE = CAUSE_CUT_MODE
DO_PATH_CUT_MODE = DO_CUT_MODE
CAUSE_CUT_INFERENCE = "it was computed under inference_mode() ({line})."
DO_CUT_INFERENCE = "Run the forward pass outside torch.inference_mode()."
CAUSE_PATH_CUT_INFERENCE = "the path to the loss was computed under inference_mode(): {op} ({line})."
DO_PATH_CUT_INFERENCE = DO_CUT_INFERENCE
CAUSE_CUT_UPDATE = "it was replaced under no_grad() ({line}); the new tensor does not require grad."
DO_CUT_UPDATE = "Change it in place: {name} -= ..."
CAUSE_CUT_OP = "{op} has no gradient ({line})."
DO_CUT_OP = "Use a differentiable op there."

# it is not a leaf
CAUSE_NOT_LEAF = "it is not a leaf; {op} made it ({line})."
DO_NOT_LEAF = "Call {name}.retain_grad() before backward(), or look at the leaf behind it."
CAUSE_LEAF_LOST = "it is not a leaf: {op} ran after requires_grad=True ({line}), so the leaf is another tensor."
DO_LEAF_LOST = "Compute the values first and call requires_grad_() last."
CAUSE_RETAINED_LATE = "retain_grad() was called after the backward pass ({line})."
DO_RETAINED_LATE = "Call it before backward()."

# the way to the loss
CAUSE_PATH_CUT_DETACH = "{op} cut the path from {name} to the loss ({line})."
DO_PATH_CUT_DETACH = DO_CUT_DETACH
CAUSE_PATH_CUT_DATA = ".data cut the path from {name} to the loss ({line})."
DO_PATH_CUT_DATA = DO_CUT_DETACH
CAUSE_PATH_CUT_NEW = "{op} made a new tensor on the path to the loss, without history ({line})."
DO_PATH_CUT_NEW = DO_CUT_NEW
CAUSE_PATH_CUT_LEAF = "{op} made a new leaf on the path to the loss, without history ({line})."
DO_PATH_CUT_LEAF = DO_CUT_LEAF
CAUSE_PATH_CUT_NUMBER = "{op} turned the path to the loss into a plain value ({line})."
DO_PATH_CUT_NUMBER = DO_CUT_NUMBER
CAUSE_PATH_CUT_NO_GRAD = "the path to the loss was computed under no_grad(): {op} ({line})."
DO_PATH_CUT_NO_GRAD = DO_CUT_NO_GRAD
CAUSE_PATH_CUT_OP = "{op} has no gradient, and the path to the loss goes through it ({line})."
DO_PATH_CUT_OP = DO_CUT_OP
CAUSE_NOT_USED = "no op used it in the forward pass of the last backward() ({line})."
DO_NOT_USED = "Use it in forward(), or leave it out of the model."
CAUSE_ROOT_GONE = "the loss of the last backward() ({line}) is gone, and its graph with it."
DO_ROOT_GONE = "Keep the loss in a variable, and ask again."
CAUSE_MADE_AFTER = "it was made after the loss was computed ({line})."
DO_MADE_AFTER = "Compute the loss again from it."
CAUSE_NO_PATH = "the last backward() ({line}) did not reach it: no path leads there."
DO_NO_PATH = "Let the loss use it, without detach() or no_grad() on the way."
CAUSE_NOT_IN_LOSS = "{op} used it ({line}), but the loss was not computed from that result ({pass})."
DO_NOT_IN_LOSS = "Let the loss use that result."
CAUSE_USED_AFTER = "it was first used after the last backward(): {op} ({line})."
DO_USED_AFTER = "Run backward() on a loss that uses it."
CAUSE_REPLACED = "it was replaced: {part} was given another value ({line})."
DO_REPLACED = "Ask about the parameter that the model holds now."

# the pass
CAUSE_NO_PASS = "no backward() has gone through it yet."
DO_NO_PASS = "Run backward(), then ask again."
CAUSE_FUNCTIONAL = "autograd.grad() returns gradients and writes none into .grad ({line})."
DO_FUNCTIONAL = "Use what it returned, or call backward()."
CAUSE_RUNNING = "the backward pass is still running."
CAUSE_FAILED = "backward() raised an error before it came here ({line})."
MORE_FAILED = "The error: {error}"
DO_FAILED = "av.explain() in the next line, or av.explain(error), tells about it."
CAUSE_LATE = "requires_grad was switched on after the forward pass ({line})."
DO_LATE = "Switch it on before the forward pass."
CAUSE_LEFT_OUT = "backward(inputs=...) left it out ({line})."
DO_LEFT_OUT = "Name it in inputs, or leave inputs away."
CAUSE_OTHER_ROOT = "the last backward() ran on another tensor ({line})."
DO_OTHER_ROOT = "Call backward() on this loss."
CAUSE_NOTHING_SENT = "the backward of {op} returned None for it ({line})."
DO_NOTHING_SENT = "Return a gradient for this input."
CAUSE_CLEARED = "{by} cleared it ({line}), after backward() ({pass})."
DO_CLEARED = "Ask before it is cleared."
CAUSE_CLEARED_BEFORE_STEP = "{by} cleared it ({line}) after backward() ({pass}) and before step() ({step})."
DO_CLEARED_BEFORE_STEP = "Call zero_grad() before backward(), or after step()."

CAUSE_OFF_NOW = "requires_grad was switched off ({line}), so its gradient is left from an earlier pass."
DO_OFF_NOW = "Call {name}.requires_grad_() before the forward pass if it should learn."

CAUSE_SHARDED = "it is this rank's shard: FSDP averages the gradient over {ranks} ranks and puts this part here."
CAUSE_SHARDED_MISSING = "it is this rank's shard of {ranks}, and no backward() of the whole parameter has run."
CAUSE_AWAITED = "the stepper has not come to it yet."

# what stands there, and what became of it
CAUSE_OLD = "the gradient is left from an earlier pass; the last backward() did not reach it ({line})."
DO_OLD = "Clear gradients before each pass."
CAUSE_GRAD_ZEROED = "{by} set it to zero after backward() ({line})."
DO_GRAD_ZEROED = "Ask before it is zeroed; call zero_grad() before backward()."
CAUSE_CLIPPED = "{by} scaled its gradient by {factor} after backward() ({line})."
DO_CLIPPED = "Raise the limit if the steps are too small."
CAUSE_GRAD_WRITTEN = "{by} changed its gradient after backward() ({line})."
CAUSE_SEVERAL = "its gradient is the sum of {count} passes ({line}); nothing cleared it in between."
DO_SEVERAL = "Call zero_grad() before each backward(), unless the sum is meant."
CAUSE_SEVERAL_LINES = "its gradient is the sum of {count} passes ({other}, and {line}); nothing cleared it in between."
DO_SEVERAL_LINES = DO_SEVERAL
CAUSE_ACCUMULATING = "its gradient is the sum of {count} passes since it was cleared ({line})."
CAUSE_LEFT_ALONE = (
    "no optimizer holds it, so zero_grad() and step() leave it out; its gradient is the sum of {count} passes ({line})."
)
DO_LEFT_ALONE = "Make it an nn.Parameter of the model, or clear its grad yourself."
CAUSE_NOT_HELD = "no optimizer holds it. {optimizer} was made without it ({line})."
DO_NOT_HELD = "Give it to the optimizer."
CAUSE_NOT_HELD_NEW = "no optimizer holds it. {optimizer} ({line}) was made before this parameter ({placed})."
DO_NOT_HELD_NEW = "Make the optimizer after the layer."
CAUSE_RATE_ZERO = "its learning rate in {optimizer} is 0 now."
DO_RATE_ZERO = "Look at the scheduler, and at the learning rate that was set."
CAUSE_SKIPPED = "GradScaler skipped the step, because a gradient was inf or nan ({line})."
DO_SKIPPED = "The first steps are often skipped; if all are, look for the source of inf."
CAUSE_NO_STEP = "{optimizer}.step() has never run, though backward() has ({line})."
DO_NO_STEP = "Call step() after backward()."
CAUSE_STEP_FIRST = "step() ran before backward() in each round ({line}; backward: {pass})."
DO_STEP_FIRST = "Call backward() first, then step()."
CAUSE_FINE = "its gradient {grad} comes from {op} ({line}). Nothing stands out."
CAUSE_FINE_UNSEEN = "its gradient is {grad}. Nothing stands out."
CAUSE_FINE_PATHS = "its gradient {grad} is the sum over {count} uses, from {op} ({line}) on. Nothing stands out."
MORE_FINE_PATHS = "What each use sent: {parts}"
A_WRITE = "an in-place write"
MORE_DETAILS = "details"
