"""Where gradients meet."""

import autograd_viz as av

a = av.tensor(2.0)
b = av.tensor(2.0)
c = a * b
c.requires_grad = True
d = av.tensor(2.0)
e = c * d
f = av.tensor(2.0)
g = e * f
h = av.tensor(2.0, requires_grad=True)
i = g / h
i.retain_grad()
j = i + h
k = j * i
k.backward()
