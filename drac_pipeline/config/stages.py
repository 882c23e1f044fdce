"""Settings of the sources and of the stages up to the sections."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from drac_pipeline.config.base import Settings, check_globs
from drac_pipeline.config.overrides import ByDocument


class SourceConfig(Settings):
    """Which files of a source are documents (globs on the document key)."""

    include: list[str] = Field(default=["**/*"], description="globs a key must match one of")
    exclude: list[str] = Field(default=[], description="globs that leave a key out")
    follow_symlinks: bool = False

    @field_validator("include", "exclude")
    @classmethod
    def _globs(cls, globs: list[str]) -> list[str]:
        check_globs(globs)
        return globs


class NormalizeConfig(ByDocument):
    """Any format to PDF."""

    for_all = frozenset({"office_command", "browser_command"})
    operational = frozenset(
        {
            "timeout_seconds",
            "max_bytes",
            "max_unpacked_bytes",
            "max_image_pixels",
            "max_memory_bytes",
            "passwords",
            "office_command",
            "browser_command",
        }
    )
    timeout_seconds: float = Field(default=300.0, gt=0, description="hard limit a tool gets per document")
    max_bytes: int = Field(default=500_000_000, gt=0, description="largest source file taken")
    max_unpacked_bytes: int = Field(
        default=2_000_000_000, gt=0, description="largest declared size of a zip-based file once unpacked"
    )
    max_image_pixels: int = Field(default=200_000_000, gt=0, description="largest image frame taken")
    max_memory_bytes: int = Field(
        default=4_000_000_000,
        gt=0,
        description="memory a tool may take, all its processes together",
    )
    tracked_changes: Literal["accepted", "rejected", "shown"] = Field(
        default="accepted", description="how tracked changes are read; `shown` prints deletions as text"
    )
    damaged_pdf: Literal["refuse", "take"] = Field(
        default="refuse",
        description="a PDF that was cut off and lost content: an error, or taken for what is left of it",
    )
    print_max_chars: int = Field(
        default=1_500_000,
        ge=0,
        description="of a web page, text or message with more markup only the beginning is printed, for"
        " showing: its text is read whole; 0: no limit",
    )
    passwords: list[SecretStr] = Field(default=[], description="tried on encrypted documents, in order")
    office_command: str = Field(default="soffice", description="LibreOffice: a name on PATH or a path")
    browser_command: str = Field(
        default="",
        description="Chromium or Chrome: a name on PATH or a path; empty finds it",
    )

    @property
    def plain_passwords(self) -> list[str]:
        """The passwords as they are typed: for opening documents, never for showing."""
        return [p.get_secret_value() for p in self.passwords]


class RenderConfig(ByDocument):
    """PDF pages to PNG (paper: 200 DPI, no side over 1,568 px)."""

    operational = frozenset({"window"})
    dpi: int = Field(default=200, ge=36, le=600)
    max_side: int = Field(default=1568, ge=256, description="longest side in pixels after downscaling")
    window: int = Field(default=32, ge=1, description="pages rendered per open document; bounds memory")


class ConvertConfig(ByDocument):
    """Pages to Markdown."""

    operational = frozenset({"sheet_max_cells"})
    for_all = frozenset({"converter"})
    converter: Literal["local"] = "local"
    mode: Literal["local", "model", "auto"] = Field(
        default="local",
        description="who reads pages: the local converter, the model of [model], or the model only those "
        "that need pixels (scans, untrusted text layers, low local confidence)",
    )
    html_route: Literal["web", "pdf"] = Field(
        default="web", description="web pages, Markdown, text: read from their own file, or from their PDF"
    )
    ocr: bool = Field(default=True, description="read pages without a usable text layer by OCR")
    ocr_dpi: int = Field(default=200, ge=72, le=400, description="resolution at which pages are read by OCR")
    ocr_min_confidence: float = Field(
        default=0.6, ge=0, le=1, description="lines read less surely are left out, with a warning"
    )
    ocr_models: str = Field(
        default="",
        description="folder with other recognition models for rapidocr (rec.onnx; det.onnx and rec.txt "
        "where needed), for scripts that its own do not read; empty: its own",
    )
    layout_below: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="pages read less surely are looked at by PyMuPDF's layout model too; 0: never",
    )
    page_recall: float = Field(
        default=0.97, ge=0, le=1, description="check `fidelity`: share of a page's own words to be there"
    )
    page_precision: float = Field(
        default=0.95, ge=0, le=1, description="check `fidelity`: share of the words written to be the page's"
    )
    sheet_route: Literal["cells", "pdf"] = Field(
        default="cells", description="read spreadsheets by their cells, or from their printed pages"
    )
    sheet_max_cells: int = Field(
        default=5_000_000, gt=0, description="cells with content a workbook may have"
    )
    hidden_sheets: bool = Field(default=False, description="take in sheets that are hidden")
    hidden_rows: bool = Field(default=False, description="take in rows that are hidden by hand")
    filtered_rows: bool = Field(default=False, description="take in rows that a filter hides")
    hidden_columns: bool = Field(default=False, description="take in columns that are hidden")
    cell_comments: bool = Field(default=False, description="take in comments on cells")
    office_route: Literal["own", "pdf"] = Field(
        default="own", description="text documents and slides: read from their own file, or from their PDF"
    )
    comments: bool = Field(default=False, description="take in comments of text documents and slides")
    speaker_notes: bool = Field(default=False, description="take in speaker notes, after their slide")
    hidden_slides: bool = Field(default=False, description="take in slides that are hidden")
    headers_footers: bool = Field(
        default=False, description="take in headers and footers of text documents, each once"
    )


class LimitsConfig(ByDocument):
    """What a document may take of this machine; beyond it, it fails alone."""

    document_seconds: float = Field(
        default=3600.0, gt=0, description="longest that one document is worked on in a run"
    )
    worker_memory_bytes: int = Field(
        default=4_000_000_000,
        gt=0,
        description="memory of the process that works on a document and of its helpers together",
    )
    pages_in_parallel: int = Field(
        default=0,
        ge=0,
        description="pages of one document worked on at once; 0: as many as cores are free, 1: one by one",
    )


class SectionConfig(ByDocument):
    """Elements to sections."""

    budget: int = Field(default=60, ge=1, description="elements a section holds at most")
