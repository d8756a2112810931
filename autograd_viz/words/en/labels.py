"""English: the words of a picture, and the labels of the widget by key."""

# the words of a picture, and the tooltips of its boxes
PICTURE_OPS = "{count:,} ops"
PICTURE_OP = "1 op"
PICTURE_NODES = "{count:,} nodes"
PICTURE_NODE = "1 node"
PICTURE_CALLED = "{called:,} of {whole} called"
PICTURE_MORE = "… and {count:,} more"
PICTURE_FREED = "freed"
PICTURE_PACKED = "packed"
PICTURE_NORM = "norm {norm}"
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
BOX_UNREACHED = ", not called by a pass from the root"
BOX_REASON = ": {reason}"
REASON_NESTED = "A recording cannot follow ops on nested tensors."
REASON_OPENED = "torch.compile made one op of several. They are read from the backward graph that it keeps."
REASON_EXPORTED = "It is read from the exported program. No pass has run."
REASON_CACHED = (
    "torch.compile took this op from its cache, which does not tell what is in it. With the environment variable "
    "TORCHINDUCTOR_AUTOGRAD_CACHE=0 it is opened."
)
REASON_COMPILED = "torch.compile made one op of several. A recording cannot see them."

UI = {
    "next_tag": "next: {name}",
    "present": "Present: fill the window (p)",
    "key_present": "present: large letters, the whole window",
    "help_rings": "Thick outline: the node that was called. Dotted ring: the one that is next.",
    # stepping
    "toolbar": "Step the backward pass",
    "reset_tip": "Reset: to the start (Home)",
    "back_tip": "Back: take one step back (←)",
    "next_tip": "Next: call the next grad_fn (→)",
    "finish_tip": "Finish: to the end (End)",
    "play_tip": "Play (Space)",
    "pause_tip": "Pause (Space)",
    "run_tip": "Run to the next stop or to the end",
    "counter_text": "step {step} of {total}",
    "forward_counter": "forward {step} / {total}",
    "speed": "Playback speed, steps per second",
    "speed_value": "{speed}/s",
    "run_to": "Run to here",
    "run_to_tip": "Run until {node} is next",
    "until": "Until a gradient reaches it",
    "until_tip": "Run until a gradient reaches {tensor}",
    "forward": "forward pass",
    # finding a node
    "picture": "Graph of the program: forward ops, tensors and backward nodes",
    "search": "Find a tensor or node",
    "search_tip": "Find a tensor or node by name or type (/)",
    "search_none": "No match",
    "search_found": "{index} of {count}",
    "fit_tip": "Fit the whole picture",
    "detail": "The figure: full, brief, names (key d)",
    "download": "Save the picture as it is now (SVG)",
    "copy": "Copy the picture as it is now (PNG)",
    "minimap": "Overview map",
    "key_actual": "actual size",
    "key_panel": "show or hide the panel",
    "unused_output": "this output is not used",
    "hook_tensor": "tensor hook",
    "hook_pre": "node prehook",
    "hook_post": "node hook",
    "hook_post_accumulate": "post-accumulate hook",
    # panels
    "panel": "Details",
    "node_panel": "Node",
    "tensor_panel": "Tensor",
    "op_panel": "Op",
    "group_ops": "group of {count} ops, drawn as one box",
    "group_nodes": "group of {count} backward nodes, drawn as one box",
    "in_a_group": "inside a collapsed group",
    "groups": "Groups that contain it",
    "groups_fixed": "Groups stay closed in a saved page. Expand them before saving, or save with collapse=False.",
    "nothing_selected": "Click a node or a tensor to see its details.",
    "rule_user": "The formula is the code of your Function's backward().",
    "rule_torch": "PyTorch's own backward; its formula is not shown.",
    "arrived": "grad_outputs: gradients received",
    "arrived_from": "from {node}",
    "arrived_first": "first gradient",
    "not_arrived": "no gradient has arrived yet",
    "not_run": "has not run yet",
    "after_hooks": "after hooks",
    "by_hand": "edited",
    "saved": "Saved tensors",
    "no_saved": "saves nothing",
    "sent": "grad_inputs: gradients sent",
    "sent_to": "to {node}",
    "not_sent": "needs no gradient",
    "index_means": "index {index}: the gradient belongs to output {index} of {op}",
    "index_means_leaf": "index {index}: the leaf has one gradient",
    "hooks": "Hooks that ran",
    "hook_changed": "{name}: {before} → {after}",
    "hook_same": "{name}: no change",
    "source_line": "line {line}",
    "no_source": "source not available",
    "jacobian": "Local Jacobian",
    "jacobian_of": "d output / d {input}",
    "shares": "Shares memory with",
    "shares_none": "no other tensor",
    "version_of": "version {version}",
    "values_were": "values when recorded",
    "values_now": "current values",
    "version_now": "{version}, now {now}",
    "why": "Why this grad?",
    "data_now": "current data",
    "heat_map": "Heat map of {name}; the middle of the scale is zero",
    "element": "[{index}] = {value}",
    "block_mean": "block means",
    "statistics_finite": "Statistics of finite elements",
    # states of a saved value
    "stale": "modified in place after it was saved: the node will raise an error",
    "plain": "plain value",
    # the engine
    "queue": "Ready queue",
    "queue_empty": "no node is ready",
    "waiting": "Dependencies",
    "waiting_none": "no node is waiting",
    "arrived_of": "{arrived} of {expected} arrived",
    "held": "Memory of saved tensors",
    "freed_by": "{node} freed {bytes}",
    # messages
    "printed": "Printed by hooks and Functions",
    "kernel_gone": "The kernel does not answer. Recorded steps still work. To continue, wait or run the cell again.",
    "changed_outside": "The notebook changed the grad of {tensors} after the last step. The picture shows the current value.",
    "changed_outside_tip": "The notebook changed this after the last step. The picture shows the current value.",
    "freed_tip": "Another backward pass freed saved tensors of this graph. The nodes that saved them will raise an error.",
    "spoiled_tip": "A saved tensor was modified in place after it was saved. The node that saved it will raise an error.",
    "rewritten_tip": "Changed in place after drawing: {tensors}. Boxes show the recorded values; panels show both.",
    "static_map": "This picture shows the map. Run the cell to open its cards.",
    "static_saved": "This picture shows the stepper when the notebook was saved. Run the cell to step.",
    "html_no_script": "This page steps through a backward pass. It needs JavaScript but no network.",
    # keys
    "help": "Keys",
    "help_tip": "Show the keys (?)",
    "key_next": "next step",
    "key_back": "one step back",
    "key_clicker": "one step on or back with a presenter's remote, while presenting",
    "key_blank": "black window and back, while presenting",
    "key_reset": "to the start",
    "key_finish": "to the end",
    "key_play": "play or pause",
    "key_run": "run to the next stop",
    "key_run_to": "run to the selected node, or expand the selected group",
    "key_group": "expand the selected group, or collapse the one around the selection",
    "key_breakpoint": "set or clear a stop at the selected node",
    "key_search": "find",
    "key_fit": "fit the whole picture",
    "key_zoom": "zoom in, zoom out",
    "key_pan": "move the picture",
    "key_detail": "more or less in the figure: full, brief, names",
    "key_copy": "copy the picture, or the text that is selected",
    "key_select": "move from node to node",
    "key_help": "show or hide this list",
    "key_close": "close",
    # for screen readers
    "aria_widget": "Backward pass stepper",
    "aria_sentence": "What happened",
    # the map
    "map_tip": "Back to the map (m)",
    "card_called": "{called} of {nodes} nodes called",
    "card_parameter": "name",
    "card_values": "norm",
    "card_gradient": "gradient",
    "key_map": "back to the map",
    # the code view
    "code": "Your code",
    "code_tip": "Your code: what just ran and what is next (l)",
    "code_lines": "Lines of your code",
    "code_stack": "Modules that are being called",
    "code_texts": "Functions and cells",
    "code_cell": "cell",
    "code_caller": "caller",
    "code_ran": "just ran",
    "code_next": "next",
    "code_turn": "turn {turn} of {turns}",
    "code_grad": "the gradient that arrived here",
    "code_stop": "Stop at line {line}",
    "key_code": "show or hide your code",
    # rules
    "rules": "Rules that ran",
    "rule_hint": "Point at an element of a result (or press Tab, then an arrow key) to see its sum.",
    "rule_of_element": "{value} (of {given})",
    "rule_large": "An array of this size is shown as means of blocks, so its sums are not written.",
    # labels that are their own keys, and those that begin with a capital
    **{key: key for key in ("name", "shape", "dtype", "op", "unnamed", "version", "sum", "next_functions", "elements", "norm")},
    **{key: key for key in ("min", "max", "mean", "zeros", "nan", "inf", "kept", "freed", "none")},
    **{key: key.capitalize() for key in ("reset", "back", "next", "finish", "play", "pause", "run", "step", "fit", "view")},
    **{key: key.capitalize() for key in ("inputs", "outputs", "members", "expand", "collapse", "close", "formula", "source")},
    **{key: key.capitalize() for key in ("attributes", "gradient", "data", "statistics", "engine", "error", "map", "figure")},
    **{key: key.capitalize() for key in ("modules", "parameters")},
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
}
