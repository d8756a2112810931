"""简体中文: why there is no gradient, or an error instead of one."""

from __future__ import annotations

HEAD_NONE = "{name}.grad 是 None。"
HEAD_ZERO = "{name}.grad 全为零。"
HEAD_BAD = "{name}.grad 中有 {what}。"
HEAD_IS = "{name}.grad 是 {grad}。"
HEAD_SHAPE = "{name}.grad 的形状：{shape}。"
THE_TENSOR = "该张量"
AT_LINE = "第 {line} 行：{code}"
AT_LINE_UNSEEN = "{file} 的第 {line} 行（看不到其文本）"
AT_LINE_IN_CELL = "In [{cell}] 第 {line} 行：{code}"
AT_LINE_OF = "{file} 第 {line} 行：{code}"
NO_LINE = "代码行未知"
NOT_KEPT = "未保留"
NODE_AT = "{node}（第 {line} 行）"
NODE_AT_OF = "{node}（{file}，第 {line} 行）"
IN_BACKWARD = "在 create_graph=True 的反向传播中"
DO = "→ {advice}"
PART = "来自 {node} 的 {value}"
PLUS = " + "

# nothing there
CAUSE_NOT_LEAF = "{name} 不是叶子张量：它由 {node} 产生（{line}）。只有叶子张量保留梯度，其他张量只是把梯度传下去。"
DO_NOT_LEAF = "在对由它计算出来的结果调用 backward() 之前调用 {name}.retain_grad()。"
CAUSE_NOT_LEAF_PASSED = (
    "{name} 不是叶子张量：它由 {node} 产生（{line}）。{value} 到达过那里并被传了下去，因为只有叶子张量保留梯度。"
)
DO_NOT_LEAF_PASSED = "在 backward() 之前调用 {name}.retain_grad()。"
CAUSE_NOT_LEAF_BESIDE = (
    "{name} 不是叶子张量：它由 {node} 产生（{line}）；而且没有路径从 {root} 通到它："
    "无论是否调用 retain_grad()，{root} 的梯度都不会到达这里。"
)
DO_NOT_LEAF_BESIDE = "请问 {root} 是由什么计算出来的；或者由 {name} 计算它，并在 backward() 之前调用 {name}.retain_grad()。"
CAUSE_NOT_LEAF_CUT = (
    "{name} 不是叶子张量：它由 {node} 产生（{line}）；而且没有路径从 {root} 通到它："
    "无论是否调用 retain_grad()，{root} 的梯度都不会到达这里。"
)
CAUSE_LEAF_LOST = (
    "{name} 不是叶子张量：它是 {node} 的结果（{line}）。需要梯度的叶子张量是另一个，{name} 已不再指向它；它的 grad 是 {grad}。"
)
DO_LEAF_LOST = "让 {name} 自己成为叶子张量：先算好数值，最后调用 requires_grad_()；更新时在 torch.no_grad() 下原地修改。"
CAUSE_NOT_LEAF_FRESH = (
    "{name} 不是叶子张量：它由 {node} 产生（{line}）。只有叶子张量保留梯度，其他张量只是把梯度传下去；"
    "而且没有变量引用它：这样的表达式每次都产生新的张量。"
)
DO_NOT_LEAF_FRESH = "请问它所来自的叶子张量；或把它保存在变量里，并由该变量计算损失。"
CAUSE_MADE_OF_LEAVES = "它由 {leaves} 计算得来：它们是叶子张量，保留自己的梯度，优化器更新的也是它们。"
CAUSE_DTYPE = "{name} 的类型是 {dtype}，只有浮点型和复数型张量才有梯度（{line}）。"
DO_DTYPE = "改用浮点类型，或者求它的来源的梯度。"
CAUSE_INFERENCE = "{name} 在推理模式中创建，因此永远不会参与自动求导。"
DO_INFERENCE = "在 torch.inference_mode() 之外创建它，或改用 torch.no_grad()，或在推理模式之外 clone()。"
CAUSE_SWITCHED_OFF = "{name}.requires_grad 是 False：这一行关闭了它（{line}）。"
DO_SWITCHED_OFF = "不要在那里关闭，或在使用之前调用 {name}.requires_grad_()。"
CAUSE_NOT_ASKED = "{name}.requires_grad 是 False：创建时没有设置 requires_grad=True（{line}）。"
DO_NOT_ASKED = "创建时加 requires_grad=True，或在使用之前调用 {name}.requires_grad_()。"
CAUSE_NOT_ASKED_OR_CUT = (
    "{name}.requires_grad 是 False：创建时没有要求梯度；或者它是在计算图之外算出的（no_grad()、detach()），"
    "或由不需要梯度的张量算出（{line}）。"
)
DO_NOT_ASKED_OR_CUT = "查看它是在哪里创建的。如果它应当是叶子张量，在使用之前调用 {name}.requires_grad_()。"
CAUSE_COMPUTED = (
    "{name}.requires_grad 是 False：参与计算它的都不需要梯度，或者它在那里调用的函数中被切断，或者当时梯度模式关闭（{line}）。"
)
DO_COMPUTED = "查看参与计算的是什么：其中应有需要梯度的张量，不在 no_grad() 中，也没有 detach()。"
CAUSE_MODE_OFF = "{name}.requires_grad 是 False：现在梯度模式是关闭的，由 no_grad() 或 set_grad_enabled(False) 留下（{line}）。"
DO_MODE_OFF = "打开它：torch.set_grad_enabled(True)；并找出把它关闭的调用。"
CAUSE_MADE_DETACH = "{name}.requires_grad 是 False：detach() 把它从计算图中分离了（{line}）。"
DO_MADE_DETACH = "如果梯度应当从那里通过，去掉 detach()。"
CAUSE_MADE_DATA = "{name}.requires_grad 是 False：.data 只给出数值，不带历史（{line}）。"
DO_MADE_DATA = "使用张量本身；确实要切断时用 detach()。"
CAUSE_MADE_ITEM = "{name}.requires_grad 是 False：它由普通的 Python 数得来，即 {what}（{line}）。"
DO_MADE_ITEM = "请用张量本身计算；普通的数没有历史。"
CAUSE_MADE_NUMPY = "{name}.requires_grad 是 False：它由 NumPy 数组得来，即 {what}（{line}）。"
DO_MADE_NUMPY = "使用张量自己的方法；NumPy 不保存历史。"
CAUSE_MADE_NEW_TENSOR = "{name}.requires_grad 是 False：{what} 用数值创建了新张量，不带历史（{line}）。"
DO_MADE_NEW_TENSOR = "使用张量本身，多个张量用 torch.stack()；若要它成为叶子张量，请加上 requires_grad=True。"
CAUSE_MADE_INTEGER = "{name}.requires_grad 是 False：{what} 给出整数，整数没有梯度（{line}）。"
DO_MADE_INTEGER = "梯度要经过的地方保持浮点类型。"
CAUSE_MADE_SAMPLE = "{name}.requires_grad 是 False：{what} 抽取的值没有历史（{line}）。"
DO_MADE_SAMPLE = "如果分布支持，使用 rsample()；否则使用所抽值的 log_prob()。"
CAUSE_MADE_GRADIENT = "{name}.requires_grad 是 False：这里的梯度没有自己的计算图（{line}）。"
DO_MADE_GRADIENT = "使用 torch.autograd.grad(..., create_graph=True)。"
CAUSE_CUT_GRADIENT = "从 {name} 到损失的路径在 {what} 处断开：这个梯度没有自己的计算图（{line}）。"
DO_CUT_GRADIENT = "使用 torch.autograd.grad(..., create_graph=True)。"
CAUSE_MADE_CONSTANT = (
    "{name}.requires_grad 是 False：{what} 给出的梯度不依赖任何需要梯度的张量，线性函数的梯度就是这样（{line}）。"
)
DO_MADE_CONSTANT = "没有可以再求导的：常数的导数是零。"
CAUSE_MADE_NO_GRAD = "{name}.requires_grad 是 False：它在 {what} 下创建，其中的运算都不会被记录（{line}）。"
DO_MADE_NO_GRAD = "在梯度模式开启的地方计算它。"
CAUSE_MADE_MODE = "{name}.requires_grad 是 False：{what} 关闭了梯度模式，或者它的来源都不需要梯度（{line}）。"
CAUSE_MADE_UPDATE = (
    "{name}.requires_grad 为 False：这一步更新创建了新张量，并仍叫它 {name}；"
    "需要梯度的叶子是另一个张量，{name} 不再指向它（{line}）。"
)
DO_MADE_UPDATE = "请在 torch.no_grad() 下原地修改叶子：{name} -= ...；或对新张量调用 {name}.requires_grad_()。"
CAUSE_MADE_INFERENCE = "{name}.requires_grad 是 False：它在 {what} 下创建，其中的运算都不会被记录（{line}）。"
DO_MADE_INFERENCE = "在该代码块之外计算它。"
CAUSE_MADE_EARLY = (
    "{name}.requires_grad 是 False：{op} 运行时 {operand} 还不需要梯度（{line}）。计算图记录的是执行过的运算，之后不会再变。"
)
DO_MADE_EARLY = "先调用 requires_grad_()，再计算 {name}。"
CAUSE_MADE_BY_CUTTING_OP = "{name}.requires_grad 是 False：{op} 的结果不在计算图中（{line}）。"
DO_MADE_BY_CUTTING_OP = "使用可微的运算。"
CAUSE_MADE_OF_CONSTANTS = "{name}.requires_grad 是 False：它由 {origins} 计算得来，而这些张量都不需要梯度（{line}）。"
DO_MADE_OF_CONSTANTS = "在计算 {name} 之前，对其中需要梯度的来源（{origins}）调用 requires_grad_()。"
CAUSE_MADE_OF_UNNAMED = "{name}.requires_grad 是 False：{op} 的输入都不需要梯度（{line}）。"
DO_MADE_OF_UNNAMED = "在计算之前，对它的来源调用 requires_grad_()；如果来源已需要梯度，请在路上查找 no_grad() 或 detach()。"
CAUSE_MADE_OF_FROZEN = "它的来源中没有看到需要梯度的张量：如果确实没有，那么即使没有这一行，它也没有梯度。"
CAUSE_NO_LOSS = (
    "这里的变量所持有的计算图都不包含 {name}：它没有参与任何计算"
    "，或者通往损失的路径被切断（detach()、no_grad()、item()），"
    "或者它的计算图已不存在：没有反向传播经过它，或 grad() 返回了梯度，或 grad 后来被设为 None。"
)
CAUSE_NO_LOSS_CLEARED = "这里的变量所持有的计算图都不包含 {name}。如果它有过梯度，那么是这一行清除的：{line}。"
DO_NO_LOSS = "由 {name} 计算损失并对它调用 backward()，或指明损失：explain({name}, loss)。"
CAUSE_REQUIRED_LATE = (
    "使用 {name} 时（第 {used} 行）它还不需要梯度：后来才要求（{line}）。计算图记录的是执行过的运算，之后不会再变。"
)
DO_REQUIRED_LATE = "先调用 requires_grad_()，再计算通向损失的部分。"
CAUSE_USED_BEFORE = "使用 {name}（第 {used} 行）之后才要求它的梯度（{line}），没有路径通向它：图记录执行过的运算，之后不变。"
DO_USED_BEFORE = DO_REQUIRED_LATE
CAUSE_RAISED = (
    "从 {root} 开始过反向传播（{line}），但计算图中没有它的痕迹："
    "它以错误结束，或者图后来重新计算过，或图被保留（retain_graph）。"
)
DO_RAISED = "查看那次反向传播的错误：在它的 except 块中用 explain(error)。"
CAUSE_RUNNING = "反向传播正在进行，还没有到达 {name}。"
CAUSE_NOT_RUN_OR_KEPT = (
    "没有反向传播的痕迹：{root} 依赖 {name}，但 backward() 还没有运行，"
    "或者只以 retain_graph 或 create_graph 运行过（如 autograd.grad()）而没有包括 {name}。"
)
DO_NOT_RUN_OR_KEPT = "调用 {root}.backward()，或使用 grad() 的返回值。"
CAUSE_NOT_RUN_UNKNOWN = (
    "没有反向传播的痕迹：{root} 依赖 {name}，但 backward() 还没有运行或以错误结束，或者 grad 后来被设为 None。"
)
DO_NOT_RUN_UNKNOWN = "调用 {root}.backward()，并在 zero_grad() 之前读取 grad。"
CAUSE_RETAINED_LATE = "retain_grad() 在反向传播之后才调用，而反向传播只保留事先要求的梯度：{line}。"
DO_RETAINED_LATE = "在 backward() 之前调用 {name}.retain_grad()。"
CAUSE_LEFT_OUT_OR_CLEARED = (
    "反向传播经过了这个计算图：grad 后来被设为 None，或者 grad() 或 backward(inputs=...) 没有包括 {name}，"
    "或者它到达这里之前因错误而中止。"
)
CAUSE_CLEARED_BY = "反向传播经过了这个计算图，是这一行清除了 grad：{line}。"
DO_CLEARED_BY = "在这一行之前读取 grad。"
CAUSE_NOT_RUN = "backward() 还没有运行：{root} 依赖 {name}，但还没有反向传播经过这个计算图。"
DO_NOT_RUN = "调用 {root}.backward()。"
CAUSE_NOT_RUN_FREED = (
    "{root} 依赖 {name}，但还没有对它运行 backward()；而从另一个根开始的传播已经释放了它们共有的保存的张量：现在运行会报错。"
)
DO_NOT_RUN_FREED = "把各个损失相加，只调用一次 backward()；或在第一次调用时使用 retain_graph=True。"
CAUSE_NOT_RUN_ARRAY = "还没有反向传播经过这个计算图：{root} 依赖 {name}，但没有单个元素的损失通向它。"
DO_NOT_RUN_ARRAY = "在梯度模式开启时由 {root} 计算出一个数，并对它调用 backward()。"
CAUSE_NOT_RUN_OTHER = "依赖 {name} 的 {root} 还没有经过反向传播；最近一次是从另一个损失开始的：{line}。"
DO_NOT_RUN_OTHER = "把 {root} 加到那个损失上，或者也调用 {root}.backward()。"
CAUSE_MADE_AFTER = "{name} 是在反向传播之后创建的：{line}。"
DO_MADE_AFTER = "请用它计算损失，再对该损失调用 backward()。"
CAUSE_REPLACED = "{name} 已不再是 {path}：反向传播之前，这一行用另一个取代了它：{line}。"
DO_REPLACED = "请询问 {path}；之前创建的优化器持有的是旧的那个。"
CAUSE_RENAMED = "{name} 不是当初用来计算 {used} 的那个张量：此后这一行把名字给了另一个张量：{line}。"
DO_RENAMED = "请在那一行之后重新计算 {root}；或者给原来的张量另取一个名字。"
CAUSE_KEPT = (
    "有一次传播没有释放计算图（{line}）：它没有包括 {name}（如 grad()），或者 grad 后来被设为 None；"
    "也可能它经过的是另一个计算图。"
)
DO_KEPT = "使用 grad() 的返回值，或在清除之前读取 grad。"
CAUSE_AWAITED = "有一个单步执行器正在此图上运行；{name} 的梯度到达的节点 {node} 还没有执行。"
DO_AWAITED = "继续单步执行：next() 或 finish()。"
CAUSE_LEFT_OUT_AT = (
    "这次反向传播没有包括 {name}：grad() 返回梯度而不保存它们，backward(inputs=...) 只保存指定张量的梯度（{line}）。"
)
DO_LEFT_OUT_AT = "使用 grad() 的返回值，或不带 inputs 调用 backward()。"
CAUSE_FUNCTIONAL = "torch.func 返回梯度，而不把它们存入 grad：{line}。"
DO_FUNCTIONAL = "使用它的返回值。"
CAUSE_LEFT_OUT = (
    "反向传播已运行，但没有包括 {name}：autograd.grad() 返回梯度而不保存它们，"
    "backward(inputs=...) 只保存指定张量的梯度；或者它到达之前就因错误而中止。"
)
DO_LEFT_OUT = "使用 grad() 的返回值，或不带 inputs 调用 backward()。"
CAUSE_CLEARED = "上一次到达这里的反向传播带来过 {value}：grad 后来被设为 None（zero_grad() 或手动）。"
CAUSE_CLEARED_OR_LATE = "上一次到达这里的反向传播带来过 {value}：retain_grad() 在那之后才调用，或者 grad 后来被设为 None。"
DO_CLEARED_OR_LATE = "在 backward() 之前调用 {name}.retain_grad()，并在清除之前读取 grad。"
CAUSE_CLEARED_AT = "上一次到达这里的反向传播带来过 {value}，是这一行清除了它：{line}。"
DO_CLEARED_AT = "在这一行之前读取 grad。"
DO_CLEARED = "在 zero_grad() 之前读取 grad。"
CAUSE_CLEARED_UNKNOWN = "上一次反向传播确实经过了这里：grad 后来被设为 None（zero_grad() 或手动）。"
DO_CLEARED_UNKNOWN = "在 zero_grad() 之前读取 grad。"
CAUSE_NOTHING_SENT = "反向传播已运行，{node} 没有传出梯度，或者 grad 后来被设为 None（{line}）。"
DO_NOTHING_SENT = "查看 {node} 的 backward 返回了什么。"
