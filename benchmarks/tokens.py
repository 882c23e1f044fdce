"""Output tokens and cost of planning by ids against regenerating the text, beside the paper's figures.

    python benchmarks/tokens.py BENCHMARK_FOLDER

For each organization with agentic reference chunks (`parsed-chunks`), its PDFs are converted locally and
planned in every format; the replies are those of a planner that groups as the local one does, written as the
prompt asks. All texts are counted with o200k_base, whatever the model: figures for Gemini and Gemma differ by
some per cent. `agentic` are the reference chunks' texts, as the model that made them wrote them. Input of the
agentic way is the document once; of ours, what the planner is shown, rules included. Costs are of planning
alone, per 1,000 documents.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bpe_openai import get_encoding

from drac_pipeline.config import ConvertConfig, DracConfig, ModelConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.llm.prices import Prices
from drac_pipeline.llm.prompts import AGENTIC, prompt
from drac_pipeline.model import Element, Section
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import plan_local
from drac_pipeline.plan.llm import plan_request, section_lines
from drac_pipeline.section import sections

MODELS = [
    ("GPT-4.1", "gpt-4.1", "openai"),
    ("Gemini 2.5 Pro", "gemini-2.5-pro", "google"),
    ("Gemma 3 27B", "google.gemma-3-27b-it", "aws"),
    ("Gemma 3 12B", "google.gemma-3-12b-it", "aws"),
]
PAPER_LESS_OUTPUT, PAPER_CHEAPER = 0.957, 0.517  # W-RAC (arXiv 2604.04936), over its corpora and models
STYLES = ("lists", "ranges", "boundaries")
REFERENCES = {
    "Aventro Motors": "aventro_prompt_chunks.json",
    "CloudWay-24": "cloudway_prompt_chunks.json",
    "Velvera Technologies": "velvera_prompt_chunks.json",
}


@dataclass
class Side:
    """Tokens in and out, and the size of each call."""

    documents: int = 0
    calls: list[tuple[int, int]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.calls = self.calls or []

    @property
    def tokens_in(self) -> int:
        return sum(i for i, _ in self.calls)

    @property
    def tokens_out(self) -> int:
        return sum(o for _, o in self.calls)

    def usd(self, model: str, provider: str) -> float:
        """Per 1,000 documents."""
        prices = Prices(provider=provider)
        return sum(prices.cost(model, i, o).usd for i, o in self.calls) / max(self.documents, 1) * 1000

    def add(self, other: "Side") -> None:
        self.documents += other.documents
        self.calls += other.calls


@lru_cache
def encoding():
    return get_encoding("o200k_base")


def count(text: str) -> int:
    """Tokens of a text."""
    return len(encoding().encode_ordinary(text))


def reply(section: Section, elements: Sequence[Element], groups: list[list[str]], style: str) -> str:
    """What a model writes for these groups (element ids of the document), in the section's numbering."""
    by_id = {e.id: e for e in elements}
    own: dict[str, str] = {}
    counts = {"h": 0, "p": 0}
    for i in (*section.context_ids, *section.element_ids):
        letter = "p" if by_id[i].is_content else "h"
        counts[letter] += 1
        own[i] = f"{letter}{counts[letter]}"
    if style == "boundaries":
        return " ".join(own[g[0]][1:] for g in groups) + f" /{counts['p']}"
    if style == "ranges":
        spans = [(own[g[0]][1:], own[g[-1]][1:]) for g in groups]
        return " ".join(a if a == b else f"{a}-{b}" for a, b in spans)
    lists = [[own[h] for h in by_id[g[0]].ancestors[-3:] if h in own] + [own[i] for i in g] for g in groups]
    return json.dumps({"chunks": lists})


def ours(elements: list[Element], style: str) -> Side:
    """Planning a document by ids."""
    config = DracConfig(model=ModelConfig(plan_format=style))  # type: ignore[arg-type]
    by_id = {e.id: e for e in elements}
    side = Side(1)
    for section in sections(elements, config.section):
        lines, n = section_lines(section, by_id)
        if n <= 1:
            continue
        plan = plan_local("d", elements, [section], config.plan)
        groups = [[i for i in c.body_ids if by_id[i].is_content] for c in plan.chunks]
        request = plan_request(lines, config)
        asked = count(request.system) + sum(count(p) for p in request.parts if isinstance(p, str))
        side.calls.append((asked, count(reply(section, elements, [g for g in groups if g], style))))
    return side


def agentic(records: list[dict], markdown: dict[str, str]) -> Side:
    """The reference chunks as a model wrote them: one call a document, JSON around the texts."""
    side = Side()
    rules = count(prompt(AGENTIC).text)
    for record in records:
        source = markdown.get(_name(record["file_name"]), "")
        written = json.dumps({"chunks": record["chunks"]}, ensure_ascii=False)
        side.documents += 1
        side.calls.append((rules + count(source), count(written)))
    return side


def _name(file: str) -> str:
    return " ".join(Path(file).stem.lower().replace("_", " ").split())


def read_references(path: Path) -> list[dict]:
    """One JSON object a line, or one list."""
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmark", type=Path)
    root = parser.parse_args().benchmark
    chunks = next(root.rglob("parsed-chunks"))
    total = {name: Side() for name in ("agentic", *STYLES)}
    print("output tokens (o200k_base)")
    row = "{:<22}{:>6}{:>10}{:>9}{:>9}{:>9}{:>9}{:>12}{:>9}"
    print(row.format("", "docs", "agentic", "lists", "fewer", "ranges", "fewer", "boundaries", "fewer"))

    def line(name: str, sides: dict[str, Side]) -> None:
        base = sides["agentic"].tokens_out
        shown = []
        for style in STYLES:
            shown += [f"{sides[style].tokens_out:,}", f"{1 - sides[style].tokens_out / base:.1%}"]
        print(row.format(name, sides["agentic"].documents, f"{base:,}", *shown))

    for name, file in REFERENCES.items():
        records = read_references(chunks / file)
        folder = root / "datasets" / name
        wanted = {_name(r["file_name"]) for r in records}
        found = [p for p in sorted((folder / "pdf").glob("*.pdf")) if _name(p.name) in wanted]
        there = {_name(p.name) for p in found}
        if left := [r["file_name"] for r in records if _name(r["file_name"]) not in there]:
            print(f"{name}: {len(left)} references without PDF left out: {', '.join(left[:5])}")
        records = [r for r in records if _name(r["file_name"]) in there]
        sides = {
            "agentic": agentic(
                records, {_name(p.name): p.read_text(encoding="utf-8") for p in (folder / "md").glob("*.md")}
            ),
            **{style: Side() for style in STYLES},
        }
        if not found:
            print(f"{name}: no PDFs of the references' documents")
            continue
        for pdf in found:
            converted = convert_pdf(pdf, ConvertConfig())
            elements = parse_markdown(converted.markdown, converted.spans)
            for style in STYLES:
                sides[style].add(ours(elements, style))
        line(name, sides)
        for style, side in sides.items():
            total[style].add(side)
    line("all", total)
    print(f"{'the paper':<22}{'':>6}{'':>10}{'':>9}{PAPER_LESS_OUTPUT:>9.1%}")
    print("\ncost of planning, USD per 1,000 documents (output tokens alone in brackets)")
    row = "{:<18}{:>18}{:>18}{:>18}{:>18}{:>10}"
    print(row.format("", "agentic", *STYLES, "cheaper"))
    for label, model, provider in MODELS:
        cells, whole = [], {}
        for style, side in total.items():
            whole[style] = side.usd(model, provider)
            only = Side(side.documents, [(0, o) for _, o in side.calls]).usd(model, provider)
            cells.append(f"{whole[style]:.2f} ({only:.3f})")
        print(row.format(label, *cells, f"{1 - whole['boundaries'] / whole['agentic']:.1%}"))
    print(row.format("the paper", "", "", "", "", f"{PAPER_CHEAPER:.1%}"))


if __name__ == "__main__":
    main()
