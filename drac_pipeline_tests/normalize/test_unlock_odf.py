"""OpenDocument files that LibreOffice itself encrypted open with the passwords of the settings."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from drac_pipeline.errors import EncryptedDocument
from drac_pipeline.normalize.office_profile import write_profile
from drac_pipeline.normalize.unlock_odf import unlock_odf
from drac_pipeline_tests.normalize.conftest import pdf_text

PASSWORD = "pass wörd"
NEEDS_OFFICE = pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")

_MACRO = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Module1"
 script:language="StarBasic">
Sub Seal(source As String, target As String, kind As String, password As String)
  Dim how(0) As New com.sun.star.beans.PropertyValue
  how(0).Name = "Hidden"
  how(0).Value = True
  Dim doc As Object
  doc = StarDesktop.loadComponentFromURL(ConvertToURL(source), "_blank", 0, how())
  Dim store(1) As New com.sun.star.beans.PropertyValue
  store(0).Name = "Password"
  store(0).Value = password
  store(1).Name = "FilterName"
  store(1).Value = kind
  doc.storeToURL(ConvertToURL(target), store())
  doc.close(True)
  StarDesktop.terminate()
End Sub
</script:module>"""
_LIBRARY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard"
 library:readonly="false" library:passwordprotected="false"><library:element library:name="Module1"/>
</library:library>"""
_LIBRARIES = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library"
 xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard"
 xlink:href="$(USER)/basic/Standard/script.xlb/" xlink:type="simple" library:link="false"/>
</library:libraries>"""


def locked_by_office(source: Path, target: Path, kind: str) -> Path:
    """What LibreOffice writes of `source` when told to encrypt."""
    profile = target.parent / "profile"
    write_profile(profile)
    settings = profile / "user" / "registrymodifications.xcu"
    settings.write_text(settings.read_text().replace("DisableMacrosExecution", "NoSuchSetting"))
    library = profile / "user" / "basic" / "Standard"
    library.mkdir(parents=True)
    (library / "Module1.xba").write_text(_MACRO)
    (library / "script.xlb").write_text(_LIBRARY)
    (library.parent / "script.xlc").write_text(_LIBRARIES)
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation={profile.as_uri()}",
            "--headless",
            "--norestore",
            f'macro:///Standard.Module1.Seal("{source}","{target}","{kind}","{PASSWORD}")',
        ],
        env={**os.environ, "HOME": str(target.parent)},
        timeout=120,
        check=True,
        capture_output=True,
    )
    assert target.is_file()
    return target


@NEEDS_OFFICE
@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [("writer8", "a.txt", "Sealed words."), ("calc8", "a.csv", "a,b\n1,Sealed\n")],
)
def test_a_file_that_libreoffice_encrypted(tmp_path: Path, run, kind: str, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    ending = {"writer8": "odt", "calc8": "ods"}[kind]
    path = locked_by_office(tmp_path / name, tmp_path / f"locked.{ending}", kind)
    with pytest.raises(EncryptedDocument, match="a password is needed") as caught:
        run(path)
    assert "normalize.passwords" in caught.value.remedy
    with pytest.raises(EncryptedDocument, match="none of the configured passwords"):
        run(path, passwords=["no", ""])
    done = run(path, passwords=["no", PASSWORD])
    assert "Sealed" in pdf_text(done.pdf)
    assert done.format == ending and "opened with a password" in done.warnings


_ENTRY = """<manifest:file-entry manifest:full-path="{name}" manifest:size="{size}">
<manifest:encryption-data{checksum}>
<manifest:algorithm manifest:algorithm-name="{algorithm}" manifest:initialisation-vector="{vector}"/>
<manifest:key-derivation manifest:key-derivation-name="{derivation}" manifest:salt="{salt}" {more}/>
{start}</manifest:encryption-data></manifest:file-entry>"""
_MANIFEST = """<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
 xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0">{0}</manifest:manifest>"""
SALT, VECTOR = bytes(range(16)), bytes(range(8))


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def make_blowfish(path: Path, content: bytes) -> None:
    """As version 1.1 and before have it."""
    packed = _deflated(content)
    secret = hashlib.sha1(PASSWORD.encode()).digest()
    key = hashlib.pbkdf2_hmac("sha1", secret, SALT, 1024, 16)
    worker = Cipher(Blowfish(key), CFB(VECTOR)).encryptor()
    check = _text(hashlib.sha1(packed[:1024]).digest())
    entry = _ENTRY.format(
        name="content.xml",
        size=len(content),
        checksum=f' manifest:checksum-type="SHA1/1K" manifest:checksum="{check}"',
        algorithm="Blowfish CFB",
        vector=_text(VECTOR),
        derivation="PBKDF2",
        salt=_text(SALT),
        more='manifest:iteration-count="1024"',
        start="",
    )
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        z.writestr("META-INF/manifest.xml", _MANIFEST.format(entry))
        z.writestr("content.xml", worker.update(packed) + worker.finalize())
        z.writestr("plain.xml", "<open/>")


def make_whole(path: Path, package: bytes, memory: int = 1024) -> None:
    """As LibreOffice has it from 24.8 on: one part that holds the package."""
    secret = hashlib.sha256(PASSWORD.encode()).digest()
    vector = bytes(range(12))
    key = Argon2id(salt=SALT, length=32, iterations=3, lanes=4, memory_cost=1024).derive(secret)
    sealed = vector + AESGCM(key).encrypt(vector, _deflated(package), None)
    entry = _ENTRY.format(
        name="encrypted-package",
        size=len(package),
        checksum="",
        algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm",
        vector=_text(vector),
        derivation="urn:org:documentfoundation:names:experimental:office:manifest:argon2id",
        salt=_text(SALT),
        more='manifest:key-size="32" loext:argon2-iterations="3" loext:argon2-lanes="4"'
        f' loext:argon2-memory="{memory}"',
        start='<manifest:start-key-generation manifest:start-key-generation-name="http://www.w3.org/2001/04/xmlenc#sha256"/>',
    )
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        z.writestr("META-INF/manifest.xml", _MANIFEST.format(entry))
        z.writestr("encrypted-package", sealed)


def test_the_cipher_of_old_versions(tmp_path: Path) -> None:
    make_blowfish(tmp_path / "a.odt", b"<office>Sealed</office>" * 100)
    out = tmp_path / "out.odt"
    assert not unlock_odf(tmp_path / "a.odt", out, ["no"], 10**6)
    assert not out.exists()
    assert unlock_odf(tmp_path / "a.odt", out, ["no", PASSWORD], 10**6)
    with zipfile.ZipFile(out) as z:
        assert z.namelist()[0] == "mimetype"
        assert z.read("content.xml") == b"<office>Sealed</office>" * 100
        assert z.read("plain.xml") == b"<open/>"
        assert not re.search(b"encryption-data", z.read("META-INF/manifest.xml"))


def test_a_package_that_is_encrypted_whole(tmp_path: Path) -> None:
    make_whole(tmp_path / "a.odt", b"PK the package" * 1000)
    out = tmp_path / "out.odt"
    assert not unlock_odf(tmp_path / "a.odt", out, ["no"], 10**6)
    assert unlock_odf(tmp_path / "a.odt", out, [PASSWORD], 10**6)
    assert out.read_bytes() == b"PK the package" * 1000


def test_a_file_cannot_ask_for_any_memory_or_size(tmp_path: Path) -> None:
    make_whole(tmp_path / "a.odt", b"x" * 10**6, memory=1 << 30)
    assert not unlock_odf(tmp_path / "a.odt", tmp_path / "out", [PASSWORD], 10**7)
    make_whole(tmp_path / "b.odt", b"x" * 10**6)
    assert not unlock_odf(tmp_path / "b.odt", tmp_path / "out", [PASSWORD], 10**5)


def test_a_part_that_was_never_locked_and_does_not_fit_opens_nothing(tmp_path):
    """Written empty it would pass for a document without content."""
    space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    entry = '<m:file-entry m:full-path="content.xml"/>'
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        z.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}">{entry}</m:manifest>')
        z.writestr("content.xml", "x" * 1000)
    assert not unlock_odf(tmp_path / "a.odt", tmp_path / "out", [PASSWORD], 500)
    assert not (tmp_path / "out").exists()
    assert unlock_odf(tmp_path / "a.odt", tmp_path / "out", [PASSWORD], 5000)
