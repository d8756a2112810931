"""English: what autograd holds for a loss."""

from __future__ import annotations

MEMORY_SAID = "{size} for {count:,} saved tensors"
MEMORY_ONE = "{size} for 1 saved tensor"
MEMORY_NOTHING = "no saved tensors"
MEMORY_PARAMETER = "parameters"
MEMORY_INPUT = "inputs"
MEMORY_ACTIVATION = "activations"
MEMORY_PART = "{size} {kind}"
MEMORY_PEAK = "peak {size} at {node}"
MEMORY_CHECKPOINT = "a checkpoint around {name} would save {size}"
MEMORY_CHECKPOINTS = "a checkpoint around each of {name} would save {size}"
MEMORY_LOWERS = "peak {size}"
MEMORY_GUESSED = "modules are guessed"
MEMORY_MAP = "Saved tensors"
MEMORY_CURVE = "Backward pass: {count:,} calls"
MEMORY_SAVED = "activations"
MEMORY_GRADIENTS = "gradients in flight"
MEMORY_GRADS = "grads of leaves"
MEMORY_COUNTS = (
    "The curve leaves out parameters and inputs, temporary memory of a node, and what a checkpoint computes again."
)
MEMORY_MORE = "{count:,} more"
MEMORY_PAGE_CHECKPOINTS = "A checkpoint around"
MEMORY_PAGE_MODULES = "By module"
MEMORY_PAGE_LINES = "By line"
MEMORY_PAGE_TENSORS = "Saved tensors"
