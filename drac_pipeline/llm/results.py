"""Replies that passed their checks, kept by what they are replies to: what is paid for is paid once."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def key_of(*parts: str | bytes) -> str:
    """The name of a result: a hash of everything that bears on it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


class ResultCache:
    """JSON values in files under `root`, each written in one step."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, key: str) -> dict[str, Any] | None:
        """The value, or None where it is not there or not whole."""
        try:
            found = json.loads(self._path(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep a value."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{uuid.uuid4().hex}")
        try:
            with temporary.open("w", encoding="utf-8") as f:
                json.dump(value, f, ensure_ascii=False)
                f.flush()
                os.fsync(f.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def values(self) -> Iterator[dict[str, Any]]:
        """All values, in no order."""
        for path in self.root.glob("*/*.json"):
            if found := self.get(path.stem):
                yield found

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.json"
