"""English: the rules of a step in the user's names, and their arrays."""

from __future__ import annotations

GRADIENT_OF = "gradient of {name}"
SUMMED = "{text}, summed to {value}"
FROM_NODE = "from {node}"

UI_RULES = {
    "rules": "Rules that ran",
    "rule_hint": "Point at an element of a result (or press Tab, then an arrow key) to see its sum.",
    "rule_of_element": "{value} (of {given})",
    "rule_large": "An array of this size is shown as means of blocks, so its sums are not written.",
}
