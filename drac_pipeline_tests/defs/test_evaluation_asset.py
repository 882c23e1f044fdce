"""The asset retrieval_evaluation, materialized in a home's instance."""

from __future__ import annotations

import threading
import urllib.request
from pathlib import Path

from dagster import AssetKey, Definitions, in_process_executor

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.evaluation import EVALUATE, NAME, make_evaluate_job, make_evaluation_asset
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.stages import make_stage_assets
from drac_pipeline.inspection.serve import InspectionServer

QUESTIONS = (
    "question,supporting_facts,files\n"
    "Where does the roof leak?,The roof of hall 3 leaks near gate B,notes/site visit.pdf\n"
    "What limits the pressure?,The pressure must stay below 6 bar,manual.pdf\n"
)


def launch(bench, **config: object):
    definitions = Definitions(
        assets=[make_stage_assets(DracConfig()), make_evaluation_asset()],
        jobs=[make_evaluate_job()],
        resources={"home": HomeResource()},
        executor=in_process_executor,
    )
    return definitions.resolve_job_def(EVALUATE).execute_in_process(
        run_config={"ops": {NAME: {"config": config}}}, instance=bench.instance, raise_on_error=False
    )


def test_it_is_materialized_with_figures_and_report(bench):
    bench.register()
    bench.launch()
    (bench.home.path / "questions.csv").write_text(QUESTIONS)
    result = launch(bench, questions="questions.csv", embedders=["none"], chunkers=["drac", "fixed"])
    assert result.success
    event = bench.instance.get_latest_materialization_event(AssetKey(NAME))
    metadata = event.asset_materialization.metadata
    assert metadata["R@6"].value == 1.0
    assert metadata["ranked by"].value == "BM25"
    assert metadata["questions"].value == 2
    assert [r.data["set"] for r in metadata["sets"].records] == ["drac", "fixed 1000/200"]
    assert "drac against fixed 1000/200" in metadata["said"].value
    page = Path(metadata["report file"].value)
    assert page == bench.home.path / "evaluation" / "report.html"
    assert "2 questions with 2 supporting facts" in page.read_text()
    server = InspectionServer(bench.home)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:  # what the link leads to
        address = metadata["report"].value.replace(DracConfig().inspect.url, server.url)
        assert urllib.request.urlopen(address).read().decode() == page.read_text()
        assert "/evaluation" in urllib.request.urlopen(server.url).read().decode()
    finally:
        server.shutdown()
        server.server_close()


def test_without_questions_it_fails_with_the_way_out(bench):
    bench.register()
    result = launch(bench)
    assert not result.success
    [failure] = [e for e in result.all_events if e.is_step_failure]
    data = failure.step_failure_data.user_failure_data
    assert data and data.description
    told = data.description
    assert "set `questions` under [evaluate] in drac.toml" in told
