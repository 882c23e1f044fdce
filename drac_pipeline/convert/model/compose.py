"""Pages of a model and of the local converter as one converted document."""

from __future__ import annotations

from collections.abc import Mapping

from drac_pipeline.convert.markers import PAGE_COMMENT, format_page_comment
from drac_pipeline.convert.model.carry import row_items
from drac_pipeline.model import BlockSpan, ConversionReport, Converted, TableData, TableRow

_ALIKE = 0.5  # share of columns that neighbouring rows of one table have in common


def page_texts(markdown: str) -> dict[int, tuple[int, int]]:
    """Where the text of each page stands: page to (start, end), its comment left out."""
    found = list(PAGE_COMMENT.finditer(markdown))
    ends = [m.start() for m in found[1:]] + [len(markdown)]
    out = {}
    for m, end in zip(found, ends, strict=True):
        text = markdown[m.end() : end]
        start = m.end() + len(text) - len(text.lstrip("\n"))
        out[int(m[1])] = (start, max(start, m.end() + len(text.rstrip())))
    return out


def compose(made: Mapping[int, str], local: Mapping[int, Converted], report: ConversionReport) -> Converted:
    """The document: for each page of the report the model's text in `made`, else that of the
    local reading in `local`, with its spans and tables."""
    parts: list[str] = []
    spans: list[BlockSpan] = []
    tables = _Tables()
    length = 0

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for page in report.pages:
        add(("\n\n" if parts else "") + format_page_comment(page.page))
        if page.page in made:
            text = made[page.page]
            page.n_chars = len(text)
            if text:
                add("\n\n")
                spans += tables.spans(text, page.page, length)
                add(text)
            continue
        source = local[page.page]
        place = page_texts(source.markdown).get(page.page)
        if place is None or place[0] == place[1]:
            continue
        add("\n\n")
        shift = length - place[0]
        inside = [s for s in source.spans if place[0] <= s.start < place[1]]
        prefix = "" if source is local.get(report.pages[0].page) else f"p{page.page}"
        for s in inside:
            moved = {"start": s.start + shift, "end": s.end + shift}
            table_id = f"{prefix}{s.table_id}" if s.table_id else None
            spans.append(s.model_copy(update={**moved, "table_id": table_id}))
        tables.take(source, {s.table_id for s in inside if s.table_id}, prefix)
        add(source.markdown[place[0] : place[1]])
        tables.close()
    markdown = "".join(parts) + "\n"
    return Converted(markdown=markdown, spans=spans, tables=tables.found, report=report)


class _Tables:
    """Row sentences of a model as tables; a table goes on over page breaks."""

    def __init__(self) -> None:
        self.found: list[TableData] = []
        self._open: TableData | None = None
        self._number = 0

    def close(self) -> None:
        self._open = None

    def take(self, source: Converted, ids: set[str], prefix: str) -> None:
        """Tables of a local reading that are named in `ids`; each is taken once, whole."""
        have = {t.table_id for t in self.found}
        for table in source.tables:
            name = f"{prefix}{table.table_id}"
            if table.table_id in ids and name not in have:
                self.found.append(table.model_copy(update={"table_id": name}))

    def spans(self, text: str, page: int, offset: int) -> list[BlockSpan]:
        """The spans of the row sentences in a page's text, which begins at `offset`."""
        blocks = _blocks(text)
        out = []
        for i, (start, end) in enumerate(blocks):
            items = row_items(text[start:end])
            if not items:
                self._open = None
                continue
            if self._open is None or not _goes_on(self._open, items):
                following = row_items(text[slice(*blocks[i + 1])]) if i + 1 < len(blocks) else []
                if following and not _alike([k for k, _ in items], [k for k, _ in following]):
                    following = []
                if not following:  # one sentence alone is a sentence
                    self._open = None
                    continue
                self._number += 1
                self._open = TableData(table_id=f"m{self._number}")
                self.found.append(self._open)
            table = self._open
            _add_row(table, items, page)
            row = len(table.rows) - 1
            out.append(
                BlockSpan(
                    start=offset + start,
                    end=offset + end,
                    table_id=table.table_id,
                    row=row,
                    kind="table_row",
                )
            )
        return out


def _blocks(text: str) -> list[tuple[int, int]]:
    out = []
    at = 0
    for block in text.split("\n\n"):
        if block.strip():
            out.append((at, at + len(block)))
        at += len(block) + 2
    return out


def _goes_on(table: TableData, items: list[tuple[str, str]]) -> bool:
    return _alike([" ".join(h) for h in table.header], [label for label, _ in items])


def _alike(one: list[str], other: list[str]) -> bool:
    mine, theirs = set(one) - {""}, set(other) - {""}
    return len(mine & theirs) >= _ALIKE * max(len(theirs), 1)


def _add_row(table: TableData, items: list[tuple[str, str]], page: int) -> None:
    names = [" ".join(h) for h in table.header]
    for label, _ in items:
        if label not in names:
            names.append(label)
            table.header.append([label] if label else [])
            for row in table.rows:
                row.cells.append("")
    cells = [""] * len(names)
    for label, value in items:
        at = names.index(label)
        cells[at] = f"{cells[at]} {value}".strip()
    table.rows.append(TableRow(cells=cells, page=page))
