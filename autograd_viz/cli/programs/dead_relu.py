"""A gradient that is zero."""

import autograd_viz as av

x = av.tensor([1.0, 2.0], requires_grad=True)
h = x - 5
loss = h.relu().sum()
loss.backward()
