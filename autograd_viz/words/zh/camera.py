"""What the view of a picture says: what is next, presenting."""

camera_labels = {
    "next_tag": "下一个",
    "present": "演示：占满窗口 (p)",
    "key_present": "演示：大字，占满窗口",
    "help_rings": "粗边框标出刚执行的节点；带标签的点状圈标出下一个要执行的节点。",
}
