"""English: why there is no gradient, or an error instead of one. CAUSE_X is a reason, DO_X what helps against it."""

from __future__ import annotations

HEAD_NONE = "{name}.grad is None."
HEAD_ZERO = "{name}.grad is all zero."
HEAD_BAD = "{name}.grad holds {what}."
HEAD_IS = "{name}.grad is {grad}."
HEAD_SHAPE = "{name}.grad has {shape}."
THE_TENSOR = "the tensor"
AT_LINE = "line {line}: {code}"
AT_LINE_UNSEEN = "line {line} of {file}, whose text is not to be had"
AT_LINE_IN_CELL = "In [{cell}], line {line}: {code}"
AT_LINE_OF = "{file}, line {line}: {code}"
NO_LINE = "line not known"
NOT_KEPT = "not kept"
NODE_AT = "{node} (line {line})"
NODE_AT_OF = "{node} ({file}, line {line})"
IN_BACKWARD = "in a backward pass with create_graph=True"
DO = "→ {advice}"
PART = "{value} from {node}"
PLUS = " + "

# nothing there
CAUSE_NOT_LEAF = "{name} is not a leaf: {node} made it ({line}). Only leaves keep their gradient; others hand it on."
DO_NOT_LEAF = "Call {name}.retain_grad() before backward() on what is computed from it."
CAUSE_NOT_LEAF_PASSED = (
    "{name} is not a leaf: {node} made it ({line}). {value} arrived there and was handed on, because only leaves keep their"
    " gradient."
)
DO_NOT_LEAF_PASSED = "Call {name}.retain_grad() before backward()."
CAUSE_NOT_LEAF_BESIDE = (
    "{name} is not a leaf: {node} made it ({line}); and no path leads from {root} to it: no gradient of {root} comes here, "
    "with retain_grad() or without."
)
DO_NOT_LEAF_BESIDE = (
    "Ask about what {root} was computed from; or compute it from {name}, and call {name}.retain_grad() before backward()."
)
CAUSE_NOT_LEAF_CUT = (
    "{name} is not a leaf: {node} made it ({line}); and no path leads from {root} to it: no gradient of {root} comes here, "
    "with retain_grad() or without."
)
CAUSE_LEAF_LOST = (
    "{name} is not a leaf: it is the result of {node} ({line}). The leaf that requires grad is another tensor, to which "
    "{name} no longer refers; its grad is {grad}."
)
DO_LEAF_LOST = (
    "Make {name} itself the leaf: compute its values first and call requires_grad_() last; to update it, write in place "
    "under torch.no_grad()."
)
CAUSE_NOT_LEAF_FRESH = (
    "{name} is not a leaf: {node} made it ({line}). Only leaves keep their gradient; others hand it on; and no variable holds "
    "it: such an expression makes a new tensor each time."
)
DO_NOT_LEAF_FRESH = "Ask about the leaf that it comes from; or keep it in a variable, and compute the loss from that."
CAUSE_MADE_OF_LEAVES = "It was computed from {leaves}: the leaves, which keep their gradients and which optimizers step."
CAUSE_DTYPE = "{name} is {dtype}, and only floating point and complex tensors can require grad ({line})."
DO_DTYPE = "Make it of a floating point type, or ask for the gradient of what it was computed from."
CAUSE_INFERENCE = "{name} was made in inference mode, so it never takes part in autograd."
DO_INFERENCE = "Make it outside torch.inference_mode(), or use torch.no_grad() there, or clone() it outside."
CAUSE_SWITCHED_OFF = "{name}.requires_grad is False: it was switched off ({line})."
DO_SWITCHED_OFF = "Do not switch it off there, or call {name}.requires_grad_() before it is used."
CAUSE_NOT_ASKED = "{name}.requires_grad is False: nobody asked for its gradient when it was made ({line})."
DO_NOT_ASKED = "Make it with requires_grad=True, or call {name}.requires_grad_() before it is used."
CAUSE_NOT_ASKED_OR_CUT = (
    "{name}.requires_grad is False: nobody asked for its gradient; or it was computed outside of the graph (no_grad(), "
    "detach()), or of what requires none ({line})."
)
DO_NOT_ASKED_OR_CUT = "Look at where it was made. If it is to be a leaf, call {name}.requires_grad_() before it is used."
CAUSE_COMPUTED = (
    "{name}.requires_grad is False: nothing that it was computed from requires grad, or it was cut off in a function that is "
    "called there, or grad mode was off ({line})."
)
DO_COMPUTED = "Look at what goes into it: something should require grad there, outside of no_grad() and without detach()."
CAUSE_MODE_OFF = (
    "{name}.requires_grad is False: grad mode is off now, as a no_grad() or set_grad_enabled(False) leaves it ({line})."
)
DO_MODE_OFF = "Switch it on: torch.set_grad_enabled(True); look for the call that left it off."
CAUSE_MADE_DETACH = "{name}.requires_grad is False: detach() cut it off from the graph ({line})."
DO_MADE_DETACH = "Leave detach() out if a gradient should pass there."
CAUSE_MADE_DATA = "{name}.requires_grad is False: .data gives the values without their history ({line})."
DO_MADE_DATA = "Use the tensor itself, or detach() where the cut is meant."
CAUSE_MADE_ITEM = "{name}.requires_grad is False: it was made from a plain number, {what} ({line})."
DO_MADE_ITEM = "Compute with the tensor itself; a number has no history."
CAUSE_MADE_NUMPY = "{name}.requires_grad is False: it was made from a NumPy array, {what} ({line})."
DO_MADE_NUMPY = "Compute with the tensor's own methods; NumPy keeps no history."
CAUSE_MADE_NEW_TENSOR = (
    "{name}.requires_grad is False: {what} makes a new tensor of the values, without their history ({line})."
)
DO_MADE_NEW_TENSOR = "Use the tensor itself, or torch.stack() for several; or ask for requires_grad=True if it is to be a leaf."
CAUSE_MADE_INTEGER = "{name}.requires_grad is False: {what} gives whole numbers, which have no gradient ({line})."
DO_MADE_INTEGER = "Keep to a floating point type where a gradient has to pass."
CAUSE_MADE_SAMPLE = "{name}.requires_grad is False: {what} draws values without a history ({line})."
DO_MADE_SAMPLE = "Use rsample(), where the distribution has it; else the log_prob() of what was drawn."
CAUSE_MADE_GRADIENT = "{name}.requires_grad is False: a gradient has no graph of its own here ({line})."
DO_MADE_GRADIENT = "Use torch.autograd.grad(..., create_graph=True)."
CAUSE_CUT_GRADIENT = "The path from {name} to the loss is cut at {what}: a gradient has no graph of its own ({line})."
DO_CUT_GRADIENT = "Use torch.autograd.grad(..., create_graph=True)."
CAUSE_MADE_CONSTANT = (
    "{name}.requires_grad is False: {what} gave a gradient that depends on nothing that requires grad, as that of something "
    "linear ({line})."
)
DO_MADE_CONSTANT = "There is nothing to differentiate: the derivative of a constant is zero."
CAUSE_MADE_NO_GRAD = "{name}.requires_grad is False: it was made under {what}, where nothing is recorded ({line})."
DO_MADE_NO_GRAD = "Compute it where grad mode is on."
CAUSE_MADE_MODE = (
    "{name}.requires_grad is False: {what} had switched grad mode off, or nothing that it was computed from requires grad "
    "({line})."
)
CAUSE_MADE_UPDATE = (
    "{name}.requires_grad is False: this step made a new tensor and called it {name}; the leaf that required grad is another, "
    "which {name} no longer names ({line})."
)
DO_MADE_UPDATE = (
    "Change the leaf in place, under torch.no_grad(): {name} -= ...; or call {name}.requires_grad_() on the new one."
)
CAUSE_MADE_INFERENCE = "{name}.requires_grad is False: it was made under {what}, where nothing is recorded ({line})."
DO_MADE_INFERENCE = "Compute it outside the block."
CAUSE_MADE_EARLY = (
    "{name}.requires_grad is False: {operand} did not require grad yet when {op} ran ({line}). A graph records what ran, "
    "and is not changed afterwards."
)
DO_MADE_EARLY = "Call requires_grad_() first, and compute {name} after it."
CAUSE_MADE_BY_CUTTING_OP = "{name}.requires_grad is False: {op} gives a result outside the graph ({line})."
DO_MADE_BY_CUTTING_OP = "Use an op that can be differentiated."
CAUSE_MADE_OF_CONSTANTS = "{name}.requires_grad is False: it was computed from {origins}, and none requires grad ({line})."
DO_MADE_OF_CONSTANTS = "Call requires_grad_() on what a gradient is wanted of ({origins}), before {name} is computed."
CAUSE_MADE_OF_UNNAMED = "{name}.requires_grad is False: nothing that {op} was given requires grad ({line})."
DO_MADE_OF_UNNAMED = (
    "Call requires_grad_() on what it is computed from, before it is computed; if that requires grad, look on the way for a "
    "no_grad() or detach()."
)
CAUSE_MADE_OF_FROZEN = (
    "Of what it was computed from, nothing is seen here that requires grad: if nothing does, it has no gradient without that "
    "either."
)
CAUSE_NO_LOSS = (
    "{name} is in no graph that a variable here holds: nothing has been computed from it, or the way to the loss was cut "
    "(detach(), no_grad(), item()), or its graph is gone: no pass went through it, or grad() returned the gradients, or grad "
    "has been set to None since."
)
CAUSE_NO_LOSS_CLEARED = "{name} is in no graph that a variable here holds. If there was a gradient, this cleared it: {line}."
DO_NO_LOSS = "Compute a loss from {name} and call backward() on it, or name the loss: explain({name}, loss)."
CAUSE_REQUIRED_LATE = (
    "{name} did not require grad yet when it was used (line {used}): that came later ({line}). A graph records what ran, "
    "and is not changed afterwards."
)
DO_REQUIRED_LATE = "Call requires_grad_() first, and compute what leads to the loss after it."
CAUSE_USED_BEFORE = (
    "{name} was used (line {used}) before this line asked for its gradient ({line}), and no path leads there: a graph records "
    "what ran, and is not changed afterwards."
)
DO_USED_BEFORE = DO_REQUIRED_LATE
CAUSE_RAISED = (
    "A pass was started from {root} ({line}), and there is no trace of it in the graph: it raised an error, or the graph was "
    "computed anew since, or kept (retain_graph)."
)
DO_RAISED = "Look at the error of that pass: explain(error) in its except block."
CAUSE_RUNNING = "A backward pass is running, and has not come to {name} yet."
CAUSE_NOT_RUN_OR_KEPT = (
    "There is no trace of a pass: {root} depends on {name}, and backward() has not run; or it ran with retain_graph or "
    "create_graph only, as autograd.grad() may, and left {name} out."
)
DO_NOT_RUN_OR_KEPT = "Call {root}.backward(), or take what grad() returned."
CAUSE_NOT_RUN_UNKNOWN = (
    "There is no trace of a pass: {root} depends on {name}, and backward() has not run or raised an error, or grad has been "
    "set to None since."
)
DO_NOT_RUN_UNKNOWN = "Call {root}.backward(), and read grad before zero_grad()."
CAUSE_RETAINED_LATE = "retain_grad() came after the pass, which keeps a gradient only where that was asked before: {line}."
DO_RETAINED_LATE = "Call {name}.retain_grad() before backward()."
CAUSE_LEFT_OUT_OR_CLEARED = (
    "A pass has gone through this graph: grad has been set to None since, or grad() or backward(inputs=...) left {name} out, "
    "or an error ended it before it came here."
)
CAUSE_CLEARED_BY = "A pass has gone through this graph, and this cleared grad: {line}."
DO_CLEARED_BY = "Read grad before that line."
CAUSE_NOT_RUN = "backward() has not run: {root} depends on {name}, and no pass has gone through this graph."
DO_NOT_RUN = "Call {root}.backward()."
CAUSE_NOT_RUN_FREED = (
    "backward() has not run on {root}, which depends on {name}; and a pass from another root has given up saved tensors that "
    "both share: it would raise."
)
DO_NOT_RUN_FREED = "Add the losses and call backward() once, or call the first one with retain_graph=True."
CAUSE_NOT_RUN_ARRAY = "No pass has gone through this graph: {root} depends on {name}, and no loss of one element leads to it."
DO_NOT_RUN_ARRAY = "Compute one number from {root} with grad mode on, and call backward() on it."
CAUSE_NOT_RUN_OTHER = (
    "No pass has gone through {root}, which depends on {name}; the last one started from another loss: {line}."
)
DO_NOT_RUN_OTHER = "Add {root} to that loss, or call {root}.backward() too."
CAUSE_MADE_AFTER = "{name} was made after the pass: {line}."
DO_MADE_AFTER = "Compute the loss from it, and call backward() on that."
CAUSE_REPLACED = "{name} is not {path} any more: this line put another in its place before the pass: {line}."
DO_REPLACED = "Ask about {path}; an optimizer that was made before holds the old one."
CAUSE_RENAMED = "{name} is another tensor than the one that led to {used}: this line has given it the name since: {line}."
DO_RENAMED = "Compute {root} anew after that line; or keep the other one under a name of its own."
CAUSE_KEPT = (
    "A pass has left its graph as it was ({line}): it left {name} out, as grad() does, or grad has been set to None since; or "
    "it went through another graph."
)
DO_KEPT = "Take what grad() returns, or read grad before it is cleared."
CAUSE_AWAITED = "A stepper is on its way through this graph, and {node}, where the gradient of {name} arrives, has not run yet."
DO_AWAITED = "Step on: next(), or finish()."
CAUSE_LEFT_OUT_AT = (
    "This pass left {name} out: grad() returns gradients instead of keeping them, and backward(inputs=...) keeps only those "
    "named ({line})."
)
DO_LEFT_OUT_AT = "Take what grad() returns, or call backward() without inputs."
CAUSE_FUNCTIONAL = "torch.func returns gradients, and keeps none in grad: {line}."
DO_FUNCTIONAL = "Take what it returns."
CAUSE_LEFT_OUT = (
    "A backward pass has run, and left {name} out: autograd.grad() returns gradients instead of keeping them, "
    "backward(inputs=...) keeps only those named; or an error ended it before it came here."
)
DO_LEFT_OUT = "Take what grad() returns, or call backward() without inputs."
CAUSE_CLEARED = "{value} did arrive in the last pass that came here: grad has been set to None since (zero_grad(), or by hand)."
CAUSE_CLEARED_OR_LATE = (
    "{value} did arrive in the last pass that came here: retain_grad() came after it, or grad has been set to None since "
    "(zero_grad(), or by hand)."
)
DO_CLEARED_OR_LATE = "Call {name}.retain_grad() before backward(), and read grad before it is cleared."
CAUSE_CLEARED_AT = "{value} did arrive in the last pass that came here, and this cleared it: {line}."
DO_CLEARED_AT = "Read grad before that line."
DO_CLEARED = "Read grad before zero_grad()."
CAUSE_CLEARED_UNKNOWN = "The last pass did go through: grad has been set to None since (zero_grad(), or by hand)."
DO_CLEARED_UNKNOWN = "Read grad before zero_grad()."
CAUSE_NOTHING_SENT = "A pass has run, and {node} sent no gradient, or grad has been set to None since ({line})."
DO_NOTHING_SENT = "Look at what the backward of {node} returns."
