"""A program as the fragment of the playground's address, as `static/link.js` reads it."""

from __future__ import annotations

import base64
import zlib


def fragment(program: str) -> str:
    """``code=`` and the program: base64url without "=" of its UTF-8 as raw deflate."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(program.encode()) + packer.flush()
    return "code=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
