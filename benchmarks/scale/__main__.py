"""Measure homes of many small documents; one table a mode.

    python benchmarks/scale all --documents 10000         # everything below, at a quiet time: about an hour
    python benchmarks/scale ingest --documents 300
    python benchmarks/scale overhead --documents 10000
    python benchmarks/scale commands --documents 10000
    python benchmarks/scale changed --documents 10000 --share 0.01
    python benchmarks/scale ui --documents 10000
    python benchmarks/scale simulate --documents 100000   # commands and ui on a home whose outputs are links
    python benchmarks/scale keys --documents 100000

ingest    Documents that go through all stages for real: the stages alone, then `drac run` on the same
          documents in a fresh home. `x stages` is what the rest (Dagster, index, overview) adds.
overhead  `drac run` on a home whose outputs are all there and whose event log is empty: what a run costs a
          document beside the work of the stages. Linear where `ms a document` stays as documents grow.
commands  What an operator calls on a home where nothing is to be done. `x floor`: against listing and
          stating the files of source and store in Python, measured in the same run.
changed   A share of the documents changed, then `drac run`; against the stages' work on as many alone, plus
          a run without changes.
ui        What the web server takes for the UI's questions, the first time and then. `x 1,000` compares with
          a home of 1,000 documents.
simulate  No real documents: outputs are links, events are written by the code a run uses.
keys      No documents at all: keys and materializations in an event log, then the UI's questions to it.

Homes are made once, in --work, and used again; they are as after a real run, but texts and vectors are made
up (see made_home.py). `cpu` counts all processes of a command; trust it and the ratios, not the clock, on
a machine that does other things. MB is the peak of the main process.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from corpus import KINDS, make_corpus, write_document
from made_home import make_home
from measured import Taken, become_reaper, command, print_table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS = ("wall s", "cpu s", "MB")
UI_SMALL = 1_000
MODES = ("ingest", "overhead", "commands", "changed", "ui", "simulate", "keys")


def ingest(work: Path, documents: int, kinds: tuple[str, ...]) -> None:
    """First ingest against the stages alone."""
    rows = []
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = Path(name)
        source = folder / "source"
        make_corpus(source, documents, kinds)
        pure = _python("stages", source, folder / "stages")
        full = command("drac", "run", source, "--home", folder / "home")
        assert full.code == 0, full.output
        for label, taken in (("stages alone", pure), ("drac run", full)):
            ms = 1000 * taken.cpu / documents
            rows.append((label, *_figures(taken), ms, 3600 * documents / taken.wall, taken.cpu / pure.cpu))
        print_table(
            f"first ingest, {documents:,} documents ({', '.join(dict.fromkeys(kinds))})",
            ("", *COLUMNS, "cpu ms a document", "documents an hour", "x stages"),
            rows,
        )
        seconds = _stage_seconds(folder / "home")
        total = sum(seconds.values())
        print_table(
            "where the stages' seconds go",
            ("stage", "ms a document", "share %"),
            [(n, 1000 * s / documents, 100 * s / total) for n, s in seconds.items()],
        )


def overhead(work: Path, documents: int) -> None:
    """A run over outputs that are all there, into an empty event log."""
    rows = []
    for number in sorted({max(100, documents // 10), documents}):
        source, home = make_home(work, number)
        with _without_log(home.path, work) as bare:
            taken = command("drac", "run", source, "--home", bare)
            assert taken.code == 0, taken.output
        rows.append((f"{number:,} documents", *_figures(taken), 1000 * taken.cpu / number))
    print_table("drac run beside the work of stages", ("", *COLUMNS, "cpu ms a document"), rows)


def commands(work: Path, documents: int, *, linked: bool = False) -> None:
    """What an operator calls where nothing is to be done."""
    source, home = _ready(work, documents, linked=linked)
    floor = _python("floor", source, home.path)
    calls: dict[str, tuple[str | Path, ...]] = {
        "drac run, nothing to do": ("run", source),
        "drac run --dry-run": ("run", source, "--dry-run"),
        "drac status": ("status",),
        "drac search (both ways)": ("search", "pump pressure"),
        "drac export chunks": ("export", "chunks", work / "chunks.parquet"),
    }
    rows = [("floor: list and stat", *_figures(floor), 1.0)]
    for label, words in calls.items():
        if linked and words[0] in ("search", "export"):
            continue  # of links to a few documents they say nothing
        taken = command("drac", *words, "--home", home.path)
        label += "" if taken.code == 0 else f" (ended with {taken.code})"
        rows.append((label, *_figures(taken), taken.cpu / floor.cpu))
    for label, mode in (("sensor tick, nothing changed", "tick"), ("sensor tick, full look", "look")):
        taken = _python(mode, source, home.path)
        rows.append((label, *_figures(taken), taken.cpu / floor.cpu))
    taken = _python("listing", source, home.path)
    rows.append(("drac inspect --serve, list page", *_figures(taken), taken.cpu / floor.cpu))
    print_table(f"{documents:,} documents", ("", *COLUMNS, "x floor"), rows)


def changed(work: Path, documents: int, share: float) -> None:
    """A refresh with a share of the documents changed."""
    source, home = _ready(work, documents)
    number = max(1, round(documents * share))
    still = command("drac", "run", source, "--home", home.path)
    step = documents // number
    edition = time.time_ns()
    for n in range(0, step * number, step):
        write_document(source, n, KINDS[n % len(KINDS)], edition)
    taken = command("drac", "run", source, "--home", home.path)
    assert taken.code == 0, taken.output
    with tempfile.TemporaryDirectory(dir=work) as name:
        alone = Path(name) / "source"
        for n in range(0, step * number, step):
            write_document(alone, n, KINDS[n % len(KINDS)], edition)
        pure = _python("stages", alone, Path(name) / "home")
    bound = still.cpu + pure.cpu
    print_table(
        f"{number:,} of {documents:,} documents changed",
        ("", *COLUMNS, "x bound"),
        [
            ("drac run, nothing to do", *_figures(still), still.cpu / bound),
            ("stages alone on as many", *_figures(pure), pure.cpu / bound),
            ("drac run, these changed", *_figures(taken), taken.cpu / bound),
        ],
    )


def ui(work: Path, documents: int, *, linked: bool = False) -> None:
    """What the web server takes for the UI's questions."""
    from ui import timed

    found = {}
    for number in sorted({min(UI_SMALL, documents), documents}):
        _, home = _ready(work, number, linked=linked)
        found[number] = timed(home.path)
    _print_ui(found)


def _print_ui(found: dict[int, dict[str, tuple[float, float, float, int]]]) -> None:
    small, large = found[min(found)], found[max(found)]
    rows = []
    for label, (first, then, cpu, size) in large.items():
        rows.append((label, first, then, cpu, size, then / small[label][1] if small[label][1] else 0.0))
    columns = ("first s (memory: MB)", "then s", "cpu s", "bytes", f"x {min(found):,}")
    print_table(f"web server, {max(found):,} documents", ("question", *columns), rows)


def simulate(work: Path, documents: int) -> None:
    """Commands and UI on a home whose outputs are links."""
    commands(work, documents, linked=True)
    ui(work, documents, linked=True)


def keys(work: Path, documents: int) -> None:
    """An event log of so many keys, and what the UI's questions to it take."""
    from only_keys import made
    from ui import timed

    found, written = {}, {}
    for number in sorted({min(UI_SMALL, documents), documents}):
        folder = work / f"keys-{number}"
        if folder.exists():
            shutil.rmtree(folder)
        home, written = made(folder, number)
        found[number] = timed(home.path)
    print_table(f"event log of {documents:,} keys", ("", "figure"), list(written.items()))
    _print_ui(found)


def _ready(work: Path, documents: int, *, linked: bool = False):
    """A home of so many documents whose log and index are filled."""
    source, home = make_home(work, documents, linked=linked)
    if not (home.path / "history").exists() or not (home.path / "filled").exists():
        filled = _python("fill", source, home.path)
        assert filled.code == 0, filled.output
        print(f"{documents:,} documents: events written in {filled.cpu:.0f} s of CPU", flush=True)
        if not linked:
            first = command("drac", "run", source, "--home", home.path)
            assert first.code == 0, first.output
        (home.path / "filled").touch()
    return source, home


class _without_log:
    """The home with its store and an empty Dagster instance."""

    def __init__(self, home: Path, work: Path) -> None:
        self.home, self.bare = home, Path(tempfile.mkdtemp(dir=work))

    def __enter__(self) -> Path:
        (self.bare / "store").symlink_to(self.home / "store")
        for name in ("sources.txt", "fingerprints.sqlite"):
            shutil.copy(self.home / name, self.bare / name)
        return self.bare

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.bare)


def _figures(taken: Taken) -> tuple[float, float, float]:
    return taken.wall, taken.cpu, taken.peak_mb


def _stage_seconds(home: Path) -> dict[str, float]:
    from drac_pipeline.store import Home

    out: dict[str, float] = {}
    for manifest in Home(home).store.manifests():
        for name, record in manifest.stages.items():
            out[name] = out.get(name, 0.0) + record.seconds
    return out


def _python(mode: str, source: Path, home: Path) -> Taken:
    """A part of this program in a process of its own."""
    taken = command("python", HERE / "parts.py", mode, source, home, env={"DAGSTER_HOME": str(home)})
    if taken.code:
        raise SystemExit(f"{mode}: {taken.output}")
    return taken


def main() -> None:
    """Run a mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("mode", choices=["all", *MODES])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.01, help="of documents that change")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), help="of documents that are ingested")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "drac-scale")
    args = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # every start would compile Dagster again
    sys.path.insert(0, str(ROOT))
    args.work.mkdir(parents=True, exist_ok=True)
    become_reaper()
    large = 10 * args.documents if args.mode == "all" else args.documents
    small = min(args.documents, 300) if args.mode == "all" else args.documents
    run = {
        "ingest": lambda: ingest(args.work, small, tuple(args.kinds)),
        "overhead": lambda: overhead(args.work, args.documents),
        "commands": lambda: commands(args.work, args.documents),
        "changed": lambda: changed(args.work, args.documents, args.share),
        "ui": lambda: ui(args.work, args.documents),
        "simulate": lambda: simulate(args.work, large),
        "keys": lambda: keys(args.work, large),
    }
    for mode in MODES if args.mode == "all" else (args.mode,):
        run[mode]()


if __name__ == "__main__":
    main()
