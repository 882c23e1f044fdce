"""Time and memory of reading spreadsheets by their cells, beside what libraries take to read the cells alone.

    python benchmarks/sheets.py [--rows 50000] [--formats xlsx,csv,ods,xls] [--libraries]

Makes workbooks of ten columns (texts, dates, amounts, percent, formulas) in a temporary
folder and converts each in a process of its own. XLS and ODS are made by LibreOffice (an
XLS holds 65,536 rows). `--libraries` also reads the XLSX with openpyxl.
"""

from __future__ import annotations

import argparse
import datetime
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = ["Order", "Date", "Customer", "Country", "Product", "Quantity", "Price", "Discount", "Total", "Remark"]


def make_xlsx(path: Path, rows: int) -> None:
    """`rows` orders under a header in bold."""
    import xlsxwriter

    rng = random.Random(1)
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("Orders")
    day, money, percent = (book.add_format({"num_format": f}) for f in ("yyyy-mm-dd", "#,##0.00", "0.0%"))
    sheet.write_row(0, 0, HEAD, book.add_format({"bold": True}))
    for r in range(1, rows + 1):
        quantity, price, off = rng.randint(1, 90), rng.random() * 500, (r % 20) / 100
        sheet.write(r, 0, f"SO-{r:06d}")
        sheet.write_datetime(r, 1, datetime.datetime(2024, 1, 1) + datetime.timedelta(days=r % 400), day)
        sheet.write(r, 2, f"Customer {r % 997}")
        sheet.write(r, 3, ("Austria", "Denmark", "Spain", "Japan")[r % 4])
        sheet.write(r, 4, f"LP-{r % 600}")
        sheet.write(r, 5, quantity)
        sheet.write(r, 6, price, money)
        sheet.write(r, 7, off, percent)
        sheet.write_formula(
            r, 8, f"=F{r + 1}*G{r + 1}*(1-H{r + 1})", money, round(quantity * price * (1 - off), 6)
        )
        sheet.write(r, 9, "urgent" if r % 9 == 0 else "as agreed")
    book.close()


def make_csv(path: Path, rows: int) -> None:
    """The same orders as text."""
    with path.open("w", encoding="utf-8") as f:
        f.write(",".join(HEAD) + "\n")
        for r in range(1, rows + 1):
            f.write(f"SO-{r:06d},2024-05-{r % 28 + 1:02d},Customer {r % 997},Spain,LP-{r % 600},")
            f.write(f"{r % 90},{r * 1.25:.2f},{r % 20}.0%,{r * 3.75:.2f},as agreed\n")


def by_office(source: Path, kind: str) -> Path:
    """`source` as another format by LibreOffice."""
    from drac_pipeline.config import NormalizeConfig
    from drac_pipeline.normalize.office import OfficeConverter

    converter = OfficeConverter(NormalizeConfig().office_command, timeout=600, warm=False)
    return converter.convert(source, source.parent / kind, to=kind)


def measure(what: str, path: Path) -> None:
    """One reading in this process; prints a line."""
    start, cpu = time.monotonic(), time.process_time()
    if what == "openpyxl":
        import openpyxl

        n = sum(1 for _ in openpyxl.load_workbook(path, data_only=True).worksheets[0].iter_rows())
    elif what == "openpyxl, read-only":
        import openpyxl

        sheet = openpyxl.load_workbook(path, data_only=True, read_only=True).worksheets[0]
        n = sum(1 for row in sheet.iter_rows() if [c.number_format for c in row])
    else:
        from drac_pipeline.config import ConvertConfig
        from drac_pipeline.sheets import convert_csv, convert_workbook

        config = ConvertConfig()
        start, cpu = time.monotonic(), time.process_time()  # without the imports
        made = (
            convert_csv(path.read_bytes(), config) if what == "csv" else convert_workbook(path, what, config)
        )
        n = sum(len(t.rows) for t in made.tables)
    seconds, used = time.monotonic() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:20} {n:>8,} rows  {seconds:6.1f} s  {used:6.1f} s CPU  {peak:6.0f} MB at most", flush=True)


def main() -> None:
    """Make the files, then measure each in a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--formats", default="xlsx,csv,ods,xls")
    parser.add_argument("--libraries", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "PATH"), help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.measure:
        measure(a.measure[0], Path(a.measure[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        xlsx = Path(folder) / "orders.xlsx"
        make_xlsx(xlsx, a.rows)
        tasks = [("openpyxl", xlsx), ("openpyxl, read-only", xlsx)] if a.libraries else []
        for kind in a.formats.split(","):
            path = xlsx
            if kind == "csv":
                path = xlsx.with_suffix(".csv")
                make_csv(path, a.rows)
            elif kind != "xlsx":
                path = by_office(xlsx, kind)
            tasks.append((kind, path))
        for what, path in tasks:
            subprocess.run([sys.executable, __file__, "--measure", what, str(path)], check=True)


if __name__ == "__main__":
    main()
