"""Every sentence that a stepper says, in one place."""

from __future__ import annotations

START = "Nothing has run yet. Next calls {node} with the first gradient."
NOTHING = "There is nothing to step."
COMPLETE = "The backward pass is complete."

ARRIVES = "{node}{of} receives {grads}."
SUM = "{count} gradients met here: {parts} = {total}."
UNUSED = "Output {index} was not used, so no gradient arrives for it."
SENDS = "It sends {parts}."
SENT = "{value} to {target}"
UNBROADCAST = "{value} to {target} (broadcasting undone: {shape} is summed to {into})"
NOWHERE = "Input {index} wants no gradient."
FIRST = "AccumulateGrad: {name}.grad was None and becomes {new}."
ADDS = "AccumulateGrad adds to {name}.grad: {old} + {incoming} = {new}."
NO_GRADIENT = "{node} receives no gradient, so nothing changes."
RETAINED = "{name}.grad keeps it, because of retain_grad()."
FREED = "Freed: {names}."
A_LEAF = "the leaf"
A_TENSOR = "an unnamed tensor"
COMMA = ", "
AND = " and "
