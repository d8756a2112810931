"""Objects that belong to a living graph or pass: they are written with `save`, and not pickled or copied."""

from __future__ import annotations

from typing import Any, NoReturn


class Uncopied:
    """Refuses pickle and copy in plain words."""

    kind = ""  # what it is called, "stepper"; "" of a widget without steps

    def __reduce_ex__(self, *_: Any) -> Any:
        refuse(self.kind)

    __copy__ = __deepcopy__ = __reduce_ex__


INSTEAD = {
    "stepper": 'write it with av.save(stepper, "pass.json"), and read it with av.load("pass.json")',
    "comparison": "write each of its steppers with av.save(stepper, path)",
    "map": 'write it with av.save(map, "map.html"); map.svg is the picture',
    "run": 'write it with av.save(run, "run.html"); run.frame() has the numbers',
    "explanation": "str(explanation) is the answer, and explanation.causes has it as data",
    "recorder": "record again where the model is",
    "": "write what it shows with av.save(shown, path)",
}


def refuse(kind: str) -> NoReturn:
    """Refuse to copy a thing. Raises TypeError: always."""
    raise TypeError(f"this {kind or 'widget'} belongs to this process and cannot be pickled or copied; {INSTEAD[kind]}")
