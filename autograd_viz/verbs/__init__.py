"""What a user calls: show, step, compare, record, watch, save, load, explain, and the magics of a notebook."""
