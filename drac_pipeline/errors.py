"""Errors that name the document, the stage, the cause and the way out."""

from __future__ import annotations

import errno


class DracError(Exception):
    """Base of every error the library raises on purpose."""


class ConfigError(DracError):
    """A setting is wrong; the message names the key and the fix."""


class ClusterError(DracError):
    """The cluster cannot be worked on: not reached, or a node of it is not fit; the message names it."""


class DocumentError(DracError):
    """A document cannot go on. Subclasses say the kind of cause.

    `kind` is a stable word for reports; `cause` says what is wrong; `remedy` what a
    person can do about it. `key` and `stage` are filled in by the pipeline where the
    raising code does not know them. Pickles across process pools.
    """

    kind = "error"

    def __init__(self, cause: str, *, remedy: str = "", key: str = "", stage: str = "") -> None:
        super().__init__(cause, remedy, key, stage)
        self.cause = cause
        self.remedy = remedy
        self.key = key
        self.stage = stage

    def __reduce__(self):
        return _rebuild, (type(self), self.cause, self.remedy, self.key, self.stage)

    def __str__(self) -> str:
        where = f"{self.key or 'document'}, {self.stage or 'stage unknown'}"
        return f"{where}: {explain(self.kind, self.cause, self.remedy)}"


def explain(kind: str, cause: str, remedy: str = "") -> str:
    """`kind: cause. Remedy.` for a person; nothing is said twice."""
    head = cause if cause.startswith(kind) else f"{kind}: {cause}"
    if not remedy:
        return head
    return f"{head} {remedy}" if head.endswith((".", "!", "?")) else f"{head}. {remedy}"


def _rebuild(cls: type[DocumentError], cause: str, remedy: str, key: str, stage: str) -> DocumentError:
    return cls(cause, remedy=remedy, key=key, stage=stage)


class EncryptedDocument(DocumentError):
    """A password is needed to read it."""

    kind = "encrypted"


class CorruptDocument(DocumentError):
    """The bytes are not what the format allows."""

    kind = "corrupt"


class EmptyDocument(DocumentError):
    """Zero bytes, or no page."""

    kind = "empty"


class UnsupportedDocument(DocumentError):
    """No route leads from this format to chunks."""

    kind = "unsupported"


class DocumentTooLarge(DocumentError):
    """A limit on bytes, pages or pixels is exceeded."""

    kind = "too large"


class StageTimeout(DocumentError):
    """A tool did not finish in its time."""

    kind = "timed out"


class MissingTool(DocumentError):
    """A program that the route needs is not installed."""

    kind = "missing tool"


class ConversionFailed(DocumentError):
    """A page has ink but no text could be read, or every page failed."""

    kind = "conversion failed"


class SourceChanged(DocumentError):
    """The file changed or vanished while it was being read."""

    kind = "source changed"


class UnreadableDocument(DocumentError):
    """The file cannot be opened: permission, or a failing disk."""

    kind = "unreadable"


class MissingInput(DocumentError):
    """A stage is asked for whose inputs were never made."""

    kind = "not ready"


class DiskFull(DocumentError):
    """No room for what the stage writes."""

    kind = "disk full"


def is_disk_full(error: BaseException) -> bool:
    """True where an error, or what it came from, is that the disk (or its quota) is full."""
    seen: BaseException | None = error
    while seen is not None:
        full = isinstance(seen, OSError) and seen.errno in (errno.ENOSPC, errno.EDQUOT)
        if full or "database or disk is full" in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class StorageError(DocumentError):
    """A request to object storage failed for good. A document that meets it fails alone, and is tried
    again as `[refresh]` says: the cause may have gone."""

    kind = "storage failed"

    def __str__(self) -> str:
        text = explain(self.kind, self.cause, self.remedy)
        return f"{self.key}, {self.stage or 'storage'}: {text}" if self.key else text


class WrongSetting(DocumentError):
    """A setting that a stage needs is wrong or missing, which showed only when it was used."""

    kind = "wrong setting"


class InternalError(DocumentError):
    """An unexpected exception; the cause carries its type and message."""

    kind = "internal error"
