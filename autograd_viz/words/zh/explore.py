"""简体中文：用滑块改变叶子的函数。"""

EXPLORE_SAID = "输出为 {output}，{leaf}.grad 为 {grad}。"
EXPLORE_NONE = "输出为 {output}。没有梯度到达 {leaf}：{leaf}.grad 为 None。"
EXPLORE_NUDGE = "{leaf} + {delta}：输出的变化为 {change}。grad × 变化 = {grad} × {delta} = {product}。"
EXPLORE_NUDGE_NONE = "{leaf} + {delta}：输出的变化为 {change}。"
EXPLORE_NUDGE_FAILED = "{leaf} + {delta}：函数在此处没有给出数值。"
EXPLORE_REDRAWN = "函数在此处走了另一条路径，计算图随之改变。"
EXPLORE_FAILED = "当 {leaf} = {value} 时函数出错：{error}。图中仍是上一次成功的数值。"
EXPLORE_STILL = "运行此单元格即可拖动滑块。"

UI_EXPLORE = {
    "explore_label": "滑块：{names}",
    "explore_reset": "重置",
    "explore_reset_tip": "所有数值恢复为最初的值",
    "explore_nudge": "微调",
    "explore_element": "{leaf} 的元素",
    "explore_value": "{leaf} 的值",
    "explore_curve": "输出随 {leaf} 的变化及其切线",
    "explore_recorded": "{leaf} 的记录值。运行笔记本后可以改变所有叶子。",
    "explore_gone": "Python 没有回应。请重新运行此单元格。",
}
