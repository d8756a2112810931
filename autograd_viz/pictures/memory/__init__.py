"""What autograd holds for a loss: by module, line and op, through the backward pass, and with a checkpoint."""
