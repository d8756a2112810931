"""A user's program, which mypy checks strictly: what is right passes, and an ignore that nothing needs is an error."""

import autograd_viz as av
from autograd_viz.twin import nn, optim

x: av.Tensor = av.tensor([[1.0, 2.0]])
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)
loss = model(x).pow(2).sum()
with av.no_grad(), av.scope("shown"):
    av.show(loss, theme="dark")
stepper = av.step(loss)
stepper.finish()
sentence: str = stepper.sentence
av.save(stepper, "loss.svg")
if isinstance(state := av.load("state.npz"), dict):
    model.load_state_dict(state)
print(av.explain(x, loss))
losses = [nn.CrossEntropyLoss(weight=av.ones(3)), nn.HuberLoss(delta=2.0), nn.MSELoss(None, None, "sum")]
nn.CrossEntropyLoss(weigth=av.ones(3))  # type: ignore[call-arg]
av.show(loss, them="dark")  # type: ignore[call-arg]
stepper.goto("end")  # type: ignore[arg-type]
