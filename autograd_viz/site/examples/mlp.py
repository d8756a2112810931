import torch
import torch.nn.functional as F
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 4)
        self.fc2 = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


torch.manual_seed(0)
model = MLP()
x = torch.randn(5, 3)
target = torch.tensor([0, 1, 0, 1, 1])
loss = F.cross_entropy(model(x), target)
loss.backward()
