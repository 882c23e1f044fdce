"""Comments out of a text document before it is printed.

LibreOffice 7.4 prints the text of the footnote before a comment once more as that of the
footnote behind it, so no anchor of a comment may stay.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from drac_pipeline.normalize.ooxml import W, parse_part, remove_keeping_tail, rewrite_zip, serialize_part

_PARTS = re.compile(r"word/(?:document\d*|footnotes|endnotes|header\d*|footer\d*)\.xml")
_MARK = re.compile(rb"<w:comment(?:RangeStart|RangeEnd|Reference)\b")


def strip_comments(source: Path, target: Path) -> bool:
    """Write the DOCX `source` without the anchors of its comments to `target`, if it has any."""
    edits: dict[str, bytes] = {}
    with zipfile.ZipFile(source) as z:
        for name in z.namelist():
            if not _PARTS.fullmatch(name):
                continue
            data = z.read(name)
            root = parse_part(data) if _MARK.search(data) else None
            if root is None:
                continue
            for tag in ("commentRangeStart", "commentRangeEnd", "commentReference"):
                for node in list(root.iter(f"{{{W}}}{tag}")):
                    remove_keeping_tail(node)
            edits[name] = serialize_part(root)
    if edits:
        rewrite_zip(source, target, edits)
    return bool(edits)
