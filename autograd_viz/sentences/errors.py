"""PyTorch's error messages, explained in one plain sentence."""

from __future__ import annotations

import os
import traceback

from .. import words

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
PYTORCH = os.sep + "torch" + os.sep  # in the names of its files
# part of the message, and the name of the sentence; the more special first
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
)


def explain_error(message: str, node: str = "") -> str:
    """What an error of autograd means and what to do about it.

    Args:
        message: the error's text.
        node: name of the node that raised: "MulBackward0".

    Returns:
        One sentence, or "" for an error that is not autograd's own.
    """
    for part, sentence in KNOWN:
        if part in message:
            text: str = getattr(words, sentence)
            return text.format(node=node or words.THE_NODE)
    return ""


def whose_error(error: BaseException, node: str) -> str:
    """Which function of the user's raised an error while a node ran: a hook, or the backward of a Function.

    Args:
        error: what was raised.
        node: name of the node.

    Returns:
        One sentence with its name and line, or "" for an error that no code of the user's raised.
    """
    was_library, found = False, None
    for frame in traceback.extract_tb(error.__traceback__):
        is_library = frame.filename.startswith((OWN, "<autograd_viz")) or PYTORCH in frame.filename
        if was_library and not is_library:
            found = frame
        was_library = is_library
    if found is None:
        return ""
    return words.RAISED_BY.format(function=found.name, node=node, line=found.lineno, code=found.line or "").rstrip(": ")
