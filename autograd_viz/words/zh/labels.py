"""简体中文：图中的文字，以及控件的标签（按键名）。"""

# 图中的文字，以及鼠标停在方框上时的说明
PICTURE_OPS = "{count:,} 个操作"
PICTURE_OP = "1 个操作"
PICTURE_NODES = "{count:,} 个节点"
PICTURE_NODE = "1 个节点"
PICTURE_CALLED = "{whole}，已调用 {called:,} 个"
PICTURE_MORE = "……还有 {count:,} 个"
PICTURE_FREED = "已释放"
PICTURE_PACKED = "已打包"
PICTURE_NORM = "范数 {norm}"
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
BOX_UNREACHED = "，从根出发的反向传播不会调用它"
BOX_REASON = "：{reason}"
REASON_NESTED = "记录无法跟踪嵌套张量上的操作。"
REASON_OPENED = "torch.compile 把多个操作编译成了一个，这里的操作读自它保留的反向计算图。"
REASON_EXPORTED = "这个操作读自导出的程序，程序没有运行过。"
REASON_CACHED = (
    "torch.compile 从缓存中取出了这个操作，缓存不说明其中有哪些操作。设置环境变量 TORCHINDUCTOR_AUTOGRAD_CACHE=0 后即可展开。"
)
REASON_COMPILED = "torch.compile 把多个操作编译成了一个，记录看不到其中的操作。"

UI = {
    "next_tag": "下一个：{name}",
    "present": "演示：占满窗口 (p)",
    "key_present": "演示：大字，占满窗口",
    "help_rings": "粗边框：刚执行的节点。点状圈：下一个要执行的节点。",
    # 单步执行
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
    "speed": "播放速度（步/秒）",
    "speed_value": "{speed}/秒",
    "run_to": "运行到此处",
    "run_to_tip": "运行到 {node} 之前",
    "until": "直到梯度到达它",
    "until_tip": "运行到有梯度到达 {tensor}",
    "forward": "前向传播",
    # 查找节点
    "picture": "程序的计算图：前向运算、张量和反向节点",
    "search": "查找张量或节点",
    "search_tip": "按名称或类型查找张量或节点 (/)",
    "search_none": "没有匹配项",
    "search_found": "第 {index} 个，共 {count} 个",
    "fit": "适应窗口",
    "fit_tip": "显示整个计算图",
    "zoom_in": "放大",
    "zoom_out": "缩小",
    "detail": "图的详略：完整、简要、仅名称（按 d）",
    "download": "保存当前画面（SVG）",
    "copy": "复制当前画面（PNG）",
    "minimap": "缩略图",
    "view": "视图",
    "key_actual": "原始大小",
    "key_panel": "显示或隐藏面板",
    "unused_output": "这个输出没有被用到",
    "inputs": "输入",
    "outputs": "输出",
    "hook_tensor": "张量钩子",
    "hook_pre": "节点前置钩子",
    "hook_post": "节点后置钩子",
    "hook_post_accumulate": "梯度累积后钩子",
    # 面板
    "panel": "详情",
    "node_panel": "节点",
    "tensor_panel": "张量",
    "op_panel": "运算",
    "group_ops": "一组，共 {count} 个运算，画成一个框",
    "group_nodes": "一组，共 {count} 个反向节点，画成一个框",
    "members": "组内成员",
    "in_a_group": "在收起的组内",
    "groups": "所在的组",
    "expand": "展开",
    "collapse": "收起",
    "groups_fixed": "保存的页面中，组不能展开。请在保存前展开，或以 collapse=False 保存。",
    "nothing_selected": "点击节点或张量，查看详情。",
    "close": "关闭",
    "formula": "公式",
    "rule_user": "公式就是您的 Function 中 backward() 的代码。",
    "rule_torch": "PyTorch 自带的反向规则，没有可显示的公式。",
    "arrived": "grad_outputs：收到的梯度",
    "arrived_from": "来自 {node}",
    "arrived_first": "初始梯度",
    "not_arrived": "还没有梯度到达",
    "not_run": "尚未执行",
    "sum": "求和",
    "after_hooks": "钩子之后",
    "by_hand": "已修改",
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
    "no_source": "没有源代码",
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
    "values_were": "记录时的值",
    "values_now": "当前值",
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
    # 保存的值的状态
    "stale": "保存后被原地修改，节点执行时会报错",
    "kept": "保留中",
    "freed": "已释放",
    "none": "无",
    "plain": "普通值",
    # 引擎
    "engine": "引擎",
    "queue": "就绪队列",
    "queue_empty": "没有就绪的节点",
    "waiting": "依赖（等待中的节点）",
    "waiting_none": "没有等待的节点",
    "arrived_of": "已到达 {arrived} 个，共 {expected} 个",
    "held": "保存的张量占用的内存",
    "freed_by": "{node} 释放了 {bytes}",
    # 消息
    "error": "错误",
    "printed": "钩子和 Function 打印的内容",
    "kernel_gone": "内核没有响应，已记录的步骤仍可查看。要继续执行，请等待内核空闲，或重新运行单元格。",
    "changed_outside": "上一步之后，笔记本修改了 {tensors} 的 grad。图中显示当前值。",
    "changed_outside_tip": "上一步之后，笔记本修改了它。图中显示当前值。",
    "freed_tip": "另一次反向传播释放了这个图保存的张量。保存它们的节点执行时会报错。",
    "spoiled_tip": "有保存的张量被原地修改。保存它的节点执行时会报错。",
    "rewritten_tip": "绘制之后被原地修改：{tensors}。图中的方框显示记录时的值，面板两者都显示。",
    "static_map": "这是模型图的静态图片。运行该单元格即可展开卡片。",
    "static_saved": "这是保存笔记本时的画面。运行单元格，即可单步执行。",
    "html_no_script": "此页面可以单步执行反向传播。需要 JavaScript，不需要联网。",
    # 快捷键
    "help": "快捷键",
    "help_tip": "显示快捷键 (?)",
    "key_next": "下一步",
    "key_back": "后退一步",
    "key_clicker": "演示时用翻页笔前进或后退一步",
    "key_blank": "演示时黑屏，再按恢复",
    "key_reset": "回到起点",
    "key_finish": "到终点",
    "key_play": "播放或暂停",
    "key_run": "运行到下一个停止点",
    "key_run_to": "运行到选中的节点，或展开选中的组",
    "key_group": "展开选中的组，或收起选中项所在的组",
    "key_breakpoint": "设置或清除选中节点的断点",
    "key_search": "查找",
    "key_fit": "显示整个计算图",
    "key_zoom": "放大、缩小",
    "key_pan": "移动画面",
    "key_detail": "图的详略：完整、简要、仅名称",
    "key_copy": "复制图，或已选中的文字",
    "key_select": "在节点之间移动",
    "key_help": "显示或隐藏此列表",
    "key_close": "关闭",
    # 屏幕阅读器
    "aria_widget": "反向传播单步执行器",
    "aria_sentence": "发生了什么",
    # the map
    "map": "模型图",
    "map_tip": "回到模型图（m）",
    "figure": "计算图",
    "modules": "模块",
    "parameters": "参数",
    "card_called": "已调用 {called} / {nodes} 个节点",
    "card_parameter": "名称",
    "card_values": "范数",
    "card_gradient": "梯度",
    "key_map": "回到模型图",
    # 代码视图
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
    # 求导规则
    "rules": "执行的求导规则",
    "rule_hint": "把指针移到结果的某个元素上，或按 Tab 后用方向键选择，这里会写出它由哪些数算得。",
    "rule_of_element": "{value}（{given}）",
    "rule_large": "数组较大，只显示分块平均值，因此不写出求和的各项。",
}
