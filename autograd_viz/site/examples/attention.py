import torch

torch.manual_seed(0)
x = torch.randn(4, 8)
w_q = torch.randn(8, 8, requires_grad=True)
w_k = torch.randn(8, 8, requires_grad=True)
w_v = torch.randn(8, 8, requires_grad=True)

q, k, v = x @ w_q, x @ w_k, x @ w_v
scores = q @ k.T / 8**0.5
weights = scores.softmax(dim=-1)
out = weights @ v
loss = out.pow(2).mean()
loss.backward()
