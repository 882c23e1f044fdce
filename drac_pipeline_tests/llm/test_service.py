"""Retries, quota, breaker, budget, ledger, probing: around a real client at the double."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from drac_pipeline.errors import ConfigError
from drac_pipeline.llm.books import LEDGER_FILE
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan
from drac_pipeline.llm.gate import Gate
from drac_pipeline.llm.hints import hint_for
from drac_pipeline.llm.ledger import Ledger, Purpose
from drac_pipeline.llm.probe import _dot
from drac_pipeline.llm.protocol import BudgetExceeded, ImagePart, ModelUnavailable, Request, RequestRefused
from drac_pipeline.llm.service import ModelService

Make = Callable[..., ModelService]
ASK = Request(("p1 paragraph One.\np2 paragraph Two.",), max_tokens=1000)
WHY = Purpose("a.pdf", "chunk_plan", "s1", "plan-v1")


def double(*script: str, **more) -> Double:
    return Double(Brain(), faults=FaultPlan(script=list(script)), **more)


def test_passing_failures_are_tried_again_and_each_try_is_in_the_ledger(service: Make, clock):
    with double("throttle", "timeout", "model error", "dropped connection") as server:
        model = service(server)
        assert model.call(ASK, WHY).reply.text == "1-2"
    rows = model.ledger.records()
    assert [r["outcome"] for r in rows] == [
        *("ThrottlingException", "ModelTimeoutException", "ModelErrorException", "connection", "ok")
    ]
    assert [r["attempt"] for r in rows] == [1, 2, 3, 4, 5]
    assert len({r["call"] for r in rows}) == 1
    assert clock.slept == [1.0, 2.0, 4.0, 8.0]  # the most that full jitter allows: base doubles
    assert rows[-1]["cost_usd"] > 0
    # what timed out or was cut off after it was sent may have been billed
    assert [r["estimated"] for r in rows] == [0, 1, 0, 1, 0]
    for r in rows[:-1]:
        assert r["cost_usd"] == (r["reserved_usd"] if r["estimated"] else 0)
        assert (r["input_tokens"] > 0) == bool(r["estimated"])


def test_a_reply_that_nobody_has_dealt_with_yet_is_not_paid_again(service: Make):
    with double() as server:
        first = service(server).call(ASK, WHY)
        model = service(server)  # as after a kill
        again = model.call(ASK, WHY)
        assert (again.reply.text, server.requests) == (first.reply.text, 1)
        model.settle(again, "accepted")
        model.call(ASK, WHY)
        assert server.requests == 2
    assert [r["outcome"] for r in model.ledger.records()] == ["ok", "reused", "ok"]


def test_the_service_says_when_to_come_back(service: Make, clock):
    with double("throttle", retry_after="9") as server:
        service(server).call(ASK, WHY)
    assert 9.0 <= clock.slept[0] <= 10.0


def test_tries_end(service: Make):
    with double(*["throttle"] * 9) as server:
        with pytest.raises(ModelUnavailable, match="after 3 tries"):
            service(server, attempts=3).call(ASK, WHY)
        assert server.requests == 3


@pytest.mark.parametrize(("fault", "error"), [("validation", RequestRefused), ("access", ModelUnavailable)])
def test_what_will_not_pass_is_not_tried_again(fault: str, error: type[Exception], service: Make):
    with double(fault) as server:
        with pytest.raises(error):
            service(server).call(ASK, WHY)
        assert server.requests == 1


def test_a_service_that_is_down_is_left_alone(service: Make, clock):
    with double(*["internal"] * 4) as server:
        model = service(server, attempts=10, breaker_failures=4, breaker_seconds=100)
        with pytest.raises(ModelUnavailable, match="left alone"):
            model.call(ASK, WHY)
        assert server.requests == 4
        with pytest.raises(ModelUnavailable, match="left alone"):
            model.call(ASK, WHY)
        assert server.requests == 4
        clock.time += 101
        assert model.call(ASK, WHY).reply.text == "1-2"


def test_a_budget_stops_before_it_is_exceeded(service: Make, tmp_path: Path):
    (tmp_path / "prices.toml").write_text('["m"]\ninput = 100.0\noutput = 1.0\n')
    with double() as server:
        model = service(server, model="m", budget_per_run=0.01)
        with pytest.raises(BudgetExceeded, match="per run"):
            for n in range(100):
                model.call(ASK, WHY, salt=str(n))
        rows = model.ledger.records()
        assert server.requests == len(rows) > 1
        assert sum(r["cost_usd"] for r in rows) <= 0.01


def test_a_budget_counts_what_may_have_been_billed(service: Make, tmp_path: Path):
    (tmp_path / "prices.toml").write_text('["m"]\ninput = 100.0\noutput = 1.0\n')
    with double(*["timeout"] * 20) as server:
        model = service(server, model="m", budget_per_run=0.01, attempts=20, breaker_failures=99)
        with pytest.raises(BudgetExceeded, match="per run"):
            model.call(ASK, WHY)
        assert 1 < server.requests < 20


def test_a_call_that_was_never_sent_costs_nothing(service: Make):
    for provider in ("bedrock", "openai"):
        model = service("http://127.0.0.1:9", provider, attempts=1)
        with pytest.raises(ModelUnavailable):
            model.call(ASK, WHY)
        assert model.ledger.records()[-1]["cost_usd"] == 0


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
@pytest.mark.parametrize(
    ("lacks", "remedy"),
    [("images", "name one that does"), ("system", 'system_prompt = "no"'), ("whole", "stream = false")],
)
def test_what_a_service_lacks_is_an_error_that_names_the_way_out(
    provider: str, lacks: str, remedy: str, service: Make
):
    asked = Request(("Page 1", ImagePart(_dot())), system="Transcribe.")
    with double(refuses=(lacks,)) as server:
        with pytest.raises(ModelUnavailable) as e:
            service(server, provider).call(asked, WHY)
        assert server.requests == 0  # it counts what it takes
    assert remedy in e.value.remedy
    assert len(service(server, provider).ledger.records()) == 1  # and is not tried again


def test_events_in_place_of_a_reply_are_an_error_at_once(service: Make):
    with double(refuses=("stream",)) as server:
        with pytest.raises(ModelUnavailable) as e:
            service(server, "openai").call(ASK, WHY)
        assert server.requests == 1
    assert "streams only" in e.value.remedy


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_a_schema_that_is_not_taken_is_left_out_from_then_on(provider: str, service: Make):
    asked = Request(ASK.parts, schema={"type": "object"})
    with double(refuses=("structured",)) as server:
        model = service(server, provider, structured_output="yes")
        assert model.call(asked, WHY).reply.text == "1-2"
        assert model.call(asked, WHY, "again").reply.text == "1-2"
        assert not model.capabilities.structured
    assert [r["status"] for r in model.ledger.records()] == [400, 200, 200]


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        ("At most 0 image(s) may be provided in one request.", "images"),
        ("image input is not supported - hint: if this is unexpected, provide the mmproj", "images"),
        ("gemma is not a multimodal model", "images"),
        ("This model doesn't support the image content block that you provided.", "images"),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", "context"),
        ("the request exceeds the available context size", "context"),
        ("Input is too long for requested model.", "context"),
        ("System role not supported", "system"),
        ("This model doesn't support system messages. Try again without.", "system"),
        ("`response_format` of type `json_schema` is not supported", "structured"),
        ("This model only support stream mode, please enable the stream parameter", "whole replies"),
        ("Malformed input request, please reformat your input and try again.", None),
        ("The image is too large.", None),
    ],
)
def test_the_words_of_services_are_known(words: str, lacks: str | None):
    found = hint_for(words)
    assert (found.lacks if found else None) == lacks


def test_a_budget_counts_calls_in_flight_of_other_processes(tmp_path: Path):
    database = Database(tmp_path / "db")
    one, two = (Ledger(database, Clock(), "r", per_day=1.0) for _ in range(2))
    one.begin(WHY, "bedrock", "m", "c1", 1, 0.6)
    with pytest.raises(BudgetExceeded, match="per day"):
        two.begin(WHY, "bedrock", "m", "c2", 1, 0.6)


def test_a_budget_needs_a_price(service: Make):
    with double() as server, pytest.raises(ConfigError, match=r"prices\.toml"):
        service(server, model="own.model", budget_per_run=1)


def test_own_prices_come_first(service: Make, tmp_path: Path):
    (tmp_path / "prices.toml").write_text('["own.model"]\ninput = 1000.0\noutput = 2000.0\n')
    with double() as server:
        model = service(server, model="own.model")
        reply = model.call(ASK, WHY).reply
    row = model.ledger.records()[0]
    assert row["cost_usd"] == pytest.approx((reply.input_tokens * 1000 + reply.output_tokens * 2000) / 1e6)
    assert row["priced"] == "prices.toml"


def test_a_killed_process_leaves_its_call_with_the_most_it_can_cost(tmp_path: Path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from drac_pipeline.llm.clock import Clock\n"
        "from drac_pipeline.llm.database import Database\n"
        "from drac_pipeline.llm.ledger import Ledger, Purpose\n"
        "ledger = Ledger(Database(Path(sys.argv[1])), Clock(), 'r')\n"
        "ledger.begin(Purpose('d','s','u','p'), 'b', 'm', 'c', 1, .25)\n"
        "os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "db")], check=False, env=os.environ)
    rows = Ledger(Database(tmp_path / "db"), Clock()).records()
    assert [(r["outcome"], r["cost_usd"]) for r in rows] == [("interrupted", 0.25)]


def test_the_ledger_is_written_as_parquet(service: Make, tmp_path: Path):
    with double("throttle") as server:
        model = service(server)
        model.call(ASK, WHY)
        model.close()
    table = pq.read_table(tmp_path / "model" / LEDGER_FILE)
    assert table.column("outcome").to_pylist() == ["ThrottlingException", "ok"]
    assert {"document", "stage", "unit", "model", "prompt", "cost_usd", "latency_seconds"} <= set(
        table.column_names
    )


def test_room_shrinks_once_a_burst_and_grows_back(tmp_path: Path, clock):
    gate = Gate(Database(tmp_path / "db"), "s", 24, clock)
    for _ in range(5):
        gate.throttled(1)
    assert gate.room == 18
    clock.time += 2
    gate.throttled(1)
    assert gate.room == 13.5
    for _ in range(10):
        gate.succeeded(1)
    near = gate.room  # fast to 0.85 x 18, where it was cut last, and slowly from there
    assert 15.3 < near < 16.5
    for _ in range(16):
        gate.succeeded(1)
    assert near < gate.room < near + 1


def test_room_shrinks_to_what_the_service_has_taken(tmp_path: Path, clock):
    gate = Gate(Database(tmp_path / "db"), "s", 24, clock)
    with gate.entered(6), gate.entered(5), gate.entered(4):
        gate.throttled(4)
    assert gate.room == 11


def test_pages_in_flight_never_exceed_the_room(tmp_path: Path):
    gates = [Gate(Database(tmp_path / "db"), "s", 10, Clock()) for _ in range(2)]
    flying, most, lock = 0, 0, threading.Lock()

    def work(gate: Gate) -> None:
        nonlocal flying, most
        for _ in range(4):
            with gate.entered(4):
                with lock:
                    flying += 4
                    most = max(most, flying)
                with lock:
                    flying -= 4

    threads = [threading.Thread(target=work, args=(gates[i % 2],)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 4 <= most <= 8


def test_large_calls_go_first_and_small_ones_fill_the_gaps(tmp_path: Path):
    gate = Gate(Database(tmp_path / "db"), "s", 8, Clock())
    entered: list[int] = []
    leave = {weight: threading.Event() for weight in (5, 6, 1)}

    def work(weight: int) -> None:
        with gate.entered(weight):
            entered.append(weight)
            leave[weight].wait(10)

    def waits(n: int) -> None:
        deadline = time.monotonic() + 10
        while len(entered) < n and time.monotonic() < deadline:
            time.sleep(0.01)

    threads = [threading.Thread(target=work, args=(w,)) for w in (5, 6, 1)]
    threads[0].start()
    waits(1)
    threads[1].start()  # no room for it beside the first
    threads[2].start()
    waits(2)
    assert entered == [5, 1]
    leave[5].set()
    waits(3)
    assert entered == [5, 1, 6]
    leave[6].set()
    leave[1].set()
    for t in threads:
        t.join()


def test_a_queue_is_left_by_large_calls_first(tmp_path: Path):
    gate = Gate(Database(tmp_path / "db"), "s", 5, Clock())
    entered: list[int] = []

    def work(weight: int) -> None:
        with gate.entered(weight):
            entered.append(weight)

    threads = []
    with gate.entered(5):
        for weight in (1, 2, 5, 3):
            threads.append(threading.Thread(target=work, args=(weight,)))
            threads[-1].start()
        deadline = time.monotonic() + 10
        while len(gate._db.rows("SELECT 1 FROM entrants")) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
    for t in threads:
        t.join()
    assert entered[0] == 5


def test_who_waits_long_is_not_overtaken_any_more(tmp_path: Path, clock):
    database = Database(tmp_path / "db")
    gate = Gate(database, "s", 6, clock)
    with database.change() as db:  # a large call waits beside a small one in flight
        row = ("s", clock.now() - 100, os.getpid(), "")
        db.execute(
            "INSERT INTO entrants (service, since, pid, born, weight, inside) VALUES (?,?,?,?,2,1)", row
        )
        db.execute("INSERT INTO entrants (service, since, pid, born, weight) VALUES (?,?,?,?,6)", row)
    with database.change() as db:
        db.execute(
            "INSERT INTO entrants (service, since, pid, born, weight) VALUES ('s',?,?,'',1)",
            (clock.now(), os.getpid()),
        )
    assert gate._ahead(3) > 0
    with database.change() as db:
        db.execute("UPDATE entrants SET since = ? WHERE id = 2", (clock.now(),))
    assert gate._ahead(3) == 0


def test_services_have_quotas_of_their_own(tmp_path: Path, clock):
    database = Database(tmp_path / "db")
    with Gate(database, "a", 5, clock).entered(5), Gate(database, "b", 5, clock).entered(5):
        assert clock.slept == []  # the second did not wait for the first


def test_capabilities_are_probed_once_and_remembered(service: Make):
    probing = {"images": "probe", "system_prompt": "probe", "structured_output": "probe"}
    with double(refuses=("system", "structured")) as server:
        able = service(server, **probing).capabilities
        assert (able.images, able.system, able.structured) == (True, False, False)
        asked = server.requests
        model = service(server, **probing)
        request = Request(ASK.parts, system="Be brief.", schema={"type": "object"})
        assert model.call(request, WHY).reply.text == "1-2"
        assert server.requests == asked + 1


def test_nothing_of_an_sdk_is_imported_before_a_call():
    code = (
        "import sys, drac_pipeline.cli.app, drac_pipeline.llm.service, drac_pipeline.pipeline.stages\n"
        "assert not {'boto3', 'botocore', 'openai', 'genai_prices'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
