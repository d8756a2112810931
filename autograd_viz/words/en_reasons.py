"""English: why a gradient is what it is, and what to do. CAUSE_X is a reason, DO_X what helps against it."""

from __future__ import annotations

HEAD_NONE = "{name}.grad is None."
HEAD_ZERO = "{name}.grad is all zero."
HEAD_BAD = "{name}.grad holds {what}."
HEAD_IS = "{name}.grad is {grad}."
HEAD_SHAPE = "{name}.grad has {shape}."
THE_TENSOR = "the tensor"
AT_LINE = "line {line}: {code}"
AT_LINE_IN_CELL = "In [{cell}], line {line}: {code}"
AT_LINE_OF = "{file}, line {line}: {code}"
NO_LINE = "line not known"
NOT_KEPT = "not kept"
NONE_OF_THEM = "none that is known"
NODE_AT = "{node} (line {line})"
IN_BACKWARD = "in a backward pass with create_graph=True"
DO = "→ {advice}"
PART = "{value} from {node} (line {line})"
PLUS = " + "

# nothing there
CAUSE_NOT_LEAF = "{name} is not a leaf: {node} made it ({line}). Only leaves keep their gradient; others hand it on."
DO_NOT_LEAF = "Call {name}.retain_grad() before backward()."
CAUSE_NOT_LEAF_PASSED = (
    "{name} is not a leaf: {node} made it ({line}). {value} arrived there and was handed on, because only leaves keep their"
    " gradient."
)
DO_NOT_LEAF_PASSED = "Call {name}.retain_grad() before backward()."
CAUSE_LEAF_LOST = (
    "{name} is not a leaf: it is the result of {node} ({line}). The leaf that requires grad is another tensor, which no "
    "variable holds any more; its grad is {grad}."
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
DO_SWITCHED_OFF = "Leave that line out, or call {name}.requires_grad_() before it is used."
CAUSE_NOT_ASKED = "{name}.requires_grad is False: nobody asked for its gradient when it was made ({line})."
DO_NOT_ASKED = "Make it with requires_grad=True, or call {name}.requires_grad_() before it is used."
CAUSE_NOT_ASKED_OR_CUT = (
    "{name}.requires_grad is False: nobody asked for its gradient; or it was computed outside of the graph (no_grad(), "
    "detach()), or of what requires none ({line})."
)
DO_NOT_ASKED_OR_CUT = "Look at where it was made. If it is to be a leaf, call {name}.requires_grad_() before it is used."
CAUSE_COMPUTED = (
    "{name}.requires_grad is False: nothing that it was computed from requires grad, or grad mode was off ({line})."
)
DO_COMPUTED = "Look at what goes into it: something should require grad there, outside of no_grad() and without detach()."
CAUSE_MODE_OFF = (
    "{name}.requires_grad is False: grad mode is off now, as a no_grad() or set_grad_enabled(False) leaves it ({line})."
)
DO_MODE_OFF = "Switch it on: torch.set_grad_enabled(True); look for the call that left it off."
CAUSE_MADE_DETACH = "{name}.requires_grad is False: detach() cut it off from the graph ({line})."
DO_MADE_DETACH = "Leave detach() out if a gradient should reach {name}."
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
DO_MADE_OF_UNNAMED = "Call requires_grad_() on what it is computed from, before it is computed."
CAUSE_NO_LOSS = (
    "{name} is in no graph that a variable here holds: nothing has been computed from it, or grad has been set to None since."
)
CAUSE_NO_LOSS_CLEARED = "{name} is in no graph that a variable here holds. If there was a gradient, this cleared it: {line}."
DO_NO_LOSS = "Compute a loss from {name} and call backward() on it, or name the loss: explain({name}, loss)."
CAUSE_UNREACHED = (
    "No path leads from {root} to {name}: it was not computed from it, or it was cut off where a graph keeps no trace "
    "(no_grad(), detach(), item())."
)
DO_UNREACHED = (
    "Use {name} in what leads to the loss, with grad mode on and without detach(). Another tensor may have taken its name "
    "since (a new assignment)."
)
CAUSE_CUT_DETACH = "The path from {name} to the loss is cut by detach() ({line})."
DO_CUT_DETACH = "Leave detach() out if a gradient should reach {name}."
CAUSE_CUT_DATA = "The path from {name} to the loss is cut by .data, which gives the values without their history ({line})."
DO_CUT_DATA = "Use the tensor itself."
CAUSE_CUT_ITEM = "The path from {name} to the loss is cut by {what}: a plain number has no history ({line})."
DO_CUT_ITEM = "Compute with the tensor itself, and call item() only to print."
CAUSE_CUT_NUMPY = "The path from {name} to the loss is cut by {what}: NumPy keeps no history ({line})."
DO_CUT_NUMPY = "Compute with the tensor's own methods."
CAUSE_CUT_NEW_TENSOR = "The path from {name} to the loss is cut by {what}, which makes a new leaf of the values ({line})."
DO_CUT_NEW_TENSOR = "Use the tensor itself, or torch.stack() for several."
CAUSE_CUT_PARAMETER = "The path from {name} to the loss is cut by {what}: a parameter is a leaf of its own ({line})."
DO_CUT_PARAMETER = (
    "Use the tensor itself; to put it in the place of a module's parameter: torch.func.functional_call(), or a parametrization."
)
CAUSE_CUT_SAMPLE = "The path from {name} to the loss is cut by {what}, which draws values without a history ({line})."
DO_CUT_SAMPLE = "Use rsample(), where the distribution has it; else the log_prob() of what was drawn."
CAUSE_CUT_INTEGER = "The path from {name} to the loss is cut by {what}: whole numbers have no gradient ({line})."
DO_CUT_INTEGER = "Keep to a floating point type where a gradient has to pass."
CAUSE_CUT_NO_GRAD = "The path from {name} to the loss is cut by {what}, under which nothing is recorded ({line})."
DO_CUT_NO_GRAD = "Compute this where grad mode is on."
CAUSE_CUT_INFERENCE = "The path from {name} to the loss is cut by {what}, under which nothing is recorded ({line})."
DO_CUT_INFERENCE = "Compute this outside the block."
CAUSE_CUT_DTYPE = "The path from {name} to the loss is cut by {op}: its result is {dtype}, which has no gradient ({line})."
DO_CUT_DTYPE = "Keep to a floating point type where a gradient has to pass; use a soft version of the op."
CAUSE_CUT_EARLY = (
    "The path from {name} to the loss is cut at {op}: {what} did not require grad yet when it ran, or grad mode was off "
    "({line})."
)
CAUSE_CUT_MAYBE = (
    "No path leads from {root} to {name}: it had no part in it; or, if this line ran, {what} cut the path there ({line})."
)
DO_CUT_MAYBE = "See whether it ran: with av.record(model) the picture shows what did."
CAUSE_INSIDE = (
    "{node} runs a part of the forward pass anew in its backward, with a pass of its own: what lies behind it, as {name} may, "
    "stands in no graph before ({line})."
)
DO_INSIDE = "Call {root}.backward() and read grad then; with checkpoint(..., use_reentrant=False) the graph is whole."
CAUSE_CAME_INSIDE = (
    "{node} runs a part of the forward pass anew in its backward, with a pass of its own: that may have brought it ({line})."
)
DO_CAME_INSIDE = "To see that graph, use checkpoint(..., use_reentrant=False)."
CAUSE_ASSIGNED = "It was put there by hand: {line}."
CAUSE_UNUSED = "No path leads from {root} to {name}: no op that was recorded used it."
CAUSE_CUT_COMPARISON = "The path from {name} to the loss is cut by {what}: true and false have no gradient ({line})."
DO_CUT_COMPARISON = "Use a soft version of the comparison: a sigmoid of the difference."
CAUSE_MADE_COMPARISON = "{name}.requires_grad is False: {what} gives true or false, which have no gradient ({line})."
DO_MADE_COMPARISON = "Use a soft version of the comparison: a sigmoid of the difference."
DO_CUT_EARLY = "Call requires_grad_() first, and compute the rest after it."
CAUSE_REQUIRED_LATE = (
    "{name} did not require grad yet when it was used (line {used}): that came later ({line}). A graph records what ran, "
    "and is not changed afterwards."
)
DO_REQUIRED_LATE = "Call requires_grad_() first, and compute what leads to the loss after it."
CAUSE_NOT_RUN_UNKNOWN = (
    "There is no trace of a pass: {root} depends on {name}, and backward() has not run, or grad has been set to None since."
)
DO_NOT_RUN_UNKNOWN = "Call {root}.backward(), and read grad before zero_grad()."
CAUSE_RETAINED_LATE = "retain_grad() came after the pass, which keeps a gradient only where that was asked before: {line}."
DO_RETAINED_LATE = "Call {name}.retain_grad() before backward()."
CAUSE_LEFT_OUT_OR_CLEARED = (
    "A pass has gone through this graph: grad has been set to None since, or grad() or backward(inputs=...) left {name} out."
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
CAUSE_KEPT = (
    "A pass has left its graph as it was ({line}): it left {name} out, as grad() does, or grad has been set to None since; or "
    "it went through another graph."
)
DO_KEPT = "Take what grad() returns, or read grad before it is cleared."
CAUSE_AWAITED = "A stepper is on its way through this graph, and {node}, where the gradient of {name} arrives, has not run yet."
DO_AWAITED = "Step on: next(), or finish()."
CAUSE_LEFT_OUT = (
    "A backward pass has run, and left {name} out: autograd.grad() returns gradients instead of keeping them, and "
    "backward(inputs=...) keeps only those named."
)
DO_LEFT_OUT = "Take what grad() returns, or call backward() without inputs."
CAUSE_CLEARED = "{value} did arrive in the last pass: grad has been set to None since (zero_grad(), or by hand)."
CAUSE_CLEARED_AT = "{value} did arrive in the last pass, and this cleared it: {line}."
DO_CLEARED_AT = "Read grad before that line."
DO_CLEARED = "Read grad before zero_grad()."
CAUSE_CLEARED_UNKNOWN = "The last pass did go through: grad has been set to None since (zero_grad(), or by hand)."
DO_CLEARED_UNKNOWN = "Read grad before zero_grad()."
CAUSE_NOTHING_SENT = "A pass has run, and {node} sent no gradient, or grad has been set to None since ({line})."
DO_NOTHING_SENT = "Look at what the backward of {node} returns."

# errors
CAUSE_MODIFIED = "{node} saved {tensor} at version {version}; this changed it in place, and it is at version {now} now: {line}."
DO_MODIFIED = "Make a new tensor there (x = x + 1 instead of x += 1), or change a clone()."
CAUSE_MODIFIED_BY_STEP = (
    "{node} saved {tensor} at version {version}; this step changed it in place, and it is at version {now} now: {line}."
)
DO_MODIFIED_BY_STEP = "Run the forward pass anew after the step, or all backward passes before it."
CAUSE_MODIFIED_SOMEWHERE = (
    "{node} saved {tensor} at version {version} ({line}), and it was changed in place since: version {now}."
)
DO_MODIFIED_SOMEWHERE = "Make a new tensor (x = x + 1 instead of x += 1), or change a clone()."
CAUSE_FREED = "{node} gave up its saved tensors in an earlier pass: {line}."
DO_FREED = "Call that backward() with retain_graph=True, or compute the loss anew."
CAUSE_FREED_AMONG = (
    "The pass came to a node whose saved tensors an earlier pass had given up: {line}. {count} nodes have none now, those that "
    "this pass called before it failed too."
)
DO_FREED_AMONG = (
    "Something that was computed before that pass is used again: in a loop, detach() what is carried over, or compute it anew; "
    "or call the earlier backward() with retain_graph=True."
)
CAUSE_FREED_SOMEWHERE = "{node} gave up its saved tensors in an earlier pass."
DO_FREED_SOMEWHERE = "Call that backward() with retain_graph=True, or compute the loss anew."
CAUSE_ERROR = "{meaning} ({line})"
CAUSE_UNKNOWN_ERROR = "No more is known of this error than what it says itself."
CAUSE_NO_ERROR = "There is no error to explain: name a tensor."

# zero
CAUSE_ZERO_RELU = "{node} passes nothing where its input is not positive, and here it is {inputs} ({line})."
DO_ZERO_RELU = (
    "A unit that is dead for every input does not recover: try a smaller step, another initialisation, or leaky_relu."
)
CAUSE_ZERO_CLAMP = "{node} passes nothing outside its bounds, and its input is {inputs} ({line})."
DO_ZERO_CLAMP = "Widen the bounds, or use a smooth function."
CAUSE_ZERO_SHRINK = "{node} passes nothing inside its threshold, and its input is {inputs} ({line})."
DO_ZERO_SHRINK = "Lower the threshold."
CAUSE_ZERO_FLAT = "{node} is flat almost everywhere: its gradient is zero by rule ({line})."
DO_ZERO_FLAT = "To let the gradient through: x + (x.round() - x).detach(), with your op for round."
CAUSE_ZERO_MASK = "{node} chose the other value: its mask lets no gradient through to here ({line})."
DO_ZERO_MASK = "Look at the mask."
CAUSE_ZERO_DROPOUT = "{node} dropped every element ({line})."
DO_ZERO_DROPOUT = "Lower p."
CAUSE_ZERO_SATURATED = "{node} is saturated: its input is {inputs}, where the curve is flat in this precision ({line})."
DO_ZERO_SATURATED = (
    "Make its input smaller: normalise, or initialise with smaller weights; a loss with logits does not saturate."
)
CAUSE_ZERO_OVERWRITTEN = "{node}: what it was computed from was overwritten there, so it has no part in the loss ({line})."
DO_ZERO_OVERWRITTEN = "Make a new tensor instead of writing into this one."
CAUSE_ZERO_SOFTMAX = (
    "{node} sends zero where every element gets the same gradient, or one probability is 1: the outputs sum to 1 whatever "
    "comes in ({line})."
)
DO_ZERO_SOFTMAX = "Let the loss tell the elements apart, or make the scores smaller."
CAUSE_ZERO_TENSOR = "{node} multiplies by a tensor that is all zero ({line})."
DO_ZERO_TENSOR = "Look at where that zero comes from: a relu that passes nothing, dropout, an empty input."
CAUSE_ZERO_NUMBER = "{node} multiplies by 0 ({line})."
DO_ZERO_NUMBER = "Look at where that zero comes from."
CAUSE_ZERO_FACTOR = "{node} multiplies by {factor}, which is all zero ({line})."
DO_ZERO_FACTOR = "Look at where that zero comes from; weights that all start at zero do not learn."
CAUSE_ZERO_POWER = "{node} has a zero derivative here: its input is {inputs} ({line})."
DO_ZERO_POWER = "Start from another value."
CAUSE_ZERO_EXPONENT = "{node} has a derivative of zero everywhere: its exponent is 0 ({line})."
DO_ZERO_EXPONENT = "Look at where that exponent comes from."
CAUSE_ZERO_IGNORED = "{node} counts no element: every target is its ignore_index ({line})."
DO_ZERO_IGNORED = "Look at the targets; leave out batches without any that counts."
CAUSE_ZERO_PADDING = "{node} looked up its padding_idx only, which never gets a gradient ({line})."
DO_ZERO_PADDING = "Look at the indices; or leave padding_idx out if that row should learn."
CAUSE_ZERO_MARGIN = "{node} counts only what lies within its margin, and nothing does: the loss is 0 ({line})."
DO_ZERO_MARGIN = "Nothing to learn from these examples: look for harder ones, or widen the margin."
CAUSE_ZERO_HINGE = "The loss is 0: {node} passes only what is positive, and nothing that it was given is ({line})."
DO_ZERO_HINGE = "In a loss with a margin there is nothing to learn from examples beyond it: look for harder ones, or widen it."
CAUSE_ZERO_NORMED = (
    "{node} takes the mean away: adding {name} before it changes nothing, so its gradient is zero, up to rounding ({line})."
)
DO_ZERO_NORMED = "Leave this bias out (bias=False): the normalisation has its own."
CAUSE_ZERO_LEVEL = (
    "The loss adds up what {node} gives, and that sum is the same whatever comes in: the gradient behind it is zero, up to "
    "rounding ({line})."
)
DO_ZERO_LEVEL = "Take a loss that tells its elements apart: (y ** 2).mean(), or (y * torch.randn_like(y)).sum()."
CAUSE_ZERO_SHIFTED = (
    "{node} does not change when {name} is added to all keys: its softmax compares them, so this gradient is zero, up to "
    "rounding ({line})."
)
CAUSE_ZERO_ABS = "{node} takes 0 as the derivative at 0 ({line})."
DO_ZERO_ABS = "Start from another value."
CAUSE_ZERO_EQUAL = "{node} compares equal values: the loss is at its minimum ({line})."
CAUSE_ZERO_PICKED = "{node} picks another element: only the one it picks gets a gradient ({line})."
DO_ZERO_PICKED = "Use a smooth version (logsumexp, softmax, mean) if all should learn."
CAUSE_ZERO_PART = "{node} uses another part: what it does not take gets no gradient ({line})."
DO_ZERO_PART = "Look at the index."
CAUSE_ZERO_BROADCAST = (
    "{name} was broadcast, so {node} sums its gradient {value} to shape {shape}, and the sum is zero ({line})."
)
CAUSE_ZERO_CANCEL = "Gradients that meet at {at} cancel: {parts}."
CAUSE_ZERO_HOOK = "A hook made it zero: {node} was sent {parts}; hooks there: {hook}."
DO_ZERO_HOOK = "Look at what the hook returns."
CAUSE_ZERO_SENT = "{node} received a gradient and sent zero; its input is {inputs} ({line})."
CAUSE_ZERO_DRAWN = "{node} draws at random: its gradient is zero by rule ({line})."
DO_ZERO_DRAWN = (
    "Draw first, then scale: mean + std * torch.randn_like(std); of a distribution, rsample(); of choices, gumbel_softmax()."
)
CAUSE_ZERO_MODULE_HOOK = "A backward hook of a module received a gradient and made it zero: {node} ({line})."
DO_ZERO_MODULE_HOOK = "Look at what the module's hook returns."
CAUSE_ZERO_USER = "{node}, a Function of your own, received a gradient and returned zeros ({line})."
DO_ZERO_USER = "Look at what its backward returns."
CAUSE_ZERO_START = "The pass started with zero: the gradient given to backward() was all zero."
DO_ZERO_START = "Give another gradient to backward()."
CAUSE_ZERO_OLD = (
    "No gradient of this graph arrives here: the zeros came with a pass through another, or were put there "
    "(zero_grad(set_to_none=False), or by hand)."
)
CAUSE_ZEROED_OR_CANCELLED = (
    "{value} did arrive in the last pass: grad has been set to zero since (grad.zero_()), or earlier passes had left the "
    "opposite."
)
DO_ZEROED_OR_CANCELLED = "Read grad before it is set to zero; clear it before each pass."
CAUSE_CANCELLED = "{before} was there before, {value} arrived in the last pass, and backward() adds to grad: they cancel."
DO_CANCELLED = "Call zero_grad() (or {name}.grad = None) before each pass."
CAUSE_ZEROED = "{value} did arrive in the last pass: grad has been set to zero since (grad.zero_())."
DO_ZEROED = "Read grad before it is set to zero."
CAUSE_ZEROED_AT = "{value} did arrive in the last pass, and this has set grad to zero: {line}."
DO_ZEROED_AT = "Read grad before that line."
CAUSE_ZEROED_BY = "This has set grad to zero since the last pass: {line}."
DO_ZEROED_BY = "Read grad before that line."
SUSPECT_HOOK = "the hook {hook} at {node}"
CAUSE_ZERO_ONLY = "Of the ops on the way only this one is known to make zeros: {suspects}. (The gradients were not kept.)"
DO_ZERO_ONLY = "To be sure, step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAUSE_ZERO_NO_SUSPECT = (
    "No op on the way is known to make zeros, and the gradients there were not kept: parts of it may cancel where they meet, "
    "or grad has been changed since."
)
DO_ZERO_NO_SUSPECT = "Step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAUSE_ZERO_UNKNOWN = (
    "The gradients on the way were not kept, and no single op is sure to have made zeros. "
    "Those on the way that can: {suspects}."
)
DO_ZERO_UNKNOWN = "Step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAN = "{node} ({when})"
CAN_ZERO_RELU = "where its input is not positive"
CAN_ZERO_CLAMP = "outside its bounds"
CAN_ZERO_SHRINK = "inside its threshold"
CAN_ZERO_MASK = "where its mask chooses the other value"
CAN_ZERO_DROPOUT = "where it drops"
CAN_ZERO_SATURATED = "where it is saturated"
CAN_ZERO_OVERWRITTEN = "what was there is overwritten"
CAN_ZERO_SOFTMAX = "if every element gets the same gradient, or one probability is 1"
CAN_ZERO_FACTOR = "if the other factor is 0"
CAN_ZERO_POWER = "where its input is 0"
CAN_ZERO_IGNORED = "if every target is its ignore_index"
CAN_ZERO_PADDING = "rows that are not looked up, and its padding_idx"
CAN_ZERO_MARGIN = "if nothing lies within its margin"
CAN_ZERO_ABS = "where its input is 0"
CAN_ZERO_EQUAL = "where both are equal"
CAN_ZERO_PICKED = "what it does not pick"
CAN_ZERO_PART = "what it does not take"
CAUSE_ROWS_UNUSED = "Its rows {rows} are zero: {node} did not look them up, or sent them zeros ({line})."

# nan, inf
CAUSE_GIVEN_LEAF = "The {what} was there before this pass: {tensor} itself holds it ({line})."
DO_GIVEN_LEAF = "An earlier step has put it there: look at the gradients and the learning rate of the steps before."
CAUSE_GIVEN = "The {what} was there from the start: {tensor} holds it ({line})."
DO_GIVEN = "Look at the data: torch.isnan(x).any()."
CAUSE_FORWARD_BORN = "The {what} was there in the forward pass already: {op} made it of {inputs} ({line})."
DO_FORWARD_BORN = "Keep what goes into it away from where it is undefined: clamp() it, or add a small number."
CAUSE_BORN_LOG = "The {what} was born at {node}: the derivative of log is 1/x, and its input reaches 0 ({inputs}; {line})."
DO_BORN_LOG = "Clamp the input away from 0 (x.clamp(min=1e-8)), or use log1p, log_softmax, a loss with logits."
CAUSE_BORN_SQRT = (
    "The {what} was born at {node}: the derivative of sqrt is 1/(2 sqrt(x)), and its input reaches 0 ({inputs}; {line})."
)
DO_BORN_SQRT = "Add a small number under the root: (x + 1e-8).sqrt()."
CAUSE_BORN_NEGATIVE_ROOT = (
    "The {what} was born at {node}: its input is negative ({inputs}), so the root is nan, and its derivative too ({line})."
)
DO_BORN_NEGATIVE_ROOT = "Make the input safe before the op: torch.where(x > 0, x, 1.0).sqrt()."
CAUSE_BORN_DIVISION = "The {what} was born at {node}: it divides by 0 ({line})."
DO_BORN_DIVISION = "Add a small number to the divisor, or replace the zeros in it before the division."
CAUSE_BORN_POWER = (
    "The {what} was born at {node}: the derivative of a power below 1 (or of its exponent) is infinite at 0 ({line})."
)
DO_BORN_POWER = "Add a small number to the base."
CAUSE_BORN_NORM = "The {what} was born at {node}: a norm has no derivative at 0, where its rule divides by 0 ({line})."
DO_BORN_NORM = "Add a small number under the root, or leave out the zero vectors before the norm."
CAUSE_BORN_STD = "The {what} was born at {node}: the spread is 0 or of a single element, and its rule divides by it ({line})."
DO_BORN_STD = "Add a small number, or give it more elements."
CAUSE_BORN_EXP = (
    "The {what} was born at {node}: its result overflowed to inf, and its rule multiplies by it ({inputs}; {line})."
)
DO_BORN_EXP = "Make its input smaller before it: subtract the maximum, or clamp."
CAUSE_BORN_EQUAL = (
    "The {what} was born at {node}: its rule divides by differences of singular values (or eigenvalues), and two are equal, or "
    "one is 0 ({line})."
)
DO_BORN_EQUAL = "Break the tie with a small change of the matrix, or keep to functions of the values alone (svdvals, eigvalsh)."
CAUSE_ZERO_BELOW = "{node} is flat where its input is far below 0, and here it is {inputs} ({line})."
DO_ZERO_BELOW = "Make its input larger: normalise, or initialise with smaller weights."
CAUSE_BORN_ROW = "The {what} was born at {node}: a row of its input is -inf throughout, all of it masked ({line})."
DO_BORN_ROW = "Leave one element of each row unmasked, or mask with a large negative number instead of -inf."
CAUSE_BORN_EDGE = "The {what} was born at {node}: its derivative is infinite at the edge of its domain ({inputs}; {line})."
DO_BORN_EDGE = "Clamp its input inside the domain."
CAUSE_BORN_OTHER = "The {what} was born at {node}: what arrived there had none; its input is {inputs} ({line})."
DO_BORN_OTHER = "Look at the numbers there: av.step(loss) shows the formula with them."
CAUSE_ZERO_TIMES_INF = (
    "{node} keeps that branch out of the result, so it sends 0 into {born}, and 0 times infinity is nan: both branches are "
    "computed and differentiated ({line})."
)
DO_ZERO_TIMES_INF = "Make the input safe before {born}: x = torch.where(condition, x, 1.0), and then the op."
CAUSE_BAD_START = "The pass started with {what}: the loss's own first gradient has it."
CAUSE_BAD_SUM = "The {what} came of gradients that were added before {node}: inf - inf, or an overflow ({line})."
CAUSE_BAD_HOOK = "The {what} came of a hook at {node}: {hook}."
DO_BAD_HOOK = "Look at what the hook returns."
CAUSE_BAD_OLD = "What arrived in the last pass has no {what}: it was in grad before."
CAUSE_BAD_ELSEWHERE = "Nothing leads from here to the loss now: the {what} came with a pass through another graph."
DO_BAD_OLD = "Call zero_grad() before the pass."
CAUSE_BAD_UNKNOWN = (
    "The gradients on the way were not kept, and no single op is sure to have made {what}. "
    "Those on the way that can: {suspects}."
)
CAUSE_LOSS_BAD = "The loss itself holds {what}, so it came in the forward pass. Ops on the way that can make it: {suspects}."
DO_LOSS_BAD = "Look at the values before the loss; av.record() keeps those of a PyTorch program."
DO_BAD_UNKNOWN = "Use torch.autograd.detect_anomaly(), or av.step(loss) before backward()."

# large and small
CAUSE_GREW = "Its norm is {norm}. It grew most at {node}, by a factor of {factor} ({line})."
DO_GREW = "Look at the values there; clip_grad_norm_() limits the step."
CAUSE_SHRANK = "Its norm is {norm}. It shrank most at {node}, to a fraction of {factor} ({line})."
DO_SHRANK = "Look at the values there: saturation, small weights, a mean over many elements."
CAUSE_GREW_STEADILY = "Its norm is {norm}. It grew at {count} nodes, {times} of them {node}; most at {line}."
DO_GREW_STEADILY = "Initialise with smaller weights, normalise, or clip: clip_grad_norm_()."
CAUSE_SHRANK_STEADILY = "Its norm is {norm}. It shrank at {count} nodes, {times} of them {node}; most at {line}."
DO_SHRANK_STEADILY = "Use relu-like functions, residual connections or normalisation; sigmoid passes at most a quarter."
CAUSE_GREW_BETWEEN = (
    "Its norm is {norm}. Between {far} and {near} it grew most: {far}.grad has norm {far_norm}, {near}.grad {near_norm}."
)
DO_GREW_BETWEEN = "Initialise with smaller weights, normalise, or clip: clip_grad_norm_()."
CAUSE_SHRANK_BETWEEN = (
    "Its norm is {norm}. Between {far} and {near} it shrank most: {far}.grad has norm {far_norm}, {near}.grad {near_norm}."
)
DO_SHRANK_BETWEEN = "Use relu-like functions, residual connections or normalisation; sigmoid passes at most a quarter."
CAUSE_HUGE = "Its norm is {norm}. The gradients on the way were not kept, so where it grew is not known."
DO_HUGE = "Step it: av.step(loss) before backward()."
CAUSE_TINY = "Its norm is {norm}. The gradients on the way were not kept, so where it shrank is not known."
DO_TINY = "Step it: av.step(loss) before backward()."

# as it should be
CAUSE_CAME_FROM = "What arrives here comes from {node} ({line})."
CAUSE_PATHS = (
    "{count} paths lead here, from {nodes}; PyTorch keeps nothing of what each of them brought, nor of earlier passes, whose "
    "gradients are added up."
)
DO_PATHS = "Step it to see each part: av.step(loss) before backward()."
CAUSE_SUM_OF = "It is the sum of {count} paths: {parts}{more}."
CAUSE_GRAD_BEFORE = "No pass has gone through this graph: what stands in grad was there before."
CAUSE_GRAD_BEFORE_OR_KEPT = (
    "If a pass has gone through this graph (its saved tensors are still there, as after retain_graph=True), "
    "what arrives here comes from {node} ({line}); if not, what stands in grad is older."
)
CAUSE_IS_ROOT = "It is the root: backward() starts with this gradient."
CAUSE_ADDED_SINCE = (
    "{value} arrived in the pass that was stepped, and as much has been added since: another pass went through the same graph, "
    "as loss.backward() after stepping does."
)
DO_ADDED_SINCE = "Call zero_grad() (or {name}.grad = None) between them, or reset() the stepper first."
CAUSE_EDITED = (
    "{value} arrived in the last pass: grad has been changed since{times}, as clipping, unscaling or an assignment does."
)
CAUSE_SCALED = (
    "{value} arrived in the last pass: grad has been changed since{times}, as clipping or unscaling does, or something was "
    "there before."
)
TIMES = " (it is {factor} times that)"
CAUSE_ACCUMULATED = "{value} arrived in the last pass; {rest} was there before, because backward() adds to grad."
DO_ACCUMULATED = "Call zero_grad() (or {name}.grad = None) before each pass."
CAUSE_ACCUMULATED_OR_EDITED = (
    "{value} arrived in the last pass; {rest} was there before, because backward() adds to grad, or grad was changed since."
)
DO_ACCUMULATED_OR_EDITED = "Call zero_grad() (or {name}.grad = None) before each pass."
CAUSE_GRAD_FROM_ELSEWHERE = (
    "It did not come from this graph: nothing leads from here to the loss now. It came through another, which may have been "
    "cut off since (detach()), or was put there by hand."
)
CAUSE_NO_GRAPH = (
    "No variable here holds the graph that it came from: it is gone, or belongs to another function; or grad was put there by "
    "hand, or backward() was called on {name} itself."
)
DO_NO_GRAPH = "Ask where the loss is still at hand, right after backward(), or name it: explain({name}, loss)."
CAUSE_HOOK_CHANGED = "A hook changed what arrived from {before} to {after}: {hook}."
CAUSE_HOOK_ON_WAY = "On the way a hook changed the gradient at {node} from {before} to {after}: {hook} ({line})."
CAUSE_START_NOT_ONE = (
    "The pass started with {after} instead of 1: a hook ({hook}) may have changed its gradient in place, and gradients that"
    " are equal share memory."
)
DO_START_NOT_ONE = "Return a new tensor from the hook instead of changing the one that it is given."
CAUSE_DATA_WRITTEN = (
    "Look out: {tensor} was changed through .data after {node} had saved it, which autograd does not notice ({line}). The "
    "gradient is computed with the new values."
)
DO_DATA_WRITTEN = "Change a clone(), or use detach() instead of .data: then autograd refuses."
CAUSE_GRAPH_GONE = "{value} arrived in the last pass, through a graph that no variable holds any more."
DO_GRAPH_GONE = "Keep the loss in a variable, and ask again after the pass."
