"""The agentic baseline: what it costs, and what it does to the text."""

from __future__ import annotations

from collections.abc import Callable

from drac_pipeline.llm.doubles import Brain, Double, FaultPlan
from drac_pipeline.llm.service import ModelService
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan.agentic import chunk_by_rewriting

TEXT = "# Pumps\n\n" + "\n\n".join(f"Paragraph {n} tells of pump {n}00 at length." for n in range(1, 40))
Make = Callable[..., ModelService]


def test_the_model_writes_the_chunks(service: Make):
    with Double(Brain()) as server:
        model = service(server)
        made = chunk_by_rewriting("a.md", parse_markdown(TEXT), model.config, model)
    assert len(made.texts) == 39
    assert made.lost == 1 / (39 * 8 + 1)  # the heading
    assert made.invented == 0
    assert model.ledger.spent("a.md", "agentic")["output_tokens"] * 4 > len(TEXT) * 0.9


def test_what_it_invents_and_loses_is_counted(service: Make):
    with Double(Brain(), faults=FaultPlan(script=["refusal", "truncated"])) as server:
        model = service(server)
        made = chunk_by_rewriting("a.md", parse_markdown(TEXT), model.config, model)
        assert (made.texts, made.lost) == ([], 1.0)
        assert made.failed == ["part 1: no chunks in the reply (length)"]
    with Double(Brain(), faults=FaultPlan(script=["invented digit"])) as server:
        model = service(server)
        made = chunk_by_rewriting("b.md", parse_markdown(TEXT), model.config, model)
    assert made.invented > 0
    assert made.lost > 1 / (39 * 8 + 1)
