"""Module: an object with parameters and a forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.tensor import Tensor


class Parameter(Tensor):
    """A leaf that requires grad and that a Module finds among its attributes."""

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        super().__init__(data._data)
        self._made_by = data._made_by
        self._requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Module:
    """Subclass it, assign Parameters and Modules as attributes, write `forward`, and call the object."""

    def __init__(self) -> None:
        self.training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What calling the module does."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self.forward(*args, **kwargs)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Parameters with their dotted names, each once."""
        seen: set[Parameter] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            inner = []
            for name, value in vars(module).items():
                full = f"{path}.{name}" if path else name
                if isinstance(value, Parameter) and value not in seen:
                    seen.add(value)
                    yield full, value
                elif isinstance(value, Module):
                    inner.append((full, value))
            stack += reversed(inner)

    def parameters(self) -> Iterator[Parameter]:
        """Parameters, each once."""
        return (p for _, p in self.named_parameters())

    def zero_grad(self) -> None:
        """Set every parameter's grad to None."""
        for p in self.parameters():
            p.grad = None
