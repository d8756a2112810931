"""简体中文：PyTorch 报错的含义和处理办法。"""

CAUSE_MODIFIED = "{op} 保存的张量（{saved}）被原地修改了（{line}）。"
DO_MODIFIED = "在这里新建张量（写 x = x + 1，不要写 x += 1），或者修改 clone()。"
CAUSE_MODIFIED_BY_STEP = "优化器的 step()（{line}）修改了 {op} 保存的权重（{saved}）。"
DO_MODIFIED_BY_STEP = "所有 backward() 都放在 step() 之前，或者之后重新计算损失。"
CAUSE_MODIFIED_CARRIED = "这个损失依赖更早一次迭代的 {op}（{saved}），之后 step() 已修改它的权重（{line}）。"
DO_MODIFIED_CARRIED = "对带到下一次的张量（例如隐藏状态）调用 detach()；这样也不需要 retain_graph。"
CAUSE_MODIFIED_UNSEEN = "{op} 保存的张量（{line}）被原地修改了，没有记录到修改的位置。"
DO_MODIFIED_UNSEEN = "找找对它的 op_() 调用、+= 和下标赋值；或者先调用 av.watch()。"
CAUSE_TWICE = "{op}（{line}）所在的计算图已被之前的 backward() 释放（{pass}）。"
DO_TWICE = "带到下一次传播的张量先 detach()，或者重新计算。"
CAUSE_TWICE_SHARED = "两个损失共用 {op}（{line}），第一次 backward() 已释放它（{pass}）。"
DO_TWICE_SHARED = "把损失相加，只调用一次 backward()，或者第一次传入 retain_graph=True。"
CAUSE_TWICE_OF_OTHER = "两个损失共用 {op}（{line}），第一个损失训练的是另一个模型，它的 backward() 已释放这部分（{pass}）。"
DO_TWICE_OF_OTHER = "第一个损失使用它时，请先调用 detach()。"
CAUSE_TWICE_BEFORE = "{op}（{line}）只在循环之前运行过一次，第一次 backward() 已释放它（{pass}）。"
DO_TWICE_BEFORE = "把它放进循环，每次传播都重新计算。"
CAUSE_TWICE_ROOT = "这个计算图已经运行过 backward()（{pass}），保存的张量已释放。"
DO_TWICE_ROOT = "重新计算损失，或者第一次 backward() 时传入 retain_graph=True。"
CAUSE_ROOT_FROZEN = "损失的输入都不需要梯度：requires_grad 被关闭了（{line}）。"
DO_ROOT_FROZEN = "在前向传播之前，把要训练的参数设为 requires_grad=True。"
CAUSE_ROOT_OF_NUMBERS = "损失的输入都不需要梯度；此前 {op} 把一个有计算图的张量变成了数值（{line}）。"
DO_ROOT_OF_NUMBERS = "请用张量计算损失：数值和数组没有计算图。"
CAUSE_ROOT_OF_DATA = "损失的输入都不需要梯度（{line}）。"
DO_ROOT_OF_DATA = "用模型的参数计算损失，并放在 no_grad() 之外。"
CAUSE_ROOT_OF_LEAF = "{leaf} 不需要梯度（{line}）。"
DO_ROOT_OF_LEAF = "请写 {code}。"
CAUSE_ROOT_OF_LEAVES = "{names} 的 requires_grad 是 False。"
DO_ROOT_OF_LEAVES = "想要哪个张量的梯度，就在创建它时写上 requires_grad=True。"
CAUSE_ROOT_UNSEEN = "损失没有计算图，算出它的运算也没有被记录（{line}）。"
DO_ROOT_UNSEEN = "用需要梯度的参数计算损失，并放在 no_grad() 之外。av.watch() 能指出计算图在哪里断开。"
CAUSE_OPTIMIZER_NOT_LEAF = "传给优化器的张量不是叶子张量，它由 {op} 算出（{line}）。"
DO_OPTIMIZER_NOT_LEAF = "先算好数值，再调用 detach().requires_grad_()。"
CAUSE_ERROR = "{meaning}（{line}）。"
CAUSE_UNKNOWN_ERROR = "除了错误信息本身，没有更多可解释的内容。"
CAUSE_RAN_BEFORE = "出错之前，{op} 得到了 {shape} 的张量（{line}）。"
DO_RAN_BEFORE = "av.show(error) 画出已经运行的部分。"
CAUSE_NO_ERROR = "没有可解释的错误。请在 except 中调用，或传入错误或张量：explain(error)、explain(tensor)。"
SEMICOLON = "；"  # 含义和办法之间的分隔

# 每个错误一句话，按报错内容选择（sentences/errors.py）
EXPLAIN_FREED = "{node} 保存的张量已被之前的反向传播释放；请在那次传入 retain_graph=True，或者重新计算损失。"
EXPLAIN_MODIFIED = "{node} 保存的张量被原地修改了；请写 x = x + 1，不要写 x += 1。"
EXPLAIN_LEAF = "需要梯度的叶子张量被原地修改了；请放在 torch.no_grad() 中，或者创建新的张量。"
EXPLAIN_VIEW_OF_LEAF = "需要梯度的叶子张量的视图被原地修改了；请放在 torch.no_grad() 中，或者修改 clone() 的结果。"
EXPLAIN_DETACHED = "{node} 保存的张量被 detach_() 从计算图中分离了；请使用 detach()，它会创建新的张量。"
EXPLAIN_NO_GRAPH = "它的输入都不需要梯度，所以没有计算图。"
EXPLAIN_NOT_SCALAR = "只有一个元素的张量，backward() 才会以 1 开始；请传入梯度，或者先 sum()。"
EXPLAIN_SHAPE = "{node} 返回的梯度形状不对。"
EXPLAIN_UNUSED = "输出到某个输入之间没有路径；传入 allow_unused=True，会为它返回 None。"
EXPLAIN_MULTI_VIEW = "这个视图来自有多个结果的运算（unbind、split、chunk）；请先 clone()，再原地修改。"
EXPLAIN_INFERENCE = "backward() 需要在 inference_mode() 中创建的张量；请在外面 clone() 它，或使用 no_grad()。"
EXPLAIN_NUMPY = "NumPy 不保存计算图；请用 PyTorch 计算损失，只有用来显示或保存的值才写 x.detach().numpy()。"
EXPLAIN_DEEPCOPY = "只有叶子张量可以深拷贝；请拷贝 x.detach()，或在计算之前拷贝。"

# 由 grad()、backward() 的参数引起
EXPLAIN_NOT_REQUIRED = "传给 grad() 的张量不需要梯度；请在使用之前调用 requires_grad_()。"
EXPLAIN_MISMATCH = "梯度与对应输出的形状不同；请传入与输出形状相同的梯度。"
EXPLAIN_COMPLEX = "只有实数，backward() 才会以 1 开始；请传入梯度，或者先取实数（abs()、real）。"
EXPLAIN_PLAIN = "普通的数没有计算图；请在 .item() 或 float() 之前，对张量调用 backward()。"
EXPLAIN_NO_RULE = "{node} 没有反向公式；请换用其他运算，或者编写 autograd.Function。"
EXPLAIN_NAN_STOP = (
    "detect_anomaly() 停在 {node}，它是第一个返回 nan 的节点；上方的警告给出了它的前向运算。不用 detect_anomaly() "
    "运行，再对叶子张量调用 explain()，可以找到 nan 的来源。"
)

# 由 requires_grad、grad、钩子引起
EXPLAIN_FLAG = "只有叶子张量可以关闭 requires_grad；请使用 y.detach()。"
EXPLAIN_DTYPE = "整数和布尔值没有梯度；请先用 float() 转换。"
EXPLAIN_PARAMETER = (
    "模块的参数必须是叶子张量，而这个张量是算出来的；请在 no_grad() 中原地修改参数。要用算出的张量运行模块，"
    "可以用 torch.func.functional_call()。"
)
EXPLAIN_GRAD_SIZE = "张量与它的 .grad 必须有相同的形状和 dtype。"
EXPLAIN_RETAIN = "这个张量不需要梯度，没有可以保留的梯度；对它调用 explain() 可以看到原因。"
EXPLAIN_HOOK = "这个张量不需要梯度，它的钩子不会运行；对它调用 explain() 可以看到原因。"

# 由自定义 Function 引起
EXPLAIN_COUNT = "{node} 的 backward() 必须为 forward() 的每个参数返回一个梯度；不需要梯度的返回 None。"
EXPLAIN_NO_TENSOR = "Function 的 backward() 返回的既不是张量，也不是 None。"
EXPLAIN_SAVES = "save_for_backward() 只接受张量；其他值请存为 ctx 的属性：ctx.n = n。"
EXPLAIN_NO_BACKWARD = "这个 Function 没有 backward()；请写一个。"
EXPLAIN_ONCE = "这个 Function 的 backward() 标记了 @once_differentiable；它的梯度不能再求导。"
EXPLAIN_JACOBIAN = "backward() 的结果（analytical）与 forward() 的数值差分（numerical）不一致；请检查 backward() 中的公式。"

# 由优化器、混合精度引起
EXPLAIN_OPTIMIZER = "优化器只更新叶子张量，而这个张量是算出来的；请先计算，再调用 detach().requires_grad_()。"
EXPLAIN_NO_PARAMETERS = (
    "优化器没有得到参数；parameters() 已经用完，模块没有参数，或者参数全部冻结。多个层请放进 nn.ModuleList。"
)
EXPLAIN_NO_INF_CHECKS = "这个优化器的参数都没有梯度，GradScaler 无从检查；对其中一个参数调用 explain() 可以看到原因。"
EXPLAIN_NO_SCALED_STEP = "GradScaler 在 update() 之前没有看到 step；请用 scaler.step(optimizer) 代替 optimizer.step()。"
EXPLAIN_NO_UPDATE = "上一次 step() 之后还没有调用 update()；每次迭代请调用一次 scaler.update()。"
EXPLAIN_UNSCALED = "对这个优化器调用了两次 unscale_()；两次 update() 之间只能调用一次。"
EXPLAIN_NONFINITE = "有梯度含有 nan 或 inf，总范数也就含有；对各个参数调用 explain() 可以找到来源。"

# 由共享内存、推理模式、复制引起
EXPLAIN_INFERENCE_CHANGED = "在 inference_mode() 中创建的张量在外面被原地修改了；请先 clone() 它。"
EXPLAIN_EXPANDED = "expand() 的结果中，多个元素共享内存，不能原地修改；请先 clone() 它。"
EXPLAIN_SENT = "带有计算图的张量不能发送到另一个进程；请发送 x.detach()。"
EXPLAIN_RECOMPUTED = "checkpoint() 运行了两次前向传播，两次的运算不同；请去掉会变化的东西（计数器、全局变量、随机数）。"
EXPLAIN_PROBABILITIES = "binary_cross_entropy() 的输入应是概率；层的输出请用 binary_cross_entropy_with_logits()。"
EXPLAIN_REDUCTION = "DDP 在等待没有梯度的参数；av.gather(loss) 会列出它们，或者传入 find_unused_parameters=True。"
EXPLAIN_ONE_VALUE = "批归一化在训练时每个通道需要多个值；使用 drop_last=True，或调用 model.eval()。"
EXPLAIN_FUNC_SCALAR = "torch.func.grad 需要返回一个数的函数；请先 sum()，或使用 vjp、jacrev。"

# 前向计算
EXPLAIN_COLUMNS = "左矩阵有 {given} 列，右矩阵有 {wanted} 行；请转置其中一个，或检查前面的 view()。"
EXPLAIN_CHANNELS = "输入有 {given} 个通道，而权重接受 {wanted} 个；请检查 in_channels 和维度顺序。"
EXPLAIN_TARGET = "目标 {given} 不是这些分数的类别；类别从 0 数起，最后一层要给每个类别一个输出。"
EXPLAIN_TARGET_DTYPE = "两者之一是 {given}，需要的是 {wanted}；这个损失要求浮点目标：y.float()。"
EXPLAIN_CAST = "结果是 {wanted}，不能写入 {given} 张量；请得到一个新张量，或先把它转成 {wanted}。"
EXPLAIN_DTYPES = "两者之一是 {given}，另一个是 {wanted}；请让两者类型相同：NumPy 数组是双精度。"
EXPLAIN_INDEX = "有下标是负数，或不小于行数；下标从 0 数起。"
EXPLAIN_COLUMNS_OF = (
    "{module} 接受 {wanted} 列，得到的是 {given} 列；把 in_features 改为 {given}，或检查它前面的 flatten() 或 view()。"
)
EXPLAIN_CHANNELS_OF = "{module} 接受 {wanted} 个通道，得到的是 {given} 个；请检查 in_channels 和维度顺序。"
EXPLAIN_TARGET_OF = "目标 {given} 不在 0 … {last} 之中；类别从 0 数起，或者给最后一层增加输出。"
EXPLAIN_CAST_OF = "目标是 {target}，预测是 {scores}；这个损失要求浮点目标：y.float()。"
EXPLAIN_CLASS_DTYPE = "目标是 {given}，而类别下标必须是 Long；请对它调用 long()。"
EXPLAIN_DTYPES_OF = "{module} 得到 {given}，而它的权重是 {wanted}；请让两者类型相同：NumPy 数组是双精度。"
EXPLAIN_INDEX_OF = "有下标是负数，或不小于 {module} 的行数 {table}；下标从 0 数起，或者加大 num_embeddings。"
EXPLAIN_ROWS = "预测有 {wanted} 行，目标有 {given} 行；请检查损失前面的 view() 或 reshape()。"
EXPLAIN_TARGET_SHAPE = "目标的形状是 ({given})，预测的形状是 ({wanted})；让两者形状相同：unsqueeze(1) 或 squeeze(1)。"
EXPLAIN_CLASS_SHAPE = "类别下标的形状是 (n,)，这里多了一个维度；请调用 squeeze(1)，对独热行则用 argmax(1)。"
EXPLAIN_CLASS_ROWS = "与分数形状相同的目标是概率，而这里是 {given}；请调用 float()，或传入类别下标。"
EXPLAIN_POSITIVE = "{given} 的 {wanted} 必须大于 0，而有元素不是；请用 softplus(x) + 1e-6，并检查训练是否发散。"
EXPLAIN_DISTRIBUTION = "{given} 的 {wanted} 是 nan；请找出最先产生 nan 的一步：autograd-viz watch，或 av.watch(model)。"

# 单步执行或自定义运算抛出的错误
RAISED_BY = "{node} 调用了 {function}()，它在第 {line} 行抛出错误：{code}"
THE_NODE = "某个节点"
