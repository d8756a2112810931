"""简体中文：一步中执行的求导规则，用变量名写出，以及其中的数组。"""

from __future__ import annotations

GRADIENT_OF = "{name} 的梯度"
SUMMED = "{text}，求和为 {value}"
FROM_NODE = "来自 {node}"

UI_RULES = {
    "rules": "执行的求导规则",
    "rule_hint": "把指针移到结果的某个元素上，或按 Tab 后用方向键选择，这里会写出它由哪些数算得。",
    "rule_of_element": "{value}（{given}）",
    "rule_large": "数组较大，只显示分块平均值，因此不写出求和的各项。",
}
