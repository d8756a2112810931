"""English: a function whose leaves are moved by sliders."""

EXPLORE_SAID = "The output is {output}, and {leaf}.grad is {grad}."
EXPLORE_NONE = "The output is {output}. No gradient reaches {leaf}: {leaf}.grad is None."
EXPLORE_NUDGE = "{leaf} + {delta}: the output changes by {change}. grad × change = {grad} × {delta} = {product}."
EXPLORE_NUDGE_NONE = "{leaf} + {delta}: the output changes by {change}."
EXPLORE_NUDGE_FAILED = "{leaf} + {delta}: the function gives no number there."
EXPLORE_REDRAWN = "Here the function takes another path, so the graph has changed."
EXPLORE_FAILED = "At {leaf} = {value} the function stops: {error}. The figure shows the last values that worked."
EXPLORE_STILL = "Run the cell to move the sliders."

UI_EXPLORE = {
    "explore_label": "Sliders: {names}",
    "explore_reset": "Reset",
    "explore_reset_tip": "All values as they were at first",
    "explore_nudge": "nudge",
    "explore_element": "Element of {leaf}",
    "explore_value": "Value of {leaf}",
    "explore_curve": "The output along {leaf}, and its tangent",
    "explore_recorded": "Recorded values of {leaf}. Run the notebook to move all leaves.",
    "explore_gone": "Python does not answer. Run the cell again.",
}
