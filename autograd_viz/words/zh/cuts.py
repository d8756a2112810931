"""简体中文: why no path leads from a loss to a tensor."""

from __future__ import annotations

CAUSE_UNREACHED = (
    "{root} 到 {name} 之间没有路径：它不是由 {name} 计算出来的，"
    "或者路径在图不留痕迹的地方被切断（no_grad()、detach()、item()）。"
)
DO_UNREACHED = "在通向损失的计算中使用 {name}，开启梯度模式且不要 detach()。也可能是后来的赋值让别的张量占用了这个名字。"
CAUSE_UNREACHED_OR_LATE = (
    "{root} 到 {name} 之间没有路径：它不是由 {name} 计算出来的，"
    "或者路径在图不留痕迹的地方被切断（no_grad()、detach()、item()），或者使用 {name} 时它还不需要梯度。"
)
DO_UNREACHED_OR_LATE = DO_UNREACHED
CAUSE_UNREACHED_OFF = (
    "{root} 到 {name} 之间没有路径：{root} 没有计算图，而且现在梯度模式是关闭的，由 no_grad() 或 set_grad_enabled(False) 留下。"
)
DO_UNREACHED_OFF = "如果计算 {root} 时它就是关闭的，请找出把它关闭的调用：torch.set_grad_enabled(True)。"
CAUSE_CANDIDATE = "代码没有表明 {name} 是否经过这里，但 {what} 在这一行使数值失去历史：{line}。"
CAUSE_CANDIDATE_UNRECORDED = CAUSE_CANDIDATE
DO_CANDIDATE_UNRECORDED = "用 av.record() 记录前向传播，就能看到 detach() 或 .data 在哪一行运行。"
CAUSE_CANDIDATE_TOO = "还有这一行的 {what}：{line}。"
CAUSE_CUT_DETACH = "从 {name} 到损失的路径被 detach() 切断（{line}）。"
DO_CUT_DETACH = "如果梯度应当到达 {name}，去掉 detach()。"
CAUSE_CUT_DATA = "从 {name} 到损失的路径被 .data 切断：它只给出数值，不带历史（{line}）。"
DO_CUT_DATA = "使用张量本身。"
CAUSE_CUT_ITEM = "从 {name} 到损失的路径被 {what} 切断：普通的数没有历史（{line}）。"
DO_CUT_ITEM = "请用张量本身计算，item() 只用于打印。"
CAUSE_CUT_NUMPY = "从 {name} 到损失的路径被 {what} 切断：NumPy 不保存历史（{line}）。"
DO_CUT_NUMPY = "使用张量自己的方法。"
CAUSE_CUT_NEW_TENSOR = "从 {name} 到损失的路径被 {what} 切断：它用这些数值创建了新的叶子张量（{line}）。"
DO_CUT_NEW_TENSOR = "使用张量本身，多个张量用 torch.stack()。"
CAUSE_CUT_PARAMETER = "从 {name} 到损失的路径被 {what} 切断：参数自己就是叶子张量（{line}）。"
DO_CUT_PARAMETER = "使用张量本身；若要用它代替模块的参数：torch.func.functional_call() 或参数化（parametrization）。"
CAUSE_CUT_SAMPLE = "从 {name} 到损失的路径被 {what} 切断：它抽取的值没有历史（{line}）。"
DO_CUT_SAMPLE = "如果分布支持，使用 rsample()；否则使用所抽值的 log_prob()。"
CAUSE_CUT_INTEGER = "从 {name} 到损失的路径被 {what} 切断：整数没有梯度（{line}）。"
DO_CUT_INTEGER = "梯度要经过的地方保持浮点类型。"
CAUSE_CUT_NO_GRAD = "从 {name} 到损失的路径被 {what} 切断：其中的运算都不会被记录（{line}）。"
DO_CUT_NO_GRAD = "在梯度模式开启的地方计算。"
CAUSE_CUT_INFERENCE = "从 {name} 到损失的路径被 {what} 切断：其中的运算都不会被记录（{line}）。"
DO_CUT_INFERENCE = "在该代码块之外计算。"
CAUSE_CUT_DTYPE = "从 {name} 到损失的路径被 {op} 切断：它的结果是 {dtype}，没有梯度（{line}）。"
DO_CUT_DTYPE = "梯度要经过的地方保持浮点类型；使用该运算的平滑版本。"
CAUSE_CUT_EARLY = "从 {name} 到损失的路径在 {op} 处断开：它运行时 {what} 还不需要梯度，或者梯度模式已关闭（{line}）。"
CAUSE_CUT_MAYBE = (
    "{root} 到 {name} 之间没有路径：它没有参与；或者，如果执行了这一行，{what} 在那里切断了路径（{line}）；或在别处被切断。"
)
CAUSE_CUT_PARTLY = "从 {name} 到 {root} 的一条路径被 {what} 切断（{line}）；另一条路径在何处被切断，代码没有表明。"
CAUSE_CUT_MODE = "{root} 到 {name} 之间没有路径：它没有参与，或者 {what} 关闭了梯度模式（{line}）。"
DO_CUT_MODE = "看看那一次运行传给它的是什么。"
CAUSE_CUT_MAYBE_TOO = "或者，如果执行的是这一行，则是 {what}（{line}）。"
DO_CUT_MAYBE = "确认它是否执行过：用 av.record(model)，图中会显示执行了什么。"
CAUSE_INSIDE = (
    "{node} 在它的 backward 中重新运行一部分前向传播，并有自己的反向传播："
    "它之后的部分（{name} 可能在其中）事先不在任何计算图中（{line}）。"
)
DO_INSIDE = "调用 {root}.backward() 之后再读取 grad；用 checkpoint(..., use_reentrant=False) 时计算图是完整的。"
CAUSE_CAME_INSIDE = "{node} 在它的 backward 中重新运行一部分前向传播，并有自己的反向传播：梯度可能由此而来（{line}）。"
DO_CAME_INSIDE = "要看到那个计算图，使用 checkpoint(..., use_reentrant=False)。"
CAUSE_ASSIGNED = "它是手动放进去的：{line}。"
CAUSE_PART_UNUSED = "{name} 没有参与损失的计算：{cls} 的方法都没有使用 {part}。"
DO_PART_UNUSED = "在 forward() 中使用它，或去掉它。"
CAUSE_RESULT_UNUSED = "{name} 没有参与损失的计算：这一行之后没有用到 {part} 的结果：{line}。"
DO_RESULT_UNUSED = "使用它的结果：y = self.layer(y)。"
CAUSE_COPIED = "没有路径从 {root} 通到 {name}。这一行把它的值复制到另一个张量，而那个张量有自己的梯度：{line}。"
DO_COPIED = "请问那个副本；或者在通向损失的计算中使用 {name} 本身。"
CAUSE_CUT_COMPARISON = "从 {name} 到损失的路径被 {what} 切断：比较的结果只有真假，没有梯度（{line}）。"
DO_CUT_COMPARISON = "改用比较的平滑版本：对差值使用 sigmoid。"
CAUSE_MADE_COMPARISON = "{name}.requires_grad 是 False：{what} 的结果只有真假，没有梯度（{line}）。"
DO_MADE_COMPARISON = "改用比较的平滑版本：对差值使用 sigmoid。"
DO_CUT_EARLY = "先调用 requires_grad_()，再计算其余部分。"
