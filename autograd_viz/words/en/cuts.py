"""English: why no path leads from a loss to a tensor. CAUSE_X is a reason, DO_X what helps against it."""

from __future__ import annotations

CAUSE_UNREACHED = (
    "No path leads from {root} to {name}: it was not computed from it, or it was cut off where a graph keeps no trace "
    "(no_grad(), detach(), item())."
)
DO_UNREACHED = (
    "Use {name} in what leads to the loss, with grad mode on and without detach(). Another tensor may have taken its name "
    "since (a new assignment)."
)
CAUSE_UNREACHED_OR_LATE = (
    "No path leads from {root} to {name}: it was not computed from it, or it was cut off where a graph keeps no trace "
    "(no_grad(), detach(), item()), or {name} did not require grad yet when it was used."
)
DO_UNREACHED_OR_LATE = DO_UNREACHED
CAUSE_UNREACHED_OFF = (
    "No path leads from {root} to {name}: {root} has no graph, and grad mode is off now, as a no_grad() or "
    "set_grad_enabled(False) leaves it."
)
DO_UNREACHED_OFF = "If it was off when {root} was computed, look for the call that left it off: torch.set_grad_enabled(True)."
CAUSE_CANDIDATE = (
    "Whether {name} went through it, the code does not show, but {what} cuts values off from their history here: {line}."
)
CAUSE_CANDIDATE_UNRECORDED = CAUSE_CANDIDATE
DO_CANDIDATE_UNRECORDED = "With av.record() around the forward pass, a detach() or .data is seen where it runs."
CAUSE_CANDIDATE_TOO = "And {what} here: {line}."
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
    "No path leads from {root} to {name}: it had no part in it; or, if this line ran, {what} cut the path there ({line}); or "
    "another did that is not seen here."
)
CAUSE_CUT_PARTLY = (
    "One of the ways from {name} to {root} is cut by {what} ({line}); that another is cut too, the code does not show."
)
CAUSE_CUT_MODE = "No path leads from {root} to {name}: it had no part in it, or {what} had switched grad mode off ({line})."
DO_CUT_MODE = "See what it was given in that run."
CAUSE_CUT_MAYBE_TOO = "Or, if this one ran, {what} did ({line})."
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
CAUSE_PART_UNUSED = "{name} had no part in the loss: no method of {cls} uses {part}."
DO_PART_UNUSED = "Use it in forward(), or leave it out."
CAUSE_RESULT_UNUSED = "{name} had no part in the loss: what {part} gives is not used after this line: {line}."
DO_RESULT_UNUSED = "Use the result: y = self.layer(y)."
CAUSE_COPIED = (
    "No path leads from {root} to {name}. This copies its values into another tensor, which has a gradient of its own: {line}."
)
DO_COPIED = "Ask about the copy; or use {name} itself in what leads to the loss."
CAUSE_CUT_COMPARISON = "The path from {name} to the loss is cut by {what}: true and false have no gradient ({line})."
DO_CUT_COMPARISON = "Use a soft version of the comparison: a sigmoid of the difference."
CAUSE_MADE_COMPARISON = "{name}.requires_grad is False: {what} gives true or false, which have no gradient ({line})."
DO_MADE_COMPARISON = "Use a soft version of the comparison: a sigmoid of the difference."
DO_CUT_EARLY = "Call requires_grad_() first, and compute the rest after it."
