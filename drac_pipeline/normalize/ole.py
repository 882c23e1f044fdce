"""Just enough of the OLE2 compound file format ([MS-CFB]) to tell what a file is.

Lists the streams and reads the start of one, without trusting any offset or chain.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = 0xFFFFFFFA  # this and above: no sector
_MAX_SECTORS = 65_536


class OleFile:
    """The directory of a compound file. Raises ValueError where the structure is broken."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as f:
            header = f.read(512)
            if len(header) < 512 or not header.startswith(MAGIC):
                raise ValueError("not an OLE compound file")
            shift, mini_shift = struct.unpack_from("<HH", header, 30)
            if shift not in (9, 12) or mini_shift != 6:
                raise ValueError("impossible sector size")
            self._size = 1 << shift
            self._file = f
            fat_count, dir_start = (
                struct.unpack_from("<I", header, 44)[0],
                struct.unpack_from("<I", header, 48)[0],
            )
            self._mini_cutoff, mini_start, _, difat, difat_count = struct.unpack_from("<5I", header, 56)
            self._fat = self._read_fat(f, header, fat_count, difat, difat_count)
            self._bytes = path.stat().st_size
            self._entries = self._read_directory(f, dir_start)
            self._mini_fat = self._words(self._chain(f, mini_start, _MAX_SECTORS))
            root = self._entries.get("Root Entry")
            self._mini = self._chain(f, root[0], _MAX_SECTORS) if root else b""
            self._heads = {
                name: self._head(f, start, size)
                for name, (start, size, kind) in self._entries.items()
                if kind == 2
            }

    @property
    def streams(self) -> frozenset[str]:
        """Names of all streams, at whatever depth."""
        return frozenset(self._heads)

    def head(self, name: str) -> bytes:
        """The first bytes (up to 4 KiB) of the stream `name`, empty if there is none."""
        return self._heads.get(name, b"")

    def cut_off(self, name: str) -> bool:
        """True where sectors of the stream `name` lie behind the end of the file."""
        start, size, _ = self._entries.get(name, (_END, 0, 0))
        if size < self._mini_cutoff:
            start, size, _ = self._entries.get("Root Entry", (_END, 0, 0))
        seen = set[int]()
        while size > 0 and start < _END and start not in seen:
            if (start + 1) * self._size + min(size, self._size) > self._bytes:
                return True
            if start >= len(self._fat):  # the table itself is short
                return False
            seen.add(start)
            size -= self._size
            start = self._fat[start]
        return False

    def _sector(self, f: BinaryIO, number: int) -> bytes:
        f.seek((number + 1) * self._size)
        return f.read(self._size)

    @staticmethod
    def _words(data: bytes) -> tuple[int, ...]:
        return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])

    def _read_fat(
        self, f: BinaryIO, header: bytes, count: int, difat: int, difat_count: int
    ) -> tuple[int, ...]:
        sectors = [s for s in struct.unpack_from("<109I", header, 76) if s < _END]
        for _ in range(min(difat_count, 1024)):
            if difat >= _END:
                break
            words = self._words(self._sector(f, difat))
            if not words:
                raise ValueError("the sector table is cut off")
            sectors += [s for s in words[:-1] if s < _END]
            difat = words[-1]
        return tuple(w for s in sectors[: min(count, 4096)] for w in self._words(self._sector(f, s)))

    def _chain(self, f: BinaryIO, start: int, limit: int) -> bytes:
        out, seen = [], set()
        while start < len(self._fat) and start not in seen and len(out) < limit:
            seen.add(start)
            out.append(self._sector(f, start))
            start = self._fat[start]
        return b"".join(out)

    def _read_directory(self, f: BinaryIO, start: int) -> dict[str, tuple[int, int, int]]:
        data = self._chain(f, start, 4096)
        if not data:
            raise ValueError("the directory is cut off")
        entries: dict[str, tuple[int, int, int]] = {}
        for at in range(0, len(data) - 127, 128):
            length, kind = struct.unpack_from("<HB", data, at + 64)
            if kind not in (1, 2, 5) or not 2 <= length <= 64:
                continue
            name = data[at : at + length - 2].decode("utf-16-le", "replace")
            first, size = struct.unpack_from("<II", data, at + 116)
            entries.setdefault(name, (first, size, kind))
        return entries

    def _head(self, f: BinaryIO, start: int, size: int) -> bytes:
        want = min(size, 4096)
        if size >= self._mini_cutoff:
            return self._chain(f, start, 8)[:want]
        out, seen = b"", set()
        while start < len(self._mini_fat) and start not in seen and len(out) < want:
            seen.add(start)
            out += self._mini[start * 64 : start * 64 + 64]
            start = self._mini_fat[start]
        return out[:want]
