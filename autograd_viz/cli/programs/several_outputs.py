"""The meaning of the index in next_functions."""

import autograd_viz as av

a = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
b, c, d = a.unbind()
e = b * c * d
e.backward()
