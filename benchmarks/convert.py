"""Speed of the local converter: pages per CPU-second, memory, and the ratio to a peer.

    python benchmarks/convert.py FOLDER_OR_PDF... [--peer] [--sample N]

`--peer` also times pymupdf4llm (installed by the caller, it is no dependency of ours) on
every Nth page-bearing file of the same set, in the same run.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import pymupdf

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.errors import DocumentError


def files_of(paths: list[Path]) -> list[Path]:
    """The PDFs under the paths, in order."""
    return sorted(p for path in paths for p in ([path] if path.is_file() else path.rglob("*.pdf")))


def time_ours(files: list[Path]) -> tuple[int, float]:
    """(pages, CPU seconds) of the local converter; unreadable files are named and skipped."""
    config = ConvertConfig(ocr=False)
    pages, start = 0, time.process_time()
    for path in files:
        try:
            pages += len(convert_pdf(path, config).report.pages)
        except DocumentError as e:
            print(f"  skipped {path.name}: {e.kind}", file=sys.stderr)
    return pages, time.process_time() - start


def time_peer(files: list[Path]) -> tuple[int, float]:
    """(pages, CPU seconds) of pymupdf4llm.to_markdown with its defaults."""
    import pymupdf4llm  # pyright: ignore[reportMissingImports]

    pages, start = 0, time.process_time()
    for path in files:
        with pymupdf.open(path) as document:
            pages += document.page_count
        pymupdf4llm.to_markdown(str(path), show_progress=False)
    return pages, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--peer", action="store_true", help="time pymupdf4llm too")
    parser.add_argument("--sample", type=int, default=20, help="the peer gets every Nth file")
    args = parser.parse_args()
    files = files_of(args.paths)
    if not files:
        sys.exit("no PDF found")
    pages, seconds = time_ours(files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"local      {len(files):5} files {pages:6} pages {seconds:8.2f} CPU s {pages / seconds:7.1f}/s")
    print(f"           peak memory {peak:.0f} MB")
    if args.peer:
        sample = files[:: args.sample]
        ours = time_ours(sample)
        theirs = time_peer(sample)
        speed, peer = ours[0] / ours[1], theirs[0] / theirs[1]
        print(f"local      {len(sample):5} files {ours[0]:6} pages {ours[1]:8.2f} CPU s {speed:7.1f}/s")
        print(f"pymupdf4llm{len(sample):5} files {theirs[0]:6} pages {theirs[1]:8.2f} CPU s {peer:7.1f}/s")
        print(f"ratio      {speed / peer:.1f}")


if __name__ == "__main__":
    main()
