"""The documents written in HTML: three are printed with Chromium, one stays a web page."""

import shutil

from .common import html_to_pdf, target
from .markup import SOURCES

PRINTED = {
    "handbook.html": "hr/Employee Handbook 2025.pdf",
    "infosec.html": "Information Security Policy v3.2.pdf",
    "minutes.html": "quality/Minutes Product Safety Board 2025-04-08.pdf",
}


def make() -> None:
    """Print three and copy one."""
    for source, name in PRINTED.items():
        html_to_pdf(SOURCES / source, target(name))
    shutil.copyfile(SOURCES / "support.html", target("support/lm-410-chlorine-reading-drifts.html"))
