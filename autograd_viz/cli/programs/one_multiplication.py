"""Nothing requires grad: nothing is recorded."""

import autograd_viz as av

a = av.tensor(2.0)
b = av.tensor(3.0)
c = a * b
