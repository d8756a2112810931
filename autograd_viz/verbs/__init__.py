"""What a person types: show, step, compare, record, watch, save, load, explain, and the magics of a notebook."""
