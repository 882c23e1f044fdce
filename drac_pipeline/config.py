"""Settings of every stage, as typed models with the method's defaults.

A stage's settings are part of its identity: their hash goes into the code version,
so that a change re-runs exactly the stages it affects.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from drac_pipeline.errors import ConfigError

CONFIG_FILE = "drac.toml"


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceConfig(_Settings):
    """Which files of a source are documents (globs on the document key)."""

    include: list[str] = Field(default=["**/*"], description="globs a key must match one of")
    exclude: list[str] = Field(default=[], description="globs that leave a key out")
    follow_symlinks: bool = False


class NormalizeConfig(_Settings):
    """Any format to PDF."""

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
    passwords: list[SecretStr] = Field(default=[], description="tried on encrypted documents, in order")
    office_command: str = Field(default="soffice", description="LibreOffice: a name on PATH or a path")
    browser_command: str = Field(
        default="",
        description="Chromium or Chrome: a name on PATH or a path; empty finds it",
    )


class RenderConfig(_Settings):
    """PDF pages to PNG (paper: 200 DPI, no side over 1,568 px)."""

    dpi: int = Field(default=200, ge=36, le=600)
    max_side: int = Field(default=1568, ge=256, description="longest side in pixels after downscaling")
    window: int = Field(default=32, ge=1, description="pages rendered per open document; bounds memory")


class ConvertConfig(_Settings):
    """Pages to Markdown."""

    converter: Literal["local"] = "local"
    html_route: Literal["web", "pdf"] = Field(
        default="web", description="web pages, Markdown, text: read from their own file, or from their PDF"
    )
    ocr: bool = Field(default=True, description="read pages without a usable text layer by OCR")
    ocr_dpi: int = Field(default=200, ge=72, le=400, description="resolution at which pages are read by OCR")
    ocr_min_confidence: float = Field(
        default=0.6, ge=0, le=1, description="lines read less surely are left out, with a warning"
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


class SectionConfig(_Settings):
    """Elements to sections."""

    budget: int = Field(default=60, ge=1, description="elements a section holds at most")


class PlanConfig(_Settings):
    """Sections to chunk plans."""

    planner: Literal["local"] = "local"
    min_blocks: int = Field(default=3, ge=1, description="content blocks a chunk should have at least")
    max_blocks: int = Field(default=8, ge=1, description="content blocks a chunk should have at most")
    target_chars: int = Field(
        default=600,
        ge=100,
        description="characters, headings counted, below which a chunk takes in its neighbours; "
        "whole sections, lists and tables stay whole above it, so the mean lies about half as high again",
    )
    max_chars: int = Field(
        default=1800, ge=200, description="characters a chunk of several elements never exceeds"
    )


class DracConfig(_Settings):
    """All settings; the sections of `drac.toml` have these names."""

    source: SourceConfig = SourceConfig()
    normalize: NormalizeConfig = NormalizeConfig()
    render: RenderConfig = RenderConfig()
    convert: ConvertConfig = ConvertConfig()
    section: SectionConfig = SectionConfig()
    plan: PlanConfig = PlanConfig()


def settings_hash(*settings: BaseModel) -> str:
    """Twelve hex digits of the SHA-256 of the settings as canonical JSON."""
    text = json.dumps([s.model_dump(mode="json") for s in settings], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def load_config(home: Path) -> DracConfig:
    """The settings of `home/drac.toml`, or the defaults where there is none.

    Raises ConfigError naming the key and what it may be.
    """
    path = home / CONFIG_FILE
    if not path.is_file():
        return DracConfig()
    try:
        return DracConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{path}: not valid TOML: {e}") from e
    except ValidationError as e:
        lines = [f"  {'.'.join(map(str, x['loc']))}: {x['msg']}" for x in e.errors()]
        raise ConfigError(f"{path}: settings are wrong:\n" + "\n".join(lines)) from e
