"""Whether a node is fit to work for a driver: the same code on the same Python, and it sees the files.

`look` travels to the node as it is, so it needs nothing of drac_pipeline there: a node where that is
missing, or another release, can still say so.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import pickle
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "drac_pipeline"
# what documents go through on their way is not made by these
_OF_THE_DRIVER = {"dagster", "dagster-webserver", "dagster-aws", "boto3", "openai", "genai-prices", "typer"}
_OF_THE_DRIVER |= {"rich", "lancedb", "bm25s", "jinja2"}


@dataclass(frozen=True)
class Expected:
    """What a node has to have as its driver has it.

    release, code, python   of drac_pipeline, a hash of its files, of Python
    packages                versions of the packages that bear on what is made
    store                   where it is
    token                   of a folder: a file in it that the driver wrote, and its content
    probe                   the pickled store, the key of a document in it and its fingerprint
    sources                 files or folders that documents come from
    environment             variables that the driver hands on; None: not set there
    """

    release: str
    code: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)
    store: str = ""
    token: tuple[str, str] = ("", "")
    probe: bytes = b""
    sources: tuple[str, ...] = ()
    environment: dict[str, str | None] = field(default_factory=dict, repr=False)


def expected_here() -> Expected:
    """What this process has itself; store and sources are left to the caller."""
    return Expected(_release(), code_hash(), platform.python_version(), _packages())


def look(expected: Expected) -> list[str]:
    """What is wrong with this node, each in words that follow its name; empty where it is fit."""
    take_over(expected.environment)
    wrong = []
    if platform.python_version_tuple()[:2] != tuple(expected.python.split(".")[:2]):
        wrong.append(f"has Python {platform.python_version()}, the driver {expected.python}")
    if importlib.util.find_spec(PACKAGE) is None:
        wrong.append(f"has no {PACKAGE}: install it there, or set map.send_code")
    elif code_hash() != expected.code:
        told = f"has {PACKAGE} {_release()}, the driver {expected.release}"
        if _release() == expected.release:
            told = f"has other code of {PACKAGE} {expected.release} than the driver"
        wrong.append(f"{told}: install the same there, or set map.send_code")
    for name, version in expected.packages.items():
        found = _version(name)
        if found != version:
            wrong.append(f"has {name} {found or 'not at all'}, the driver {version}")
    if expected.token[0]:
        wrong += _folder(expected)
    elif expected.probe and not wrong:
        wrong += _probe(expected)
    for source in expected.sources:
        try:
            os.stat(source)  # noqa: PTH116
        except OSError as e:
            wrong.append(f"does not see the source {source} ({e.strerror}): mount it there at the same path")
    return wrong


def take_over(environment: dict[str, str | None]) -> None:
    """Have this process, and those that it starts, find what the driver has in its environment."""
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _probe(expected: Expected) -> list[str]:
    try:
        store, key, fingerprint = pickle.loads(expected.probe)
        manifest = store.manifest(key)
    except Exception as e:  # no rights, no way there, no such bucket: each store has its own
        return [f"cannot read the store {expected.store}: {type(e).__name__}: {e}"]
    if manifest is None or manifest.source.fingerprint != fingerprint:
        return [f"sees another store at {expected.store}"]
    return []


def _folder(expected: Expected) -> list[str]:
    name, content = expected.token
    remedy = "mount its file system there at the same path"
    try:
        if Path(name).read_text() != content:
            return [f"sees another folder at {expected.store}: {remedy}"]
    except OSError as e:
        return [f"does not see the store {expected.store} ({e.strerror}): {remedy}"]
    try:
        mark = Path(f"{name}.{os.getpid()}.{platform.node()}")
        mark.write_text(content)
        mark.unlink()
    except OSError as e:
        return [f"cannot write to the store {expected.store} ({e.strerror})"]
    return []


def locks_hold(name: str) -> bool:
    """Whether a lock that the driver holds on the file excludes this node."""
    import fcntl

    if not name:  # a store that is no folder has its own way
        return True
    with Path(name).open("r+") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def code_hash() -> str:
    """The hash of all files of the package that this process would import."""
    spec = importlib.util.find_spec(PACKAGE)
    digest = hashlib.sha256()
    for place in (spec.submodule_search_locations or []) if spec else []:
        root = Path(place)
        for path in sorted(p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _release() -> str:
    try:
        return importlib.import_module(PACKAGE).__version__
    except (ImportError, AttributeError):
        return "not installed"


def _packages() -> dict[str, str]:
    """The direct dependencies that bear on what is made, and their versions here."""
    try:
        required = importlib.metadata.requires(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    needed = (re.match(r"[\w.-]+", r) for r in required if "extra ==" not in r)
    names = {m[0] for m in needed if m}
    found = {n: _version(n) for n in sorted(names - _OF_THE_DRIVER)}
    return {n: v for n, v in found.items() if v}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
