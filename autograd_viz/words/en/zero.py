"""English: why a gradient is zero. CAUSE_X is a reason, DO_X what helps against it, CAN_X when a suspect would be one."""

from __future__ import annotations

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
CAUSE_ZERO_MASK = "{node} chose the other value wherever a gradient arrives: its mask lets none of it through to here ({line})."
DO_ZERO_MASK = "Look at the mask."
CAUSE_ZERO_DROPOUT = "{node} dropped every element ({line})."
DO_ZERO_DROPOUT = "Lower p."
CAUSE_ZERO_SATURATED = "{node} is saturated: its input is {inputs}, where the curve is flat in this precision ({line})."
DO_ZERO_SATURATED = (
    "Make its input smaller: normalise, or initialise with smaller weights; a loss with logits does not saturate."
)
CAUSE_ZERO_BELOW = "{node} is flat where its input is far below 0, and here it is {inputs} ({line})."
DO_ZERO_BELOW = "Make its input larger: normalise, or initialise with smaller weights."
CAUSE_ZERO_OVERWRITTEN = "{node}: what was overwritten there has no part in the loss ({line})."
DO_ZERO_OVERWRITTEN = "Make a new tensor instead of writing into this one."
CAUSE_ZERO_SOFTMAX = (
    "{node} sends zero where every element gets the same gradient, or one probability is 1: the outputs sum to 1 whatever "
    "comes in ({line})."
)
DO_ZERO_SOFTMAX = "Let the loss tell the elements apart, or make the scores smaller."
CAUSE_ZERO_SINGLE = (
    "{node} is taken over a dimension of size 1: it gives the same whatever comes in, so its gradient is zero ({line})."
)
DO_ZERO_SINGLE = "Take it over the dimension of the classes; for a single output, use binary_cross_entropy_with_logits."
CAUSE_ZERO_TENSOR = "{node} multiplies by a tensor that is all zero ({line})."
DO_ZERO_TENSOR = "Look at where that zero comes from: a relu that passes nothing, dropout, an empty input."
CAUSE_ZERO_NUMBER = "{node} multiplies by 0 ({line})."
DO_ZERO_NUMBER = "Look at where that zero comes from."
CAUSE_ZERO_FACTOR = "{node} multiplies by {factor}, which is all zero ({line})."
DO_ZERO_FACTOR = "Look at where that zero comes from: at a minimum it is right; weights that all start at zero do not learn."
CAUSE_ZERO_POWER = "{node} has a zero derivative here: its input is {inputs} ({line})."
DO_ZERO_POWER = "Look at why its input is 0: at a minimum that is right; else start from another value."
CAUSE_ZERO_EXPONENT = "{node} has a derivative of zero everywhere: its exponent is 0 ({line})."
DO_ZERO_EXPONENT = "Look at where that exponent comes from."
CAUSE_ZERO_QUOTIENT = "{node} divides 0, which the gradient of the divisor is multiplied by ({line})."
DO_ZERO_QUOTIENT = "Look at where that zero comes from."
CAUSE_ZERO_SPREAD = "{node} takes 0 as its derivative where all elements are equal, and here they are {inputs} ({line})."
DO_ZERO_SPREAD = "Look at where the equal elements come from: a layer that gives the same for every example."
CAUSE_ZERO_IGNORED = "{node} counts no element: every target is its ignore_index, or of a class of weight 0 ({line})."
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
DO_ZERO_ABS = "Look at why its input is 0: at a minimum that is right; else start from another value."
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
CAUSE_ZERO_UNDERFLOW = (
    "{node} multiplied what arrived, at most {grad}, by at most {factor}: that is too small for {dtype}, and became 0 ({line})."
)
DO_ZERO_UNDERFLOW = (
    "Scale the loss up before backward() (torch.amp.GradScaler does, and undoes it), or use a type that holds smaller numbers."
)
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
    "{value} did arrive in the last pass that came here: grad has been set to zero since (grad.zero_()), or earlier passes "
    "had left the opposite."
)
DO_ZEROED_OR_CANCELLED = "Read grad before it is set to zero; clear it before each pass."
CAUSE_CANCELLED = "{before} was there before, {value} arrived in the last pass, and backward() adds to grad: they cancel."
DO_CANCELLED = "Call zero_grad() (or {name}.grad = None) before each pass."
CAUSE_ZEROED = "{value} did arrive in the last pass that came here: grad has been set to zero since (grad.zero_())."
DO_ZEROED = "Read grad before it is set to zero."
CAUSE_ZEROED_AT = "{value} did arrive in the last pass that came here, and this has set grad to zero: {line}."
DO_ZEROED_AT = "Read grad before that line."
CAUSE_ZEROED_BY = "This has set grad to zero since the last pass: {line}."
DO_ZEROED_BY = "Read grad before that line."
SUSPECT_GRADIENT = "the gradient that was given to backward()"
SUSPECT_PASSES = "several passes, if what they bring cancels"
SUSPECT_HOOK_AT = "a hook, if it was registered on the way ({line})"
SUSPECT_HOOK = "the hook {hook} at {node}"
CAUSE_ZERO_ONLY = (
    "The gradients on the way were not kept. Only this op there can make zeros: {suspects}; or parts that are added cancelled, "
    "or what arrived was too small for its type."
)
DO_ZERO_ONLY = "To be sure, step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAUSE_ZERO_NO_SUSPECT = (
    "No op on the way makes zeros, and the gradients there were not kept: parts that are added may have cancelled, what "
    "arrived may have been too small for its type, or grad has been changed since."
)
DO_ZERO_NO_SUSPECT = "Step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAUSE_ZERO_UNKNOWN = (
    "The gradients on the way were not kept, and no single op is sure to have made zeros. "
    "All those on the way that can: {suspects}; or parts that are added cancelled, or what arrived was too small for its type."
)
DO_ZERO_UNKNOWN = "Step it: av.step(loss) before backward(), and stop where a gradient becomes zero."
CAN = "{node} ({when})"
NODE_IN_LINES = "{node} in line {lines}"
SEMICOLON = "; "
CAN_ZERO_RELU = "where its input is not positive"
CAN_ZERO_CLAMP = "outside its bounds"
CAN_ZERO_SHRINK = "inside its threshold"
CAN_ZERO_MASK = "where its mask chooses the other value"
CAN_ZERO_DROPOUT = "where it drops"
CAN_ZERO_SATURATED = "where it is saturated"
CAN_ZERO_OVERWRITTEN = "what was there is overwritten"
CAN_ZERO_SOFTMAX = "if every element gets the same gradient, or one probability is 1"
CAN_ZERO_FACTOR = "if the other factor is 0, or the product too small for its type"
CAN_ZERO_POWER = "where its input is 0"
CAN_ZERO_NARROW = "if what arrives is too small for its narrower type"
CAN_ZERO_FLAT = "by its rule, everywhere"
CAN_ZERO_DRAWN = "by its rule, everywhere"
CAN_ZERO_MODULE_HOOK = "if a module's hook returns zeros"
CAN_ZERO_BELOW = "where its input is far below 0"
CAN_ZERO_SENT = "where its derivative is 0"
CAN_ZERO_QUOTIENT = "the gradient of the divisor, if what is divided is 0"
CAN_ZERO_SPREAD = "if all elements are equal"
CAN_ZERO_SAME = "if every element gets the same gradient, or its weight is 0"
CAN_ZERO_TWICE = "derivatives of derivatives: where the first is 0, or does not change"
CAN_ZERO_OWN = "your own Function, if its backward returns zeros"
CAN_STRANGE = "of its rule nothing is known here"
CAN_ZERO_IGNORED = "if every target is its ignore_index, or of weight 0"
CAN_ZERO_PADDING = "rows that are not looked up, and its padding_idx"
CAN_ZERO_MARGIN = "if nothing lies within its margin"
CAN_ZERO_ABS = "where its input is 0"
CAN_ZERO_EQUAL = "where both are equal"
CAN_ZERO_PICKED = "what it does not pick"
CAN_ZERO_PART = "what it does not take"
CAUSE_ROWS_UNUSED = "Its rows {rows} are zero: {node} did not look them up, or sent them zeros ({line})."
