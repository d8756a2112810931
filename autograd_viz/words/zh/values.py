"""简体中文: why a gradient is nan, large, small or as it should be."""

from __future__ import annotations

# nan, inf
CAUSE_GIVEN_LEAF = "这次传播之前就有 {what}：{tensor} 本身就含有它（{line}）。"
DO_GIVEN_LEAF = "是之前的某一步把它放进去的：查看之前各步的梯度和学习率。"
CAUSE_GIVEN = "{what} 从一开始就有：它在 {tensor} 中（{line}）。"
DO_GIVEN = "请检查数据：torch.isfinite(x).all()。如果它是掩码：每一行至少留下一个元素不掩盖。"
CAUSE_FORWARD_BORN = "前向传播中就已有 {what}：{op} 由 {inputs} 算出了它（{line}）。"
DO_FORWARD_BORN = "让输入远离没有定义的位置：使用 clamp()，或加上一个很小的数。"
CAUSE_FORWARD_PUT = "{what} 是前向传播中写入的：{op} 用给它的值覆盖元素（{line}）。"
DO_FORWARD_PUT = "每一行至少留下一个元素不掩盖，并且不要让被掩盖的元素进入损失；或用很大的负数做掩码。"
CAUSE_FORWARD_WRITTEN = "{what} 是作为数写进去的：{op} 的输入是 {inputs}（{line}）。"
DO_FORWARD_WRITTEN = "在那里使用有限的数。"
CAUSE_FORWARD_CONSTANT = (
    "它是前向传播中在 {op} 处出现的：给该运算的张量 {inputs} 是有限的；是另一个输入，即计算图不保留的常量，造成了 nan 或 inf"
    "（{line}）。"
)
CAUSE_FORWARD_EMPTY = "前向传播中就已有 {what}：{op} 的输入没有元素，{inputs}（{line}）。"
DO_FORWARD_EMPTY = "跳过什么也没有选中的批次（或掩码），或用 sum() 除以 max(count, 1)。"
CAUSE_FORWARD_WEIGHTLESS = (
    "前向传播中就已有 {what}：{op} 对总权重为 0 的目标取平均，即 0/0：目标全是 ignore_index，或其类别的权重为 0（{line}）。"
)
CAUSE_FORWARD_FEW = (
    "前向传播中就已有 {what}：{op} 的输入是 {inputs}，元素不多于它的 correction（未指定时为 1）所减去的个数，所以要除以 0"
    "（{line}）。"
)
DO_FORWARD_FEW = "给它一个以上的元素，或指定 correction=0；跳过只有一个样本的批次。"
DO_FORWARD_WEIGHTLESS = "检查目标和各类别的权重；跳过没有有效目标的批次。"
CAUSE_NAN_OF_INF = "{op} 把输入中的 inf 变成了 nan：inf - inf、0 * inf、以及全为 -inf 的一行的 softmax 都是 nan（{line}）。"
CAUSE_WRITTEN = "在通向它的途中写有一个不是有限的数：{line}。"
DO_WRITTEN = "如果是它造成的：每一行至少留下一个元素不掩盖，并且不要让被掩盖的元素进入损失。"
CAUSE_WRITTEN_THERE = "在通向它的途中写有一个不是有限的数：{line}。"
DO_FORWARD_CONSTANT = (
    "请检查那个常量：torch.isfinite(c).all()；常量过大也可能使结果超出其类型的范围。"
    "如果它是掩码：每一行至少留下一个元素不掩盖。"
)
CAUSE_FORWARD_OVERFLOW = "{op} 在前向传播中溢出：它的输入是 {inputs}，结果中有 {what}（{line}）。"
DO_FORWARD_OVERFLOW = (
    "让它的输入保持较小。如果它逐步增大，说明训练发散：降低学习率、做归一化，或裁剪；在 exp() 之前先减去最大值。"
)
CAUSE_BORN_LOG = "{what} 产生于 {node}：log 的导数是 1/x，而它的输入到了 0（{inputs}；{line}）。"
DO_BORN_LOG = "让输入远离 0（x.clamp(min=1e-8)），或使用 log1p、log_softmax，或直接以 logits 为输入的损失函数。"
CAUSE_BORN_SQRT = "{what} 产生于 {node}：sqrt 的导数是 1/(2 sqrt(x))，而它的输入到了 0（{inputs}；{line}）。"
DO_BORN_SQRT = "在根号下加上一个很小的数：(x + 1e-8).sqrt()。"
CAUSE_BORN_NEGATIVE_ROOT = "{what} 产生于 {node}：它的输入为负（{inputs}），所以平方根是 nan，其导数也是 nan（{line}）。"
DO_BORN_NEGATIVE_ROOT = "在该操作之前保证输入有效：torch.where(x > 0, x, 1.0).sqrt()。"
CAUSE_BORN_DIVISION = "{what} 产生于 {node}：它除以 0（{line}）。"
DO_BORN_DIVISION = "给除数加上一个很小的数，或在相除之前替换其中的零。"
CAUSE_BORN_POWER = "{what} 产生于 {node}：指数小于 1 的幂（或对指数求导时）在 0 处的导数为无穷（{line}）。"
DO_BORN_POWER = "给底数加上一个很小的数。"
CAUSE_BORN_EXPONENT = "{what} 产生于 {node}：对指数求导要乘以底数的对数，而底数有负值（{inputs}；{line}）。"
DO_BORN_EXPONENT = "让底数保持为正（clamp），或使用不需要梯度的指数。"
CAUSE_BORN_NORM = "{what} 产生于 {node}：范数在 0 处没有导数，它的规则除以 0（{line}）。"
DO_BORN_NORM = "在根号下加上一个很小的数，或在求范数之前去掉零向量。"
CAUSE_BORN_STD = "{what} 产生于 {node}：它得到的元素不多于它的 correction（未指定时为 1）所减去的个数，所以要除以 0（{line}）。"
DO_BORN_STD = "给它一个以上的元素，或指定 correction=0；跳过只有一个样本的批次。"
CAUSE_BORN_EXP = "{what} 产生于 {node}：它的结果溢出为 inf，而它的求导规则要乘以这个结果（{inputs}；{line}）。"
DO_BORN_EXP = "在此之前减小输入：减去最大值，或使用 clamp()。"
CAUSE_BORN_EQUAL = "{what} 产生于 {node}：它的规则要除以奇异值（或特征值）之差，而其中两个相等，或有一个为 0（{line}）。"
DO_BORN_EQUAL = "用微小的改动打破相等，或只使用值本身的函数（svdvals、eigvalsh）。"
CAUSE_BORN_SINGULAR = "{what} 产生于 {node}：它的矩阵是奇异的，或接近奇异（{line}）。"
DO_BORN_SINGULAR = "加上单位矩阵的一个很小的倍数。"
CAUSE_BORN_ROW = "{what} 产生于 {node}：它的输入有一行全是 -inf，即全被掩盖（{line}）。"
DO_BORN_ROW = "每一行至少留下一个元素不掩盖，或用很大的负数代替 -inf。"
CAUSE_BORN_WEIGHTLESS = "{what} 产生于 {node}：它除以各目标的总权重，而总权重为 0（{line}）。"
DO_BORN_WEIGHTLESS = "检查目标和各类别的权重；跳过没有有效目标的批次。"
CAUSE_BORN_CTC = "{what} 产生于 {node}：它的损失为无穷，因为输入对目标来说太短（{line}）。"
DO_BORN_CTC = "去掉这样的样本，或设置 zero_infinity=True。"
CAUSE_BORN_FACTOR = "{node} 把到达的梯度乘以 {factor}，其中有 {what}（{line}）。"
CAUSE_BORN_EDGE = "{what} 产生于 {node}：它的导数在定义域边缘为无穷（{inputs}；{line}）。"
DO_BORN_EDGE = "用 clamp() 把输入限制在定义域之内。"
CAUSE_BORN_OTHER = "{what} 产生于 {node}：到达那里的梯度中没有；它的输入是 {inputs}（{line}）。"
DO_BORN_OTHER = "查看那里的数值：av.step(loss) 会显示代入数值的公式。"
CAUSE_ZERO_TIMES_INF = (
    "{node} 的结果没有取那个分支，所以把 0 传给了 {born}，而 0 乘以无穷是 nan：两个分支都会被计算并求导（{line}）。"
)
DO_ZERO_TIMES_INF = "先保证 {born} 的输入是安全的：x = torch.where(condition, x, 1.0)，再做该运算。"
CAUSE_BAD_START = "反向传播一开始就有 {what}：损失的初始梯度中就有它。"
CAUSE_BAD_SUM = "{what} 来自 {node} 之前相加的梯度：inf - inf，或溢出（{line}）。"
CAUSE_BAD_HOOK = "{what} 来自 {node} 处的钩子：{hook}。"
DO_BAD_HOOK = "查看钩子返回了什么。"
CAUSE_BAD_SINCE = "上一次反向传播到达的是 {value}，其中没有 {what}：grad 后来被这一行修改过，或者 {what} 是原来就有的：{line}。"
DO_BAD_SINCE = "查看那一行除以或乘以了什么。"
CAUSE_BAD_CLIPPED = (
    "上一次反向传播到达的是 {value}，其中没有 {what}：这一行把各梯度除以它们的范数，"
    "任何一个中的 inf 或 nan 会破坏所有梯度：{line}。"
)
DO_BAD_CLIPPED = "查看它返回的范数；用 error_if_nonfinite=True 会改为报错。"
CAUSE_CLIPPED = "grad 后来被这一行修改过：它把各梯度除以它们的范数，任何一个中的 inf 或 nan 会破坏所有梯度：{line}。"
DO_CLIPPED = "查看它返回的范数；用 error_if_nonfinite=True 会改为报错。"
CAUSE_GRAD_WRITTEN = "grad 后来被这一行修改过，可能是它造成的：{line}。"
CAUSE_BAD_OLD = "上一次反向传播到达的梯度没有 {what}：它原来就在 grad 里。"
CAUSE_BAD_ELSEWHERE = "现在没有路径从这里通向损失：{what} 来自经过另一个计算图的反向传播。"
DO_BAD_OLD = "在反向传播之前调用 zero_grad()。"
CAUSE_BAD_UNKNOWN = (
    "途中的梯度没有保留，也没有哪个运算必定产生了 {what}。途中可能产生它的全部运算：{suspects}；"
    "此外，数值超出其类型的范围时，任何运算都可能。"
)
CAUSE_BAD_NO_SUSPECT = (
    "途中没有运算会由有限的数产生 {what}，除非数值超出其类型的范围：它原来就在 grad 里，或者 grad 后来被修改过。"
)
DO_BAD_NO_SUSPECT = "在反向传播之前清除 grad，并在 backward() 之后立即查看它。"
CAUSE_DIVERGED = "损失本身就有 {what}，现在 {leaves} 中也有：是之前的某一步或这一步放进去的（{line}）。"
DO_DIVERGED = "训练发散了：找到损失第一次不是有限数的那一步；降低学习率、做归一化，或裁剪梯度：clip_grad_norm_()。"
CAUSE_LOSS_BAD = (
    "损失本身就有 {what}，所以它出现于前向传播：由某个运算的输入（数据、掩码）带来，或由某个运算产生。"
    "途中可能产生它的运算：{suspects}；此外，数值超出其类型的范围时，任何运算都可能。"
)
CAUSE_LOSS_GIVEN = (
    "损失本身就有 {what}，而途中没有运算会由有限的数产生它，除非数值超出其类型的范围：是数据、掩码或参数把它带给了某个运算。"
)
DO_LOSS_GIVEN = "查看输入的数值：torch.isfinite(x).all()；av.record() 会保留 PyTorch 程序中的数值。"
CAUSE_LOSS_BAD_FINITE = "梯度是有限的，但这并无帮助：它是求导规则给出的数（例如 log(x) 在 0 以下的 1/x），而损失在那里没有值。"
DO_LOSS_BAD_FINITE = "不要用它更新参数：先修正损失。"
CAN_BORN_LOG = "在输入为 0 处"
CAN_BORN_SHIFTED = "在输入为 -1 处"
CAN_MADE_SHIFTED = "在输入为 -1 或更小处"
CAN_BORN_SQRT = "在输入为 0 或负处"
CAN_BORN_DIVISION = "在除以 0 处"
CAN_BORN_POWER = "在底数为 0 或负处"
CAN_BORN_NORM = "在结果为 0 处"
CAN_BORN_STD = "如果元素不多于它的 correction"
CAN_BORN_EXP = "在结果溢出处"
CAN_BORN_EQUAL = "如果两个奇异值或特征值相等，或有一个为 0"
CAN_BORN_SINGULAR = "如果它的矩阵是奇异的"
CAN_BORN_ROW = "如果某一行全是 -inf，或含有 inf 或 nan"
CAN_BORN_WEIGHTLESS = "如果各目标的总权重为 0"
CAN_BORN_CTC = "如果输入对目标来说太短"
CAN_BORN_EDGE = "在定义域的边缘或之外"
CAN_BAD_FACTOR = "如果另一个因子含有 nan 或 inf"
CAN_BAD_GIVEN = "如果它的输入含有 nan 或 inf"
CAN_BAD_NORM = "如果它的输入含有 nan 或 inf，或者没有离散而 eps 为 0"
CAN_MADE_BORN_LOG = "在输入为 0 或负处"
CAN_MADE_BORN_SQRT = "在输入为负处"
CAN_MADE_EMPTY = "它的输入没有元素"
CAN_MADE_PUT = "如果它写入 nan 或 inf"
CAN_MADE_PRODUCT = "如果某个因子含有 nan 或 inf"
CAN_MADE_NORM = "如果它的 eps 为 0"
DO_LOSS_BAD = "查看损失之前的各个数值；av.record() 会保留 PyTorch 程序中的数值。"
DO_BAD_UNKNOWN = "使用 torch.autograd.detect_anomaly()，或在 backward() 之前用 av.step(loss)。"

# large and small
GREW_WHOLE = ""
GREW_PART = "在其最大部分的路径上，"
CAUSE_GREW = "它的范数是 {norm}。{where}在 {node} 处增长最多，变为原来的 {factor} 倍（{line}）。"
DO_GREW = "查看那里的数值；clip_grad_norm_() 可以限制梯度的范数。"
CAUSE_SHRANK = "它的范数是 {norm}。{where}在 {node} 处缩小最多，变为原来的 {factor} 倍（{line}）。"
DO_SHRANK = "查看那里的数值：可能是饱和、权重太小，或者对很多元素取了平均。"
CAUSE_GREW_STEADILY = "它的范数是 {norm}。它在 {count} 个节点处增长，其中 {times} 个是 {node}；增长最多处：{line}。"
DO_GREW_STEADILY = "用更小的权重初始化、做归一化，或裁剪梯度：clip_grad_norm_()。"
CAUSE_SHRANK_STEADILY = "它的范数是 {norm}。它在 {count} 个节点处缩小，其中 {times} 个是 {node}；缩小最多处：{line}。"
DO_SHRANK_STEADILY = "使用 relu 一类的激活函数、残差连接或归一化；sigmoid 最多只让四分之一的梯度通过。"
CAUSE_GREW_BETWEEN = (
    "它的范数是 {norm}。在 {far} 和 {near} 之间增长最多：{far}.grad 的范数是 {far_norm}，{near}.grad 的是 {near_norm}。"
)
DO_GREW_BETWEEN = "用更小的权重初始化、做归一化，或裁剪梯度：clip_grad_norm_()。"
CAUSE_SHRANK_BETWEEN = (
    "它的范数是 {norm}。在 {far} 和 {near} 之间缩小最多：{far}.grad 的范数是 {far_norm}，{near}.grad 的是 {near_norm}。"
)
DO_SHRANK_BETWEEN = "使用 relu 一类的激活函数、残差连接或归一化；sigmoid 最多只让四分之一的梯度通过。"
CAUSE_HUGE = "它的范数是 {norm}。途中的梯度没有保留，因此不知道在哪里增长。"
DO_HUGE = "单步执行：在 backward() 之前用 av.step(loss)。"
CAUSE_TINY = "它的范数是 {norm}。途中的梯度没有保留，因此不知道在哪里缩小。"
DO_TINY = "单步执行：在 backward() 之前用 av.step(loss)。"

# as it should be
CAUSE_CAME_FROM = "到达这里的梯度来自 {node}（{line}）。"
CAUSE_CAME_FROM_TOO = "{node} 向这里发送梯度（{line}）；从其他损失开始的反向传播也可能累加到 grad。"
CAUSE_PATHS = (
    "有 {count} 条路径通到这里，来自 {nodes}；PyTorch 不保留每条路径带来了什么，也不保留以前各次反向传播的梯度（它们会累加）。"
)
DO_PATHS = "要看到每一部分，请在 backward() 之前单步执行：av.step(loss)。"
CAUSE_SUM_OF = "它是 {count} 条路径之和：{parts}{more}。"
CAUSE_SUM_OF_ARRIVED = "最近一次反向传播到达的是 {count} 条路径之和：{parts}{more}。"
CAUSE_WRITTEN_SINCE = "最近一次反向传播到达的是 {value}，之后这一行改变了 grad{times}：{line}。"
CAUSE_ASSIGNED_OVER = "最近一次反向传播到达的是 {value}，而这一行用别的值取代了它：{line}。"
CAUSE_GRAD_BEFORE = "还没有反向传播经过 {root} 的计算图：grad 中的值是以前留下的。"
CAUSE_GRAD_BEFORE_OR_KEPT = (
    "如果有反向传播经过了 {root} 的计算图（它保存的张量都还在，就像使用了 retain_graph=True），"
    "到达这里的来自 {node}（{line}）；否则 grad 中的值是更早就有的。"
)
CAUSE_BEYOND = "反向传播从 {root} 之后、没有任何变量持有的张量开始（{line}）：那里发生了什么无从得知。"
DO_BEYOND = "给根起一个名字：loss = ...，调用 loss.backward()，然后再问一次；或逐步执行：av.step(loss)。"
CAUSE_OTHER_PASS = "产生这个值的反向传播，其起点已没有任何变量持有（{line}）；{root} 是在它之后创建的。"
DO_OTHER_PASS = "用单独的名字保留那次反向传播的 loss，然后再问一次。"
CAUSE_NEVER_CLEARED = (
    "backward() 会把梯度累加到 grad，而这里没有一行清除它：如果这一行执行了多次，它就是所有这些梯度之和：{line}。"
)
DO_NEVER_CLEARED = "如果这不是本意，每次反向传播之前调用 zero_grad()（或 {name}.grad = None）。"
CAUSE_IS_ROOT = "它是根：backward() 从这个梯度开始。"
CAUSE_ADDED_SINCE = (
    "单步执行的那次传播带来了 {value}，之后又加上了同样的值："
    "同一个计算图又经过了一次传播，单步之后调用 loss.backward() 就会这样。"
)
DO_ADDED_SINCE = "在两者之间调用 zero_grad()（或 {name}.grad = None），或先对单步执行器调用 reset()。"
CAUSE_EDITED = "上一次反向传播带来了 {value}：grad 后来被修改{times}，例如裁剪、反缩放或赋值。"
CAUSE_SCALED = "上一次反向传播带来了 {value}：grad 后来被修改{times}，例如裁剪或反缩放；或者之前那里已有别的值。"
TIMES = "（是它的 {factor} 倍）"
CAUSE_ACCUMULATED = "上一次反向传播到达的是 {value}；{rest} 是原来就有的，因为 backward() 会把梯度累加到 grad。"
DO_ACCUMULATED = "每次反向传播之前调用 zero_grad()（或 {name}.grad = None）。"
CAUSE_ACCUMULATED_OR_EDITED = (
    "上一次反向传播到达的是 {value}；{rest} 是原来就有的，因为 backward() 会把梯度累加到 grad，或者 grad 后来被修改过。"
)
DO_ACCUMULATED_OR_EDITED = "如果是多次传播累加的，每次反向传播之前调用 zero_grad()（或 {name}.grad = None）。"
CAUSE_GRAD_FROM_ELSEWHERE = (
    "它不是来自这个计算图：现在没有路径从这里通向损失。它来自另一个计算图（可能后来被 detach() 切断），或是手动放进去的。"
)
CAUSE_NO_GRAPH_OF = "它来自一个已经消失的计算图：没有变量持有反向传播的起点（{line}）。"
DO_NO_GRAPH_OF = "给损失起一个名字：loss = ...，在 loss.backward() 之后再问一次：那时就能说明这一行的各个操作。"
CAUSE_NO_GRAPH = (
    "这里没有变量持有它所来自的计算图：它已经消失，或属于另一个函数；"
    "也可能 grad 是手动放进去的，或者是对 {name} 本身调用了 backward()。"
)
DO_NO_GRAPH = "在损失仍可访问的地方、紧接 backward() 之后提问，或指明损失：explain({name}, loss)。"
CAUSE_HOOK_CHANGED = "钩子把到达的梯度从 {before} 改成了 {after}：{hook}。"
CAUSE_HOOK_ON_WAY = "途中有钩子在 {node} 处把梯度从 {before} 改成了 {after}：{hook}（{line}）。"
CAUSE_START_NOT_ONE = "反向传播从 {after} 而不是 1 开始：可能有钩子（{hook}）原地修改了梯度，而相等的梯度共享内存。"
DO_START_NOT_ONE = "让钩子返回新张量，而不是修改给它的张量。"
CAUSE_DATA_WRITTEN = (
    "注意：{node} 保存 {tensor} 之后，后者又通过 .data 被修改，自动求导不会察觉（{line}）。梯度是用新的数值计算的。"
)
DO_DATA_WRITTEN = "请修改 clone() 得到的副本，或用 detach() 代替 .data：那样自动求导会报错。"
CAUSE_GRAPH_GONE = (
    "最近一次到达这里的反向传播带来的是 {value}，而 {root} 的计算图上一次送来的是 {met}："
    "那次反向传播从包含 {root} 的损失开始，或者经过了另一个计算图，可能已没有变量引用它。"
)
DO_GRAPH_GONE = "如果有变量引用那次反向传播的损失，请指明它：explain({name}, loss)。"
CAUSE_PASS_FAILED = (
    "最近一次反向传播（从 {root} 开始）抛出了错误：grad 中的值是在那个错误之前得到的，来自这次或更早的反向传播（{line}）。"
)
DO_PASS_FAILED = "请在它的 except 块中使用 explain(error)，并在下一次反向传播之前清除 grad。"
CAUSE_SHARDED = "它是梯度在本进程（rank）上的分片：反向传播结束后，FSDP 在 {ranks} 个进程之间求平均并放到这里。"
CAUSE_SHARDED_MISSING = "所有 {ranks} 个进程（rank）的反向传播都结束后，FSDP 才把梯度的分片放到这里；目前还没有。"
DO_SHARDED_MISSING = "在每个进程上调用 loss.backward()，并在 zero_grad() 之前查看。"
