"""One leaf requires grad."""

import autograd_viz as av

a = av.tensor(2.0, requires_grad=True)
b = av.tensor(3.0)
c = a * b
c.backward()
