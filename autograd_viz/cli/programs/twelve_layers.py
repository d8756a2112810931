"""Equal layers are drawn as one box."""

import autograd_viz as av

av.manual_seed(0)
layer = av.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
model = av.nn.TransformerEncoder(layer, 12)
x = av.ones(1, 3, 8)
loss = model(x).pow(2).mean()
