"""English: why a gradient is nan, large, small or as it should be. CAUSE_X is a reason, DO_X what helps against it."""

from __future__ import annotations

# nan, inf
CAUSE_GIVEN_LEAF = "The {what} was there before this pass: {tensor} itself holds it ({line})."
DO_GIVEN_LEAF = "An earlier step has put it there: look at the gradients and the learning rate of the steps before."
CAUSE_GIVEN = "The {what} was there from the start: {tensor} holds it ({line})."
DO_GIVEN = "Look at the data: torch.isfinite(x).all(). If it is a mask: leave something of each row unmasked."
CAUSE_FORWARD_BORN = "The {what} was there in the forward pass already: {op} made it of {inputs} ({line})."
DO_FORWARD_BORN = "Keep what goes into it away from where it is undefined: clamp() it, or add a small number."
CAUSE_FORWARD_PUT = "The {what} was put there in the forward pass: {op} writes what it is given over elements ({line})."
DO_FORWARD_PUT = (
    "Leave something of each row unmasked, and what is masked out of the loss; or mask with a large negative number."
)
CAUSE_FORWARD_WRITTEN = "The {what} came in as a number: {op} was given {inputs} ({line})."
DO_FORWARD_WRITTEN = "Use a finite number there."
CAUSE_FORWARD_CONSTANT = (
    "It came in at {op}, in the forward pass: the tensor that it was given, {inputs}, is finite; what else it was given, a "
    "constant that the graph does not keep, made nan or inf of it ({line})."
)
CAUSE_FORWARD_EMPTY = "The {what} was there in the forward pass already: {op} was given no elements, {inputs} ({line})."
DO_FORWARD_EMPTY = "Leave out batches (or masks) that select nothing, or take sum() and divide by max(count, 1)."
CAUSE_FORWARD_WEIGHTLESS = (
    "The {what} was there in the forward pass already: {op} takes the mean over targets that weigh 0 together, 0/0: all have "
    "its ignore_index, or classes of weight 0 ({line})."
)
CAUSE_FORWARD_FEW = (
    "The {what} was there in the forward pass already: {op} was given {inputs}, no more elements than its correction takes "
    "away (1, unless you give another), so it divides by 0 ({line})."
)
DO_FORWARD_FEW = "Give it more than one element, or pass correction=0; leave out batches of one."
DO_FORWARD_WEIGHTLESS = "Look at the targets and the weights of the classes; leave out batches without any that counts."
CAUSE_NAN_OF_INF = (
    "{op} made nan of the inf that it was given, as inf - inf, 0 * inf and the softmax of a row of -inf are ({line})."
)
CAUSE_WRITTEN = "A number that is not finite is written on the way to it: {line}."
DO_WRITTEN = "If that is it: leave something of each row unmasked, and what is masked out of the loss."
CAUSE_WRITTEN_THERE = "A number that is not finite is written on the way to it: {line}."
DO_FORWARD_CONSTANT = (
    "Look at that constant: torch.isfinite(c).all(); a large one may have made the result too large for its type. If it is a "
    "mask: leave something of each row unmasked."
)
CAUSE_FORWARD_OVERFLOW = "{op} overflowed in the forward pass: it was given {inputs}, and made {what} of it ({line})."
DO_FORWARD_OVERFLOW = (
    "Keep what goes into it small. If it grew from step to step, training diverges: lower the learning rate, normalise, or "
    "clip. Before exp(), subtract the maximum."
)
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
CAUSE_BORN_EXPONENT = (
    "The {what} was born at {node}: the derivative by the exponent multiplies by the logarithm of the base, and the base "
    "reaches below 0 ({inputs}; {line})."
)
DO_BORN_EXPONENT = "Keep the base positive (clamp it), or use an exponent that requires no gradient."
CAUSE_BORN_NORM = "The {what} was born at {node}: a norm has no derivative at 0, where its rule divides by 0 ({line})."
DO_BORN_NORM = "Add a small number under the root, or leave out the zero vectors before the norm."
CAUSE_BORN_STD = (
    "The {what} was born at {node}: it was given no more elements than its correction (1, unless you give another) takes away, "
    "so it divides by 0 ({line})."
)
DO_BORN_STD = "Give it more than one element, or pass correction=0; leave out batches of one."
CAUSE_BORN_EXP = (
    "The {what} was born at {node}: its result overflowed to inf, and its rule multiplies by it ({inputs}; {line})."
)
DO_BORN_EXP = "Make its input smaller before it: subtract the maximum, or clamp."
CAUSE_BORN_EQUAL = (
    "The {what} was born at {node}: its rule divides by differences of singular values (or eigenvalues), and two are equal, or "
    "one is 0 ({line})."
)
DO_BORN_EQUAL = "Break the tie with a small change of the matrix, or keep to functions of the values alone (svdvals, eigvalsh)."
CAUSE_BORN_SINGULAR = "The {what} was born at {node}: its matrix is singular, or nearly so ({line})."
DO_BORN_SINGULAR = "Add a small multiple of the identity matrix."
CAUSE_BORN_ROW = "The {what} was born at {node}: a row of its input is -inf throughout, all of it masked ({line})."
DO_BORN_ROW = "Leave one element of each row unmasked, or mask with a large negative number instead of -inf."
CAUSE_BORN_WEIGHTLESS = (
    "The {what} was born at {node}: it divides by the weights of the targets taken together, and they are 0 ({line})."
)
DO_BORN_WEIGHTLESS = "Look at the targets and the weights of the classes; leave out batches without any that counts."
CAUSE_BORN_CTC = "The {what} was born at {node}: its loss is infinite, where an input is too short for its target ({line})."
DO_BORN_CTC = "Leave such examples out, or set zero_infinity=True."
CAUSE_BORN_FACTOR = "{node} multiplies what arrives by {factor}, which holds {what} ({line})."
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
CAUSE_BAD_SINCE = (
    "{value} arrived in the last pass, which has no {what}: this has changed grad since, or it was there before: {line}."
)
DO_BAD_SINCE = "Look at what that line divides and multiplies by."
CAUSE_BAD_CLIPPED = (
    "{value} arrived in the last pass, which has no {what}: this divides the gradients by their norm, and an inf or nan in "
    "any of them spoils all: {line}."
)
DO_BAD_CLIPPED = "Look at the norm that it returns, before it clips: error_if_nonfinite=True raises instead."
CAUSE_CLIPPED = (
    "This has changed grad since: it divides the gradients by their norm, and an inf or nan in any of them spoils all: {line}."
)
DO_CLIPPED = "Look at the norm that it returns; error_if_nonfinite=True raises instead."
CAUSE_GRAD_WRITTEN = "This has changed grad since, and may have made it: {line}."
CAUSE_BAD_OLD = "What arrived in the last pass has no {what}: it was in grad before."
CAUSE_BAD_ELSEWHERE = "Nothing leads from here to the loss now: the {what} came with a pass through another graph."
DO_BAD_OLD = "Call zero_grad() before the pass."
CAUSE_BAD_UNKNOWN = (
    "The gradients on the way were not kept, and no single op is sure to have made {what}. "
    "All those on the way that can: {suspects}; and any of them where numbers grow too large for their type."
)
CAUSE_BAD_NO_SUSPECT = (
    "No op on the way makes {what} of finite numbers, unless they grow too large for their type: it was in grad before, or "
    "grad has been changed since."
)
DO_BAD_NO_SUSPECT = "Clear grad before the pass, and look at it right after backward()."
CAUSE_DIVERGED = (
    "The loss itself holds {what}, and it is in {leaves} by now: an earlier step put it there, or this one ({line})."
)
DO_DIVERGED = (
    "Training has diverged: find the first step whose loss is not finite, and lower the learning rate, normalise, or clip: "
    "clip_grad_norm_()."
)
CAUSE_LOSS_BAD = (
    "The loss itself holds {what}, so it came in the forward pass: with what an op was given (data, a mask), or made by one. "
    "Ops on the way that can make it: {suspects}; and any op where numbers grow too large for their type."
)
CAUSE_LOSS_GIVEN = (
    "The loss itself holds {what}, and no op on the way makes it of finite numbers, unless they grow too large for their type: "
    "an op was given it, with data, a mask or a parameter."
)
DO_LOSS_GIVEN = "Look at the values that go in: torch.isfinite(x).all(); av.record() keeps those of a PyTorch program."
CAUSE_LOSS_BAD_FINITE = (
    "That the gradient is finite does not help: it is the rule's number (as 1/x is for log(x) below 0) where the loss has no "
    "value."
)
DO_LOSS_BAD_FINITE = "Do not step with it: mend the loss first."
CAN_BORN_LOG = "where its input is 0"
CAN_BORN_SHIFTED = "where its input is -1"
CAN_MADE_SHIFTED = "where its input is -1 or below"
CAN_BORN_SQRT = "where its input is 0 or negative"
CAN_BORN_DIVISION = "where it divides by 0"
CAN_BORN_POWER = "where its base is 0 or negative"
CAN_BORN_NORM = "where its result is 0"
CAN_BORN_STD = "if it has no more elements than its correction"
CAN_BORN_EXP = "where its result overflows"
CAN_BORN_EQUAL = "if two singular values or eigenvalues are equal, or one is 0"
CAN_BORN_SINGULAR = "if its matrix is singular"
CAN_BORN_ROW = "if a row is -inf throughout, or holds inf or nan"
CAN_BORN_WEIGHTLESS = "if the targets weigh 0 together"
CAN_BORN_CTC = "if an input is too short for its target"
CAN_BORN_EDGE = "at the edge of its domain, or beyond"
CAN_BAD_FACTOR = "if the other factor holds nan or inf"
CAN_BAD_GIVEN = "if what it was given holds nan or inf"
CAN_BAD_NORM = "if what it was given holds nan or inf, or has no spread and its eps is 0"
CAN_MADE_BORN_LOG = "where its input is 0 or negative"
CAN_MADE_BORN_SQRT = "where its input is negative"
CAN_MADE_EMPTY = "it was given no elements"
CAN_MADE_PUT = "if it writes nan or inf"
CAN_MADE_PRODUCT = "if a factor holds nan or inf"
CAN_MADE_NORM = "if its eps is 0"
DO_LOSS_BAD = "Look at the values before the loss; av.record() keeps those of a PyTorch program."
DO_BAD_UNKNOWN = "Use torch.autograd.detect_anomaly(), or av.step(loss) before backward()."

# large and small
GREW_WHOLE = "It"
GREW_PART = "On the way of its largest part it"
CAUSE_GREW = "Its norm is {norm}. {where} grew most at {node}, by a factor of {factor} ({line})."
DO_GREW = "Look at the values there; clip_grad_norm_() limits the step."
CAUSE_SHRANK = "Its norm is {norm}. {where} shrank most at {node}, to a fraction of {factor} ({line})."
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
CAUSE_CAME_FROM_TOO = "{node} sends to here ({line}); passes from other losses may have added to grad."
CAUSE_PATHS = (
    "{count} paths lead here, from {nodes}; PyTorch keeps nothing of what each of them brought, nor of earlier passes, whose "
    "gradients are added up."
)
DO_PATHS = "Step it to see each part: av.step(loss) before backward()."
CAUSE_SUM_OF = "It is the sum of {count} paths: {parts}{more}."
CAUSE_SUM_OF_ARRIVED = "What arrived in the last pass is the sum of {count} paths: {parts}{more}."
CAUSE_WRITTEN_SINCE = "{value} arrived in the last pass, and this has changed grad since{times}: {line}."
CAUSE_ASSIGNED_OVER = "{value} arrived in the last pass, and this put something else in its place: {line}."
CAUSE_GRAD_BEFORE = "No pass has gone through {root}'s graph: what stands in grad was there before."
CAUSE_GRAD_BEFORE_OR_KEPT = (
    "If a pass has gone through {root}'s graph (its saved tensors are still there, as after retain_graph=True), "
    "what arrives here comes from {node} ({line}); if not, what stands in grad is older."
)
CAUSE_BEYOND = "The pass began beyond {root}, at something that no variable holds ({line}): what happened there is not known."
DO_BEYOND = "Give the root a name, loss = ..., call loss.backward(), and ask again; or step it: av.step(loss)."
CAUSE_OTHER_PASS = (
    "The pass that made this began at something that no variable holds any more ({line}); {root} was made after it."
)
DO_OTHER_PASS = "Keep the loss of the pass under a name of its own, and ask again."
CAUSE_NEVER_CLEARED = (
    "backward() adds to grad, and no line here clears it: if this line ran more than once, all of its gradients are in the "
    "sum: {line}."
)
DO_NEVER_CLEARED = "If that is not meant, call zero_grad() (or {name}.grad = None) before each pass."
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
DO_ACCUMULATED_OR_EDITED = "If passes have added up, call zero_grad() (or {name}.grad = None) before each pass."
CAUSE_GRAD_FROM_ELSEWHERE = (
    "It did not come from this graph: nothing leads from here to the loss now. It came through another, which may have been "
    "cut off since (detach()), or was put there by hand."
)
CAUSE_NO_GRAPH_OF = "It came from a graph that is gone: no variable holds what the pass began at ({line})."
DO_NO_GRAPH_OF = "Give the loss a name, loss = ..., and ask again after loss.backward(): then the ops of that line can be told."
CAUSE_NO_GRAPH = (
    "No variable here is known to hold the graph that it came from: it is gone, or belongs to another function; or grad was "
    "put there by hand, or backward() was called on {name} itself."
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
CAUSE_GRAPH_GONE = (
    "{value} arrived in the last pass that came here; what {root}'s graph sent here last is {met}. That pass began at a loss "
    "of which {root} is a part, or went through another graph, which a variable may not hold any more."
)
DO_GRAPH_GONE = "Name the loss of that pass, if a variable holds it: explain({name}, loss)."
CAUSE_PASS_FAILED = (
    "The last pass, from {root}, raised an error: what stands in grad came before that error, in this pass or in one before "
    "it ({line})."
)
DO_PASS_FAILED = "Ask explain(error) in its except block, and clear grad before the next pass."
CAUSE_SHARDED = "It is this rank's shard of the gradient: FSDP averaged it over {ranks} ranks after the pass and put it here."
CAUSE_SHARDED_MISSING = (
    "FSDP puts this rank's shard of the gradient here at the end of a pass on all {ranks} ranks. None has ended."
)
DO_SHARDED_MISSING = "Call loss.backward() on every rank, and ask before zero_grad()."
