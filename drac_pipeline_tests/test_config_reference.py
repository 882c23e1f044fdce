"""The reference of settings is made from the schema, and `drac config` says what is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drac_pipeline.cli import main
from drac_pipeline.config import DracConfig, load_config
from drac_pipeline.config_reference import config_reference
from drac_pipeline.pipeline import find_work
from drac_pipeline.store import Home

ROOT = Path(__file__).parents[1]


def run(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop:
        main(["config", *arguments])
    shown = capsys.readouterr()
    return int(stop.value.code or 0), shown.out + shown.err


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    text = config_reference()
    for name, section in DracConfig.model_fields.items():
        assert f"## [{name}]" in text
        for key in section.annotation.model_fields:  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
            assert f"| `{key}` |" in text or f"`[[{name}.{key}]]`" in text, f"{name}.{key}"
    assert "| `dpi` | `200` | whole number from 36 to 600 |" in text
    assert '| `trigger` | `"off"` | `"off"`, `"sensor"`, `"schedule"` |' in text


def test_the_reference_in_docs_is_the_one_of_this_code() -> None:
    written = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert written == config_reference(), "run: drac config reference --out docs/configuration.md"


def test_what_show_prints_is_a_drac_toml_with_the_same_meaning(tmp_path: Path, capsys) -> None:
    (tmp_path / "drac.toml").write_text('[source]\nexclude = ["a b/*.pdf"]\n[plan]\nmax_blocks = 5\n')
    code, text = run(capsys, "show", "--home", str(tmp_path))
    assert code == 0 and "max_blocks = 5  # set in drac.toml" in text
    assert text.count("# set in drac.toml") == 2
    again = DracConfig.model_validate(tomllib.loads(text))
    assert again.source.exclude == ["a b/*.pdf"] and again.plan.max_blocks == 5
    assert again == DracConfig.model_validate(
        {"source": {"exclude": ["a b/*.pdf"]}, "plan": {"max_blocks": 5}}
    )


def test_show_says_where_each_setting_of_a_document_comes_from(tmp_path: Path, capsys) -> None:
    (tmp_path / "drac.toml").write_text(
        "[convert]\nocr_min_confidence = 0.5\n"
        "[[convert.override]]\nmatch = 'scans/'\nocr_dpi = 300\n"
        "[[convert.override]]\nmatch = '*.pdf'\nocr = false\n"
        "[[normalize.override]]\nmatch = '**'\npasswords = ['geheim']\n"
    )
    code, text = run(capsys, "show", "--home", str(tmp_path), "--document", "scans/a.pdf")
    assert code == 0
    assert 'ocr_dpi = 300  # [[convert.override]] number 1, match = "scans/"' in text
    assert 'ocr = false  # [[convert.override]] number 2, match = "*.pdf"' in text
    assert "ocr_min_confidence = 0.5  # set in drac.toml" in text
    assert "sheet_max_cells = 5000000\n" in text
    assert "# made otherwise than without overrides: markdown\n" in text
    assert "this home has no document 'scans/a.pdf'" in text
    assert "geheim" not in text and "[source]" not in text
    code, text = run(capsys, "show", "--home", str(tmp_path), "-d", "b.docx")
    assert code == 0 and "ocr_dpi = 200\n" in text and "no stage is made otherwise" in text
    code, text = run(capsys, "show", "--home", str(tmp_path))  # all of it, as a file with the same meaning
    again = DracConfig.model_validate(tomllib.loads(text)).convert
    assert again == load_config(tmp_path).convert


def test_check_names_overrides_without_effect(tmp_path: Path, corpus: Path, capsys) -> None:
    (tmp_path / "drac.toml").write_text(
        "[[plan.override]]\nmatch = 'notes/'\nmax_blocks = 4\n"
        "[[plan.override]]\nmatch = '*.docx'\nmax_blocks = 4\n"
        "[[plan.override]]\nmatch = '*.pdf'\n"
    )
    find_work(Home(tmp_path), corpus, DracConfig())
    code, text = run(capsys, "check", "--home", str(tmp_path))
    assert code == 0 and "plan.override.0" not in text
    assert "plan.override.1.match: '*.docx' matches none of the 3 documents" in text
    assert "plan.override.2: it sets nothing" in text


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[plan]\nmax_blocks = 0\n", "plan.max_blocks"),
        ("[refresh]\ntrigger = 'sensors'\n", "refresh.trigger"),
        ("[normalize]\noffice_command = '/nowhere/soffice'\n", "normalize.office_command"),
        (
            "[convert]\nmode = 'model'\n[model]\nprovider = 'openai'\napi_key_env = 'NO_SUCH_KEY'\n",
            "NO_SUCH_KEY",
        ),
        ("[convert]\nmode = 'model'\n[model]\nprofile = 'no-such-profile'\n", "no-such-profile"),
    ],
)
def test_check_names_what_is_wrong(tmp_path: Path, capsys, toml: str, words: str) -> None:
    (tmp_path / "drac.toml").write_text(toml)
    code, text = run(capsys, "check", "--home", str(tmp_path))
    assert code == 2 and words in text


def test_check_of_a_good_home(tmp_path: Path, capsys) -> None:
    code, text = run(capsys, "check", "--home", str(tmp_path))
    assert code == 0 and "not there, so all defaults hold" in text and "nothing is wrong" in text
    (tmp_path / "sources.txt").write_text(f"{tmp_path / 'gone'}\n")
    code, text = run(capsys, "check", "--home", str(tmp_path))
    assert code == 2 and "no such file or folder" in text


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("bedrock", ["embed.region: neither the settings", "embed: no AWS credentials"]),
        ("openai", ["embed.api_key_env: the environment has no OPENAI_API_KEY"]),
    ],
)
def test_an_account_that_embedding_needs_is_looked_for(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch, provider: str, words: list[str]
) -> None:
    gone = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION")
    for name in (*gone, "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    (tmp_path / "drac.toml").write_text(f'[embed]\nprovider = "{provider}"\n')
    code, text = run(capsys, "check", "--home", str(tmp_path))
    assert code != 0
    for part in words:
        assert part in " ".join(text.split())


def test_the_reference_has_no_stray_blanks() -> None:
    assert [x for x in config_reference().splitlines() if "  " in x.strip()] == []
