"""Type sizes of read images beside those of a text layer.

An image is pasted at any scale, so the size of its print says which of its lines are
titles, but not how it compares with the text around. In a document of both, each page's
recognised print is taken for as large as the document's running text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from drac_pipeline.convert.local.rows import Row
from drac_pipeline.convert.local.text_layer import READ_FONT

_ENOUGH = 400  # characters of a text layer from which its running text is known
_FACTOR = 1.8  # beyond this, the print is something else than running text


def even_sizes(rows: Iterable[Row]) -> None:
    """Scale the sizes of recognised rows, page by page.

    Called once rows have become paragraphs, which go by the distance of lines in type sizes.
    """
    written: Counter[float] = Counter()
    read: dict[int, list[Row]] = {}
    for row in rows:
        if row.segments[0].font == READ_FONT:
            read.setdefault(row.page, []).append(row)
        else:
            written[row.size] += len(row.text)
    if not read or sum(written.values()) < _ENOUGH:
        return
    body = max(written, key=lambda size: (written[size], size))
    for own in read.values():
        sizes: Counter[float] = Counter()
        for row in own:
            sizes[row.size] += len(row.text)
        usual = max(sizes, key=lambda size: (sizes[size], size))
        if body / _FACTOR < usual < body * _FACTOR:
            for row in own:
                row.size = round(row.size * body / usual, 1)
