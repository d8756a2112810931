"""简体中文. Names of nodes and attributes stay as they are in code."""

from __future__ import annotations

from .zh_lessons import *  # noqa: F403 -- one file would be too long
from .zh_reasons import *  # noqa: F403 -- one file would be too long

# a step of the backward pass
START = "尚未执行任何节点。点击“下一步”，将以初始梯度调用 {node}。"
NOTHING = "没有可以单步执行的内容。"
COMPLETE = "反向传播完成。"
RECORDED = "这些计算会被记录（create_graph=True），因此可以再次求导。"

ARRIVES = "{node}{of} 收到 {grads}。"
OF = " ({names})"
SUM = "{count} 个梯度在此汇合：{parts} = {total}。"
SUM_MANY = "{count} 个梯度在此汇合，其和为 {total}。"
SUM_ARRAY = "{count} 个梯度在此汇合，逐元素相加（{shape}）。"
UNUSED = "输出 {indices} 未被使用：没有梯度到达，按零处理。"
MANY_UNUSED = "有 {count} 个输出未被使用：没有梯度到达，按零处理。"
NONE_ARRIVED = "使用输出 {indices} 的节点没有传来梯度，按零处理。"
ALL_ZERO = "{node}{of} 没有收到梯度，按零处理。"
SENDS = "它传出：{parts}。"
SENT = "{value} → {target}"
UNBROADCAST = "{value} → {target}（还原广播：{shape} 求和为 {into}）"
NOWHERE = "输入 {index} 不需要梯度。"
MANY_NOWHERE = "输入 {indices} 不需要梯度。"
SENDS_NONE = "它没有给 {target} 的梯度，按零处理。"
FIRST = "AccumulateGrad：{name}.grad 原为 None，现为 {new}。"
ADDS = "AccumulateGrad 累加到 {name}.grad：{old} + {incoming} = {new}。"
ADDS_ARRAY = "AccumulateGrad 把到达的梯度逐元素累加到 {name}.grad（{shape}）。"
NO_GRADIENT = "{node} 没有收到梯度，所以什么也没有改变。"
NO_GRADIENT_PASSED = "{node} 没有收到梯度，也没有传出梯度。"
RETAINED = "由于调用过 retain_grad()，{name}.grad 保留了它。"
RETAINED_ADDED = "由于调用过 retain_grad()，它被加到 {name}.grad 上：{old} 变为 {new}。"
FREED = "已释放：{names}。"
WOULD_FREE = "backward() 会释放：{names}。"
EDITED = "到达的梯度被手动改为 {value}。"
HOOK_CHANGED = "{kind} {name} 修改了梯度：{before} → {after}。"
HOOK_CHANGED_ARRAY = "{kind} {name} 修改了梯度（{shape}）。"
HOOK_DROPPED = "{kind} {name} 截断了梯度。"
HOOK_TOOK = "{kind} {name} 把 grad 设为 None。"
HOOK_SAW = "{kind} {name} 看到 {before}，没有修改。"
HOOK_RAN = "{kind} {name} 已执行。"
HOOK_TENSOR = "张量钩子"
HOOK_PRE = "节点前置钩子"
HOOK_POST = "节点后置钩子"
HOOK_POST_ACCUMULATE = "梯度累加后钩子"
A_LEAF = "该叶子张量"
A_TENSOR = "某个未命名的张量"
COMMA = "、"
AND = "、"
BETWEEN = ""

# the forward pass
LEAVES = "计算图开始时有 {leaves}。"
LEAF = "{name} = {value}"
LEAF_WITH_GRAD = "{name} = {value}（需要梯度的叶子张量）"
NO_LEAVES = "程序还没有计算任何内容。"
MANY_LEAVES = "计算图开始时有 {count} 个张量，其中 {wanted} 个是需要梯度的叶子张量。"
COMPUTES = "{call} 的结果是 {value}。"
WRITES_THROUGH = "{call} 通过视图写入 {name}：{name} 现在是 {value}。"
COMPUTES_AND_SAVES = "{call} 的结果是 {value}，并为反向传播保存 {names}。"
RAN = "{call} 已执行。"
RAN_AND_SAVES = "{call} 已执行，并为反向传播保存 {names}。"
CREATED = "创建了 {node}。"
NOT_WANTED = "没有记录任何内容：操作数都不需要梯度。"
NOT_RECORDED = "没有记录任何内容：梯度模式已关闭，或者当时操作数还不需要梯度。"
CUT_OFF = "没有记录任何内容：{op} 把结果从计算图中分离了出来。"
NOT_DIFFERENTIABLE = "没有记录任何内容：{dtype} 类型的结果没有梯度。"

# why a tensor's grad is what it is
WHY_NOT_REQUIRED = "grad 是 None：requires_grad 为 False，不会为它计算梯度。"
WHY_DTYPE = "grad 是 None：只有浮点型和复数型张量才有梯度，而它的类型是 {dtype}。"
WHY_NOT_RECORDED = "grad 是 None：requires_grad 为 False，因为 {op} 的操作数都不需要梯度，或者梯度模式已关闭。"
WHY_DETACHED = "grad 是 None：{op} 把它从计算图中分离了，梯度传不到这里。"
WHY_NOT_RETAINED = "grad 是 None：它不是叶子张量。{node} 只传递梯度而不保留；如需保留，请调用 retain_grad()。"
WHY_NOTHING_ARRIVED = "grad 是 {grad}：{node} 在第 {step} 步执行时没有梯度到达。"
WHY_PASSED = "grad 是 None：{value} 在第 {step} 步到达，{node} 把它传了下去而没有保留；如需保留，请调用 retain_grad()。"
WHY_UNREACHED = "grad 是 {grad}：从本次反向传播的根到它没有路径。"
WHY_NOT_YET = "grad 是 {grad}：反向传播还没有到达它；必须先执行 {nodes}。"
WHY_WAITS = "grad 是 {grad}：{node} 在等待梯度，已到达 {arrived} 个，共需 {expected} 个。"
WHY_READY = "grad 是 {grad}：{node} 已收到全部梯度，但尚未执行。"
WHY_BEFORE = "grad 是 {grad}：在本次反向传播之前就已存在。"
WHY_FREED = "grad 是 {grad}：这个计算图保存的张量已被释放，再次反向传播会在到达它之前中断。"
WHY_FIRST = "grad 是 {new}：{incoming} 在第 {step} 步到达，而 grad 原为 None。"
WHY_ADDED = "grad 是 {new}：原来已有 {old}，{incoming} 在第 {step} 步到达：{old} + {incoming} = {made}。"
WHY_TAKEN = "grad 是 None：{value} 在第 {step} 步到达，随后累积后钩子把 grad 设为 None。"
WHY_ADDED_ARRAY = "grad 为 {shape}：第 {step} 步到达的梯度逐元素累加到了原有的值上。"
WHY_RETAINED = "grad 是 {new}：它在第 {step} 步到达 {node}，因调用过 retain_grad() 而保留。"
WHY_ZERO = "到达的梯度从第 {step} 步的 {node} 起全为零：到达那里的不为零，传出的为零。"
WHY_ZERO_RELU = "{node} 在输入不为正的位置不传递梯度。"
WHY_ZERO_MUL = "它乘以了一个为 0 的值。"
WHY_ZERO_CLAMP = "它在输入超出范围的位置不传递梯度。"
WHY_SUM_ZERO = "到达的梯度全为零：第 {step} 步在 {node} 之前相加时相互抵消。"
WHY_ZERO_FROM_START = "到达的梯度全为零，因为初始梯度就是零。"
WHY_NAN = "nan 产生于第 {step} 步的 {node}：到达它的梯度中没有 nan。"
WHY_INF = "inf 产生于第 {step} 步的 {node}：到达它的梯度中没有 inf。"
WHY_NAN_FROM_START = "初始梯度中已有 nan。"
WHY_INF_FROM_START = "初始梯度中已有 inf。"
WHY_SUM_NAN = "nan 产生于第 {step} 步 {node} 之前的梯度相加。"
WHY_SUM_INF = "inf 产生于第 {step} 步 {node} 之前的梯度相加。"
WHY_OLD_NAN = "nan 是原有的：到达的梯度中没有 nan。"
WHY_OLD_INF = "inf 是原有的：到达的梯度中没有 inf。"
WHY_HOOKED_NAN = "nan 来自第 {step} 步 {node} 处的钩子。"
WHY_HOOKED_INF = "inf 来自第 {step} 步 {node} 处的钩子。"
WHY_HOOKED_ZERO = "到达的梯度全为零，因为第 {step} 步 {node} 处的钩子把它变成了零。"
WHY_HOOK = "{kind} {name} 在第 {step} 步把 {before} 变成了 {after}。"
WHY_EDITED_THERE = "第 {step} 步在 {node} 处被手动修改。"
WHY_EDITED = "第 {step} 步到达的梯度被手动修改过。"

# errors of PyTorch's, explained
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
RAISED_BY = "由 {node} 调用的 {function}() 抛出，位于第 {line} 行：{code}"
THE_NODE = "某个节点"

# 图中的文字，以及鼠标停在方框上时的说明
PICTURE_OPS = "{count:,} 个操作"
PICTURE_OP = "1 个操作"
PICTURE_NODES = "{count:,} 个节点"
PICTURE_NODE = "1 个节点"
PICTURE_CALLED = "{whole}，已调用 {called:,} 个"
PICTURE_FREED = "已释放"
PICTURE_OF = "{names} 的自动微分图：{ops} 个操作，{nodes} 个反向节点"
PICTURE_UNNAMED = "未命名张量"
BOX_TENSOR = "{name}：{kind}，{shape}，{dtype}"
BOX_UNNAMED = "未命名张量"
BOX_LEAF = "叶子，需要梯度"
BOX_NON_LEAF = "非叶子，需要梯度"
BOX_CONSTANT = "叶子，不需要梯度"
BOX_OP = "{name}：前向操作"
BOX_OP_GROUP = "{name}：{count} 个前向操作组成的组"
BOX_NOT_RECORDED = "，未被记录"
BOX_NODE = "{name}：反向节点"
BOX_NODE_GROUP = "{name}：{count} 个反向节点组成的组"
BOX_CTX = "ctx：把保存的张量带给反向节点"
BOX_RECONSTRUCTED = "，由反向图推出"

UI = {
    # walking
    "toolbar": "单步执行反向传播",
    "reset": "重置",
    "reset_tip": "重置：回到起点 (Home)",
    "back": "上一步",
    "back_tip": "上一步：后退一步 (←)",
    "next": "下一步",
    "next_tip": "下一步：调用下一个 grad_fn (→)",
    "finish": "到终点",
    "finish_tip": "到终点：执行完毕 (End)",
    "play": "播放",
    "play_tip": "播放 (空格)",
    "pause": "暂停",
    "pause_tip": "暂停 (空格)",
    "run": "运行",
    "run_tip": "运行到下一个停止点或终点",
    "step": "步骤",
    "counter_text": "第 {step} 步，共 {total} 步",
    "forward_counter": "前向 {step} / {total}",
    "speed": "播放速度，每秒步数",
    "speed_value": "{speed}/秒",
    "run_to": "运行到此处",
    "run_to_tip": "运行到 {node} 将要执行时",
    "until": "直到梯度到达它",
    "until_tip": "运行到有梯度到达 {tensor}",
    "forward": "前向传播",
    # finding one's way
    "picture": "程序的计算图：前向运算、张量和反向节点",
    "search": "查找张量或节点",
    "search_tip": "按名称或类型查找张量或节点 (/)",
    "search_none": "没有匹配项",
    "search_found": "第 {index} 个，共 {count} 个",
    "fit": "适应窗口",
    "fit_tip": "显示整个计算图",
    "zoom_in": "放大",
    "zoom_out": "缩小",
    "zoom": "缩放",
    "minimap": "缩略图",
    "view": "视图",
    # stops
    "stops": "停止点",
    "stops_tip": "运行在哪里停下",
    "breakpoint": "在此节点停下",
    "breakpoint_set": "在 {node} 停下",
    "breakpoints": "断点",
    "stop_nan": "梯度为 nan 或 inf",
    "stop_zero": "梯度全为零",
    "stop_condition": "Python 条件",
    "clear_stops": "清除所有停止点",
    "stopped": "已停下：{reason}",
    "stopped_breakpoint": "{node} 处的断点",
    "stopped_nan": "梯度在 {node} 处变成 nan 或 inf",
    "stopped_inf": "梯度在 {node} 处变成 nan 或 inf",
    "key_actual": "原始大小",
    "key_panel": "显示或隐藏面板",
    "unused_output": "这个输出未被使用",
    "inputs": "输入",
    "outputs": "输出",
    "hook_tensor": "张量钩子",
    "hook_pre": "节点前置钩子",
    "hook_post": "节点后置钩子",
    "hook_post_accumulate": "梯度累加后钩子",
    "stopped_zero": "有梯度在 {node} 处变成全零",
    "stopped_condition": "条件在 {node} 处成立",
    "stopped_until": "有梯度到达 {tensor}",
    "stopped_unreached": "从这里到结束，没有梯度到达 {tensor}",
    "condition_error": "条件出错：{error}",
    # panels
    "panel": "详情",
    "node_panel": "节点",
    "tensor_panel": "张量",
    "op_panel": "运算",
    "group_ops": "一组，共 {count} 个运算，画成一个框",
    "group_nodes": "一组，共 {count} 个反向节点，画成一个框",
    "members": "组内",
    "in_a_group": "在收起的组内",
    "groups": "所在的组",
    "expand": "展开",
    "collapse": "收起",
    "nothing_selected": "点击节点或张量查看详情。",
    "close": "关闭",
    "formula": "公式",
    "rule_user": "规则就是您的 Function 中 backward 的代码。",
    "rule_torch": "PyTorch 自己的规则；这里没有对应的公式。",
    "arrived": "grad_outputs：到达的梯度",
    "arrived_from": "来自 {node}",
    "arrived_first": "初始梯度",
    "not_arrived": "尚无梯度到达",
    "not_run": "尚未执行",
    "sum": "求和",
    "after_hooks": "钩子之后",
    "by_hand": "手动修改后",
    "saved": "保存的张量",
    "no_saved": "没有保存任何内容",
    "sent": "grad_inputs：传出的梯度",
    "sent_to": "给 {node}",
    "not_sent": "不需要梯度",
    "next_functions": "next_functions",
    "index_means": "序号 {index}：该梯度属于 {op} 的输出 {index}",
    "index_means_leaf": "序号 {index}：叶子张量只有一个梯度",
    "hooks": "执行过的钩子",
    "hook_changed": "{name}：{before} → {after}",
    "hook_same": "{name}：没有修改",
    "source": "源代码",
    "source_line": "第 {line} 行",
    "no_source": "无法读取代码",
    "jacobian": "局部雅可比矩阵",
    "jacobian_of": "d 输出 / d {input}",
    "attributes": "属性",
    "name": "名称",
    "shape": "形状",
    "dtype": "数据类型",
    "op": "运算",
    "unnamed": "未命名",
    "shares": "共享内存的张量",
    "shares_none": "没有其他张量",
    "version": "版本",
    "version_of": "版本 {version}",
    "values_were": "释放之前的值",
    "values_now": "显示的是当前值",
    "version_now": "{version}，现为 {now}",
    "why": "grad 为什么是这个值？",
    "gradient": "梯度",
    "data": "数据",
    "data_now": "当前数据",
    "heat_map": "{name} 的热力图，色标中点为零",
    "element": "[{index}] = {value}",
    "block_mean": "分块平均值",
    "statistics": "统计",
    "statistics_finite": "有限元素的统计",
    "min": "最小值",
    "max": "最大值",
    "mean": "平均值",
    "norm": "范数",
    "zeros": "零的个数",
    "nan": "nan 的个数",
    "inf": "inf 的个数",
    "elements": "元素个数",
    # states of a saved value
    "stale": "保存后被原地修改：节点将拒绝执行",
    "kept": "保留中",
    "freed": "已释放",
    "none": "无",
    "plain": "普通值",
    # the engine
    "engine": "引擎",
    "queue": "就绪队列",
    "queue_empty": "没有就绪的节点",
    "waiting": "等待中",
    "waiting_none": "没有等待的节点",
    "arrived_of": "已到达 {arrived} 个，共 {expected} 个",
    "held": "保存的张量占用的内存",
    "freed_by": "{node} 释放了 {bytes}",
    # changing
    "edit": "编辑梯度",
    "edit_tip": "修改即将进入 {node} 的梯度",
    "edit_example": "[1.0, 2.0]",
    "edited": "已手动修改",
    "edit_waits": "手动修改：{value} 将进入 {node}。",
    "edit_pending": "已手动修改：将传入 {value}",
    "apply": "应用",
    "undo_edit": "撤销编辑",
    "edit_error": "不能用作梯度：{error}",
    # messages
    "error": "错误",
    "kernel_gone": "内核没有响应。已记录的步骤仍可查看；要继续执行，若内核正忙请稍候，否则请重新运行该单元格。",
    "changed_outside": "上一步之后，笔记本更改了 {tensors} 的 grad；图中显示的是当前值。",
    "changed_outside_tip": "上一步之后，笔记本更改了它；图中显示的是当前值。",
    "freed_tip": "另一次反向传播已释放此图保存的张量：保存它们的节点将拒绝执行。",
    "spoiled_tip": "有一个保存的张量此后被原地修改：保存它的节点将拒绝执行。",
    "rewritten_tip": "绘制之后被原地修改：{tensors}。图中的方框保留记录时的值；面板同时给出两者。",
    "static_saved": "这是保存笔记本时的画面。运行单元格即可单步执行。",
    "html_no_script": "此页面可以单步查看反向传播；需要启用 JavaScript，不需要联网。",
    # keys
    "help": "快捷键",
    "help_tip": "显示快捷键 (?)",
    "key_next": "下一步",
    "key_back": "后退一步",
    "key_reset": "回到起点",
    "key_finish": "到终点",
    "key_play": "播放或暂停",
    "key_run": "运行到下一个停止点",
    "key_run_to": "运行到选中的节点，或展开选中的组",
    "key_group": "展开选中的组，或收起选中项所在的组",
    "key_breakpoint": "设置或取消选中节点的断点",
    "key_search": "查找",
    "key_fit": "显示整个计算图",
    "key_zoom": "放大、缩小",
    "key_pan": "移动画面",
    "key_select": "在节点之间移动",
    "key_help": "显示或隐藏此列表",
    "key_close": "关闭",
    # for screen readers
    "aria_widget": "反向传播单步执行组件",
    "aria_sentence": "发生了什么",
}
