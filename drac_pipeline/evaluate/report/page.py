"""The report as one page that needs nothing else: style, plots and text inline, no script, no network."""

from __future__ import annotations

from typing import Any

from drac_pipeline.evaluate.metrics import BUDGET_RECALL, METRICS, SEVEN, SHORT
from drac_pipeline.evaluate.report.plots import (
    SERIES,
    Spread,
    difference_plot,
    interval_plot,
    scatter_plot,
    size_plot,
)
from drac_pipeline.evaluate.report.verdicts import verdicts

TEMPLATE = "report.html.j2"
_PLOTTED = ("recall@6", "recall@3", BUDGET_RECALL, "mrr", "ndcg@6", "precision@6")


def render_page(summary: dict[str, Any]) -> str:
    """The page of a summary as `summarize` makes it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("drac_pipeline.evaluate.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["metric"] = lambda v: f"{v:.3f}"
    environment.filters["signed"] = lambda v: f"{v:+.3f}".replace("-", "−")
    environment.filters["count"] = lambda v: f"{v:,.0f}"
    # one colour a set, on the whole page
    names = list(dict.fromkeys(s["name"] for c in summary["comparisons"] for s in c["sets"]))
    colours = {name: i % SERIES for i, name in enumerate(names)}
    return environment.get_template(TEMPLATE).render(
        summary=summary,
        metrics=METRICS,
        seven=SEVEN,
        budget_recall=BUDGET_RECALL,
        short=SHORT,
        colours=colours,
        plots=[_plots(c, colours) for c in summary["comparisons"]],
        best=[_best(c) for c in summary["comparisons"]],
        verdicts=[verdicts(c) for c in summary["comparisons"]],
    )


def _plots(c: dict[str, Any], colours: dict[str, int]) -> dict[str, Any]:
    ranker = c["main_ranker"]
    return {
        "metrics": {
            r: [
                (
                    SHORT[m],
                    interval_plot(
                        [_spread(s["name"], s["rankers"][r]["intervals"][m], colours) for s in c["sets"]],
                        f"{SHORT[m]} of each chunk set, ranked by {r}",
                    ),
                )
                for m in _PLOTTED
            ]
            for r in c["rankers"]
        },
        "sizes": [
            (s, size_plot(s["sizes"], colours[s["name"]], f"sizes of the chunks of {s['name']}"))
            for s in c["sets"]
        ],
        "trade": [
            (
                SHORT[m],
                scatter_plot(
                    [
                        (
                            s["name"],
                            s["mean_chars"],
                            s["rankers"][ranker]["overall"][m],
                            colours[s["name"]],
                        )
                        for s in c["sets"]
                    ],
                    f"{SHORT[m]} over the mean length of chunks",
                    "mean characters of a chunk",
                ),
            )
            for m in ("recall@6", BUDGET_RECALL)
        ],
        "differences": [
            (
                d["set"],
                difference_plot(
                    [Spread(SHORT[m], v["mean"], v["low"], v["high"], 0) for m, v in d["metrics"].items()],
                    f"{c['reference']} minus {d['set']}, ranked by {ranker}",
                ),
            )
            for d in c["differences"]
            if d["ranker"] == ranker
        ],
    }


def _spread(name: str, i: dict[str, float], colours: dict[str, int]) -> Spread:
    return Spread(name, i["mean"], i["low"], i["high"], colours[name])


def _best(c: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The best value of each (ranker, metric), where there are several sets."""
    if len(c["sets"]) < 2:
        return {}
    return {
        (r, m): max(s["rankers"][r]["overall"][m] for s in c["sets"]) for r in c["rankers"] for m in METRICS
    }
