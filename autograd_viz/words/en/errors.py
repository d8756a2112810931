"""English: the meaning of PyTorch's errors, and what to do about them."""

CAUSE_MODIFIED = "a tensor that {op} saved ({saved}) was modified in place ({line})."
DO_MODIFIED = "Make a new tensor there (x = x + 1, not x += 1), or change a clone()."
CAUSE_MODIFIED_BY_STEP = "the optimizer's step() modified a weight ({line}) that {op} saved ({saved})."
DO_MODIFIED_BY_STEP = "Compute the loss again after step(), or run all backward passes before it."
CAUSE_MODIFIED_CARRIED = "this loss depends on an earlier {op} ({saved}), whose weights step() has modified since ({line})."
DO_MODIFIED_CARRIED = "Call detach() on what is carried over, such as a hidden state; then retain_graph is not needed."
CAUSE_MODIFIED_UNSEEN = "a tensor that {op} saved ({line}) was modified in place; the change was not recorded."
DO_MODIFIED_UNSEEN = "Look for op_() calls, += and indexing on it; or call av.watch() first."
CAUSE_TWICE = "{op} ({line}) belongs to a graph that an earlier backward() freed ({pass})."
DO_TWICE = "Call detach() on tensors carried over to the next pass, or compute them again."
CAUSE_TWICE_SHARED = "two losses share {op} ({line}), and the first backward() freed it ({pass})."
DO_TWICE_SHARED = "Add the losses and call backward() once, or pass retain_graph=True to the first."
CAUSE_TWICE_OF_OTHER = "two losses share {op} ({line}); the first, which trains another model, freed it ({pass})."
DO_TWICE_OF_OTHER = "Call detach() on what the first loss gets of it."
CAUSE_TWICE_BEFORE = "{op} ({line}) ran once before the loop, and the first backward() freed it ({pass})."
DO_TWICE_BEFORE = "Compute it inside the loop, in each pass."
CAUSE_TWICE_AFTER_GRAD = "autograd.grad() freed the graph of {op} ({line}), and this loss goes through it again."
DO_TWICE_AFTER_GRAD = "Pass create_graph=True to autograd.grad() if the loss uses its result, else retain_graph=True."
CAUSE_TWICE_RENAMED = "{op} gives the name of a trained leaf to its result ({line}), and the next pass goes through it again."
DO_TWICE_RENAMED = "Give the result another name: the optimizer moves the leaf."
CAUSE_WANTED_NOT_ASKED = "autograd.grad() is asked about {tensor}, which was created without requires_grad=True ({line})."
DO_WANTED_NOT_ASKED = "Call {tensor}.requires_grad_() before the forward pass."
CAUSE_TWICE_ROOT = "backward() has already run on this graph ({pass}), and its saved tensors are freed."
DO_TWICE_ROOT = "Compute the loss again, or pass retain_graph=True to the first backward()."
CAUSE_ROOT_FROZEN = "none of the loss's inputs requires grad; requires_grad was switched off ({line})."
DO_ROOT_FROZEN = "Set requires_grad=True before the forward pass, for the parameters to train."
CAUSE_ROOT_OF_NUMBERS = "none of the loss's inputs requires grad; {op} had made numbers of a tensor with a graph ({line})."
DO_ROOT_OF_NUMBERS = "Compute the loss with tensors: numbers and arrays have no graph."
CAUSE_ROOT_OF_DATA = "none of the loss's inputs requires grad ({line})."
DO_ROOT_OF_DATA = "Compute the loss from the model's parameters, outside no_grad()."
CAUSE_ROOT_OF_LEAF = "{leaf} does not require grad ({line})."
DO_ROOT_OF_LEAF = "Write {code}."
CAUSE_ROOT_OF_LEAVES = "requires_grad is False for {names}."
DO_ROOT_OF_LEAVES = "Create the tensor whose gradient you want with requires_grad=True."
CAUSE_ROOT_UNSEEN = "the loss has no graph, and the ops that made it were not recorded ({line})."
DO_ROOT_UNSEEN = "Compute it from parameters that require grad, outside no_grad(). av.watch() shows where the graph ends."
CAUSE_OPTIMIZER_NOT_LEAF = "the optimizer was given a tensor that is not a leaf; {op} computed it ({line})."
DO_OPTIMIZER_NOT_LEAF = "Compute the values first, then call detach().requires_grad_()."
CAUSE_ERROR = "{meaning} ({line})."
CAUSE_UNKNOWN_ERROR = "explain() knows no more about this error than its message."
CAUSE_RAN_BEFORE = "before the error, {op} made a tensor of {shape} ({line})."
DO_RAN_BEFORE = "av.show(error) draws what ran."
CAUSE_NO_ERROR = "There is no error to explain. Call it in the except block, or as explain(error) or explain(tensor)."
SEMICOLON = "; "  # between the meaning of an error and the advice

# one sentence each, chosen by a part of the message (sentences/errors.py)
EXPLAIN_FREED = "An earlier backward pass freed what {node} saved; pass retain_graph=True there, or compute the loss again."
EXPLAIN_MODIFIED = "A tensor saved by {node} was modified in place; write x = x + 1, not x += 1."
EXPLAIN_LEAF = "A leaf that requires grad was changed in place; use torch.no_grad() there, or make a new tensor."
EXPLAIN_VIEW_OF_LEAF = "A view of a leaf that requires grad was changed in place; use torch.no_grad(), or change a clone()."
EXPLAIN_DETACHED = "detach_() detached a tensor that {node} saved; use detach(), which makes a new tensor."
EXPLAIN_NO_GRAPH = "None of its inputs requires grad, so it has no graph."
EXPLAIN_NOT_SCALAR = "backward() starts with 1 only for a tensor with one element; pass a gradient, or call sum() first."
EXPLAIN_SHAPE = "The gradient that {node} returned has the wrong shape."
EXPLAIN_GRADIENT_SHAPE = (
    "Gradient {index} that {node} returned has the shape {given}, and its input {wanted}; return one of its input's shape."
)
EXPLAIN_UNUSED = "No path leads from the outputs to one of the inputs; allow_unused=True returns None for it."
EXPLAIN_MULTI_VIEW = "An op with several results (unbind, split, chunk) made this view; clone() it before changing it in place."
EXPLAIN_INFERENCE = "backward() needs a tensor that was made in inference_mode(); clone() it outside, or use no_grad()."
EXPLAIN_NUMPY = (
    "NumPy keeps no graph; compute the loss with PyTorch, and write x.detach().numpy() only for what is shown or stored."
)
EXPLAIN_DEEPCOPY = "Only a leaf can be deep-copied; copy x.detach(), or copy before computing."

# about the arguments of grad() and backward()
EXPLAIN_NOT_REQUIRED = "A tensor given to grad() does not require grad; call requires_grad_() before using it."
EXPLAIN_MISMATCH = "A gradient and its output have different shapes; pass a gradient of the output's shape."
EXPLAIN_COMPLEX = "backward() starts with 1 only for real numbers; pass a gradient, or make the loss real (abs(), real)."
EXPLAIN_PLAIN = "A plain number has no graph; call backward() on the tensor, before .item() or float()."
EXPLAIN_NO_RULE = "There is no backward formula for {node}; use another op, or write an autograd.Function."
EXPLAIN_NAN_STOP = (
    "detect_anomaly() stopped at {node}, the first node that returned nan; the warning above shows its forward op. Without "
    "detect_anomaly(), explain() of a leaf says where the nan comes from."
)

# about requires_grad, grad and hooks
EXPLAIN_FLAG = "requires_grad can be switched off for leaves only; use y.detach()."
EXPLAIN_DTYPE = "Integers and booleans have no gradient; call float() first."
EXPLAIN_PARAMETER = (
    "A module's parameter must be a leaf, and this tensor was computed; change the parameter in place under no_grad(). "
    "torch.func.functional_call() runs a module with computed tensors."
)
EXPLAIN_GRAD_SIZE = "A tensor and its .grad must have the same shape and dtype."
EXPLAIN_RETAIN = "This tensor does not require grad, so there is no gradient to retain; explain() of it says why."
EXPLAIN_HOOK = "This tensor does not require grad, so its hook would never run; explain() of it says why."

# about a user's Function
EXPLAIN_COUNT = "backward() of {node} must return one gradient per argument of forward(); return None where none is needed."
EXPLAIN_NO_TENSOR = "backward() of a Function returned neither a tensor nor None."
EXPLAIN_SAVES = "save_for_backward() takes only tensors; put other values on ctx: ctx.n = n."
EXPLAIN_NO_BACKWARD = "This Function has no backward(); write one."
EXPLAIN_ONCE = "backward() of this Function is marked @once_differentiable; its gradient cannot be differentiated again."
EXPLAIN_JACOBIAN = "backward() (analytical) and differences of forward() (numerical) disagree; check the formula in backward()."

# about optimizers and mixed precision
EXPLAIN_OPTIMIZER = "An optimizer needs leaves, and this was computed; compute it first, then call detach().requires_grad_()."
EXPLAIN_NO_PARAMETERS = (
    "The optimizer got no parameters; parameters() was used up, the module has none, or all are frozen. Put lists of layers "
    "into nn.ModuleList."
)
EXPLAIN_NO_INF_CHECKS = "No parameter of this optimizer has a gradient for GradScaler to check; explain() of one says why."
EXPLAIN_NO_SCALED_STEP = "GradScaler saw no step before update(); call scaler.step(optimizer) in place of optimizer.step()."
EXPLAIN_NO_UPDATE = "GradScaler still waits for update() after the last step(); call scaler.update() once per iteration."
EXPLAIN_UNSCALED = "unscale_() was called twice for this optimizer; call it once between two calls of update()."
EXPLAIN_NONFINITE = "A gradient has nan or inf, so the total norm has it too; explain() of each parameter finds the source."

# about shared memory, inference mode and copies
EXPLAIN_INFERENCE_CHANGED = "A tensor made in inference_mode() was changed in place outside it; clone() it first."
EXPLAIN_EXPANDED = "Elements of an expand() result share memory, so it cannot be changed in place; clone() it first."
EXPLAIN_SENT = "A tensor with a graph cannot be sent to another process; send x.detach()."
EXPLAIN_RECOMPUTED = (
    "checkpoint() ran the forward pass twice, and the runs differ; remove what changes in between (counters, globals, random "
    "numbers)."
)
EXPLAIN_PROBABILITIES = (
    "binary_cross_entropy() takes probabilities; for outputs of a layer use binary_cross_entropy_with_logits()."
)
EXPLAIN_REDUCTION = "DDP waits for unused parameters; av.gather(loss) names them, or pass find_unused_parameters=True."
EXPLAIN_ONE_VALUE = "Batch norm in training needs several values per channel; use drop_last=True, or call model.eval()."
EXPLAIN_FUNC_SCALAR = "torch.func.grad needs a function that returns one number; call sum() first, or use vjp or jacrev."

# about the forward pass
EXPLAIN_COLUMNS = (
    "The first matrix has {given} columns, and the second {wanted} rows; transpose one, or check the view() before."
)
EXPLAIN_CHANNELS = (
    "The input has {given} channels, and the weight takes {wanted}; check in_channels, and the order of dimensions."
)
EXPLAIN_TARGET = "Target {given} is no class of these scores; count classes from 0, with an output for each."
EXPLAIN_TARGET_DTYPE = "One of the two is {given}, and {wanted} is needed; this loss takes float targets: y.float()."
EXPLAIN_CAST = "The result is {wanted}, and cannot be written into {given}; make a new tensor, or make this one {wanted} first."
EXPLAIN_DTYPES = "One of the two is {given}, the other {wanted}; give both one dtype: arrays of NumPy are double."
EXPLAIN_INDEX = "An index is negative, or not below the number of rows; count indices from 0."
EXPLAIN_COLUMNS_OF = (
    "{module} takes {wanted} columns, and got {given}; make in_features {given}, or check the flatten() or view() before it."
)
EXPLAIN_CHANNELS_OF = "{module} takes {wanted} channels, and got {given}; check in_channels, and the order of dimensions."
EXPLAIN_TARGET_OF = "Target {given} is outside of 0 … {last}; count classes from 0, or add outputs to the last layer."
EXPLAIN_CAST_OF = "The targets are {target}, and the predictions {scores}; this loss takes float targets: y.float()."
EXPLAIN_CLASS_DTYPE = "The targets are {given}, and class indices must be Long; call long() on them."
EXPLAIN_DTYPES_OF = "{module} got {given}, and its weight is {wanted}; give both one dtype: arrays of NumPy are double."
EXPLAIN_INDEX_OF = (
    "An index is negative, or not below {table}, the rows of {module}; count indices from 0, or enlarge num_embeddings."
)
EXPLAIN_ROWS = "The predictions have {wanted} rows, and the targets {given}; check the view() or reshape() before the loss."
EXPLAIN_TARGET_SHAPE = (
    "The targets have shape ({given}), and the predictions ({wanted}); give both one shape: unsqueeze(1) or squeeze(1)."
)
EXPLAIN_CLASS_SHAPE = (
    "Class indices have shape (n,), and these have one more dimension; call squeeze(1), or argmax(1) on one-hot rows."
)
EXPLAIN_CLASS_ROWS = (
    "Targets with the shape of the scores are probabilities, and these are {given}; call float(), or pass class indices."
)
EXPLAIN_POSITIVE = "{wanted} of {given} must be above 0; use softplus(x) + 1e-6, and check whether training diverged."
EXPLAIN_DISTRIBUTION = (
    "{given} got nan as its {wanted}; find the step that made the first nan: autograd-viz watch, or av.watch(model)."
)
EXPLAIN_VIEW = "view() needs elements that lie in order in memory; use reshape(), or call contiguous() first."
EXPLAIN_INDICES = "An embedding takes indices of whole numbers, and got {given}; call long() on them."
EXPLAIN_FEATURES = "The layer takes {wanted} features, and got {given}; check input_size, and that the last dimension has them."
EXPLAIN_JOINED = "All dimensions but {dim} must be equal, and {wanted} meets {given}; check dim, or pad the smaller one."
EXPLAIN_ITEM = "Only one element becomes a number, and this tensor has {given}; call mean() first, or use tolist()."

# errors of a step or of a user's op
RAISED_BY = "{node} called {function}(), which raised the error at line {line}: {code}"
THE_NODE = "a node"
EXPLAIN_PROBABILITIES_OF = (
    "binary_cross_entropy() got the targets as its input, and the predictions as its target: pass the predictions first."
)
EXPLAIN_OF_NUMBER = "{node} returned a gradient for an argument that is no tensor; return None in its place."
