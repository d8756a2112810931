"""What is installed with this package may be used with it: licences that ask to be named, and MPL-2.0 file by file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata

import pytest
from packaging.requirements import Requirement

FREE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib",
}  # fmt: skip
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "Historical Permission Notice and Disclaimer (HPND)": "HPND",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
FIRST_WORDS = {
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD",
    "Apache License Version 2.0": "Apache-2.0",
}
OURS = metadata.distribution("autograd-viz")


def brought(distribution: metadata.Distribution, extra: str = "") -> Iterator[metadata.Distribution]:
    """What a distribution asks for with an extra, as far as it is installed."""
    for text in distribution.requires or ():
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
            try:
                yield metadata.distribution(wanted.name)
            except metadata.PackageNotFoundError:
                continue


def all_brought(extra: str) -> dict[str, metadata.Distribution]:
    """Everything that the package comes with, near and far, by name."""
    found: dict[str, metadata.Distribution] = {}
    new = list(brought(OURS, extra))
    while new:
        one = new.pop()
        if one.name not in found:
            found[one.name] = one
            new += brought(one)
    return found


def licence(distribution: metadata.Distribution) -> str:
    """By SPDX's names: what the metadata says, or else what the text of the licence begins with."""
    said = distribution.metadata
    if expression := said.get("License-Expression"):
        return expression
    classes = [c.rsplit(" :: ")[-1] for c in said.get_all("Classifier") or () if c.startswith("License ::")]
    if classes:
        return " AND ".join(CLASSIFIERS.get(c, c) for c in classes)
    texts = [f.read_text() for f in distribution.files or () if re.search("licen[sc]e", f.name, re.IGNORECASE)]
    text = " ".join(" ".join(texts).split())
    return next((name for words, name in FIRST_WORDS.items() if words in text), "unknown")


def is_free(expression: str) -> bool:
    """Each part of it, or one of its alternatives, is one of FREE."""
    parts = expression.replace("(", "").replace(")", "").split(" AND ")
    return all(any(choice in FREE for choice in part.split(" OR ")) for part in parts)


@pytest.mark.parametrize("extra", ["", "lab", "pdf"])
def test_what_comes_along_is_free(extra: str) -> None:
    found = all_brought(extra)
    assert {"numpy", "python-barcode", "scipy", "tqdm"} <= found.keys()
    assert not {name: licence(d) for name, d in found.items() if not is_free(licence(d))}


@pytest.mark.torch
def test_pytorch_itself_is_free() -> None:
    """What its CUDA builds bring is NVIDIA's, on terms of NVIDIA's."""
    assert is_free(licence(metadata.distribution("torch")))


def test_a_licence_that_asks_for_more_is_refused() -> None:
    refused = ["GPL-3.0-only", "MIT AND AGPL-3.0-or-later", "unknown", "MIT OR GPL-2.0-only AND LGPL-2.1-only"]
    assert not any(is_free(expression) for expression in refused)
    assert is_free("MIT AND (Apache-2.0 OR GPL-2.0-or-later)")
