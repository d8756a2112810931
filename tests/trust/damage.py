"""Documents and archives as a hostile or careless hand would leave them: each change is drawn from a seed."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 7, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**9, 10**30, 10**400, 0.0, -0.0, 1.5,
    1e308, -1e308, 5e-324, float("nan"), float("inf"), "", " ", "nan", "inf", "-inf", "1j", "(1e+308+1e+308j)", "(nan+infj)",
    "x", "t0", "t1", "t9", "o0", "o1", "n0", "n1", "n2", "n99", "t-1", "t00", "t\u0661", "g0", "bg0", "ctx:o0", "n0\n",
    "t0.grad", "n0.saved.self", "n0.saved.", "next:n0.0", "next:n0.99", "sum:n1.0", "sum:n99.0", "grad:n1", "retain:t1",
    "grad_fn:t0",
    "float32", "complex64", "?", "\ud800", "\x00\x1b[31m", "\u202e", "a" * 5000, "a\n" * 500, "." * 99, "." * 5000, "a.b.c",
    "/dev/zero", "kept", "freed", "plain", "tensor", "post", "user", "CopySlices", "AccumulateGrad", "Detach", "ZerosLike",
    [], {}, [[]], [None], [0], [1, 2], [10**8, 0], [0, 10**8], [-1], [-1, -1], [2**62, 2], [2**63 - 1, 2**63 - 1, 0], [1] * 64,
    [1] * 65, [1] * 5000, [0.5] * 100, ["nan"], ["t0"], ["t0", "t0"], ["n0"], [True], {"a": 1}, {"node": "n0", "index": 0},
    {"node": None, "index": 5}, {"tensor": "t0"}, {"tensor": None, "text": "x" * 999},
    {"shape": [], "dtype": "float32", "text": "1."},
    {"shape": [2], "dtype": "float32", "text": "", "numbers": [1.0, "inf"]},
    {"shape": [10**6, 10**6], "dtype": "float32", "text": "many"}, {"shape": [0, 2**62], "dtype": "int64", "text": "[]"},
    {"shape": [], "dtype": "complex128", "text": "", "numbers": ["(1e+308+1e+308j)"]},
)  # fmt: skip


def changed(text: str, rng: random.Random) -> str:
    """A JSON text with one change or a few."""
    plain = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        if rng.random() < 0.08:
            return cut(json.dumps(plain), rng)
        _change(plain, rng)
    return json.dumps(plain)


def cut(text: str, rng: random.Random) -> str:
    """Without its end, or a piece of it, or with one twice."""
    a, b = sorted(rng.randrange(len(text)) for _ in range(2))
    return rng.choice((text[:a], text[:a] + text[b:], text[:b] + text[a:], text + text[a:], text[:a] + "\x00" + text[a + 1 :]))


def _change(plain: Any, rng: random.Random) -> None:
    """One value, key or item somewhere."""
    holder, key = rng.choice(_places(plain) or [([plain], 0)])
    if isinstance(holder, list):
        _in_list(holder, key, rng)
    elif rng.random() < 0.15:
        del holder[key]
    elif rng.random() < 0.1:
        holder[rng.choice(("x", "members", "entries", "numbers", "retains_grad", "is_leaf", ""))] = rng.choice(VALUES)
    else:
        holder[key] = _other(plain, holder[key], rng)


def _in_list(holder: list[Any], key: int, rng: random.Random) -> None:
    how = rng.random()
    if how < 0.15:
        del holder[key]
    elif how < 0.3:
        holder.append(holder[key])
    elif how < 0.4:
        holder.reverse()
    elif how < 0.45:
        holder.extend([holder[key]] * 200)
    else:
        holder[key] = _other(holder, holder[key], rng)


def _other(plain: Any, value: Any, rng: random.Random) -> Any:
    """A hostile value, one of the same type (a hostile one, or from elsewhere), or the same as another type."""
    how = rng.random()
    if how < 0.3:
        return rng.choice(VALUES)
    if how < 0.5:
        return rng.choice([v for v in VALUES if type(v) is type(value)] or [value])
    if how < 0.9:
        alike = [h[k] for h, k in _places(plain) if type(h[k]) is type(value)]
        return json.loads(json.dumps(rng.choice(alike or [value])))
    return rng.choice((str(value)[:99], [value], {"value": value}, not value))


def _places(plain: Any) -> list[tuple[Any, Any]]:
    """Everything that could be changed: what holds it, and where."""
    found: list[tuple[Any, Any]] = []
    stack = [plain]
    while stack:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, k) for k in keys]
        stack += [holder[k] for k in keys if isinstance(holder[k], dict | list)]
    return found


# -- archives -------------------------------------------------------------------------------------------------------------


def changed_archive(data: bytes, rng: random.Random) -> bytes:
    """An archive with bytes changed, cut or moved, or with other contents of its arrays."""
    if rng.random() < 0.5:
        return _with_other_contents(data, rng)
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(found))
        how = rng.random()
        if how < 0.6:
            found[at] = rng.choice((0, 1, 0xFF, 0x7F, rng.randrange(256)))
        elif how < 0.7:
            del found[at:]
        elif how < 0.8:
            del found[at : at + rng.randrange(1, 40)]
        else:
            found[at:at] = rng.choice((b"\xff" * 8, b"PK\x05\x06", b"PK\x01\x02", bytes(found[: rng.randrange(1, 99)])))
        if not found:
            break
    return bytes(found)


def _with_other_contents(data: bytes, rng: random.Random) -> bytes:
    """The zip itself is whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        victim = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == victim:
                content = _structure(content, rng) if name.startswith("__structure__") else _array(content, rng)
            if content is not None:
                packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
                new.writestr(rng.choice((name, name, name, name.removesuffix(".npy"), f"../{name}")), content, packing)
    return out.getvalue()


HEADERS = (
    b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (10**13,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }",
    b"{'descr': '<f4', 'fortran_order': 3, 'shape': (0, 10**30), }",
    b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
    b"{'descr': '>f8', 'fortran_order': True, 'shape': (), }",
    b"{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<U0'}",
    b"((((((((((",
    b"{}",
    b"__import__('os')",
)


def _array(content: bytes, rng: random.Random) -> bytes | None:
    """Cut, left out, or with another header."""
    end, other = content.find(b"}") + 1, rng.choice(HEADERS)
    return rng.choice(
        (content[: rng.randrange(len(content))], None, other, content[:10] + other.ljust(end - 10) + content[end:])
    )


def _structure(content: bytes, rng: random.Random) -> bytes:
    """Its JSON text is changed, and its header tells the new length."""
    text = content[content.find(b"\n") + 1 :].decode()
    other = changed(text, rng)
    if rng.random() < 0.2:
        other = rng.choice(
            ("[" * 5000, '{"list": [' * 3000, '{"tensor": "a0"}', "3", "null", '{"value": []}', '{"dict": [[[], 1]]}')
        )
    out, data = io.BytesIO(), other.encode("utf-8", "replace")
    import numpy as np

    np.save(out, np.frombuffer(data, np.uint8))
    return out.getvalue()
