"""Read the manifests of a home and sum up what they say. Opens no document and no artifact."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from drac_pipeline.pipeline.condition import made_state
from drac_pipeline.store import Home, Manifest

AGES = ((1, "under a day"), (7, "under a week"), (31, "under a month"), (366, "under a year"))


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document in a line. `state` and `why` are those of `made_state`;
    `made` is when its last output was made, `modified` its file's time (both seconds since the epoch);
    `seconds` and `usd` what its outputs took; `recall` and `precision` are None where nothing could be
    compared."""

    key: str
    format: str
    state: str
    why: str
    pages: int
    chunks: int
    seconds: float
    usd: float
    recall: float | None
    precision: float | None
    missing_values: int
    failed_checks: tuple[str, ...]
    warnings: int
    modified: float
    made: float


@dataclass
class Overview:
    """All documents of a home, and their sums."""

    at: datetime
    documents: list[DocumentLine] = field(default_factory=list)
    retired: int = 0

    @property
    def states(self) -> Counter[str]:
        """Documents by state."""
        return Counter(d.state for d in self.documents)

    @property
    def formats(self) -> Counter[str]:
        """Documents by format."""
        return Counter(d.format for d in self.documents)

    @property
    def ages(self) -> dict[str, int]:
        """Documents by the time since their file was changed."""
        found: Counter[str] = Counter()
        now = self.at.timestamp()
        for d in self.documents:
            days = (now - d.modified) / 86_400
            found[next((name for most, name in AGES if days < most), "over a year")] += 1
        return {name: found[name] for name in [*(n for _, n in AGES), "over a year"] if found[name]}

    def figures(self) -> dict[str, float]:
        """Numbers to plot over time."""
        known = [d for d in self.documents if d.recall is not None]
        states = self.states
        return {
            "documents": len(self.documents),
            "up_to_date": states["up to date"],
            "stale": states["stale"] + states["incomplete"],
            "partial": states["partial"],
            "blank": states["blank"],
            "failed": states["failed"],
            "retired": self.retired,
            "pages": sum(d.pages for d in self.documents),
            "chunks": sum(d.chunks for d in self.documents),
            "cost_usd": round(sum(d.usd for d in self.documents), 6),
            "seconds": round(sum(d.seconds for d in self.documents), 1),
            "failed_checks": sum(len(d.failed_checks) for d in self.documents),
            "mean_recall": round(sum(d.recall or 0 for d in known) / len(known), 5) if known else 1.0,
        }

    def worst(self, n: int = 20) -> list[DocumentLine]:
        """The documents with the lowest fidelity, among those under 1."""
        known = [d for d in self.documents if d.recall is not None and d.precision is not None]
        low = sorted(known, key=lambda d: (min(d.recall or 0, d.precision or 0), d.key))
        return [d for d in low if min(d.recall or 0, d.precision or 0) < 1][:n]


def gather_overview(home: Home, at: datetime | None = None) -> Overview:
    """The overview of a home as its manifests say it."""
    out = Overview(at or datetime.now(UTC))
    for manifest in home.store.manifests(retired=True):
        if manifest.retired:
            out.retired += 1
        else:
            out.documents.append(_line(home, manifest))
    out.documents.sort(key=lambda d: d.key)
    return out


def _line(home: Home, m: Manifest) -> DocumentLine:
    state, why = made_state(home.store, m, home.config)
    records = list(m.stages.values())
    counts = {n: r.counts for n, r in m.stages.items()}
    normalized = m.stages.get("normalized_pdf")
    markdown = counts.get("markdown", {})
    failed = (f"{s}: {n}" for s, r in m.stages.items() for n, c in r.checks.items() if not c.passed)
    fidelity = m.stages["markdown"].checks.get("fidelity") if "markdown" in m.stages else None
    missing = fidelity.detail.get("missing_values", 0) if fidelity else 0
    return DocumentLine(
        key=m.document_key,
        format=str(normalized.facts.get("format", "?")) if normalized else "?",
        state=state,
        why=why,
        pages=int(counts.get("normalized_pdf", {}).get("pages", 0)),
        chunks=int(counts.get("chunks", {}).get("chunks", 0)),
        seconds=sum(r.seconds for r in records),
        usd=sum(float(c.get("cost_usd", 0)) for c in counts.values()),
        recall=markdown.get("fidelity_recall"),
        precision=markdown.get("fidelity_precision"),
        missing_values=int(missing) if isinstance(missing, int) else 0,
        failed_checks=tuple(failed),
        warnings=sum(len(r.warnings) for r in records),
        modified=m.source.modified,
        made=max((_seconds(r.made_at) for r in records), default=0.0),
    )


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
