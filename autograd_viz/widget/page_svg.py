"""The picture for a page, without what its style sheet says: it is a third shorter."""

from __future__ import annotations

import re

# attributes that the style sheet, an inherited value or draw.js sets
_SAID_ELSEWHERE = re.compile(
    r' (?:(?:fill|stroke)="(?:#[0-9a-f]{6}|none)"|xml:space="preserve"|class="f-text"|stroke-width="(?:1|1\.2)"'
    r'|font-size="11\.4"|data-size="11\.4"|data-pitch="14")'
)
_INHERITED = '<svg font-size="11.4" stroke-width="1.2" '
# the path of the number is that of the arrow, if the arrow shares no piece
_SAME_WAY = re.compile(r'(<path d="[^"]*")([^/]*) class="line ([\w-]+)"/>\1[^/]* class="way"/>')


def page_svg(svg: str) -> str:
    """Shorten the SVG of `render_svg`; `static/figure/picture.css` restores it."""
    short = _SAID_ELSEWHERE.sub("", svg.replace('class="f-row s-row-stroke"', 'class="f-row"'))
    short = _SAME_WAY.sub(r'\1\2 class="line way \3"/>', short)
    return short.replace("<svg ", _INHERITED, 1).replace('"', "'")  # JSON would escape each double quote
