"""CSV and TSV: the delimiter, and what kind of value a field shows.

A CSV file shows its values as they are written, so all this has to find out is what they
are, for numbers and dates tell a header from data.
"""

from __future__ import annotations

import csv
import io
import re

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge, EmptyDocument
from drac_pipeline.normalize.charset import decode_text
from drac_pipeline.sheets.grid import Cell, Kind, RawSheet, Row

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 60
_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.I)
_NUMBER = re.compile(
    r"[-+(]?\s*(?:[$€£¥]|[A-Z]{3}\s)?\s*[-+]?\d[\d.,'\u00a0\u202f ]*"
    r"(?:[eE][-+]?\d+)?\s*(?:%|[$€£¥]|[A-Z]{3})?\s*\)?"
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|UTC|[-+]\d{2}:?\d{2})?)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: \d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)?"
    r"|\d{1,2}[- .]{1,2}[^\W\d]{3,9}\.?[- ,]{1,2}\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?",
    re.I,
)
_BOOL = frozenset(("true", "false"))
_LONGEST_VALUE = 40
_LONG_FIELD = 10_000_000


def read_csv(data: bytes, max_cells: int) -> tuple[RawSheet, str]:
    """The file as a sheet without a name, and a warning about its encoding, if any."""
    decoded = decode_text(data)
    if decoded is None:
        raise CorruptDocument("the text holds binary data", remedy="Save it again as UTF-8 text.")
    text = decoded.text
    if not text.strip():
        raise EmptyDocument("the file holds nothing but white space", remedy="Remove it from the source.")
    first = _SEP_LINE.match(text)
    delimiter = first[1] if first else find_delimiter(text)
    sheet = RawSheet("")
    cells = 0
    csv.field_size_limit(_LONG_FIELD)
    source = io.StringIO(text[first.end() :] if first else text, newline="")
    number = 0
    try:
        for number, fields in enumerate(csv.reader(source, delimiter=delimiter), 1):
            row = [Cell(c, t, kind_of(t)) for c, f in enumerate(fields, 1) if (t := f.strip())]
            if row:
                sheet.rows.append(Row(number, row))
                cells += len(row)
                if cells > max_cells:
                    raise DocumentTooLarge(
                        f"more than {counted(max_cells, 'field')} with content",
                        remedy="Split the file, or raise convert.sheet_max_cells.",
                    )
    except csv.Error as e:
        raise CorruptDocument(f"row {number + 1} cannot be read ({e})", remedy="Save it again as CSV.") from e
    return sheet, decoded.warning


def find_delimiter(text: str) -> str:
    """The delimiter by which the first rows have the most equal numbers of fields."""
    sample = "\n".join(text[:50_000].splitlines()[:_SAMPLE_LINES])

    def steadiness(delimiter: str) -> tuple[float, int]:
        try:
            rows = list(csv.reader(io.StringIO(sample), delimiter=delimiter))
        except csv.Error:
            return (0.0, 0)
        counts = [len(r) for r in rows if r]
        common = max(set(counts), key=counts.count, default=1)
        if common < 2:
            # a title above the table must not hide that some rows are parted by it
            several = sum(n > 1 for n in counts)
            return (several / (2 * len(counts)) if counts else 0.0, 1)
        return (counts.count(common) / len(counts), common)

    return max(_DELIMITERS, key=steadiness)


def kind_of(text: str) -> Kind:
    """What a field shows. Codes with leading zeros and long runs of digits are numbers all
    the same: only a header's words must be told from data."""
    if len(text) > _LONGEST_VALUE:
        return "text"
    first = text[0]
    if first.isdigit() or first in "-+($€£¥" or (text[-1].isdigit() and len(text) < 24):
        if _DATE.fullmatch(text):
            return "date"
        if _NUMBER.fullmatch(text):
            return "number"
        return "text"
    return "bool" if text.lower() in _BOOL else "text"
