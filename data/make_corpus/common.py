"""What all document makers share: paths, running other programs, and fixed dates and ids."""

import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"
FIXED = "20250502093000"  # the creation date written into every file
FONT_DIR = Path("/usr/share/fonts/truetype")


def target(name: str) -> Path:
    """The path of a corpus file, its folder made."""
    path = CORPUS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def fix_pdf(path: Path) -> None:
    """Overwrite dates and ids in place, in the same number of bytes, so that a re-run gives equal files."""
    data = path.read_bytes()
    data = re.sub(rb"\(D:\d{14}", b"(D:" + FIXED.encode(), data)
    ids = rb"<[0-9A-Fa-f]{32}>(?=\s*(?:<[0-9A-Fa-f]{32}>)?\s*\])"
    data = re.sub(ids, b"<" + b"5c" * 16 + b">", data)
    data = re.sub(rb"/DocChecksum /[0-9A-Fa-f]{32}", b"/DocChecksum /" + b"5C" * 16, data)
    path.write_bytes(data)


def fix_zip(path: Path, font="Arial") -> None:
    """Rewrite an office file with fixed time stamps and with the given font in its theme."""
    with zipfile.ZipFile(path) as src:
        parts = [(info.filename, src.read(info)) for info in src.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in parts:
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2025-05-02T09:30:00Z", data)
            if "/theme/" in name:
                data = data.replace(b'typeface="Calibri"', f'typeface="{font}"'.encode())
            info = zipfile.ZipInfo(name, (2025, 5, 2, 9, 30, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, data)


def office_to_pdf(source: Path, pdf: Path) -> None:
    """Export a file with LibreOffice, in a profile of its own."""
    with tempfile.TemporaryDirectory() as tmp:
        profile = f"-env:UserInstallation=file://{tmp}/profile"
        cmd = ["soffice", profile, "--headless", "--convert-to", "pdf:writer_pdf_Export", "--outdir", tmp]
        subprocess.run([*cmd, str(source)], check=True, timeout=180, capture_output=True)
        shutil.move(Path(tmp) / f"{source.stem}.pdf", pdf)
    fix_pdf(pdf)


def html_to_pdf(source: Path, pdf: Path) -> None:
    """Print a page with Chromium; header and footer come from the page's own @page rules."""
    with tempfile.TemporaryDirectory() as tmp:
        cmd = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        cmd += [f"--user-data-dir={tmp}", f"--print-to-pdf={tmp}/out.pdf", source.resolve().as_uri()]
        subprocess.run(cmd, check=True, timeout=180, capture_output=True)
        shutil.move(Path(tmp) / "out.pdf", pdf)
    fix_pdf(pdf)
