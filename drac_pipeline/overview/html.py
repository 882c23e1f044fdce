"""The overview as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2

from drac_pipeline.inspection.serve import document_url
from drac_pipeline.overview.gather import Overview
from drac_pipeline.pipeline.condition import corpus_size

MOST_ROWS = 2_000
HERE = Path(__file__).parent


def overview_html(overview: Overview, title: str, inspect_url: str = "") -> str:
    """The page; documents link to their pages at `inspect_url` if one is given."""

    def link(key: str) -> str:
        return document_url(inspect_url, key) if inspect_url else ""

    attention = [d for d in overview.documents if d.state != "up to date" or d.failed_checks]
    return _template().render(
        o=overview,
        title=title,
        figures=overview.figures(),
        bars={
            "State": _shares(overview.states),
            "Format": _shares(dict(overview.formats.most_common(15))),
            "Changed": _shares(overview.ages),
        },
        attention=attention[:MOST_ROWS],
        n_attention=len(attention),
        listed=overview.documents[:MOST_ROWS],
        worst=overview.worst(),
        link=link,
        corpus_size=corpus_size,
        dearest=[d for d in sorted(overview.documents, key=lambda d: -d.usd)[:10] if d.usd > 0],
        slowest=sorted(overview.documents, key=lambda d: -d.seconds)[:10],
    )


def _shares(counts: Mapping[str, int]) -> list[tuple[str, int, float]]:
    """Name, count, percent of the largest."""
    most = max(counts.values(), default=1)
    return [(name, n, round(100 * n / most, 1)) for name, n in counts.items()]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("overview.html.j2")
