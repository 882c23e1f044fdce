"""Office files that are encrypted, opened with the passwords of the settings."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msoffcrypto
from msoffcrypto.method.ecma376_agile import ECMA376Agile

# Excel's password of workbooks that are protected against changes only
_KNOWN = ("VelvetSweatshop",)
_MAX_SPINS = 10_000_000  # Office writes 100,000; a file may ask for years of hashing


def unlock_office(source: Path, target: Path, passwords: Sequence[str]) -> bool:
    """Write `source` decrypted to `target`; False if no password opens it."""
    for password in (*passwords, *_KNOWN):
        try:
            if _decrypt(source, target, password):
                return True
        except Exception:  # a wrong password gives errors of many types, a broken file of any
            continue
        finally:
            if not _is_good(target):
                target.unlink(missing_ok=True)
    return False


def _decrypt(source: Path, target: Path, password: str) -> bool:
    with source.open("rb") as f, target.open("wb") as out:
        file: Any = msoffcrypto.OfficeFile(f)
        if int((getattr(file, "info", None) or {}).get("spinValue", 0)) > _MAX_SPINS:
            return False
        file.load_key(password=password)
        file.decrypt(out)
    return _is_good(target)


def _is_good(target: Path) -> bool:
    """The result is what the container promises: a zip for OOXML, else a compound file."""
    if not target.is_file() or not target.stat().st_size:
        return False
    with target.open("rb") as f:
        legacy = f.read(4) == b"\xd0\xcf\x11\xe0"
    return legacy or zipfile.is_zipfile(target)


_derive = ECMA376Agile._derive_encryption_key


def _derive_padded(h: bytes, block_key: bytes, algorithm: str, key_bits: int) -> bytes:
    """[MS-OFFCRYPTO] 2.3.4.11: a hash shorter than the key is filled up with 0x36; the library
    leaves that out, so that files of SHA-1 and 256 bits would not open."""
    key = _derive(h, block_key, algorithm, key_bits)
    return key.ljust(key_bits // 8, b"\x36")


ECMA376Agile._derive_encryption_key = staticmethod(_derive_padded)  # pyright: ignore[reportAttributeAccessIssue]
