"""The picture for a page: without what the page's style sheet says of every element, a third shorter to send and to parse."""

from __future__ import annotations

import re

# attributes that the style sheet, an inherited value or draw.js stands for
_SAID_ELSEWHERE = re.compile(
    r' (?:(?:fill|stroke)="(?:#[0-9a-f]{6}|none)"|xml:space="preserve"|class="f-text"|stroke-width="(?:1|1\.2)"'
    r'|font-size="11\.4"|data-size="11\.4"|data-pitch="14")'
)
_INHERITED = '<svg font-size="11.4" stroke-width="1.2" '
# an arrow that shares no piece with another is drawn where its number runs
_SAME_WAY = re.compile(r'(<path d="[^"]*")([^/]*) class="line ([\w-]+)"/>\1[^/]* class="way"/>')


def page_svg(svg: str) -> str:
    """What `render_svg` has drawn, for `static/picture.css` to restore."""
    short = _SAID_ELSEWHERE.sub("", svg.replace('class="f-row s-row-stroke"', 'class="f-row"'))
    short = _SAME_WAY.sub(r'\1\2 class="line way \3"/>', short)
    return short.replace("<svg ", _INHERITED, 1).replace('"', "'")  # JSON would escape each double quote
