"""What a cause and a check are, and the facts that checks read. Look-ups ask `History`; rules about values ask `Facts`."""
