"""From a table's rows and rules to header paths and logical rows."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from drac_pipeline.convert.local.cells import boxed, cell_edges, columns_of, cut_at_edges
from drac_pipeline.convert.local.grid import (
    column_of,
    column_ranges,
    cut_at_gutters,
    cut_at_rules,
    cut_header,
    join_signs,
    refine,
)
from drac_pipeline.convert.local.header import body_columns, header_rows, labels_by_type
from drac_pipeline.convert.local.header_paths import header_paths
from drac_pipeline.convert.local.paragraphs import join_lines
from drac_pipeline.convert.local.row_groups import group_rows
from drac_pipeline.convert.local.rows import LEADER_RE, Row, join_marks, numeric, readable
from drac_pipeline.convert.local.stacked import figures, section_rows
from drac_pipeline.convert.local.table_zones import Draft
from drac_pipeline.convert.local.text_layer import Segment


@dataclass(slots=True)
class Line:
    """A visual row of a table with its segments by column."""

    row: Row
    cells: dict[int, list[Segment]]
    spanning: set[int] = field(default_factory=set)  # columns whose segment reaches over others
    band: bool = False  # a text in the middle that titles the rows below

    @property
    def base(self) -> float:
        return self.row.base

    @property
    def middle(self) -> float:
        return self.row.base - 0.3 * self.row.size

    def text(self, column: int) -> str:
        return readable(" ".join(s.text for s in self.cells.get(column, ())))


@dataclass(slots=True)
class Record:
    """A logical row: its cells' segments by column."""

    cells: dict[int, list[Segment]]
    page: int
    titles: bool = False  # stands in the middle over the rows below

    def segments(self) -> list[Segment]:
        return [s for c in self.cells.values() for s in c]


@dataclass(slots=True)
class Table:
    """A table read: `header[c]` is the path of column c, outermost first."""

    header: list[list[str]]
    rows: list[list[str]]
    records: list[Record]
    header_segments: list[Segment]
    sections: list[str]
    columns: list[tuple[float, float]]
    titles: set[int] = field(default_factory=set)  # rows that title the rows below them
    caption: str = ""


def lines_of(rows: list[Row], columns: list[tuple[float, float]]) -> list[Line]:
    """Each row's segments put into columns."""
    out = []
    for r in rows:
        cells: dict[int, list[Segment]] = {}
        spanning = set()
        one_each = _one_each(r, columns)
        for k, s in enumerate(r.segments):
            if LEADER_RE.fullmatch(s.text + " "):
                continue
            c = k if one_each else column_of(s, columns)
            cells.setdefault(c, []).append(s)
            over = [k for k, (x0, x1) in enumerate(columns) if min(x1, s.x1) - max(x0, s.x0) > 2]
            if len(over) > 1:
                spanning.add(c)
        out.append(Line(r, cells, spanning))
    return out


def _paired(records: list[Record]) -> list[Record]:
    """Label, value, label, value on one line of a form: each pair is a row."""
    out = []
    for record in records:
        for c in (0, 2):
            cells = {k - c: record.cells[k] for k in (c, c + 1) if k in record.cells}
            if cells:
                out.append(Record(cells, record.page))
    return out


def _one_each(row: Row, columns: list[tuple[float, float]]) -> bool:
    """As many segments as columns, though two would fall into one: headers at the left of
    their columns over figures at the right."""
    if len(row.segments) != len(columns) or len(columns) < 3:
        return False
    falls = [column_of(s, columns) for s in row.segments]
    if len(set(falls)) == len(falls):
        return False
    return all(abs(c - k) <= 1 for k, c in enumerate(falls))


def read_table(drafts: list[Draft], vocabulary: dict[str, int]) -> Table:
    """One table from its parts, one part a page (several if it goes over a page break)."""
    parts: list[list[Line]] = []
    _join_small(drafts)
    bands = {k for d in drafts for k in section_rows(d.rows)}
    edges = cell_edges(drafts)
    if edges:
        columns = columns_of(edges)
        by_draft = [cut_at_edges(d.rows, edges) for d in drafts]
        bands = {b for b in bands if any(id(r) == b for own in by_draft for r in own)}
    else:
        by_draft, columns = _by_evidence(drafts, bands)
    body_lines: list[list[Line]] = []
    head: list[Line] = []
    seen = ""
    first_header: list[Segment] = []
    paths: list[list[str]] = [[] for _ in columns]
    caption = ""
    for n, (draft, own) in enumerate(zip(drafts, by_draft, strict=True)):
        lines = _with_bands(own, columns, bands)
        parts.append(lines)
        k = header_rows(lines, draft, columns)
        text = _squeeze(lines[:k])
        if n == 0 and not edges:
            own = [*cut_header(own[:k], own[k:]), *own[k:]]
            kept_columns = body_columns(_with_bands(own, columns, bands), k, columns)
            if len(kept_columns) < len(columns):
                # headers at the left of wide columns whose figures stand at the right
                columns = kept_columns
                paths = [[] for _ in columns]
                lines = parts[0] = _with_bands(own, columns, bands)
                k = header_rows(lines, draft, columns)
        if n == 0:
            head = lines[:k]
            seen = text
            paths, caption = header_paths(head, columns, draft, vocabulary, edges)
            first_header = [s for line in head for c in line.cells.values() for s in c]
            body_lines.append(lines[k:])
        else:
            k = _repeated(lines, seen)
            body_lines.append(lines[k:])
    records: list[Record] = []
    for draft, lines in zip(drafts, body_lines, strict=True):
        for band, run in itertools.groupby(lines, lambda line: line.band):
            own = list(run)
            if band:
                records += [Record(line.cells, line.row.page, titles=True) for line in own]
            else:
                records += [
                    Record(cells, page) for cells, page in group_rows(own, draft, columns, drawn=bool(edges))
                ]
    if not first_header and len(columns) == 4 and labels_by_type(parts[0], columns):
        records, columns, paths = _paired(records), columns[:2], [[], []]
    rows, kept, sections = [], [], []
    titles: set[int] = set()
    current = ""
    stub = _stub_indent(records)
    for i, record in enumerate(records):
        cells = [join_lines(_cell_lines(record.cells.get(c, [])), vocabulary) for c in range(len(columns))]
        if not any(cells):
            continue
        filled = [c for c in range(len(columns)) if record.cells.get(c)]
        if filled == [0] and len(columns) > 1 and _is_section(records, i):
            current = cells[0]
            titles.add(len(rows))
            rows.append(cells)
            kept.append(record)
            sections.append("")
            continue
        if current and filled and (_ends_section(record, stub) or filled == [0]):
            current = ""
        rows.append(cells)
        kept.append(record)
        sections.append(current)
        if re.match(r"(?:sub-?)?total\b", cells[0], re.I):
            current = ""  # a total closes its section
    return Table(paths, rows, kept, first_header, sections, columns, titles, caption)


def _columns_of_figures(rows: list[Row]) -> list[tuple[float, float]]:
    """The columns; of a table of figures those of the rows below its header, which stands over
    several columns or beside its own, where these are as many as with it."""
    columns = column_ranges(rows)
    first = next((k for k, r in enumerate(rows) if figures(r) > 1), 0)
    body = rows[first:]
    if not 0 < first < 12 or sum(figures(r) > 1 for r in body) < max(3, 0.5 * len(body)):
        return columns
    below = column_ranges(body)
    return below if len(below) == len(columns) else columns


def _join_small(drafts: list[Draft]) -> None:
    """Raised marks and currency signs to the texts they belong to."""
    rows = iter(join_signs(join_marks([r for d in drafts for r in d.rows])))
    for d in drafts:
        d.rows = [next(rows) for _ in d.rows]


def _by_evidence(drafts: list[Draft], bands: set[int]) -> tuple[list[list[Row]], list[tuple[float, float]]]:
    """Rows cut into cells, and the columns, where no edges are drawn."""
    cut = [cut_at_rules(_without(d.rows, bands), d.v_rules) for d in drafts]
    if not all(boxed(own, d) for own, d in zip(cut, drafts, strict=True)):
        refined = iter(refine([r for own in cut for r in own]))
        cut = [[next(refined) for _ in own] for own in cut]
    found = iter([r for own in cut for r in own])
    rows = [[r if id(r) in bands else next(found) for r in d.rows] for d in drafts]
    plain = [r for own in cut for r in own]
    columns = _ruled_columns(drafts[0], _columns_of_figures(plain))
    return [[r if id(r) in bands else cut_at_gutters(r, columns) for r in own] for own in rows], columns


def _ruled_columns(draft: Draft, columns: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Split columns that a vertical rule cuts."""
    if not draft.v_rules or len(draft.rows) < 2:
        return columns
    height = draft.y1 - draft.y0
    at: list[float] = []
    for v in sorted(draft.v_rules, key=lambda v: v.x0):
        if v.y1 - v.y0 >= 0.5 * height and (not at or v.x0 - at[-1] > 3):
            at.append(v.x0)
    if len(at) < 3:
        return columns
    out: list[tuple[float, float]] = []
    for x0, x1 in columns:
        cuts = [x for x in at if x0 + 2 < x < x1 - 2]
        edges = [x0, *cuts, x1]
        out += list(itertools.pairwise(edges))
    # columns that no rule tells apart, in a table where rules part most of them
    if len(at) - 1 >= 2:
        merged: list[tuple[float, float]] = []
        for c in out:
            if merged and not any(merged[-1][1] - 2 <= x <= c[0] + 2 for x in at) and _fully_ruled(at, out):
                merged[-1] = (merged[-1][0], c[1])
            else:
                merged.append(c)
        out = merged
    return out


def _fully_ruled(at: list[float], columns: list[tuple[float, float]]) -> bool:
    """Rules between most neighbouring columns."""
    borders = sum(any(a[1] - 2 <= x <= b[0] + 2 for x in at) for a, b in itertools.pairwise(columns))
    return borders >= 0.6 * (len(columns) - 1)


def _with_bands(rows: list[Row], columns: list[tuple[float, float]], bands: set[int]) -> list[Line]:
    lines = lines_of(rows, columns)
    for line in lines:
        if id(line.row) in bands:
            line.cells, line.band = {0: list(line.row.segments)}, True
    return lines


def _without(rows: list[Row], ids: set[int]) -> list[Row]:
    return [r for r in rows if id(r) not in ids] if ids else rows


def _squeeze(lines: list[Line]) -> str:
    return "".join(s.text for line in lines for s in line.row.segments).replace(" ", "").lower()


def _repeated(lines: list[Line], seen: str) -> int:
    """How many first lines repeat the header text."""
    if not seen:
        return 0
    text = ""
    for k, line in enumerate(lines[:12]):
        text += _squeeze([line])
        if text == seen:
            return k + 1
        if not seen.startswith(text):
            return 0
    return 0


def _cell_lines(segments: list[Segment]) -> list[str]:
    """A cell's text line by line."""
    lines: list[tuple[int, float, list[Segment]]] = []
    for s in sorted(segments, key=lambda s: (s.page, s.base, s.x0)):
        if lines and lines[-1][0] == s.page and s.base - lines[-1][1] < 0.4 * s.size:
            lines[-1][2].append(s)
        else:
            lines.append((s.page, s.base, [s]))
    out = []
    for _, _, group in lines:
        group.sort(key=lambda s: s.x0)
        text = readable(LEADER_RE.sub(" ", " ".join(s.text for s in group) + " ")).strip()
        if text:
            out.append(text)
    return out


def _stub_indent(records: list[Record]) -> float:
    xs = [r.cells[0][0].x0 for r in records if r.cells.get(0) and not r.titles]
    return min(xs) if xs else 0.0


def _is_section(records: list[Record], i: int) -> bool:
    """A row of one cell that titles the rows below it."""
    if records[i].titles:
        return True
    here = records[i].cells[0]
    below = [r for r in records[i + 1 : i + 4] if r.cells.get(0)]
    if not below or len(below[0].cells) < 2:
        return False
    indented = below[0].cells[0][0].x0 > here[0].x0 + 3
    bold = all(s.bold for s in here) and not any(s.bold for s in below[0].cells[0])
    text = here[-1].text
    return indented or bold or text.endswith(":") or (len(here) == 1 and _parts_figures(records, i))


def _parts_figures(records: list[Record], i: int) -> bool:
    """One of several labels without values in a table of figures, the first row one of them, with
    rows in between."""
    alone = [k for k, r in enumerate(records) if list(r.cells) == [0]]
    if len(alone) < 2 or alone[0] != 0 or any(b - a < 3 for a, b in itertools.pairwise(alone)):
        return False
    rest = [r for k, r in enumerate(records) if k not in alone]
    full = sum(numeric(s.text) for r in rest for c, cell in r.cells.items() if c for s in cell)
    return i in alone and full >= 0.8 * sum(len(r.cells) - (0 in r.cells) for r in rest)


def _ends_section(record: Record, stub: float) -> bool:
    cells = record.cells.get(0)
    return bool(cells) and all(s.bold for s in cells) and len(record.cells) > 1 and cells[0].x0 <= stub + 2
