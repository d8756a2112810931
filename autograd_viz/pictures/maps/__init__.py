"""The map: a model as its author thinks of it, a card for each module's call. The figure is the same document up close."""
