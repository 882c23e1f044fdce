"""Settings: read, refused with the key's name, and part of a stage's identity."""

from pathlib import Path

import pytest

from drac_pipeline.config import (
    ConvertConfig,
    DracConfig,
    NormalizeConfig,
    PlanConfig,
    RenderConfig,
    load_config,
    settings_hash,
)
from drac_pipeline.errors import ConfigError


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
        ("[render]\ndpi = 5\n", "greater than or equal to 36"),
        ("[render\n", "not valid TOML"),
        ("[[plan.override]]\ntarget_chars = 300\n", "plan.override.0.match"),
        ("[[plan.override]]\nmatch = 'a'\nplanner = 'model'\n", "plan.override.0.planner"),
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


def test_an_override_with_a_default_value_is_another_identity() -> None:
    def plan(**changed: object) -> PlanConfig:
        return PlanConfig.model_validate({"target_chars": 700, "override": [{"match": "*.md", **changed}]})

    assert settings_hash(plan()) != settings_hash(plan(target_chars=PlanConfig().target_chars))
    assert plan(target_chars=600).for_document("a.md").target_chars == 600


def test_tokens_are_counted_where_a_policy_or_an_override_asks_for_it() -> None:
    assert not PlanConfig().counts_tokens
    assert PlanConfig(size_unit="tokens").counts_tokens
    assert PlanConfig.model_validate({"override": [{"match": "*", "size_unit": "tokens"}]}).counts_tokens
