"""What the view of a picture says: what is next, presenting."""

camera_labels = {
    "next_tag": "下一个：{name}",
    "present": "演示：占满窗口 (p)",
    "key_present": "演示：大字，占满窗口",
    "help_rings": "粗边框：刚执行的节点。点状圈：下一个要执行的节点。",
}
