"""Bounds on zip containers, checked before anything unpacks them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge

_MAX_MEMBERS = 50_000


def check_zip(path: Path, max_unpacked: int) -> None:
    """Raises DocumentTooLarge if the container unpacks to more than `max_unpacked` bytes,
    CorruptDocument if a member is not what the directory declares or has an XML bomb in it."""
    try:
        with zipfile.ZipFile(path) as z:
            infos = z.infolist()
            total = sum(i.file_size for i in infos)
            if total > max_unpacked or len(infos) > _MAX_MEMBERS:
                raise DocumentTooLarge(
                    f"unpacks to {counted(total, 'byte')} in {counted(len(infos), 'member')}",
                    remedy="Split the document, or raise normalize.max_unpacked_bytes.",
                )
            _check_overlap(infos)
            for info in infos:
                _check_member(z, info)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as e:
        raise CorruptDocument(f"the zip container is broken ({e})", remedy="Save the document again.") from e


def _check_overlap(infos: list[zipfile.ZipInfo]) -> None:
    """Members that share bytes are how a small file declares a huge one."""
    end = 0
    for info in sorted(infos, key=lambda i: i.header_offset):
        if info.header_offset < end:
            raise CorruptDocument("members of the zip container overlap", remedy="Save the document again.")
        end = info.header_offset + info.compress_size


def _check_member(z: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """A document type declaration has no place in an office file's XML: entities expand from there."""
    if not info.filename.lower().endswith((".xml", ".rels")):
        return
    with z.open(info) as f:
        head = f.read(65_536)
    plain = head.replace(b"\0", b"").upper()  # UTF-16 too
    if b"<!DOCTYPE" in plain and b"<!ENTITY" in plain:
        raise CorruptDocument(
            f"{info.filename} declares XML entities, which office files may not",
            remedy="Do not open this file; ask for a clean one.",
        )
