"""Settings: defaults without a file, one line that says what is wrong with one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from agtail.errors import SettingsError, UsageError
from agtail.settings import Settings, load_settings, settings_path

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def written(home: Path, content: str | bytes) -> Path:
    path = home / ".config" / "agtail" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path, {}) == Settings() == Settings(archive="auto")


def test_a_file_where_the_folder_should_be_means_the_defaults(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("")
    assert load_settings(tmp_path, {}) == Settings()


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    written(tmp_path, "# nothing yet\n")
    assert load_settings(tmp_path, {}) == Settings()


@pytest.mark.parametrize("mode", ["auto", "all", "off"])
def test_every_mode_of_the_archive_is_read(tmp_path: Path, mode: str) -> None:
    written(tmp_path, f'archive = "{mode}"\n')
    assert load_settings(tmp_path, {}).archive == mode


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    written(tmp_path, b'\xef\xbb\xbfarchive = "off"\r\n')
    assert load_settings(tmp_path, {}).archive == "off"


def test_the_configured_folder_comes_first(tmp_path: Path) -> None:
    written(tmp_path, 'archive = "all"')
    elsewhere = tmp_path / "elsewhere"
    env = {"XDG_CONFIG_HOME": str(elsewhere)}
    assert settings_path(tmp_path, env) == elsewhere / "agtail" / "config.toml"
    assert load_settings(tmp_path, env).archive == "auto"
    assert load_settings(tmp_path, {"XDG_CONFIG_HOME": ""}).archive == "all"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('archiv = "all"', "unknown key 'archiv' (valid: archive)"),
        ('"two\\nlines" = 1', "unknown key 'two\\nlines' (valid: archive)"),
        ("[archive]\nmode = 'all'", "archive cannot be {'mode': 'all'} (valid: auto, all, off)"),
        ('archive = "on"', "archive cannot be 'on' (valid: auto, all, off)"),
        ("archive = true", "archive cannot be True (valid: auto, all, off)"),
        ("archive = ['auto']", "archive cannot be ['auto'] (valid: auto, all, off)"),
        (b'archive = "\xff"', "not UTF-8 at byte 11"),
        ("archive", "not TOML: Expected '=' after a key in a key/value pair (at end of document)"),
    ],
)
def test_a_mistake_is_one_line_with_file_key_and_valid_values(
    tmp_path: Path, content: str | bytes, problem: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, {})
    assert str(caught.value) == f"{path}: {problem}"
    assert isinstance(caught.value, UsageError)
    assert len(str(caught.value).splitlines()) == 1


def test_nesting_without_end_is_a_mistake(tmp_path: Path) -> None:
    written(tmp_path, "archive = " + "[" * 100_000)
    with pytest.raises(SettingsError, match="not TOML"):
        load_settings(tmp_path, {})


def test_a_folder_in_place_of_the_file_is_a_mistake(tmp_path: Path) -> None:
    os.makedirs(settings_path(tmp_path, {}))
    with pytest.raises(SettingsError, match="directory"):
        load_settings(tmp_path, {})


def test_every_key_and_value_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    fields = msgspec.structs.fields(Settings)
    assert fields
    for field in fields:
        assert f"`{field.encode_name}`" in page
        for value in get_args(field.type):
            assert f'`"{value}"`' in page
