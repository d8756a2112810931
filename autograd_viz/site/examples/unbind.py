import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b, c, d = a.unbind()
e = b * c * d
e.backward()
