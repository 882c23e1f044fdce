"""Text of an XLS file that is in no cell: text boxes, shapes, titles of charts.

Records as in [MS-XLS] 2.4: a shape's text is a TXO record whose characters follow in CONTINUE
records; that of a comment has an OBJ record of type 25 before it; a chart's texts are SERIESTEXT records
of a stream that lies within the sheet's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_BOF, _EOF, _CONTINUE, _OBJ, _BOUNDSHEET, _TXO, _SERIES_TEXT = 0x809, 0x0A, 0x3C, 0x5D, 0x85, 0x1B6, 0x100D
_NOTE = 25


def shape_texts(stream: bytes) -> list[list[str]]:
    """The texts of each sheet's shapes and charts, in the order of the workbook's sheets; `stream` is
    the file's workbook stream. What is broken gives nothing."""
    starts = [
        struct.unpack_from("<I", data)[0]
        for kind, data in _records(stream, 0)
        if kind == _BOUNDSHEET and len(data) >= 4
    ]
    return [_texts(stream, at) for at in starts]


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The records of the substream that begins at `at`, those of streams within it included."""
    depth = 0
    while 0 <= at <= len(stream) - 4:
        kind, size = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size
        depth += (kind == _BOF) - (kind == _EOF)
        if depth <= 0:
            return


def _texts(stream: bytes, at: int) -> list[str]:
    out: list[str] = []
    records = list(_records(stream, at))
    note = False
    for n, (kind, data) in enumerate(records):
        if kind == _OBJ:
            note = len(data) >= 6 and struct.unpack_from("<H", data, 4)[0] == _NOTE
        elif kind == _TXO and not note and len(data) >= 12:
            out += _lines(_continued(records, n + 1, struct.unpack_from("<H", data, 10)[0]))
        elif kind == _SERIES_TEXT and len(data) >= 4:
            out += _lines(_units(data[3:], data[2]).decode("utf-16-le", "replace"))
    return list(dict.fromkeys(out))


def _continued(records: list[tuple[int, bytes]], n: int, count: int) -> str:
    """`count` units of UTF-16 from the CONTINUE records from the nth on; each has its own width."""
    units = b""
    while 2 * count > len(units) and n < len(records) and records[n][0] == _CONTINUE and records[n][1]:
        more = _units(records[n][1], count - len(units) // 2)
        if not more:
            break
        units += more
        n += 1
    return units.decode("utf-16-le", "replace")


def _units(data: bytes, count: int) -> bytes:
    """At most `count` units of UTF-16; a character beyond the first plane takes two of them."""
    if data[0] & 1:
        raw = data[1 : 1 + 2 * count]
        return raw[: len(raw) // 2 * 2]
    return data[1 : 1 + count].decode("latin-1").encode("utf-16-le")


def _lines(text: str) -> list[str]:
    return [line for part in text.splitlines() if (line := " ".join(part.split()))]
