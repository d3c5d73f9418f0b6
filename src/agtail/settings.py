"""Settings: what the user wrote into ``config.toml``, checked; the defaults when there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from agtail.errors import SettingsError

ArchiveMode = Literal["auto", "all", "off"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set; every field is a key of the file and has a default.

    Attributes:
        archive: whose transcripts are kept byte for byte, beside what is searched: of agents
            that delete their own (``auto``), of ``all``, or of none (``off``).
    """

    archive: ArchiveMode = "auto"


def settings_path(home: Path, env: Mapping[str, str]) -> Path:
    """Return the file that settings are read from: ``$XDG_CONFIG_HOME/agtail/config.toml``."""
    base = env.get("XDG_CONFIG_HOME")
    return (Path(base) if base else home / ".config") / "agtail" / "config.toml"


def load_settings(home: Path, env: Mapping[str, str]) -> Settings:
    """Read the settings; a missing file means the defaults.

    Raises:
        SettingsError: the file cannot be read, is not TOML, or holds an unknown key or value.
    """
    path = settings_path(home, env)
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise SettingsError(str(path), (error.strerror or str(error)).lower()) from error
    import tomllib  # noqa: PLC0415 - most have no file, and it costs start-up time

    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError(str(path), f"not UTF-8 at byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(str(path), f"not TOML: {error}") from error
    return _checked(path, table)


def _checked(path: Path, table: dict[str, Any]) -> Settings:
    choices = {
        field.encode_name: get_args(field.type) for field in msgspec.structs.fields(Settings)
    }
    for key, value in table.items():
        if key not in choices:
            raise SettingsError(str(path), f"unknown key {key!r}", choices)
        if value not in choices[key]:
            raise SettingsError(str(path), f"{key} cannot be {value!r}", choices[key])
    return Settings(**table)
