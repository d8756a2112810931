"""PyTorch's error messages, explained in one plain sentence."""

from __future__ import annotations

from .. import words

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
