import torch

x = torch.tensor(3.0, requires_grad=True)
left = x * 2
right = x.exp()
y = left * right
y.backward()
print(x.grad)
