"""中文：代码视图上的文字。"""

from __future__ import annotations

UI = {
    "code": "你的代码",
    "code_tip": "你的代码：刚执行的行和下一行（l）",
    "code_lines": "代码行",
    "code_stack": "正在调用的模块",
    "code_texts": "函数和单元格",
    "code_cell": "单元格",
    "code_caller": "调用处",
    "code_ran": "刚执行",
    "code_next": "下一个",
    "code_turn": "第 {turn} 次，共 {turns} 次",
    "code_grad": "到达这里的梯度",
    "code_stop": "在第 {line} 行停下",
    "key_code": "显示或隐藏代码",
}
