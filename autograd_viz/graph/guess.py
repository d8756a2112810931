"""Guesses in which module each op ran, if nobody recorded it: from parameters' owners and the shape of the graph.

# Note [How modules are guessed]
An op that takes a parameter ran in the module that owns it. From there:
- What a module does around it belongs to the module: a Linear reshapes its input, a norm by hand squares it and then scales it.
- An op between two known ones is in the module that contains both.
- An add is that module's residual connection if the module has read the add's other operand before.
- The last turn of a recurrent module has no weight after it. Its ops are those of the turn before.
- A module without parameters (a ReLU) is guessed by its op, if a module around has it as a part.
Classes come from `Document.modules`. If it is empty, the names of parameters must do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile

from .model import Document

Path = tuple[str, ...]
MOVING = {
    "Alias", "AsStrided", "Clone", "Contiguous", "Expand", "Permute", "Reshape", "ReshapeAlias", "Select", "Slice", "Split",
    "SplitWithSizes", "Squeeze", "T", "ToCopy", "Transpose", "Unbind", "UnsafeSplit", "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip
SCALING = {"Add", "Addcmul", "Div", "Mul"}
MATRIX = {"Addmm", "Mm", "Linear"}
LISTS = {"ModuleList", "ModuleDict", "ParametrizationList", "ParameterList", "ParameterDict"}  # never called
WHOLE = ("MultiheadAttention", "LSTM", "GRU", "RNN")  # they rearrange their input and output
RECURRENT = ("LSTM", "GRU", "RNN")
WITHIN = {"NonDynamicallyQuantizableLinear"}  # the module around uses only its weight
# classes whose only op is the one that has the weight
ONE = re.compile(r"Linear|Conv(Transpose)?\dd|(Batch|Instance)Norm\dd|LayerNorm|GroupNorm|Embedding|PReLU|Bilinear")
FITS = {
    "AdaptiveAvgPool2d": ("AdaptiveAvgPool2D", "Mean"), "AvgPool2d": ("AvgPool2D",), "ELU": ("Elu",), "Flatten": ("View",),
    "GELU": ("Gelu",), "Hardswish": ("Hardswish",), "LeakyReLU": ("LeakyRelu",), "LogSoftmax": ("LogSoftmax",),
    "MaxPool1d": ("MaxPool2DWithIndices", "MaxPool1D"), "MaxPool2d": ("MaxPool2DWithIndices",), "Mish": ("Mish",),
    "ReLU": ("Relu", "Threshold"), "ReLU6": ("Hardtanh",), "SiLU": ("Silu",), "Sigmoid": ("Sigmoid",), "Softmax": ("Softmax",),
    "Softplus": ("Softplus",), "Tanh": ("Tanh",), "Upsample": ("UpsampleNearest2D", "UpsampleBilinear2D", "UpsampleBicubic2D"),
    "GELUActivation": ("Gelu",), "NewGELUActivation": (), "Dropout": ("Mul", "NativeDropout"), "Dropout2d": ("Mul",),
}  # fmt: skip
ACTIVATIONS = {"Elu", "Gelu", "Hardswish", "Hardtanh", "LeakyRelu", "Mish", "Relu", "Silu"}
LONGEST = 16  # ops of a norm that is written by hand


def guessed_paths(document: Document) -> list[Path]:
    """The path of each op."""
    return _Guess(document).paths() if names_modules(document) else [()] * len(document.ops)


def names_modules(document: Document) -> bool:
    """Does a parameter tell of a module?"""
    return bool(document.modules) or any(t.is_leaf and "." in (t.name or "") for t in document.tensors)


def common(paths: Iterable[Path]) -> Path:
    """The longest common beginning of all paths."""
    parts = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return tuple([parts[0] for parts in parts])


class _Guess:
    def __init__(self, document: Document) -> None:
        self.ops = document.ops
        kinds = {m.path: m.name.removeprefix("Parametrized") for m in document.modules}
        self.classes = {tuple(path.split(".")) if path else (): kind for path, kind in kinds.items()}
        self.tensors = {t.id: t for t in document.tensors}
        self.inputs = [[i.tensor for i in op.inputs if i.tensor is not None] for op in self.ops]
        self.maker = {t: i for i, op in enumerate(self.ops) for t in op.outputs if t is not None}
        self.users: dict[str, list[int]] = defaultdict(list)
        for i, inputs in enumerate(self.inputs):
            for t in inputs:
                self.users[t].append(i)
        self.owners = {t.id: path for t in document.tensors if t.is_leaf and (path := self._owner(t.name))}
        self.children: dict[Path, list[Path]] = defaultdict(list)
        for path in filter(None, self.classes):
            self.children[path[:-1]].append(path)
        self.with_leaves = {path[:k] for path in self.owners.values() for k in range(len(path) + 1)}

    def paths(self) -> list[Path]:
        """See Note [How modules are guessed]."""
        found = self._owned()
        for recurrent in dict.fromkeys(p for p in found if p is not None and self.classes.get(p) in RECURRENT):
            self._last_turn(found, recurrent)
        for i, path in [(i, path) for i, path in enumerate(found) if path is not None]:
            kind, name = self.classes.get(path, ""), self.ops[i].name
            if name in MATRIX and kind not in WHOLE:
                self._around_matrix(found, i, path)
            elif kind in WHOLE:
                self._rearranged(found, i, path)
            elif name in SCALING and path not in self.children:
                self._by_hand(found, i, path)
        return self._filled(found)

    def _owner(self, name: str | None) -> Path:
        """The module of a parameter `net.encoder.0.weight`: as `Document.modules` calls it, `encoder.0`."""
        # torch.compile puts "_orig_mod" between
        parts = tuple(part for part in (name or "").removesuffix(".T").split(".")[:-1] if part != "_orig_mod")
        known = (parts[k:] for k in range(len(parts)) if parts[k:] in self.classes)
        return next(known, () if self.classes and "parametrizations" not in parts else parts)

    def _owned(self) -> list[Path | None]:
        of = dict(self.owners)
        found: list[Path | None] = []
        for i, op in enumerate(self.ops):
            if self._is_step(i, of):
                of |= dict.fromkeys((t for t in op.outputs if t is not None), of[self.inputs[i][0]])
                found.append(None)
                continue
            owners = [of[t] for t in self.inputs[i] if t in of]
            path = common(owners)
            is_moved = op.name in MOVING and len(owners) == len(self.inputs[i])
            of_weight = "parametrizations" in path and all(t in of or not self.tensors[t].requires_grad for t in self.inputs[i])
            if owners and (is_moved or of_weight):
                of |= dict.fromkeys((t for t in op.outputs if t is not None), path)
            found.append(self._fitting(i, path) if path else None)
        return found

    def _is_step(self, i: int, of: dict[str, Path]) -> bool:
        """A step of an inner loop, whose result is used in place of the weight: `w - rate * grad`."""
        if self.ops[i].name != "Sub" or len(self.inputs[i]) != 2:
            return False
        weight, moved = (self.tensors[t] for t in self.inputs[i])
        maker = self.maker.get(moved.id)
        is_scaled = maker is not None and self.ops[maker].name == "Mul" and len(self.inputs[maker]) == 1
        return weight.id in of and is_scaled and moved.requires_grad and weight.value.shape == moved.value.shape

    def _fitting(self, i: int, path: Path) -> Path:
        """The module that may have used the weight of `path` in this op."""
        if "parametrizations" in path:
            parts = self.children[path]
            made = self.ops[i].name not in MOVING | MATRIX and len(parts) == 1
            return parts[0] if made else path[: path.index("parametrizations")]
        kind = self.classes.get(path, "")
        if kind in WITHIN:
            return path[:-1]
        if kind != "Embedding" or self.ops[i].name.startswith("Embedding"):
            return path
        tied = [p for p, name in self.classes.items() if name == "Linear" and p not in self.with_leaves]
        return tied[0] if len(tied) == 1 else path[:-1]

    def _around_matrix(self, found: list[Path | None], i: int, path: Path) -> None:
        """The reshape to a matrix and back."""
        before = next((m for m in self._makers(i) if self.ops[m].name in MOVING and self._only_user(m) == i), None)
        after = self._only_user(i)
        if before is None or after is None or self.ops[after].name not in ("View", "UnsafeView"):
            return
        (given, *_), back = self.inputs[before], self.ops[after].outputs[0]
        shapes = [self.tensors[t].value.shape[:-1] for t in (given, back) if t in self.tensors]
        if len(shapes) < 2 or shapes[0] != shapes[1]:
            return
        copied = self.maker.get(given, -1)
        is_copied = copied >= 0 and self.ops[copied].name == "Clone" and self._only_user(copied) == before
        for j in (before, after, *([copied] if is_copied else ())):
            found[j] = path if found[j] is None else found[j]

    def _rearranged(self, found: list[Path | None], i: int, path: Path) -> None:
        todo = list(self._makers(i))
        while todo:
            j = todo.pop()
            if found[j] is None and self.ops[j].name in MOVING and all(found[u] == path for u in self._users(j)):
                found[j] = path
                todo += self._makers(j)
        after = None if self.classes[path] in RECURRENT else self._only_user(i)  # see _last_turn
        while after is not None and found[after] is None and self.ops[after].name in ("View", "UnsafeView", "Transpose"):
            found[after] = path
            after = self._only_user(after)

    def _last_turn(self, found: list[Path | None], path: Path) -> None:
        """What follows the last use of a recurrent weight: as after the use before, then the results put together."""
        uses = [i for i, p in enumerate(found) if p == path and self.ops[i].name not in MOVING]
        if not uses:
            return
        end = uses[-1]
        for i, before in enumerate(self.ops[uses[-2] + 1 : end] if len(uses) > 1 else (), end + 1):
            if i == len(found) or found[i] is not None or self.ops[i].name != before.name:
                break
            found[i], end = path, i
        at, begins = uses[0], False  # does it begin with a transpose, as batch_first=True does?
        while (makers := list(self._makers(at))) and self.ops[makers[0]].name in MOVING:
            at, begins = makers[0], begins or self.ops[makers[0]].name == "Transpose"
        may_end = begins or not makers
        for i in range(end + 1, len(self.ops)):
            makers, name = list(self._makers(i)), self.ops[i].name
            is_moved = may_end and name == "Transpose" and makers and self.ops[makers[0]].name in ("Stack", "MkldnnRnnLayer")
            if not makers or not (name == "Stack" or is_moved) or min(makers) < uses[0]:
                break
            found[i] = path

    def _by_hand(self, found: list[Path | None], i: int, path: Path) -> None:
        """Ops that nothing else reads, if they lead back to one tensor that several of them read: `x * rsqrt(mean(x * x))`."""
        inside = {i}
        while len(inside) <= LONGEST:
            taken = [t for j in inside for t in self.inputs[j] if self.maker.get(t) not in inside]
            entries = [t for t in taken if self.tensors[t].requires_grad and t not in self.owners]
            if len(entries) > 1 and len(set(entries)) == 1:
                for j in inside:
                    found[j] = path
                return
            j = max((self.maker.get(t, -1) for t in entries), default=-1)
            if j < 0 or found[j] is not None or not inside.issuperset(self._users(j)):
                return
            inside.add(j)

    def _makers(self, i: int) -> Iterator[int]:
        return (self.maker[t] for t in self.inputs[i] if t in self.maker)

    def _users(self, i: int) -> list[int]:
        return [u for t in self.ops[i].outputs if t is not None for u in self.users[t]]

    def _only_user(self, i: int) -> int | None:
        return users[0] if len(users := self._users(i)) == 1 else None

    def _filled(self, found: list[Path | None]) -> list[Path]:
        following: list[Path] = [()]
        for path in reversed(found):
            following.append(following[-1] if path is None else path)
        following = following[:0:-1]
        paths: list[Path] = []
        starts: list[int] = [0]  # of the latest path: where each of its parts began
        before: Path = ()
        residual = -1
        for i, known in enumerate(found):
            around = self._callable(self._between(before, following[i]))
            main = max(self._makers(i), default=-1)
            part = self._part(i, paths[main] if main >= 0 else before, before, around) if known is None else known
            way = None if part is not None else self._residual(i, paths, starts, main, around)
            is_after = part is way is None and main == residual >= 0 and self.ops[i].name in ACTIVATIONS
            residual = i if way is not None and self.ops[i].name not in MOVING else residual
            path = part or way or (paths[main] if is_after else around)
            before = before if part is None else part
            same = len(common([paths[-1], path])) if paths else 0
            starts[same + 1 :] = [i] * (len(path) - same)
            paths.append(path)
        return paths

    def _between(self, before: Path, after: Path) -> Path:
        """The module around an op between two: one that runs its parts in order has ended where an earlier part comes."""
        path = common([before, after])
        order = self.children.get(path, []) if self.classes.get(path) == "Sequential" and path else []
        k = len(path) + 1
        is_again = before[:k] in order and after[:k] in order and order.index(after[:k]) <= order.index(before[:k])
        return path[:-1] if is_again and before != after else path

    def _callable(self, path: Path) -> Path:
        """The path without a list of modules, or a module of a single op, at its end."""
        while path and ((kind := self.classes.get(path, "")) in LISTS or ONE.fullmatch(kind)):
            path = path[:-1]
        return path

    def _part(self, i: int, near: Path, before: Path, around: Path) -> Path | None:
        """The module without parameters that an op may be: a part of one around the op before; the next comes first."""
        for k in range(len(near), len(around) - 1, -1):
            order = self.children.get(near[:k], [])
            last = next((p[: k + 1] for p in (near, before) if p[:k] == near[:k] and p[: k + 1] in order), None)
            later = order[order.index(last) + 1 :] if last is not None else order
            if self.classes.get(near[:k]) == "Sequential":
                order = later = list(takewhile(lambda p: p not in self.with_leaves, later)) if last is not None else []
            for p in (*later, *order):
                if p not in self.with_leaves and p not in self.children and self._fits(i, self.classes[p]):
                    return p
        return None

    def _fits(self, i: int, kind: str) -> bool:
        name = self.ops[i].name
        if kind.startswith("Dropout") and name == "Mul":  # by a mask, which nothing made
            return any(t not in self.maker and not self.tensors[t].requires_grad for t in self.inputs[i])
        return name in FITS.get(kind, (kind,))

    def _residual(self, i: int, paths: list[Path], starts: list[int], main: int, around: Path) -> Path | None:
        """The innermost module that made the latest operand, and has read or made all others. An op that only moves elements,
        or scales them by a number, is in the module of the op that needs the result.
        """
        end, last = i, main
        while (name := self.ops[end].name) in MOVING or (name in ("Div", "Mul") and len(self.inputs[end]) == 1):
            if (user := self._only_user(end)) is None:
                break
            end, last = user, end
        others = [t for t in self.inputs[end] if self.maker.get(t, -1) != last]
        if main < 0 or not others or not all(self.tensors[t].requires_grad for t in others):
            return None
        known = [[self.maker.get(t, -1), *self.users[t]] for t in others]
        for k in range(len(common([paths[main], paths[-1]])), len(around), -1):
            module = paths[main][:k]
            if self.classes.get(module) == "Sequential":
                continue  # it only runs its parts
            if all(any(starts[k] <= j < i for j in js) for js in known) and self._callable(module) == module:
                return module
        return None
