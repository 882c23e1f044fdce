"""What is secret in settings and environment is in no output, log, database or file that drac writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest

from drac_pipeline.alerts import send_alert
from drac_pipeline.config import AlertsConfig, load_config

SECRETS = {
    "password of a document": "geheim-4711",
    "path of a webhook": "T00000000-hook",
    "user of an endpoint": "endpoint-user-1",
    "key of a model service": "sk-model-key-2",
    "key of AWS": "aws-secret-key-3",
    "password of PostgreSQL": "pg-password-5",
}
DOCUMENT, HOOK, ENDPOINT, KEY, AWS, POSTGRES = SECRETS.values()
SETTINGS = f"""
[normalize]
passwords = ["wrong-{DOCUMENT}", "{DOCUMENT}"]
[alerts]
webhook = "http://127.0.0.1:9/services/{HOOK}"
[model]
endpoint_url = "http://{ENDPOINT}:x@127.0.0.1:9/v1"
"""


def leaks(text: bytes) -> list[str]:
    return [name for name, secret in SECRETS.items() if secret.encode() in text]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with secrets in its settings, and documents: one that a password opens, one that none does."""
    root = tmp_path_factory.mktemp("secrets")
    (root / "documents").mkdir()
    for name, password in (("opens.pdf", DOCUMENT), ("stays.pdf", "another")):
        with pymupdf.open() as doc:
            doc.new_page().insert_text((72, 72), "The rent is 900 EUR a month.")
            doc.save(
                root / "documents" / name,
                encryption=pymupdf.PDF_ENCRYPT_AES_256,  # pyright: ignore[reportAttributeAccessIssue]
                user_pw=password,
                owner_pw=password,
            )
    (root / "home").mkdir()
    (root / "home" / "drac.toml").write_text(SETTINGS)
    return root


def drac(place: Path, *arguments: str) -> bytes:
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()", *arguments]
    env = {
        **os.environ,
        "OPENAI_API_KEY": KEY,
        "AWS_ACCESS_KEY_ID": "AKIA",
        "AWS_SECRET_ACCESS_KEY": AWS,
        "DRAC_PG_PASSWORD": POSTGRES,
        "DRAC_ALERT_WEBHOOK": f"http://127.0.0.1:9/{HOOK}",
    }
    done = subprocess.run(
        [*command, "--home", str(place / "home")], cwd=place, env=env, capture_output=True, check=False
    )
    return done.stdout + done.stderr


def test_secrets_are_used_and_nowhere_to_be_seen(place: Path) -> None:
    ran = drac(place, "--verbose", "run", str(place / "documents"), "--all")
    assert b"1 done" in ran and b"encrypted" in ran, ran[-2000:]  # one password was the right one
    said = {"run": ran}
    for command in (["config", "show"], ["config", "check"], ["status"], ["search", "rent"], ["costs"]):
        said[" ".join(command)] = drac(place, *command)
    assert b"**********" in said["config show"] and b"webhook" in said["config show"]
    assert {name: leaks(text) for name, text in said.items() if leaks(text)} == {}
    written = [p for p in place.rglob("*") if p.is_file() and p.name != "drac.toml"]
    assert any(p.suffix == ".db" for p in written)
    assert {str(p.relative_to(place)): leaks(p.read_bytes()) for p in written if leaks(p.read_bytes())} == {}


def test_wrong_settings_are_named_without_their_values(place: Path, tmp_path: Path) -> None:
    wrong = SETTINGS.replace('passwords = ["wrong-', 'passwords = "').replace(f', "{DOCUMENT}"]', "")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "drac.toml").write_text(wrong + f'\n[embed]\nservice_key = "{KEY}"\n')
    told = drac(tmp_path, "config", "check")
    assert b"normalize.passwords" in told and leaks(told) == []
    shutil.copy(place / "home" / "drac.toml", tmp_path / "home" / "drac.toml")
    assert leaks(repr(load_config(tmp_path / "home").normalize).encode()) == []
    assert leaks(repr(load_config(tmp_path / "home").alerts).encode()) == []


def test_an_alert_that_fails_names_the_host_alone(caplog: pytest.LogCaptureFixture) -> None:
    config = AlertsConfig(webhook=f"http://127.0.0.1:9/services/{HOOK}", timeout_seconds=1)
    assert not send_alert(config, "a run failed")
    assert "127.0.0.1" in caplog.text and leaks(caplog.text.encode()) == []
