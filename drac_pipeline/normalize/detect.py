"""What a file is, told by its content; the name only decides between kinds of plain text."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from drac_pipeline.normalize import ole
from drac_pipeline.normalize.charset import decode_text

Family = Literal["pdf", "office", "image", "html", "text", "mail", "book", "none"]

FAMILIES: dict[str, Family] = {
    "pdf": "pdf",
    **dict.fromkeys(
        ("docx", "pptx", "xlsx", "xlsb", "odt", "ods", "odp", "odg", "rtf", "doc", "xls", "ppt", "fodf"),
        "office",
    ),
    **dict.fromkeys(("png", "jpeg", "tiff", "webp", "gif", "bmp"), "image"),
    "html": "html",
    **dict.fromkeys(("text", "markdown", "csv"), "text"),
    "eml": "mail",
    "epub": "book",
}

_EXTENSIONS: dict[str, str] = {
    **{f".{name}": name for name in FAMILIES if name not in ("text", "markdown", "fodf")},
    **dict.fromkeys((".docm", ".dotx", ".dotm"), "docx"),
    **dict.fromkeys((".pptm", ".potx", ".potm", ".ppsx", ".ppsm"), "pptx"),
    **dict.fromkeys((".xlsm", ".xltx", ".xltm"), "xlsx"),
    **dict.fromkeys((".dot",), "doc"),
    **dict.fromkeys((".xlt",), "xls"),
    **dict.fromkeys((".pot", ".pps"), "ppt"),
    **{".ott": "odt", ".ots": "ods", ".otp": "odp", ".otg": "odg"},
    **dict.fromkeys((".fodt", ".fods", ".fodp"), "fodf"),
    **dict.fromkeys((".jpg", ".jpe", ".jfif"), "jpeg"),
    ".tif": "tiff",
    **dict.fromkeys((".htm", ".xhtml", ".xht"), "html"),
    **dict.fromkeys((".md", ".markdown", ".mdown"), "markdown"),
    **dict.fromkeys((".txt", ".text", ".log"), "text"),
    ".tsv": "csv",
    ".mht": "eml",
    ".mhtml": "eml",
}


@dataclass(frozen=True, slots=True)
class DetectedFormat:
    """What `sniff` found.

    format     a name of `FAMILIES`, `empty`, or another name for what has no route
               (`zip`, `svg`, `heic`, `msg`, `unknown`, …)
    family     which route it takes; `none` where there is none
    encrypted  its content needs a password (legacy Office: it may open without)
    corrupt    what is broken, or "" where nothing was seen
    declared   the format that the file name's extension stands for, "" if none is known
    """

    format: str
    encrypted: bool = False
    corrupt: str = ""
    declared: str = ""

    @property
    def family(self) -> Family:
        return FAMILIES.get(self.format, "none")

    @property
    def wrong_extension(self) -> bool:
        """True where the name promises another format than the bytes hold."""
        return (
            bool(self.declared) and self.declared != self.format and self.format not in ("empty", "unknown")
        )


def sniff(path: Path) -> DetectedFormat:
    """The format of the file at `path`. Reads little; never raises for what a file holds."""
    declared = _EXTENSIONS.get(path.suffix.lower(), "")
    with path.open("rb") as f:
        head = f.read(65_536)
    if not head:
        return DetectedFormat("empty", declared=declared)
    return replace(_by_content(path, head, declared), declared=declared)


def _by_content(path: Path, head: bytes, declared: str) -> DetectedFormat:
    if b"%PDF-" in head[:1024]:
        return DetectedFormat("pdf")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip(path, head, declared)
    if head.startswith(ole.MAGIC):
        return _ole(path, declared)
    if name := _image(head):
        return DetectedFormat(name)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        return DetectedFormat("rtf")
    if head.startswith((b"\x1f\x8b", b"BZh", b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\xfd7zXZ")):
        return DetectedFormat("archive")
    return _textual(head, declared)


def _image(head: bytes) -> str:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "tiff"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if (
        head.startswith(b"BM")
        and len(head) > 26
        and struct.unpack_from("<I", head, 14)[0] in (12, 40, 52, 56, 64, 108, 124)
    ):
        return "bmp"
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return (
            "heic"
            if brand in (b"heic", b"heix", b"mif1", b"hevc")
            else "avif"
            if brand == b"avif"
            else "video"
        )
    return ""


# --- zip ---------------------------------------------------------------------------------------

_OOXML_MAIN = re.compile(
    rb'ContentType="application/(?:vnd\.openxmlformats-officedocument\.|vnd\.ms-)'
    rb"(wordprocessingml|word|presentationml|powerpoint|spreadsheetml|excel)\."
    rb"(?:document|template|presentation|slideshow|sheet)\.?(binary\.)?(?:macroEnabled\.)?(?:12\.)?main\+?(?:xml)?",
    re.IGNORECASE,
)
_OOXML = {
    b"word": ("docx", "word/document"),
    b"wordprocessingml": ("docx", "word/document"),
    b"powerpoint": ("pptx", "ppt/presentation"),
    b"presentationml": ("pptx", "ppt/presentation"),
    b"excel": ("xlsx", "xl/workbook"),
    b"spreadsheetml": ("xlsx", "xl/workbook"),
}
_ODF = {"text": "odt", "spreadsheet": "ods", "presentation": "odp", "graphics": "odg"}


_UNREADABLE_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
)


def _zip(path: Path, head: bytes, declared: str) -> DetectedFormat:
    try:
        with zipfile.ZipFile(path) as z:
            return _zip_members(z, declared)
    except _UNREADABLE_ZIP as e:
        name = declared if FAMILIES.get(declared) in ("office", "book") else _guess_from_head(head)
        return DetectedFormat(name, corrupt=f"the zip container is broken or cut off ({e})")


def _guess_from_head(head: bytes) -> str:
    for part, name in ((b"word/", "docx"), (b"ppt/", "pptx"), (b"xl/", "xlsx"), (b"epub+zip", "epub")):
        if part in head:
            return name
    return "zip"


def _member(z: zipfile.ZipFile, name: str, limit: int = 1_000_000) -> bytes:
    try:
        with z.open(name) as f:
            return f.read(limit)
    except KeyError:
        return b""


def _zip_members(z: zipfile.ZipFile, declared: str) -> DetectedFormat:
    infos = z.infolist()
    names = {i.filename.replace("\\", "/").lstrip("/") for i in infos}
    locked = any(i.flag_bits & 1 for i in infos)
    if locked:
        return DetectedFormat(declared or "zip", encrypted=True)
    mimetype = _member(z, "mimetype", 200).strip().decode("ascii", "replace")
    if mimetype == "application/epub+zip" or "META-INF/container.xml" in names:
        return DetectedFormat("epub", encrypted=_epub_locked(z))
    if mimetype.startswith("application/vnd.oasis.opendocument."):
        kind = mimetype.removeprefix("application/vnd.oasis.opendocument.").removesuffix("-template")
        if kind not in _ODF:
            return DetectedFormat(f"odf-{kind}"[:40])
        if b"encryption-data" in _member(z, "META-INF/manifest.xml"):
            return DetectedFormat(_ODF[kind], encrypted=True)
        missing = "" if "content.xml" in names else "content.xml is missing"
        return DetectedFormat(_ODF[kind], corrupt=missing)
    if "[Content_Types].xml" in names:
        return _ooxml(_member(z, "[Content_Types].xml"), names, declared)
    if declared in ("docx", "pptx", "xlsx", "xlsb"):
        return DetectedFormat(declared, corrupt="[Content_Types].xml is missing")
    return DetectedFormat("zip")


def _ooxml(types: bytes, names: set[str], declared: str) -> DetectedFormat:
    found = _OOXML_MAIN.search(types)
    if found:
        name, part = _OOXML[found.group(1).lower()]
        if found.group(2):
            name = "xlsb"
    else:  # a main part under its usual name speaks for itself
        name, part = next(((n, p) for n, p in _OOXML.values() if f"{p}.xml" in names), ("", ""))
        if not name:
            if declared in ("docx", "pptx", "xlsx"):
                return DetectedFormat(declared, corrupt="the container has no main document part")
            return DetectedFormat("opc")
    folder = part.partition("/")[0] + "/"
    if not any(n.startswith(part) for n in names) and not any(n.startswith(folder) for n in names):
        return DetectedFormat(name, corrupt=f"the main part {part}.xml is missing")
    return DetectedFormat(name)


def _epub_locked(z: zipfile.ZipFile) -> bool:
    """True for protected content; obfuscated fonts are listed in the same file and do not count."""
    rights = _member(z, "META-INF/encryption.xml")
    uris = re.findall(rb'CipherReference\s+URI="([^"]+)"', rights)
    return any(re.search(rb"\.x?html?$", u, re.IGNORECASE) for u in uris)


# --- OLE ---------------------------------------------------------------------------------------


def _ole(path: Path, declared: str) -> DetectedFormat:
    legacy = declared if declared in ("doc", "xls", "ppt") else ""
    try:
        container = ole.OleFile(path)
    except (ValueError, struct.error, OSError) as e:
        return DetectedFormat(legacy or "ole", corrupt=f"the OLE container is broken ({e})")
    names = container.streams
    if "EncryptedPackage" in names:
        return DetectedFormat(
            declared if declared in ("docx", "pptx", "xlsx", "xlsb") else "ooxml", encrypted=True
        )
    if "WordDocument" in names:
        fib = container.head("WordDocument")
        return DetectedFormat(
            "doc",
            corrupt=_cut_off(container, "WordDocument", "0Table", "1Table"),
            encrypted=len(fib) > 11 and bool(fib[11] & 0x01),
        )
    if "Workbook" in names or "Book" in names:
        book = container.head("Workbook") or container.head("Book")
        main = "Workbook" if "Workbook" in names else "Book"
        return DetectedFormat("xls", corrupt=_cut_off(container, main), encrypted=_has_filepass(book))
    if "PowerPoint Document" in names:
        user = container.head("Current User")
        token = struct.unpack_from("<I", user, 12)[0] if len(user) >= 16 else 0
        return DetectedFormat(
            "ppt",
            corrupt=_cut_off(container, "PowerPoint Document"),
            encrypted=token == 0xF3D1C4DF or "EncryptedSummary" in names,
        )
    if any(n.startswith("__properties_version1") for n in names):
        return DetectedFormat("msg")
    if "VisioDocument" in names:
        return DetectedFormat("visio")
    return DetectedFormat(
        legacy or "ole", corrupt="no document stream in the OLE container" if legacy else ""
    )


def _cut_off(container: ole.OleFile, *streams: str) -> str:
    return "the file is cut off within its text" if any(map(container.cut_off, streams)) else ""


def _has_filepass(book: bytes) -> bool:
    """True if a FILEPASS record (0x2F) is among the first records of a BIFF stream."""
    at = 0
    while at + 4 <= len(book):
        kind, length = struct.unpack_from("<HH", book, at)
        if kind == 0x2F:
            return True
        at += 4 + length
    return False


# --- text --------------------------------------------------------------------------------------

_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(
    r"</?(?:html|head|body|title|meta|div|p|span|table|tr|td|h[1-6]|ul|ol|li|br|a|img|b|i|font|center)\b[^<>]*>",
    re.I,
)
_XML_ROOT = re.compile(
    r"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!doctype[^>\[]*(?:\[.*?\])?[^>]*>\s*)*<([\w.:-]+)", re.I | re.S
)
_HEADER_LINE = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]?.*|[ \t].+|")
_MAIL_HEADERS = frozenset(
    {"from", "to", "cc", "subject", "date", "received", "message-id", "mime-version", "return-path", "sender"}
    | {"delivered-to", "content-type", "reply-to", "dkim-signature", "x-mailer", "content-transfer-encoding"}
)


def flat_kind(path: Path) -> str:
    """Which zipped format a flat OpenDocument file has the content of; odt where it does not say."""
    with path.open("rb") as f:
        head = f.read(65_536)
    found = re.search(rb"""office:mimetype\s*=\s*["']application/vnd\.oasis\.opendocument\.([a-z-]+)""", head)
    kind = found[1].decode().removesuffix("-template") if found else ""
    return _ODF.get(kind, "odt")


def _textual(head: bytes, declared: str) -> DetectedFormat:
    decoded = decode_text(head, cut=True)
    if decoded is None:
        return DetectedFormat("unknown")
    text = decoded.text
    if text.startswith("From ") or _is_mail(text):
        return DetectedFormat("mbox" if text.startswith("From ") and declared != "eml" else "eml")
    if _HTML_START.match(text):
        return DetectedFormat("html")
    if declared == "html" and _HTML_TAG.search(text):
        return DetectedFormat("html")
    root = _XML_ROOT.match(text)
    if root and (text.lstrip().startswith(("<?xml", "<!DOCTYPE", "<!doctype")) or declared in ("fodf", "")):
        name = root.group(1)
        if name == "office:document":
            return DetectedFormat("fodf")
        local = name.rpartition(":")[2].lower()
        if local in ("html", "svg"):
            return DetectedFormat(local)
        if text.lstrip().startswith("<?xml"):
            return DetectedFormat("xml" if declared not in ("text", "markdown") else declared)
        if len(_HTML_TAG.findall(text)) > 3:
            return DetectedFormat("html")
    if declared in ("markdown", "csv", "text"):
        return DetectedFormat(declared)
    return DetectedFormat("text")


def _is_mail(text: str) -> bool:
    """True if the text opens with mail headers: two known names, and nothing else before the blank line."""
    known = set()
    for line in text.splitlines()[:200]:
        if not line.strip():
            break
        m = _HEADER_LINE.fullmatch(line)
        if not m:
            return False
        if m.group(1) and m.group(1).lower() in _MAIL_HEADERS:
            known.add(m.group(1).lower())
    return len(known) >= 2 and bool(known & {"from", "received", "mime-version", "return-path", "message-id"})
