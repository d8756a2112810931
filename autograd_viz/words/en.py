"""English: the language in which sentences are written first."""

from __future__ import annotations

from .en_lessons import *  # noqa: F403 -- one file would be too long
from .en_reasons import *  # noqa: F403 -- one file would be too long

# a step of the backward pass
START = "Nothing has run yet. Next calls {node} with the first gradient."
NOTHING = "There is nothing to step."
COMPLETE = "The backward pass is complete."
RECORDED = "These computations are recorded (create_graph=True), so they can be differentiated again."

ARRIVES = "{node}{of} receives {grads}."
OF = " ({names})"
SUM = "{count} gradients met here: {parts} = {total}."
SUM_MANY = "{count} gradients met here; their sum is {total}."
SUM_ARRAY = "{count} gradients met here and were added, element by element ({shape})."
UNUSED = "Nobody used output {indices}: no gradient arrives there, which counts as zero."
MANY_UNUSED = "{count} of its outputs were not used: no gradient arrives there, which counts as zero."
NONE_ARRIVED = "What used output {indices} sent no gradient, which counts as zero."
ALL_ZERO = "{node}{of} receives no gradient, which counts as zero."
SENDS = "It sends {parts}."
SENT = "{value} to {target}"
UNBROADCAST = "{value} to {target} (broadcasting undone: {shape} is summed to {into})"
NOWHERE = "Input {index} wants no gradient."
MANY_NOWHERE = "Inputs {indices} want no gradient."
SENDS_NONE = "It has no gradient for {target}, which counts as zero."
FIRST = "AccumulateGrad: {name}.grad was None and becomes {new}."
ADDS = "AccumulateGrad adds to {name}.grad: {old} + {incoming} = {new}."
ADDS_ARRAY = "AccumulateGrad adds what arrived to {name}.grad, element by element ({shape})."
NO_GRADIENT = "{node} receives no gradient, so nothing changes."
NO_GRADIENT_PASSED = "{node} receives no gradient and sends none."
RETAINED = "{name}.grad keeps it, because of retain_grad()."
RETAINED_ADDED = "It is added to {name}.grad, because of retain_grad(): {old} becomes {new}."
FREED = "Freed: {names}."
WOULD_FREE = "backward() would free: {names}."
EDITED = "You had changed the gradient that arrives: it was set to {value} by hand."
HOOK_CHANGED = "The {kind} {name} changed the gradient: {before} → {after}."
HOOK_CHANGED_ARRAY = "The {kind} {name} changed the gradient ({shape})."
HOOK_DROPPED = "The {kind} {name} let no gradient through."
HOOK_TOOK = "The {kind} {name} set grad to None."
HOOK_SAW = "The {kind} {name} saw {before} and left it as it was."
HOOK_RAN = "The {kind} {name} ran."
HOOK_TENSOR = "tensor hook"
HOOK_PRE = "prehook"
HOOK_POST = "hook of the node"
HOOK_POST_ACCUMULATE = "post-accumulate hook"
A_LEAF = "the leaf"
A_TENSOR = "an unnamed tensor"
COMMA = ", "
AND = " and "
BETWEEN = " "

# the forward pass
LEAVES = "The graph starts with {leaves}."
LEAF = "{name} = {value}"
LEAF_WITH_GRAD = "{name} = {value} (a leaf that requires grad)"
NO_LEAVES = "The program has not computed anything yet."
MANY_LEAVES = "The graph starts with {count} tensors, {wanted} of them leaves that require grad."
COMPUTES = "{call} computes {value}."
WRITES_THROUGH = "{call} is written into {name} through a view of it: {name} is {value} now."
COMPUTES_AND_SAVES = "{call} computes {value} and saves {names} for backward."
RAN = "{call} has run."
RAN_AND_SAVES = "{call} has run and saves {names} for backward."
CREATED = "{node} is created."
NOT_WANTED = "Nothing is recorded: no operand requires grad."
NOT_RECORDED = "Nothing is recorded: grad mode was off, or no operand required grad yet."
CUT_OFF = "Nothing is recorded: {op} cuts its result off from the graph."
NOT_DIFFERENTIABLE = "Nothing is recorded: {dtype} results have no gradient."

# why a tensor's grad is what it is
WHY_NOT_REQUIRED = "grad is None: requires_grad is False, so no gradient is computed for it."
WHY_DTYPE = "grad is None: only floating point and complex tensors can require grad, and this one is {dtype}."
WHY_NOT_RECORDED = "grad is None: requires_grad is False, because no operand of {op} required grad or grad mode was off."
WHY_DETACHED = "grad is None: {op} cut it off from the graph, so no gradient comes here."
WHY_NOT_RETAINED = "grad is None: not a leaf. {node} hands the gradient on and does not keep it; call retain_grad() to keep it."
WHY_NOTHING_ARRIVED = "grad is {grad}: {node} ran in step {step}, and no gradient had arrived."
WHY_PASSED = "grad is None: {value} arrived in step {step}, and {node} handed it on without keeping it; call retain_grad()."
WHY_UNREACHED = "grad is {grad}: no path leads from the root of this pass to it."
WHY_NOT_YET = "grad is {grad}: the backward pass has not reached it yet; first {nodes} must run."
WHY_WAITS = "grad is {grad}: {node} waits for gradients, {arrived} of {expected} have arrived."
WHY_READY = "grad is {grad}: {node} has received everything and has not run yet."
WHY_BEFORE = "grad is {grad}: it was there before this pass."
WHY_FREED = "grad is {grad}: saved tensors of this graph are freed, so a second backward pass would stop before it."
WHY_FIRST = "grad is {new}: {incoming} arrived in step {step} and grad was None."
WHY_ADDED = "grad is {new}: {old} was there already, and {incoming} arrived in step {step}: {old} + {incoming} = {made}."
WHY_TAKEN = "grad is None: {value} arrived in step {step}, and a post-accumulate hook has set grad to None."
WHY_ADDED_ARRAY = "grad has {shape}: what arrived in step {step} was added to what was there already, element by element."
WHY_RETAINED = "grad is {new}: it arrived at {node} in step {step} and is kept because of retain_grad()."
WHY_ZERO = "What arrived is all zero since {node} in step {step}: something else than zero arrived there, and zero was sent on."
WHY_ZERO_RELU = "{node} passes nothing where its input was not positive."
WHY_ZERO_MUL = "It multiplies by a value that is 0."
WHY_ZERO_CLAMP = "It passes nothing where its input was outside the bounds."
WHY_SUM_ZERO = "What arrived is all zero: gradients cancelled where they were added before {node}, in step {step}."
WHY_ZERO_FROM_START = "What arrived is all zero because the first gradient was."
WHY_NAN = "Its nan was born at {node} in step {step}: what arrived there had none."
WHY_INF = "Its inf was born at {node} in step {step}: what arrived there had none."
WHY_NAN_FROM_START = "The first gradient had nan already."
WHY_INF_FROM_START = "The first gradient had inf already."
WHY_SUM_NAN = "Its nan was born where gradients were added before {node}, in step {step}."
WHY_SUM_INF = "Its inf was born where gradients were added before {node}, in step {step}."
WHY_OLD_NAN = "Its nan was there before: what arrived has none."
WHY_OLD_INF = "Its inf was there before: what arrived has none."
WHY_HOOKED_NAN = "Its nan came from a hook at {node}, in step {step}."
WHY_HOOKED_INF = "Its inf came from a hook at {node}, in step {step}."
WHY_HOOKED_ZERO = "What arrived is all zero because a hook at {node} made it so, in step {step}."
WHY_HOOK = "The {kind} {name} made {after} of {before} in step {step}."
WHY_EDITED_THERE = "It was changed by hand at {node}, in step {step}."
WHY_EDITED = "The gradient that arrived in step {step} had been changed by hand."

# errors of PyTorch's, explained
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
RAISED_BY = "{function}() raised it, called by {node}, at line {line}: {code}"
THE_NODE = "A node"

# a picture's own words, and what is said of its boxes when the mouse rests on them
PICTURE_OPS = "{count:,} ops"
PICTURE_OP = "1 op"
PICTURE_NODES = "{count:,} nodes"
PICTURE_NODE = "1 node"
PICTURE_CALLED = "{called:,} of {whole} called"
PICTURE_FREED = "freed"
PICTURE_OF = "Autograd graph of {names}: {ops} ops, {nodes} backward nodes"
PICTURE_UNNAMED = "unnamed tensors"
BOX_TENSOR = "{name}: {kind}, {shape}, {dtype}"
BOX_UNNAMED = "unnamed tensor"
BOX_LEAF = "leaf, requires grad"
BOX_NON_LEAF = "non-leaf, requires grad"
BOX_CONSTANT = "leaf, does not require grad"
BOX_OP = "{name}: forward op"
BOX_OP_GROUP = "{name}: group of {count} forward ops"
BOX_NOT_RECORDED = ", not recorded"
BOX_NODE = "{name}: backward node"
BOX_NODE_GROUP = "{name}: group of {count} backward nodes"
BOX_CTX = "ctx: carries saved tensors to the backward node"
BOX_RECONSTRUCTED = ", reconstructed from the backward graph"

UI = {
    # walking
    "toolbar": "Step the backward pass",
    "reset": "Reset",
    "reset_tip": "Reset: to the start (Home)",
    "back": "Back",
    "back_tip": "Back: take one step back (←)",
    "next": "Next",
    "next_tip": "Next: call the next grad_fn (→)",
    "finish": "Finish",
    "finish_tip": "Finish: to the end (End)",
    "play": "Play",
    "play_tip": "Play (Space)",
    "pause": "Pause",
    "pause_tip": "Pause (Space)",
    "run": "Run",
    "run_tip": "Run to the next stop, or to the end",
    "step": "Step",
    "counter_text": "step {step} of {total}",
    "forward_counter": "forward {step} / {total}",
    "speed": "Speed of play, steps a second",
    "speed_value": "{speed}/s",
    "run_to": "Run to here",
    "run_to_tip": "Run until {node} is the next to run",
    "until": "Until a gradient reaches it",
    "until_tip": "Run until a gradient reaches {tensor}",
    "forward": "forward pass",
    # finding one's way
    "picture": "Graph of the program: forward ops, tensors and backward nodes",
    "search": "Find a tensor or node",
    "search_tip": "Find a tensor or node by name or type (/)",
    "search_none": "Nothing is called so",
    "search_found": "{index} of {count}",
    "fit": "Fit",
    "fit_tip": "Fit the whole picture",
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
    "zoom": "Zoom",
    "minimap": "Overview map",
    "view": "View",
    # stops
    "stops": "Stops",
    "stops_tip": "Where a run stops",
    "breakpoint": "Stop at this node",
    "breakpoint_set": "Stops at {node}",
    "breakpoints": "Breakpoints",
    "stop_nan": "A gradient is nan or inf",
    "stop_zero": "A gradient is all zero",
    "stop_condition": "A Python condition",
    "clear_stops": "Clear all stops",
    "stopped": "Stopped: {reason}",
    "stopped_breakpoint": "breakpoint at {node}",
    "stopped_nan": "a gradient became nan or inf at {node}",
    "stopped_inf": "a gradient became nan or inf at {node}",
    "key_actual": "actual size",
    "key_panel": "show or hide the panel",
    "unused_output": "nobody used this output",
    "inputs": "Inputs",
    "outputs": "Outputs",
    "hook_tensor": "tensor hook",
    "hook_pre": "prehook",
    "hook_post": "hook of the node",
    "hook_post_accumulate": "post-accumulate hook",
    "stopped_zero": "a gradient became all zero at {node}",
    "stopped_condition": "the condition holds at {node}",
    "stopped_until": "a gradient has reached {tensor}",
    "stopped_unreached": "no gradient has reached {tensor} from here to the end",
    "condition_error": "The condition failed: {error}",
    # panels
    "panel": "Details",
    "node_panel": "Node",
    "tensor_panel": "Tensor",
    "op_panel": "Op",
    "group_ops": "group of {count} ops, drawn as one box",
    "group_nodes": "group of {count} backward nodes, drawn as one box",
    "members": "In it",
    "in_a_group": "in a closed group",
    "groups": "Groups around it",
    "expand": "Expand",
    "collapse": "Collapse",
    "nothing_selected": "Click a node or a tensor to look into it.",
    "close": "Close",
    "formula": "Formula",
    "rule_user": "The rule is the code of your Function's backward.",
    "rule_torch": "PyTorch's own rule; there is no formula of ours for it.",
    "arrived": "grad_outputs: what arrived",
    "arrived_from": "from {node}",
    "arrived_first": "the first gradient",
    "not_arrived": "nothing has arrived yet",
    "not_run": "has not run yet",
    "sum": "sum",
    "after_hooks": "after hooks",
    "by_hand": "by hand",
    "saved": "Saved tensors",
    "no_saved": "saves nothing",
    "sent": "grad_inputs: what left",
    "sent_to": "to {node}",
    "not_sent": "wants no gradient",
    "next_functions": "next_functions",
    "index_means": "index {index}: the gradient belongs to output {index} of {op}",
    "index_means_leaf": "index {index}: the leaf has one gradient",
    "hooks": "Hooks that ran",
    "hook_changed": "{name}: {before} → {after}",
    "hook_same": "{name}: left it as it was",
    "source": "Source",
    "source_line": "line {line}",
    "no_source": "the code cannot be seen",
    "jacobian": "Local Jacobian",
    "jacobian_of": "d output / d {input}",
    "attributes": "Attributes",
    "name": "name",
    "shape": "shape",
    "dtype": "dtype",
    "op": "op",
    "unnamed": "unnamed",
    "shares": "Shares memory with",
    "shares_none": "no other tensor",
    "version": "version",
    "version_of": "version {version}",
    "values_were": "as it was",
    "values_now": "shown as it is now",
    "version_now": "{version}, now {now}",
    "why": "Why is grad so?",
    "gradient": "Gradient",
    "data": "Data",
    "data_now": "data now",
    "heat_map": "Heat map of {name}, zero in the middle of the scale",
    "element": "[{index}] = {value}",
    "block_mean": "means of blocks",
    "statistics": "Statistics",
    "statistics_finite": "Statistics of the finite elements",
    "min": "min",
    "max": "max",
    "mean": "mean",
    "norm": "norm",
    "zeros": "zeros",
    "nan": "nan",
    "inf": "inf",
    "elements": "elements",
    # states of a saved value
    "stale": "changed in place since: the node will refuse to run",
    "kept": "kept",
    "freed": "freed",
    "none": "none",
    "plain": "plain value",
    # the engine
    "engine": "Engine",
    "queue": "Ready queue",
    "queue_empty": "nothing is ready",
    "waiting": "Waiting",
    "waiting_none": "nothing waits",
    "arrived_of": "{arrived} of {expected} arrived",
    "held": "Memory held by saved tensors",
    "freed_by": "{node} freed {bytes}",
    # changing
    "edit": "Edit the gradient",
    "edit_tip": "Change the gradient that is about to enter {node}",
    "edit_example": "[1.0, 2.0]",
    "edited": "changed by hand",
    "edit_waits": "Changed by hand: {value} will enter {node}.",
    "edit_pending": "changed by hand: {value} will enter",
    "apply": "Apply",
    "undo_edit": "Undo the edit",
    "edit_error": "This cannot be the gradient: {error}",
    # messages
    "error": "Error",
    "kernel_gone": "The kernel does not answer. Recorded steps still work; to go further, wait if it is busy, or run the cell.",
    "changed_outside": "The notebook has changed the grad of {tensors} since the last step; the picture shows it as it is now.",
    "changed_outside_tip": "The notebook has changed this since the last step; the picture shows it as it is now.",
    "freed_tip": "Another pass has freed saved tensors of this graph: the nodes that saved them will refuse to run.",
    "spoiled_tip": "A saved tensor has been changed in place since it was saved: the node that saved it will refuse to run.",
    "rewritten_tip": "Changed in place since drawn: {tensors}. Boxes keep what the pass was recorded with, panels tell both.",
    "static_saved": "A picture of what the stepper showed when the notebook was saved. Run the cell to step.",
    "html_no_script": "This page steps through a backward pass; it needs JavaScript, nothing from the network.",
    # keys
    "help": "Keys",
    "help_tip": "Show the keys (?)",
    "key_next": "next step",
    "key_back": "one step back",
    "key_reset": "to the start",
    "key_finish": "to the end",
    "key_play": "play or pause",
    "key_run": "run to the next stop",
    "key_run_to": "run to the selected node, or expand the selected group",
    "key_group": "expand the selected group, or collapse the one around the selection",
    "key_breakpoint": "stop at the selected node, or no longer",
    "key_search": "find",
    "key_fit": "fit the whole picture",
    "key_zoom": "zoom in, zoom out",
    "key_pan": "move the picture",
    "key_select": "walk from node to node",
    "key_help": "show or hide this list",
    "key_close": "close",
    # for screen readers
    "aria_widget": "Stepper of a backward pass",
    "aria_sentence": "What happened",
}
