"""Many small documents whose texts differ, the same at every run."""

import random
from pathlib import Path

WORDS = [
    "valve",
    "pump",
    "line",
    "pressure",
    "torque",
    "seal",
    "gasket",
    "inspection",
    "interval",
    "supplier",
    "contract",
    "notice",
    "period",
    "delivery",
    "invoice",
    "bearing",
    "shaft",
    "motor",
    "controller",
    "firmware",
    "sensor",
    "calibration",
    "record",
    "maintenance",
    "manual",
    "warranty",
    "clause",
    "payment",
    "schedule",
    "quality",
    "audit",
    "site",
    "warehouse",
    "shipment",
    "customs",
    "tariff",
    "archive",
    "retention",
    "policy",
]
KINDS = ("txt", "md", "txt", "md", "txt", "md", "txt", "html", "csv", "docx")
PER_FOLDER = 500


def make_corpus(root: Path, number: int, kinds: tuple[str, ...] = KINDS) -> list[Path]:
    """`number` documents under `root` in folders of 500; those that are there stay as they are."""
    return [path for n in range(number) if (path := write_document(root, n, kinds[n % len(kinds)]))]


def write_document(root: Path, number: int, kind: str, edition: int = 0) -> Path:
    """One document; another `edition` has other sentences under the same name."""
    path = root / f"{number // PER_FOLDER:04}" / f"note {number:07}.{kind}"
    if path.exists() and not edition:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    chance = random.Random(f"{number}/{edition}")
    title = f"Note {number} on {chance.choice(WORDS)}s"
    if kind == "docx":
        _docx(path, title, chance)
    else:
        path.write_text(_WRITERS[kind](title, chance), encoding="utf-8")
    return path


def sentences(chance: random.Random, least: int = 2, most: int = 4) -> str:
    """A paragraph."""
    found = [
        " ".join(chance.choice(WORDS) for _ in range(chance.randint(8, 16))).capitalize() + "."
        for _ in range(chance.randint(least, most))
    ]
    return " ".join(found)


def _txt(title: str, chance: random.Random) -> str:
    return "\n\n".join([title, *(sentences(chance) for _ in range(3))]) + "\n"


def _md(title: str, chance: random.Random) -> str:
    steps = "\n".join(f"- {sentences(chance, 1, 1)}" for _ in range(2))
    return f"# {title}\n\n{sentences(chance)}\n\n## Details\n\n{sentences(chance)}\n\n{steps}\n"


def _html(title: str, chance: random.Random) -> str:
    return (
        f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{sentences(chance)}</p>"
        f"<h2>Details</h2><p>{sentences(chance)}</p>\n"
    )


def _csv(_title: str, chance: random.Random) -> str:
    rows = (f"{chance.choice(WORDS)},{chance.choice(WORDS)},{chance.randint(1, 90)}" for _ in range(8))
    return "\n".join(["part,site,interval in days", *rows]) + "\n"


def _docx(path: Path, title: str, chance: random.Random) -> None:
    import docx

    document = docx.Document()
    document.add_heading(title, 1)
    for _ in range(2):
        document.add_paragraph(sentences(chance))
    document.save(str(path))


_WRITERS = {"txt": _txt, "md": _md, "html": _html, "csv": _csv}
