"""The same document gives the same PDF: what tools write of the time and by chance is taken out.

LibreOffice and Chromium write when a PDF was made, and LibreOffice an identifier and a checksum of that
time. Chromium names the cells of tables by numbers that go on counting over what its process drew before.
Each is overwritten in place by text of the same length, so that no offset in the file moves.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from pathlib import Path

_DATE = re.compile(rb"/(?:CreationDate|ModDate)\s*\(D:(\d{14})")
_IDENTIFIER = re.compile(rb"/ID\s*\[\s*<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*\]")
_CHECKSUM = re.compile(rb"/DocChecksum\s*/([0-9A-Fa-f]+)")
# names of cells: their own, in lists of headers, in the tree of names
_CELL = re.compile(rb"(?:/ID|[\[)R])\s*\(node(\d{8})(?=\))")
_NO_DATE = b"19700101000000"


def take_out_stamps(pdf: Path) -> None:
    """Overwrite times, identifier and checksum of a PDF that a tool has made; the identifier becomes
    one of its content."""
    if not pdf.stat().st_size:
        return
    with pdf.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        for start, end in [m.span(1) for m in _DATE.finditer(data)]:
            data[start:end] = _NO_DATE
        identifiers = [m.span(n) for m in _IDENTIFIER.finditer(data) for n in (1, 2)]
        for start, end in (*identifiers, *(m.span(1) for m in _CHECKSUM.finditer(data))):
            data[start:end] = b"0" * (end - start)
        named = [m.span(1) for m in _CELL.finditer(data)]
        ranks = {old: n for n, old in enumerate(sorted({data[a:b] for a, b in named}), 1)}
        for start, end in named:
            data[start:end] = b"%08d" % ranks[data[start:end]]
        digest = hashlib.sha256(data).hexdigest().upper().encode()
        for start, end in identifiers:
            data[start:end] = digest[: end - start].ljust(end - start, b"0")
