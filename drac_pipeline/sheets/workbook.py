"""A workbook or CSV file to retrieval-oriented Markdown, by reading its cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from drac_pipeline.config import ConvertConfig, NormalizeConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import EmptyDocument, EncryptedDocument, UnsupportedDocument
from drac_pipeline.model.conversion import ConversionReport, Converted, Dropped
from drac_pipeline.normalize.limits import check_zip
from drac_pipeline.sheets.delimited import read_csv
from drac_pipeline.sheets.grid import RawSheet, Sheet, Visibility, finish
from drac_pipeline.sheets.ods import read_ods
from drac_pipeline.sheets.recalculate import fill_in
from drac_pipeline.sheets.write import SheetWriter
from drac_pipeline.sheets.xls import read_xls
from drac_pipeline.sheets.xlsx import read_xlsx, too_many

VERSION = "1"
_OLE = b"\xd0\xcf\x11\xe0"


def convert_workbook(
    path: Path, format: str, config: ConvertConfig, tools: NormalizeConfig | None = None
) -> Converted:
    """The visible sheets of a workbook, with spans and tables; what was left out is in the report.

    `tools`: with which programs formulas are calculated. Raises a DocumentError where the file cannot
    be read, EmptyDocument where it holds nothing to see.
    """
    tools = tools or NormalizeConfig()
    writer = SheetWriter()
    report = ConversionReport(converter=f"sheets {VERSION}")
    # sheets are written as they are read, unless formulas have to be calculated first
    waiting: list[RawSheet] = []
    for raw in _read(path, format, config, tools):
        if raw.hidden and not config.hidden_sheets:
            _drop(report, raw.name, "hidden sheet")
        elif waiting or raw.uncalculated:
            waiting.append(raw)
        else:
            add_sheet(writer, raw, report, config)
    why = fill_in(path, waiting, config.sheet_max_cells, tools) if waiting else ""
    for raw in waiting:
        add_sheet(writer, raw, report, config, uncalculated=why)
    return _finished(writer, report)


def convert_csv(data: bytes, config: ConvertConfig) -> Converted:
    """The rows of a CSV or TSV file, whose first row is its header unless it speaks against it."""
    writer = SheetWriter()
    report = ConversionReport(converter=f"sheets {VERSION}")
    raw, warning = read_csv(data, config.sheet_max_cells)
    if warning:
        report.warnings.append(warning)
    add_sheet(writer, raw, report, config, prior=True)
    return _finished(writer, report)


def _read(path: Path, format: str, config: ConvertConfig, tools: NormalizeConfig) -> Iterator[RawSheet]:
    match format:
        case "ods":
            check_zip(path, tools.max_unpacked_bytes)
            return iter(read_ods(path, config.sheet_max_cells))
        case "xls":
            return read_xls(path, config.sheet_max_cells, hidden_sheets=config.hidden_sheets)
        case "xlsx":
            _refuse_encrypted(path)
            check_zip(path, tools.max_unpacked_bytes)
            return read_xlsx(path, config.sheet_max_cells, hidden_sheets=config.hidden_sheets)
        case _:
            raise UnsupportedDocument(f"{format} is no workbook that can be read by its cells")


def _refuse_encrypted(path: Path) -> None:
    """An encrypted XLSX is an OLE file with the encrypted zip in it."""
    with path.open("rb") as f:
        if f.read(4) == _OLE:
            raise EncryptedDocument("a password is needed", remedy="Save it without a password.")


def add_sheet(
    writer: SheetWriter,
    raw: RawSheet,
    report: ConversionReport,
    config: ConvertConfig,
    *,
    prior: bool = False,
    uncalculated: str = "",
) -> None:
    """Write one sheet and report what of it was left out.

    `uncalculated` says why formulas without a stored value could not be calculated.
    """
    take = Visibility(config.hidden_rows, config.hidden_columns, config.filtered_rows)
    sheet = finish(raw, take, config.sheet_max_cells)
    if sheet is None:
        raise too_many(config.sheet_max_cells)
    if sheet.rows or sheet.texts:
        writer.sheet(sheet, prior=prior)
    for (one, many), n in sheet.left_out.items():
        _drop(report, raw.name, f"{n:,} {one if n == 1 else many}")
    if raw.uncalculated:
        empty = counted(
            len(raw.uncalculated),
            "formula has no stored value and is empty",
            "formulas have no stored value and are empty",
        )
        report.warnings.append(
            f"sheet {raw.name}: {empty} here"
            f" ({uncalculated or 'not calculated'}); open the file in the program that made it and save it"
        )
    if raw.lost_texts:
        lost = f"{counted(raw.lost_texts, 'cell refers', 'cells refer')} to texts that are not there"
        report.warnings.append(f"sheet {raw.name}: {lost}")
    _comments(writer, sheet, report, config)


def _comments(writer: SheetWriter, sheet: Sheet, report: ConversionReport, config: ConvertConfig) -> None:
    if not sheet.comments:
        return
    if config.cell_comments:
        writer.comments(sheet)
        return
    for cell, text in sheet.comments:
        report.dropped.append(Dropped(page=0, text=f"{sheet.name}!{cell}: {text}", reason="comment"))
    n = len(sheet.comments)
    report.warnings.append(f"sheet {sheet.name}: {n:,} {'comment' if n == 1 else 'comments'} left out")


def _drop(report: ConversionReport, sheet: str, what: str) -> None:
    report.dropped.append(Dropped(page=0, text=f"{sheet}: {what}", reason="hidden"))
    report.warnings.append(f"sheet {sheet}: {what} left out")


def _finished(writer: SheetWriter, report: ConversionReport) -> Converted:
    out = writer.writer
    if not out.spans:
        hidden = any(d.reason == "hidden" for d in report.dropped)
        raise EmptyDocument(
            "no sheet has anything to see" + (", the rest is hidden" if hidden else ""),
            remedy="Unhide what should be found, or set convert.hidden_sheets." if hidden else "Remove it.",
        )
    return Converted(markdown=out.markdown, spans=out.spans, tables=out.tables, report=report)
