"""A long table as a workbook for LibreOffice to print: a browser takes gigabytes for it."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_WIDTH = 60

_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_TYPES = (
    f'{_HEAD}<Types xmlns="{_P}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Default Extension="xml" ContentType="{_TYPE}worksheet+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}styles+xml"/></Types>'
)
_ROOT = (
    f'{_HEAD}<Relationships xmlns="{_P}/relationships">'
    f'<Relationship Id="r1" Type="{_R}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
_BOOK = (
    f'{_HEAD}<workbook xmlns="{_S}" xmlns:r="{_R}">'
    '<sheets><sheet name="Table" sheetId="1" r:id="r1"/></sheets>'
    '<definedNames><definedName name="_xlnm.Print_Titles" localSheetId="0">Table!$1:$1</definedName>'
    "</definedNames></workbook>"
)
_BOOK_PARTS = (
    f'{_HEAD}<Relationships xmlns="{_P}/relationships">'
    f'<Relationship Id="r1" Type="{_R}/worksheet" Target="sheet.xml"/>'
    f'<Relationship Id="r2" Type="{_R}/styles" Target="styles.xml"/></Relationships>'
)
_SIDES = "".join(f'<{side} style="thin"/>' for side in ("left", "right", "top", "bottom"))
_ALIGN = '<alignment wrapText="1" vertical="top"/>'
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_S}"><fonts><font><sz val="9"/></font><font><b/><sz val="9"/></font></fonts>'
    f"<fills><fill/></fills><borders><border/><border>{_SIDES}</border></borders>"
    f'<cellXfs><xf borderId="1" applyBorder="1" applyAlignment="1">{_ALIGN}</xf>'
    f'<xf fontId="1" borderId="1" applyFont="1" applyBorder="1" applyAlignment="1">{_ALIGN}</xf>'
    "</cellXfs></styleSheet>"
)


def write_book(rows: list[list[str]], target: Path) -> None:
    """Write `rows`, the header first, as text cells with borders, fitted to one page's width."""
    width = max(map(len, rows))
    lengths = [max((len(r[n]) for r in rows if n < len(r)), default=0) for n in range(width)]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        z.writestr("[Content_Types].xml", _TYPES)
        z.writestr("_rels/.rels", _ROOT)
        z.writestr("xl/workbook.xml", _BOOK)
        z.writestr("xl/_rels/workbook.xml.rels", _BOOK_PARTS)
        z.writestr("xl/styles.xml", _STYLES)
        with z.open("xl/sheet.xml", "w", force_zip64=True) as sheet:
            for piece in _sheet(rows, lengths):
                sheet.write(piece.encode())


def _sheet(rows: list[list[str]], lengths: list[int]) -> Iterator[str]:
    cols = "".join(
        f'<col min="{n}" max="{n}" width="{min(length, _MAX_WIDTH) * 1.1 + 2:.1f}" customWidth="1"/>'
        for n, length in enumerate(lengths, 1)
    )
    yield (
        f'{_HEAD}<worksheet xmlns="{_S}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>'
        f"<cols>{cols}</cols><sheetData>"
    )
    for number, row in enumerate(rows):
        style = ' s="1"' if number == 0 else ""
        values = [*row, *[""] * (len(lengths) - len(row))]
        cells = "".join(f'<c t="inlineStr"{style}><is>{_text(value)}</is></c>' for value in values)
        yield f"<row>{cells}</row>"
    orientation = ' orientation="landscape"' if len(lengths) >= 8 else ""
    yield f'</sheetData><pageSetup paperSize="9" fitToWidth="1" fitToHeight="0"{orientation}/></worksheet>'


def _text(value: str) -> str:
    return f'<t xml:space="preserve">{html.escape(_NOT_XML.sub(" ", value))}</t>'
