"""Settings: read, refused with the key's name, and part of a stage's identity."""

import pickle
import re
from pathlib import Path

import pytest

from drac_pipeline.config import (
    ConvertConfig,
    DracConfig,
    NormalizeConfig,
    PlanConfig,
    RefreshConfig,
    RenderConfig,
    SectionConfig,
    load_config,
    settings_hash,
)
from drac_pipeline.config.cron import check_cron
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import STAGES, STAGES_BY_NAME, code_version


def test_defaults_where_there_is_no_file(tmp_path: Path) -> None:
    assert load_config(tmp_path) == DracConfig()


def test_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / "drac.toml").write_text('[source]\nexclude = ["drafts/**"]\n[plan]\ntarget_chars = 700\n')
    config = load_config(tmp_path)
    assert config.source.exclude == ["drafts/**"]
    assert config.plan.target_chars == 700
    assert config.render == RenderConfig()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[plan]\ntarget_chars = 'many'\n", "plan.target_chars"),
        ("[plans]\n", "plans"),
        ("[render]\ndpi = 5\n", "from 36 to 600, not 5"),
        ("[render\n", "not valid TOML"),
        ("[[plan.override]]\ntarget_chars = 300\n", "plan.override.0.match"),
        ("[[model.override]]\nmatch = 'a'\n", r"model\.override: .* hold for all documents"),
        ("[[convert.override]]\nmatch = 'a'\nocr_dpi = 5\n", r"convert\.override\.0\.ocr_dpi: .* 72"),
        ("[[convert.override]]\nmatch = 'a'\n[[convert.override]]\nmatch = 7\n", r"override\.1\.match"),
        ("[[convert.override]]\nmatch = 'a'\nocr_dp = 300\n", r"override\.0\.ocr_dp: .*mean ocr_dpi\?"),
        ("[[convert.override]]\nmatch = 'a'\npasswords = []\n", r"belongs into \[\[normalize\.override\]\]"),
        ("[[limits.override]]\nmatch = 'a'\ncolour = 1\n", "there may be document_seconds, worker"),
        (
            "[[normalize.override]]\nmatch = 'a'\noffice_command = 'x'\n",
            r"override\.0\.office_command: it holds for all documents: set it under \[normalize\]",
        ),
        ("[[embed.override]]\nmatch = 'a'\nprovider = 'bedrock'\n", r"set it under \[embed\]"),
        ("[convert.override]\nmatch = 'a'\n", r"convert\.override: write"),
        ("[[plan.override]]\nmatch = '[z-a]'\n", "is no glob"),
        ("[plan]\ntarget_char = 700\n", r"plan\.target_char: .*did you mean plan\.target_chars\?"),
        ("[converter]\n", "did you mean convert\\?"),
        ("[normalize]\nocr = false\n", r"it belongs into \[convert\]"),
        ("[render]\ncolour = 1\n", r"\[render\] may have dpi, max_side"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "drac.toml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        load_config(tmp_path)


def test_what_changes_the_output_changes_the_identity() -> None:
    assert settings_hash(PlanConfig()) != settings_hash(PlanConfig(target_chars=700))
    assert settings_hash(ConvertConfig()) != settings_hash(ConvertConfig(ocr=False))
    assert settings_hash(NormalizeConfig()) != settings_hash(NormalizeConfig(tracked_changes="shown"))


def test_what_only_says_how_to_work_does_not() -> None:
    with_limits = NormalizeConfig.model_validate(
        {"timeout_seconds": 7, "passwords": ["a", "b"], "office_command": "/opt/office", "max_bytes": 9}
    )
    assert settings_hash(NormalizeConfig()) == settings_hash(with_limits)
    assert settings_hash(RenderConfig()) == settings_hash(RenderConfig(window=4))


def test_passwords_are_not_shown() -> None:
    config = NormalizeConfig.model_validate({"passwords": ["geheim"]})
    assert "geheim" not in repr(config)
    assert "geheim" not in config.model_dump_json()


def test_plan_settings_for_some_documents(tmp_path: Path) -> None:
    (tmp_path / "drac.toml").write_text(
        "[plan]\ntarget_chars = 700\nmax_blocks = 5\n"
        "[[plan.override]]\nmatch = 'contracts/'\ntarget_chars = 1000\ntable_rows = 'single'\n"
        "[[plan.override]]\nmatch = '*.xlsx'\ntarget_chars = 300\n"
    )
    plan = load_config(tmp_path).plan

    def used(key: str) -> tuple[int, int, str]:
        policy = plan.for_document(key)
        return policy.target_chars, policy.max_blocks, policy.table_rows

    assert used("a.pdf") == (700, 5, "together")
    assert used("contracts/2024/a.pdf") == (1000, 5, "single")
    assert used("contracts/b.xlsx") == (300, 5, "single")
    assert used("b.xlsx") == (300, 5, "together")


SOME = """
[convert]
ocr_dpi = 250
[[convert.override]]
match = "scans/"
ocr_dpi = 300
mode = "auto"
[[convert.override]]
match = "scans/old/**"
ocr_dpi = 250
[[normalize.override]]
match = "*.xlsx"
passwords = ["geheim"]
[[limits.override]]
match = "long.pdf"
document_seconds = 9000
[[embed.override]]
match = "notes/"
too_long = "refuse"
[[plan.override]]
match = "contracts/"
planner = "model"
"""


def stages_apart(config: DracConfig, key: str) -> list[str]:
    own, others = config.for_document(key), config.for_all_others()
    return [s.name for s in STAGES if code_version(s, own) != code_version(s, others)]


def test_settings_of_any_section_for_some_documents(tmp_path: Path) -> None:
    (tmp_path / "drac.toml").write_text(SOME)
    config = load_config(tmp_path)
    scan, old = config.for_document("scans/a.pdf").convert, config.for_document("scans/old/a.pdf").convert
    assert (scan.ocr_dpi, scan.mode) == (300, "auto") and (old.ocr_dpi, old.mode) == (250, "auto")
    assert config.for_document("a.pdf").convert.ocr_dpi == 250
    assert config.for_document("long.pdf").limits.document_seconds == 9000
    opened = config.for_document("salaries.xlsx").normalize.passwords
    assert [p.get_secret_value() for p in opened] == ["geheim"]
    assert "geheim" not in repr(config) + config.model_dump_json()
    assert config.converts_by_model and config.plans_by_model  # for some: the service is opened
    own = config.for_document("contracts/a.pdf")
    assert own.plans_by_model and not own.converts_by_model
    assert config.for_document("scans/a.pdf") is config.for_document("scans/b.pdf")
    assert config.for_document("scans/a.pdf").for_document("a.pdf") == config.for_document("scans/a.pdf")


def test_an_override_is_part_of_the_identity_of_its_stage_and_documents_alone(tmp_path: Path) -> None:
    (tmp_path / "drac.toml").write_text(SOME)
    config = load_config(tmp_path)
    assert stages_apart(config, "a.pdf") == []
    assert stages_apart(config, "scans/a.pdf") == ["markdown"]
    assert stages_apart(config, "notes/a.pdf") == ["chunk_embeddings"]
    assert stages_apart(config, "contracts/a.pdf") == ["chunk_plan"]
    assert stages_apart(config, "a.xlsx") == stages_apart(config, "long.pdf") == []  # only how, not what
    without = load_config(tmp_path / "none")
    for stage in STAGES:
        if stage.name != "markdown":  # a setting of all documents is another one here
            assert code_version(stage, config.for_document("a.pdf")) == code_version(stage, without)


def test_an_override_may_say_what_is_the_default() -> None:
    plan = PlanConfig.model_validate(
        {"target_chars": 700, "override": [{"match": "*.md", "target_chars": 600}]}
    )
    assert plan.for_document("a.md") == PlanConfig() and plan.for_document("a.pdf").target_chars == 700


def test_a_changed_copy_of_the_settings_forgets_what_the_old_one_worked_out() -> None:
    config = DracConfig.model_validate(
        {"plan": {"override": [{"match": "a", "max_blocks": 4}]}, "section": {"budget": 9}}
    )
    before = config.for_document("a")
    version = code_version(STAGES_BY_NAME["chunk_plan"], before)
    changed = config.model_copy(update={"section": SectionConfig(budget=8)}).for_document("a")
    assert changed.section.budget == 8 and changed.plan.max_blocks == 4
    assert code_version(STAGES_BY_NAME["chunk_plan"], changed) != version
    assert pickle.loads(pickle.dumps(config)).for_document("a") == before


def test_tokens_are_counted_where_a_policy_or_an_override_asks_for_it() -> None:
    assert not PlanConfig().counts_tokens
    assert PlanConfig(size_unit="tokens").counts_tokens
    assert PlanConfig.model_validate({"override": [{"match": "*", "size_unit": "tokens"}]}).counts_tokens


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x", "five fields"),
        ("0 3 * *", "five fields"),
        ("61 3 * * *", "'61' is no minute"),
        ("0 3 * * mon-tuesday", "is no day of the week"),
        ("*/0 * * * *", "a step of 0"),
    ],
)
def test_a_cron_line_that_dagster_would_not_take_is_told_at_once(line: str, words: str) -> None:
    from dagster._utils.schedules import is_valid_cron_schedule

    assert not is_valid_cron_schedule(line)
    with pytest.raises(ValueError, match=re.escape(words)):
        check_cron(line)


@pytest.mark.parametrize(
    "line", ["0 3 * * *", "*/15 8-18 * * mon-fri", "@daily", "0 0 1,15 jan,JUL 7", "5 4 L * *"]
)
def test_a_cron_line_that_dagster_takes_is_taken(line: str) -> None:
    from dagster._utils.schedules import is_valid_cron_schedule

    assert is_valid_cron_schedule(line)
    assert check_cron(line) == line
    with pytest.raises(ValueError, match="no time zone"):
        RefreshConfig(cron=line, timezone="Mars/Olympus")


def wrong(tmp_path: Path, text: str) -> str:
    (tmp_path / "drac.toml").write_text(text)
    with pytest.raises(ConfigError) as e:
        load_config(tmp_path)
    return str(e.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[plan]\nmax_blocks = "many"\n', 'plan.max_blocks: give a whole number from 1, not "many"'),
        ("[plan]\nmax_blocks = 0\n", "plan.max_blocks: give a whole number from 1, not 0"),
        ('[plan]\nplanner = "me"\n', 'plan.planner: give one of "local", "model", not "me"'),
        ('[convert]\nocr = "perhaps"\n', 'convert.ocr: give true or false, not "perhaps"'),
        ('[source]\ninclude = "*.pdf"\n', 'source.include: give a list of texts, not "*.pdf"'),
        ("[source]\ninclude = [3]\n", "source.include.0: give a list of texts, not 3"),
        ("plan = 3\n", "plan: this is a section: write [plan], and its settings below it"),
        ("[plan]\noverride = 3\n", "plan.override: write [[plan.override]], and below it match"),
        ("[[plan.override]]\nmax_blocks = 3\n", "plan.override.0.match: it is missing"),
        (
            '[[plan.override]]\nmatch = "a"\nmax_blocks = "x"\n',
            'plan.override.0.max_blocks: give a whole number from 1, not "x"',
        ),
        ('[refresh]\ntimezone = "Mars"\n', "refresh.timezone: 'Mars' is no time zone"),
        (
            "[plan]\ntarget_chars = 2000\n",
            "plan: target_chars = 2000 is above max_chars = 1800 (the default): set target_chars to"
            " at most 1800, or max_chars to at least 2000",
        ),
        (
            "[plan]\ntarget_tokens = 150\nmax_tokens = 100\n",
            "plan: target_tokens = 150 is above max_tokens = 100: set",
        ),
        ("[plan]\nmin_blocks = 9\nmax_blocks = 4\n", "plan: min_blocks = 9 is above max_blocks = 4: set"),
        (
            '[plan]\nmax_chars = 900\n[[plan.override]]\nmatch = "a/"\ntarget_chars = 1000\n',
            "plan: with the override for 'a/', target_chars = 1000 is above max_chars = 900: set",
        ),
        ("[model]\nbackoff_seconds = 60\n", "model: backoff_seconds = 60.0 is above backoff_cap = 30.0 (the"),
        ('[model]\nguardrail_version = "2"\n', "model: guardrail_version is set and guardrail_id is not"),
    ],
)
def test_what_is_wrong_is_told_in_our_words(tmp_path: Path, text: str, told: str) -> None:
    assert told in wrong(tmp_path, text)


def test_a_default_gives_way_to_a_lower_bound(tmp_path: Path) -> None:
    (tmp_path / "drac.toml").write_text("[plan]\nmax_chars = 400\nmax_blocks = 2\nmax_tokens = 50\n")
    assert load_config(tmp_path).plan.max_chars == 400


def test_no_setting_is_told_in_words_of_the_library(tmp_path: Path) -> None:
    for name, section in DracConfig.model_fields.items():
        for key in section.default.__class__.model_fields:
            said = wrong(tmp_path, f"[{name}]\n{key} = 1979-05-27\n")
            assert f"{name}.{key}: give " in said or f"{name}.{key}: write " in said, said


def test_what_is_wrong_shows_no_secret(tmp_path: Path) -> None:
    said = wrong(tmp_path, '[normalize]\npasswords = "hush"\n[alerts]\nwebhook = ["hush"]\n')
    assert "normalize.passwords: give a list of texts" in said and "hush" not in said
