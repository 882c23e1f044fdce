"""Encrypted OpenDocument files (text, sheets, slides, drawings), opened with a password.

Each part of the package is encrypted on its own ([ODF 1.3, part 2] 3.4): the password's digest is
stretched by PBKDF2, the part is deflated and encrypted. Read are AES in CBC mode and Blowfish
in CFB mode, which all versions up to 1.3 use, and AES in GCM mode over the whole package with a key from
Argon2id, which LibreOffice writes from version 24.8 on.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lxml.etree as etree

_NS = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_MANIFEST = "META-INF/manifest.xml"
_WHOLE = "encrypted-package"
_MAX_ROUNDS = 10_000_000  # LibreOffice writes 100,000; a file may ask for years of hashing
_MAX_ARGON_KIB = 1 << 20


class _NotOpened(Exception):
    """The password is wrong, or the part is broken."""


@dataclass(frozen=True, slots=True)
class _Lock:
    """How a part is encrypted."""

    algorithm: str
    vector: bytes
    derivation: str
    salt: bytes
    rounds: int
    key_size: int
    memory: int
    lanes: int
    start: str
    checksum_type: str
    checksum: bytes
    size: int


def unlock_odf(source: Path, target: Path, passwords: Sequence[str], max_bytes: int) -> bool:
    """Write `source` decrypted to `target`; False if no password opens it, or if it would take more
    than `max_bytes` unpacked."""
    for password in passwords:
        try:
            data = _decrypt(source, password, max_bytes)
        except (_NotOpened, zipfile.BadZipFile, etree.XMLSyntaxError, ValueError, KeyError, zlib.error):
            continue
        target.write_bytes(data)
        return True
    return False


def _decrypt(source: Path, password: str, max_bytes: int) -> bytes:
    left = max_bytes
    with zipfile.ZipFile(source) as z:
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        manifest: Any = etree.fromstring(z.read(_MANIFEST), parser)
        locks = {e.get(f"{_NS}full-path"): _lock(e) for e in manifest.iter(f"{_NS}file-entry")}
        if (whole := locks.get(_WHOLE)) is not None:
            return _open(z.read(_WHOLE), whole, password, left)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            for info in sorted(z.infolist(), key=lambda i: i.filename != "mimetype"):
                if info.filename == _MANIFEST:
                    continue
                lock = locks.get(info.filename)
                if info.file_size > left:
                    raise _NotOpened
                data = z.read(info)
                if lock is not None:
                    data = _open(data, lock, password, left)
                left -= len(data)
                kind = zipfile.ZIP_STORED if info.filename == "mimetype" else zipfile.ZIP_DEFLATED
                made.writestr(info.filename, data, kind)
            for entry in manifest.iter(f"{_NS}file-entry"):
                for child in entry.findall(f"{_NS}encryption-data"):
                    entry.remove(child)
            made.writestr(_MANIFEST, etree.tostring(manifest, xml_declaration=True, encoding="UTF-8"))
        return out.getvalue()


def _lock(entry: Any) -> _Lock | None:
    data = entry.find(f"{_NS}encryption-data")
    if data is None:
        return None

    def named(element: Any, name: str, default: str = "") -> str:
        if element is None:
            return default
        # some names are the producer's own until a version of the standard has them
        return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), default)

    algorithm, derivation = data.find(f"{_NS}algorithm"), data.find(f"{_NS}key-derivation")
    start = data.find(f"{_NS}start-key-generation")
    return _Lock(
        algorithm=named(algorithm, "algorithm-name").lower(),
        vector=base64.b64decode(named(algorithm, "initialisation-vector")),
        derivation=named(derivation, "key-derivation-name").lower(),
        salt=base64.b64decode(named(derivation, "salt")),
        rounds=int(named(derivation, "iteration-count", named(derivation, "argon2-iterations", "1024"))),
        key_size=int(named(derivation, "key-size", "16")),
        memory=int(named(derivation, "argon2-memory", "65536")),
        lanes=int(named(derivation, "argon2-lanes", "4")),
        start=named(start, "start-key-generation-name", "sha1").lower(),
        checksum_type=data.get(f"{_NS}checksum-type", "").lower(),
        checksum=base64.b64decode(data.get(f"{_NS}checksum", "")),
        size=int(entry.get(f"{_NS}size", "0")),
    )


def _open(data: bytes, lock: _Lock, password: str, max_bytes: int) -> bytes:
    from cryptography.exceptions import InvalidTag

    if lock.size > max_bytes:
        raise _NotOpened
    try:
        packed = _decipher(data, lock, _key(lock, password))
    except InvalidTag as e:
        raise _NotOpened from e
    if lock.checksum:
        head = packed[:1024] if "1k" in lock.checksum_type else packed
        digest = hashlib.sha256 if "256" in lock.checksum_type else hashlib.sha1
        if digest(head).digest() != lock.checksum:
            raise _NotOpened
    inflated = zlib.decompressobj(-15)
    out = inflated.decompress(packed, max_bytes + 1)
    if len(out) > max_bytes or not inflated.eof:
        raise _NotOpened
    return out


def _key(lock: _Lock, password: str) -> bytes:
    digest = hashlib.sha256 if "256" in lock.start else hashlib.sha1
    secret = digest(password.encode()).digest()
    if lock.rounds > _MAX_ROUNDS or not 0 < lock.key_size <= 64:
        raise _NotOpened
    if "argon2id" in lock.derivation:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        if lock.memory > _MAX_ARGON_KIB or lock.rounds > 100:
            raise _NotOpened
        derived = Argon2id(
            salt=lock.salt,
            length=lock.key_size,
            iterations=lock.rounds,
            lanes=lock.lanes,
            memory_cost=lock.memory,
        )
        return derived.derive(secret)
    return hashlib.pbkdf2_hmac("sha1", secret, lock.salt, lock.rounds, lock.key_size)


def _decipher(data: bytes, lock: _Lock, key: bytes) -> bytes:
    from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
    from cryptography.hazmat.decrepit.ciphers.modes import CFB
    from cryptography.hazmat.primitives.ciphers import Cipher, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.ciphers.algorithms import AES

    if "gcm" in lock.algorithm:  # the vector stands before the data too
        return AESGCM(key).decrypt(lock.vector, data.removeprefix(lock.vector), None)
    if "blowfish" in lock.algorithm:
        return _run(Cipher(Blowfish(key), CFB(lock.vector)), data)
    if "cbc" not in lock.algorithm:
        raise _NotOpened
    plain = _run(Cipher(AES(key), modes.CBC(lock.vector)), data)
    return plain[: -plain[-1]] if plain and plain[-1] <= 16 else plain


def _run(cipher: Any, data: bytes) -> bytes:
    worker = cipher.decryptor()
    return worker.update(data) + worker.finalize()
