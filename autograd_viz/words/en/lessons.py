"""English: the questions of the notebooks. `text` between backticks is code."""

# asking
NO_TORCH_TO_COMPARE = (
    "PyTorch is missing, so nothing is compared with it."
    " To get it, run the next line, then restart the kernel (pytorch.org names smaller builds, without CUDA):"
)
NO_TORCH_IN_A_PAGE = (
    "This page has no PyTorch, so nothing is compared with it. The numbers are the same: tests of this library compare them."
)
ASK_TITLE = "Predict"
ASK_GRAD = "What will `{tensor}.grad` be after `{root}.backward()`?"
ASK_GRAD_GIVEN = "What will `{tensor}.grad` be after `{root}.backward({gradient})`?"
ASK_ROW = "What is in the row `{row}` of `{tensor}`?"
ASK_COLOR = "What colour is the box of `{tensor}`?"
ASK_ORDER = "In which order does `{root}.backward()` call these? Click them in that order."
ASK_SAVES = "Which of these does `{node}` save for the backward pass?"
ASK_PLACEHOLDER = "number, [list] or None"
ASK_CHECK = "Check"
ASK_SHOW = "Show the answer"
ASK_CLEAR = "Start again"
ASK_WAIT = "…"
ASK_NO_KERNEL = "The kernel does not answer. Run this cell again."
ASK_STATIC = "Run this cell to answer."

# answering
ASK_RIGHT = "Right: {answer}."
ASK_AGAIN = "Not yet. Try once more."
ASK_WRONG = "No, the answer is {answer}."
ASK_SHOWN = "The answer is {answer}."
ASK_UNREAD = "Not understood. Write a number, a list of numbers in brackets, or None."
ASK_EMPTY = "Choose an answer first."
ASK_UNFINISHED = "{chosen} of {count} chosen."
ASK_NONE_OF_THEM = "none of them"
ASK_THEN = " → "

# colours
COLOUR_GREEN = "green"
COLOUR_YELLOW = "yellow"
COLOUR_BROWN = "brown"
COLOUR_BLUE = "blue"

# reasons
LOOK_GREEN = "`{tensor}` has no grad_fn, so it is a leaf, and its requires_grad is True."
LOOK_YELLOW = "`{tensor}` has no grad_fn, so it is a leaf, and its requires_grad is False."
LOOK_YELLOW_MADE = (
    "{op} made `{tensor}`, but autograd did not record it. It has no grad_fn, so it is a leaf; its requires_grad is False."
)
LOOK_YELLOW_DETACHED = (
    "Detach gives `{tensor}` without the graph. So it has no grad_fn, and is a leaf; its requires_grad is False."
)
LOOK_BROWN = "The grad_fn of `{tensor}` is {node}, because {op} was recorded. A tensor with a grad_fn is not a leaf."
LOOK_BROWN_SLICE = "The grad_fn of `{tensor}` is {node}: a part of it was overwritten. A tensor with a grad_fn is not a leaf."
LOOK_BROWN_GONE = "The grad_fn of `{tensor}` is {node}. A tensor with a grad_fn is not a leaf."
GRAD_BY_RULE = "{node} sends {rules}."
GRAD_SENT = "{node} sends {value}."
GRAD_TOGETHER = "{count} gradients arrive: {parts}."
GRAD_HOOK = "The hook `{hook}` changes the gradient at {node}."
GRAD_CUT = "No gradient goes through {op}: it was not recorded."
SLIP_BLUE = "Blue boxes are functions of the backward graph; `{tensor}` is a tensor."
ORDER_FIRST = "{node} runs first: it is the grad_fn of `{root}`."
ORDER_READY = "{count} right so far. After {before} these are ready: {ready}."
ORDER_LATEST = "Among ready functions, AccumulateGrad runs first, then the one created last."
SLIP_WAITS = "{node} is not ready then: {arrived} of {expected} gradients have arrived."
SAVES_RULE = "Its formula for `{input}`: `{rule}`."
SAVES_NAMED = "A node saves only the values in its formulas."
SAVES_NO_RULE = "The formula of {node} uses no value of the forward pass."
SLIP_ZERO_FOR_NONE = "0 is a computed gradient. None means that no gradient was computed."
SLIP_NONE = "A gradient arrives at `{tensor}`. None means that no gradient arrived."
SLIP_NONE_RETAINED = "`{tensor}` is not a leaf, but retain_grad() keeps its gradient."
SLIP_NONE_FOR_ZERO = "A gradient arrived, and it was zero. None means that no gradient arrived."
SLIP_ONE_OF_MANY = "{given} is one of {count} gradients; they are added."
SLIP_NOT_ADDED = "{given} is the gradient of this pass; it is added to the old value."
SLIP_SHAPE = "A gradient has the same shape as its tensor, here `{shape}`."

# hints
HINT_RULE = "{node} sends `{rule}`."
HINT_SAVED = "What did it save as {saved}?"
HINT_FROM = "It gets `grad` from {nodes}."
HINT_FIRST = "Its `grad` is the first gradient: {gradient}."
HINT_NODE = "The gradient comes from {node}."
HINT_MANY = "{count} gradients arrive at `{tensor}`."
HINT_HAS_GRAD = "Before this pass, `{tensor}.grad` is already {grad}."
HINT_NOT_LEAF = "`{tensor}` has a grad_fn, so it is not a leaf. Which tensors keep their gradient?"
HINT_YELLOW = "`{tensor}` has requires_grad=False. Does it have an AccumulateGrad?"
HINT_REACHED = "From `{root}`, the backward graph leads to these leaves: {leaves}."
HINT_UNNAMED = "one without a name ({value})"
HINT_ROOT = "The pass starts at the grad_fn of `{root}`."
HINT_CREATED = "Autograd recorded no op that made `{tensor}`. Look at its requires_grad."
HINT_MADE = "{op} made `{tensor}` from {inputs}. Did autograd record it?"
HINT_ROW = "Look at its requires_grad, too."
HINT_MADE_SOMEHOW = "An op made `{tensor}`. Did autograd record it?"
HINT_INPUT = "`{tensor}` (requires_grad={requires})"
HINT_SAVES = "{node} sends a gradient to {inputs}. Which values are in the formula for it?"
HINT_EDGES = "The next_functions of {node} are `({edges})`."
HINT_NO_GRAD_FN = "`{tensor}.grad_fn` is None, so no node belongs to `{tensor}`."

# a reader's own engine
ENGINE_SAME = "All the same: {values} values, {gradients} gradients."
ENGINE_DATA = "`{name}` is {theirs} in yours and {ours} in ours."
ENGINE_GRAD = "The gradient of `{name}` is {theirs} in yours and {ours} in ours."
ENGINE_ARRIVALS = " {count} gradients arrive there: {parts}."
ENGINE_PARENTS = "`{name}` has {theirs} parents in yours and {ours} in ours."
ENGINE_OURS = "ours"
ENGINE_YOURS = "yours"

# a gradient by hand
HEAT_MINE = "by hand"
HEAT_OURS = "autograd"
HEAT_DIFFERENCE = "difference"
HEAT_SAME = "All {all} elements agree."
HEAT_DIFFERS = "{count} of {all} elements differ, most at {place}: {mine} by hand, {ours} by autograd."
HEAT_SHAPES = "the gradient by hand has the shape {mine}, autograd's has {ours}; a gradient has the shape of its tensor"
