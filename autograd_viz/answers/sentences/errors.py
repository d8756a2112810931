"""PyTorch's error messages, explained in one plain sentence."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Mapping

from ... import words

OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
PYTORCH = os.sep + "torch" + os.sep  # a part of the paths of its files
# a part of the message, and the name of the sentence; the most special first
KNOWN = (
    ("Trying to backward through the graph a second time", "EXPLAIN_FREED"),
    ("modified by an inplace operation", "EXPLAIN_MODIFIED"),
    ("a view of a leaf Variable that requires grad", "EXPLAIN_VIEW_OF_LEAF"),
    ("a leaf Variable that requires grad", "EXPLAIN_LEAF"),
    ("saved tensor that has been detached in-place", "EXPLAIN_DETACHED"),
    ("does not require grad and does not have a grad_fn", "EXPLAIN_NO_GRAPH"),
    ("grad can be implicitly created only for scalar outputs", "EXPLAIN_NOT_SCALAR"),
    ("returned an invalid gradient at index", "EXPLAIN_SHAPE"),
    ("to not have been used in the graph", "EXPLAIN_UNUSED"),
    ("is a view and is being modified inplace", "EXPLAIN_MULTI_VIEW"),
    ("Inference tensors cannot be saved for backward", "EXPLAIN_INFERENCE"),
    ("Can't call numpy() on Tensor that requires grad", "EXPLAIN_NUMPY"),
    ("Only Tensors created explicitly by the user", "EXPLAIN_DEEPCOPY"),
    ("One of the differentiated Tensors does not require grad", "EXPLAIN_NOT_REQUIRED"),
    ("Mismatch in shape: grad_output", "EXPLAIN_MISMATCH"),
    ("grad can be implicitly created only for real scalar outputs", "EXPLAIN_COMPLEX"),
    ("'float' object has no attribute 'backward'", "EXPLAIN_PLAIN"),
    ("he derivative for ", "EXPLAIN_NO_RULE"),
    ("returned nan values in its", "EXPLAIN_NAN_STOP"),
    ("you can only change requires_grad flags of leaf", "EXPLAIN_FLAG"),
    ("dtype can require gradients", "EXPLAIN_DTYPE"),
    ("(torch.nn.Parameter or None expected)", "EXPLAIN_PARAMETER"),
    ("ttempting to assign a gradient", "EXPLAIN_GRAD_SIZE"),
    ("can't retain_grad on Tensor that has requires_grad=False", "EXPLAIN_RETAIN"),
    ("cannot register a hook on a tensor that doesn't require gradient", "EXPLAIN_HOOK"),
    ("returned an incorrect number of gradients", "EXPLAIN_COUNT"),
    ("but the corresponding forward input was not a Variable", "EXPLAIN_OF_NUMBER"),
    ("expected Variable or None (got", "EXPLAIN_NO_TENSOR"),
    ("save_for_backward can only save variables", "EXPLAIN_SAVES"),
    ("You must implement either the backward or vjp method", "EXPLAIN_NO_BACKWARD"),
    ("@once_differentiable", "EXPLAIN_ONCE"),
    ("Jacobian mismatch for output", "EXPLAIN_JACOBIAN"),
    ("can't optimize a non-leaf Tensor", "EXPLAIN_OPTIMIZER"),
    ("optimizer got an empty parameter list", "EXPLAIN_NO_PARAMETERS"),
    ("No inf checks were recorded for this optimizer", "EXPLAIN_NO_INF_CHECKS"),
    ("No inf checks were recorded prior to update", "EXPLAIN_NO_SCALED_STEP"),
    ("unscale_() is being called after step()", "EXPLAIN_NO_UPDATE"),
    ("unscale_() has already been called on this optimizer", "EXPLAIN_UNSCALED"),
    ("is non-finite, so it cannot be clipped", "EXPLAIN_NONFINITE"),
    ("Inplace update to inference tensor outside InferenceMode", "EXPLAIN_INFERENCE_CHANGED"),
    ("more than one element of the written-to tensor refers to a single memory location", "EXPLAIN_EXPANDED"),
    ("refusing to serialize non-leaf tensor which requires_grad", "EXPLAIN_SENT"),
    ("torch.utils.checkpoint: Recomputed values", "EXPLAIN_RECOMPUTED"),
    ("torch.utils.checkpoint: A different number of tensors", "EXPLAIN_RECOMPUTED"),
    ("trying to save more tensors during recomputation", "EXPLAIN_RECOMPUTED"),
    ("Expected more than 1 value per channel when training", "EXPLAIN_ONE_VALUE"),
    ("Expected to have finished reduction in the prior iteration", "EXPLAIN_REDUCTION"),
    ("Expected f(*args) to return a scalar Tensor", "EXPLAIN_FUNC_SCALAR"),
    ("view size is not compatible with input tensor's size and stride", "EXPLAIN_VIEW"),
)
_SIZE, _NAN = r"torch.Size\(\[(?P<{}>[\d, ]+)\]\)", r".*invalid values:.*\bnan\b"
# errors of the forward pass, whose numbers tell what does not fit; with more facts of the call that raised, the second sentence
WITH_NUMBERS = (
    (
        r"(?P<node>\w+) returned an invalid gradient at index (?P<index>\d+) - got (?P<given>\[[\d, ]*\]) but expected "
        r"shape compatible with (?P<wanted>\[[\d, ]*\])",
        "GRADIENT_SHAPE",
        "",
    ),
    (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<given>\d+) and (?P<wanted>\d+)x\d+\)", "COLUMNS", "module"),
    (r"to have (?P<wanted>\d+) channels, but got (?P<given>\d+) channels", "CHANNELS", "module"),
    (r"Target (?P<given>-?\d+) is out of bounds", "TARGET", "last"),
    (r"result type (?P<wanted>\w+) can't be cast to the desired output type (?P<given>\w+)", "CAST", "target"),
    (r"Found dtype (?P<given>\w+) but expected (?P<wanted>\w+)", "TARGET_DTYPE", ""),
    (r"expected (?:target dtype to be Long or Byte, but got|scalar type Long but found) (?P<given>\w+)", "CLASS_DTYPE", ""),
    (r"mat1 and mat2 must have the same dtype, but got (?P<given>\w+) and (?P<wanted>\w+)", "DTYPES", "module"),
    (
        r"expected m1 and m2 to have the same dtype, but got: (?:c10::)?(?P<given>\w+) != (?:c10::)?(?P<wanted>\w+)",
        "DTYPES",
        "module",
    ),
    (r"all elements of (?:input|target) should be between 0 and 1", "PROBABILITIES", "exchanged"),
    (r"index out of range in self", "INDEX", "table"),
    (r"argument #1 'indices' to have .* but got torch\.(?:cuda\.)?(?P<given>\w+)Tensor", "INDICES", ""),
    (r"must be equal to input_size\. Expected (?P<wanted>\d+), got (?P<given>\d+)", "FEATURES", ""),
    (r"must match except in dimension (?P<dim>\d+)\. Expected size (?P<wanted>\d+) but got size (?P<given>\d+)", "JOINED", ""),
    (r"a Tensor with (?P<given>\d+) elements cannot be converted to Scalar", "ITEM", ""),
    (r"Expected input batch_size \((?P<wanted>\d+)\) to match target batch_size \((?P<given>\d+)\)", "ROWS", ""),
    (rf"arget size \({_SIZE.format('given')}\).* input size \({_SIZE.format('wanted')}\)", "TARGET_SHAPE", ""),
    (r"multi-target not supported", "CLASS_SHAPE", ""),
    (r"floating point type for target with class probabilities, got (?P<given>\w+)", "CLASS_ROWS", ""),
    (rf"(?s)Expected parameter (?P<wanted>\w+) .* of distribution (?P<given>\w+)\({_NAN}", "DISTRIBUTION", ""),
    (r"(?s)Expected parameter (?P<wanted>\w+) .* of distribution (?P<given>\w+)\(.*GreaterThan\(lower_bound=0", "POSITIVE", ""),
)
NODE = re.compile(r"\b\w+Backward\w*")  # a node's name in a message


def explain_error(message: str, node: str = "", call: Mapping[str, str] | None = None) -> str:
    """What an error of autograd means and what to do about it, in one or two sentences; "" for an error that is not known.

    Args:
        message: the error's text.
        node: name of the node that raised: "MulBackward0".
        call: what is known of the call that raised: "module", "target", ...
    """
    known = call or {}
    for pattern, sentence, fact in WITH_NUMBERS:
        if (found := re.search(pattern, message)) is not None:
            template: str = getattr(words, f"EXPLAIN_{sentence}_OF" if fact in known else f"EXPLAIN_{sentence}")
            return template.format(**{**known, **found.groupdict()})
    for part, sentence in KNOWN:
        if part in message:
            text: str = getattr(words, sentence)
            named = NODE.search(message)
            return text.format(node=node or (named.group() if named else words.THE_NODE))
    return ""


def whose_error(error: BaseException, node: str) -> str:
    """Which hook, or backward of a user's Function, raised an error while a node with this name ran, and its line; else ""."""
    was_library, found = False, None
    for frame in traceback.extract_tb(error.__traceback__):
        is_library = frame.filename.startswith((OWN, "<autograd_viz")) or PYTORCH in frame.filename
        if was_library and not is_library:
            found = frame
        was_library = is_library
    if found is None:
        return ""
    return words.RAISED_BY.format(function=found.name, node=node, line=found.lineno, code=found.line or "").rstrip(": ")
