"""Document keys: one readable, stable name per file of a source.

A key is the file's path relative to the source, with `/` between the parts and in
NFC. It depends on nothing but that path, so a key keeps meaning the same document
whatever else lies beside it, and no two paths share one:

- `%XX` stands for a byte that a key may not hold: control characters, line and
  paragraph separators, characters that reorder text, a backslash, bytes that are not
  UTF-8, and every third dot of a run (Dagster forbids `...` in a partition key).
  A `%` of the name itself is written `%25` where it could be read as an escape.
- A name that is decomposed throughout (as old Macs write `é`) gets its NFC form with
  the mark `%NFD` before the last suffix; one that is mixed has all its characters
  beyond ASCII escaped.
- A part of more than 240 bytes, or a key of more than 480 characters, is cut in the
  middle, where `%H` and 32 hex digits of its SHA-256 stand in (Dagster's index holds
  512 characters, a file system 255 bytes a name and the suffix of an export needs room).
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from pathlib import PurePath, PureWindowsPath

MAX_PART_BYTES = 240
MAX_KEY_CHARS = 480
MAX_DIRNAME_BYTES = 120

_PERCENT = re.compile(r"%(?=[0-9A-Fa-f]{2}|NFD|H[0-9a-f]{32})")
_THIRD_DOT = re.compile(r"\.\.\.")
_ESCAPED = re.compile(r"%([0-9A-F]{2})")
_CUT = re.compile(r"%H[0-9a-f]{32}")
_NFD_MARK = "%NFD"


def document_key(relative_path: str | PurePath) -> str:
    """The key of the file at `relative_path` below its source.

    Raises ValueError for a path that is absolute, empty or climbs out (`..`).
    """
    path = _posix(relative_path)
    nfc = unicodedata.normalize("NFC", path)
    if nfc == path:
        key = _escape(path)
    elif unicodedata.normalize("NFD", nfc) == path:
        key = _mark_nfd(_escape(nfc))
    else:
        key = _escape(path, ascii_only=True)
    if unicodedata.normalize("NFC", key) != key:  # an escape stands right before a combining character
        key = _escape(path, ascii_only=True)
    return _shorten(key, path)


def object_document_key(name: str) -> str:
    """The key of the object `name` below its prefix, whatever an object may be called: empty parts and
    parts of dots alone, which no path has, are escaped."""
    if all(part.strip(".") for part in name.split("/")):
        return document_key(name)
    nfc = unicodedata.normalize("NFC", name)
    key = _escape(name, ascii_only=nfc != name)
    if unicodedata.normalize("NFC", key) != key:
        key = _escape(name, ascii_only=True)
    key = re.sub(r"(?<=/)/|\A/|/\Z", "%2F", key)
    parts = [p.replace(".", "%2E") if p and not p.strip(".") else p for p in key.split("/")]
    return _shorten("/".join(parts), name)


def path_of_key(key: str) -> str | None:
    """The relative path that `key` names, or None where the key was cut for its length."""
    if _CUT.search(key):
        return None
    decomposed = _NFD_MARK in key
    data = bytearray()
    at = 0
    plain = key.replace(_NFD_MARK, "")
    for m in _ESCAPED.finditer(plain):
        data += _bytes(plain[at : m.start()])
        data.append(int(m.group(1), 16))
        at = m.end()
    data += _bytes(plain[at:])
    path = bytes(data).decode("utf-8", "surrogateescape")
    return unicodedata.normalize("NFD", path) if decomposed else path


@functools.lru_cache(maxsize=4096)  # asked for each stage of a document
def artifact_dirname(key: str) -> str:
    """A directory name for the artifacts of `key`: ASCII, at most 120 bytes, unique per key.

    A slug for people, then 32 hex digits of the key's SHA-256, so that keys which
    differ only in case or in unusual characters stay apart on every file system.
    """
    digest = hashlib.sha256(_bytes(key)).hexdigest()[:32]
    folded = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9]+", "-", folded).strip("-").lower()
    room = MAX_DIRNAME_BYTES - len(digest) - 1
    return f"{slug[:room].rstrip('-') or 'document'}-{digest}"


def _posix(relative_path: str | PurePath) -> str:
    windows = isinstance(relative_path, PureWindowsPath)
    path = relative_path.as_posix() if windows else str(relative_path)
    parts = [p for p in path.split("/") if p not in ("", ".")]
    if not parts or path.startswith("/") or ".." in parts or (windows and relative_path.anchor):
        raise ValueError(f"not a path below a source: {path!r}")
    return "/".join(parts)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that names no byte (Windows)
        return text.encode("utf-8", "surrogatepass")


def _escape(path: str, *, ascii_only: bool = False) -> str:
    text = _PERCENT.sub("%25", path)
    text = _THIRD_DOT.sub("..%2E", text)
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(_hex(c) if _forbidden(c) or (ascii_only and ord(c) > 127) else c for c in text)


def _hex(char: str) -> str:
    return "".join(f"%{b:02X}" for b in _bytes(char))


def _forbidden(char: str) -> bool:
    """Control, format (zero-width joiners stay: scripts need them), surrogate, line separator, `\\`."""
    if char == "\\":
        return True
    if char.isascii():
        return not char.isprintable()
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\u200c\u200d"


def _mark_nfd(key: str) -> str:
    folder, slash, name = key.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return f"{folder}{slash}{stem}{_NFD_MARK}{dot}{suffix}" if stem else f"{key}{_NFD_MARK}"


def _shorten(key: str, path: str) -> str:
    parts = key.split("/")
    if all(len(_bytes(p)) <= MAX_PART_BYTES for p in parts) and len(key) <= MAX_KEY_CHARS:
        return key
    mark = f"%H{hashlib.sha256(_bytes(path)).hexdigest()[:32]}"
    parts = [p if len(_bytes(p)) <= MAX_PART_BYTES else _cut(p, mark, MAX_PART_BYTES) for p in parts]
    key = "/".join(parts)
    if len(key) > MAX_KEY_CHARS:
        # The folders go, the name stays: it is what a person looks for.
        head = MAX_KEY_CHARS - len(parts[-1]) - len(mark) - 2
        key = f"{_clean_end('/'.join(parts[:-1])[: max(head, 0)])}{mark}/{parts[-1]}"
    return unicodedata.normalize("NFC", key)


def _cut(part: str, mark: str, limit: int) -> str:
    """`part` with `mark` for its middle, in at most `limit` bytes; its suffix is kept."""
    tail = _clean_start(part[-40:])
    while len(_bytes(tail)) > 60:
        tail = _clean_start(tail[1:])
    room = limit - len(mark) - len(_bytes(tail))
    head = part[:room]
    while len(_bytes(head)) > room:
        head = head[:-1]
    return f"{_clean_end(head)}{mark}{tail}"


def _clean_end(text: str) -> str:
    """`text` without half an escape at its end."""
    return re.sub(r"%[0-9A-F]?$", "", text)


def _clean_start(text: str) -> str:
    """`text` that does not start with the rest of an escape or a combining character."""
    while text and unicodedata.combining(text[0]):
        text = text[1:]
    return text
