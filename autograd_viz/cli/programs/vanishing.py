"""A gradient that gets smaller from layer to layer."""

import autograd_viz as av

av.manual_seed(0)
layers = [av.nn.Sequential(av.nn.Linear(8, 8), av.nn.Sigmoid()) for _ in range(6)]
model = av.nn.Sequential(*layers, av.nn.Linear(8, 1))
x = av.ones(4, 8)
loss = model(x).pow(2).mean()
