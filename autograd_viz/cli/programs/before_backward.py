"""A graph before its backward pass. It can be stepped."""

import autograd_viz as av

a = av.tensor(2.0, requires_grad=True)
b = av.tensor(3.0, requires_grad=True)
c = a * b
d = av.tensor(4.0, requires_grad=True)
e = c * d
