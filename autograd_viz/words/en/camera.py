"""What the view of a picture says: what is next, presenting."""

camera_labels = {
    "next_tag": "next: {name}",
    "present": "Present: fill the window (p)",
    "key_present": "present: large letters, the whole window",
    "help_rings": "Thick outline: the node that was called. Dotted ring: the one that is next.",
}
