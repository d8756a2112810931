"""简体中文: what an error of PyTorch's means, and what to do about it."""

from __future__ import annotations

CAUSE_MODIFIED = "{op}（{saved}）保存的张量被原地修改了（{line}）。"
DO_MODIFIED = "这里新建张量（x = x + 1，不要 x += 1），或者改 clone()。"
CAUSE_MODIFIED_BY_STEP = "{op}（{saved}）保存的权重被优化器的 step() 修改了（{line}）。"
DO_MODIFIED_BY_STEP = "所有 backward() 都放在 step() 之前，或者之后重新计算损失。"
CAUSE_MODIFIED_UNSEEN = "{op} 保存的张量（{line}）被原地修改了，修改的地方没有被记录。"
DO_MODIFIED_UNSEEN = "找找对它的 op_() 调用、+= 和下标赋值；或者先调用 av.watch()。"
CAUSE_TWICE = "{op}（{line}）属于一个已经被之前的 backward() 用掉的计算图（{pass}）。"
DO_TWICE = "从一次传播带到下一次的东西要 detach()，或者重新计算。"
CAUSE_TWICE_SHARED = "两个损失共用 {op}（{line}），第一次 backward() 已经把它释放（{pass}）。"
DO_TWICE_SHARED = "把损失加起来只调用一次 backward()，或者第一次写 retain_graph=True。"
CAUSE_TWICE_BEFORE = "{op}（{line}）只在循环之前运行过一次，第一次 backward() 已经把它释放（{pass}）。"
DO_TWICE_BEFORE = "放到循环里面，每次传播重新计算。"
CAUSE_TWICE_ROOT = "这个计算图已经运行过 backward()（{pass}），保存的张量已释放。"
DO_TWICE_ROOT = "重新计算损失，或者第一次 backward() 时写 retain_graph=True。"
CAUSE_ROOT_FROZEN = "损失所依赖的张量都不需要梯度:requires_grad 被关掉了（{line}）。"
DO_ROOT_FROZEN = "在前向传播之前，给要训练的参数打开 requires_grad。"
CAUSE_ROOT_OF_DATA = "损失所依赖的张量都不需要梯度（{line}）。"
DO_ROOT_OF_DATA = "用模型的参数计算损失，并放在 no_grad() 外面。"
CAUSE_OPTIMIZER_NOT_LEAF = "交给优化器的张量不是叶子，由 {op} 算出（{line}）。"
DO_OPTIMIZER_NOT_LEAF = "先把数值算好，再 detach().requires_grad_()。"
CAUSE_ERROR = "{meaning}({line})。"
CAUSE_UNKNOWN_ERROR = "关于这个错误，除了它自己的信息外没有更多可说的。"
CAUSE_NO_ERROR = "没有可解释的错误。请在 except 里问，或用 explain(error)、explain(tensor)。"

SEMICOLON = "；"  # between what an error means and what to do

# in one sentence, by a part of the message (sentences/errors.py)
EXPLAIN_FREED = (
    "{node} 保存的张量已在之前的反向传播中释放，无法再次计算；请在那次反向传播时使用 retain_graph=True，或者重新计算损失。"
)
EXPLAIN_MODIFIED = "{node} 为反向传播保存了一个张量，而它后来被原地修改了；请改用副本（写 x = x + 1，而不是 x += 1）。"
EXPLAIN_LEAF = "需要梯度的叶子张量在 autograd 记录期间被原地修改；请在 torch.no_grad() 下修改，或者创建新的张量。"
EXPLAIN_VIEW_OF_LEAF = (
    "视图与需要梯度的叶子张量共享内存，修改视图就会修改叶子张量；请在 torch.no_grad() 下修改，或者修改 clone() 得到的副本。"
)
EXPLAIN_DETACHED = "{node} 保存的张量被 detach_() 从计算图中分离了；请使用 detach()，它会创建新的张量。"
EXPLAIN_NO_GRAPH = "计算它时没有用到任何需要梯度的张量，所以没有可以反向传播的计算图。"
EXPLAIN_NOT_SCALAR = "只有单个元素时 backward() 才会以 1 作为初始梯度；请传入与该张量形状相同的梯度，或者先求和（sum()）。"
EXPLAIN_SHAPE = "{node} 返回的梯度形状与所需的形状不符。"
EXPLAIN_UNUSED = "grad() 的某个输出到某个输入之间没有路径：它没有被使用，或路径被切断；allow_unused=True 会为它返回 None。"
EXPLAIN_MULTI_VIEW = (
    "对有多个结果的运算（unbind、split、chunk）给出的视图做了原地修改：先 clone() 它，或使用只给出一个结果的运算。"
)
EXPLAIN_INFERENCE = "在 inference_mode() 中创建的张量被用在 backward() 需要它的地方：在外部 clone() 它，或使用 no_grad()。"
EXPLAIN_NUMPY = "NumPy 不保留历史，所以 PyTorch 要求明确写出切断：x.detach().numpy()。"
EXPLAIN_DEEPCOPY = "被复制的张量处在计算图中：它的历史无法复制；请复制 x.detach()，或在计算之前复制。"

# 由 grad()、backward() 的参数引起
EXPLAIN_NOT_REQUIRED = "grad() 要对一个不需要梯度的张量求导：请在使用它之前对它调用 requires_grad_()。"
EXPLAIN_MISMATCH = "传给 backward() 或 grad() 的梯度，形状必须与它所属的输出相同。"
EXPLAIN_COMPLEX = "复数没有大小顺序，所以 backward() 不会自动以 1 作为初始梯度；请传入梯度，或者先取实数（abs()、real）。"
EXPLAIN_PLAIN = "普通的数没有计算图：它被 .item()、float() 等从张量中取出；请对张量本身调用 backward()。"
EXPLAIN_NO_RULE = "{node} 没有反向公式：请换用有公式的运算，或者用 autograd.Function 自己写出公式。"
EXPLAIN_NAN_STOP = (
    "detect_anomaly() 停在第一个给出 nan 的节点 {node}：它的前向调用打印在错误上方的警告中；"
    "在没有 detect_anomaly() 的情况下运行，再对叶子调用 explain()，就能看到原因。"
)

# 由 requires_grad、grad、钩子引起
EXPLAIN_FLAG = "只有叶子能关闭 requires_grad；要让算出来的张量不再传递梯度，请使用 y.detach()。"
EXPLAIN_DTYPE = "整数和布尔值不能求导；请先用 float() 转换。"
EXPLAIN_PARAMETER = (
    "模块的参数是叶子，而算出来的张量不是：请在 no_grad() 下原地修改它的值，"
    "或者用 torch.func.functional_call() 以其他值调用模块。"
)
EXPLAIN_GRAD_SIZE = "写入 .grad 的张量，形状和类型必须与张量本身相同。"
EXPLAIN_RETAIN = (
    "这个张量不需要梯度，所以没有可以保留的梯度：它由不需要梯度的张量算出，或者在 no_grad() 下算出，或者被 detach() 切断。"
)
EXPLAIN_HOOK = "这个张量不需要梯度，所以钩子永远不会被调用：它由不需要梯度的张量算出，或者在 no_grad() 下算出。"

# 由自定义 Function 引起
EXPLAIN_COUNT = (
    "{node} 属于一个 Function：它的 backward() 要为 forward() 的每个参数（不含 ctx）返回一个梯度，不需要时返回 None。"
)
EXPLAIN_NO_TENSOR = "Function 的 backward() 返回了既不是张量也不是 None 的东西。"
EXPLAIN_SAVES = "save_for_backward() 只接受张量；其他值请直接存为属性：ctx.n = n。"
EXPLAIN_NO_BACKWARD = "这个 Function 没有 backward()：请为它写一个。"
EXPLAIN_ONCE = "这个 Function 的 backward() 标记了 @once_differentiable，所以它的梯度不能再求导。"
EXPLAIN_JACOBIAN = "gradcheck 把 backward() 给出的（analytical）与数值差分得到的（numerical）相比较，二者不同：公式有误。"

# 由优化器、混合精度引起
EXPLAIN_OPTIMIZER = (
    "优化器更新叶子，而这个张量是算出来的（例如 torch.randn(…, requires_grad=True).to(…) 或 * 0.1）："
    "请先算，再对结果调用 detach().requires_grad_()。"
)
EXPLAIN_NO_PARAMETERS = (
    "优化器没有得到参数：parameters() 是用过一次的生成器，或者模块没有注册参数（例如放在普通列表里，而不是 nn.ModuleList），"
    "或者全部被冻结，而只取了需要梯度的参数。"
)
EXPLAIN_NO_INF_CHECKS = "这个优化器的参数没有一个有梯度，所以 GradScaler 无从检查：请对其中一个参数调用 explain()。"
EXPLAIN_UNSCALED = "同一步中对同一个优化器调用了两次 unscale_()；每次 update() 之间只能调用一次。"
EXPLAIN_NONFINITE = "有一个梯度含有 nan 或 inf，所以总范数也是：请对各个参数调用 explain()，找到它在哪里产生。"

# 由共享内存、推理模式、复制引起
EXPLAIN_INFERENCE_CHANGED = "在 inference_mode() 中创建的张量在外部被原地修改；请先 clone() 它。"
EXPLAIN_EXPANDED = "expand() 的结果中多个元素共享同一处内存，不能原地修改；请先 clone() 它。"
EXPLAIN_SENT = "带有计算图的张量不能发送到另一个进程；请发送 x.detach()。"
EXPLAIN_RECOMPUTED = (
    "checkpoint() 在反向传播时重新运行了前向，而第二次运行的运算与第一次不同："
    "前向不能依赖会变化的东西（计数器、随机数、全局变量）。"
)
EXPLAIN_FUNC_SCALAR = "torch.func.grad 要求函数返回一个数；请先求和，或使用 vjp、jacrev。"

# what a step or an op of the user's raised
RAISED_BY = "由 {node} 调用的 {function}() 抛出，位于第 {line} 行：{code}"
THE_NODE = "某个节点"
